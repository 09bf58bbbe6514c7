"""Split the arguments of a call into data, bound and keywords of the metric."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.keywords import check_known, keyword_names, unknown_keyword

if TYPE_CHECKING:
    from pytest_llmfair.metrics import MetricInfo


def is_number(value: Any) -> bool:
    """Whether a value is a real number (of Python or numpy), and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_keywords(
    caller: Callable[..., Any],
    info: MetricInfo | None,
    keywords: Mapping[str, Any],
    renamed: Mapping[str, str] | None = None,
    *,
    collected: bool = False,
) -> None:
    """Raise ``TypeError`` for a keyword that neither the metric nor the caller takes.

    Where answers are `collected`, the metric's data cannot be given as keywords.
    """
    own = [] if info is None else keyword_names(info.function)
    if own is not None:
        data = positional(info) if collected and info is not None else []
        own = [name for name in own if name not in data]
        chosen = () if info is None else group_keywords(info)
        parameters = inspect.signature(caller).parameters.values()
        shared = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        check_known(caller, keywords, [*own, *chosen, *shared], renamed or {})


def group_keywords(info: MetricInfo) -> tuple[str, ...]:
    """Return the keywords that choose among the groups of pairs."""
    if not info.needs.endswith("_pairs"):
        return ()
    # The metric itself sees vectors: texts are masked before they are embedded.
    return "reference", "groups", *(["mask"] if info.needs == "embedding_pairs" else [])


def takes(info: MetricInfo, keyword: str) -> bool:
    """Return whether a metric has an argument of this name."""
    return keyword in (keyword_names(info.function) or ())


def bound_of(info: MetricInfo, bound: Any, minimum: Any) -> Any:
    """Return the bound given; `minimum` belongs to metrics where higher is fairer."""
    if bound is not None and minimum is not None:
        raise TypeError("give bound or minimum, not both")
    if minimum is not None and info.direction != "higher":
        raise TypeError(
            f"{info.name} takes bound=..., the largest value you can still accept, not "
            "minimum=...: lower is fairer"
        )
    return bound if minimum is None else minimum


def unpacked(
    info: MetricInfo, data: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Spread a mapping of argument names, or one tuple for a metric of two arguments."""
    known = list(inspect.signature(info.function).parameters)
    required = positional(info)
    if data and isinstance(data[0], Mapping) and not set(data[0]).isdisjoint(known):
        strange = [str(name) for name in data[0] if name not in known]
        if strange:
            raise unknown_keyword(info.name, strange[0], known)
        data, keywords = data[1:], {**data[0], **keywords}
    elif (
        len(required) > 1
        and data
        and isinstance(data[0], tuple)
        and len(data[0]) == len(required)
        and all(map(is_number, data[1:]))
    ):
        data = (*data[0], *data[1:])
    if required and all(name in keywords for name in required):
        keywords = dict(keywords)
        data = (*(keywords.pop(name) for name in required), *data)
    return data, keywords


def positional(info: MetricInfo) -> list[str]:
    """Return the names of the arguments a metric cannot do without."""
    return [
        name
        for name, parameter in inspect.signature(info.function).parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        and parameter.default is parameter.empty
    ]


def last_is_bound(info: MetricInfo, data: tuple[Any, ...]) -> tuple[tuple[Any, ...], float]:
    """Split off a bound given after the data; keywords alone may be all the data."""
    if len(data) < min(2, len(positional(info)) + 1) or not is_number(data[-1]):
        word = "minimum" if info.direction == "higher" else "bound"
        raise TypeError(f"{info.assertion}() needs {word}=..., the value you can still accept")
    return data[:-1], data[-1]

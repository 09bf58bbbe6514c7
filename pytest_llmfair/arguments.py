"""What callers hand an assertion: data, bound and keywords, sorted out for the metric."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from pytest_llmfair.metrics import MetricInfo

P = ParamSpec("P")
R = TypeVar("R")

# Words of other calls and other libraries, and ours for them; a metric may have one of its own.
_OURS = {
    "n": ("generations",),
    "threshold": ("bound", "minimum"),
    "eps": ("bound", "minimum"),
    "sensitive_features": ("groups",),
    "protected_attributes": ("groups",),
    "y_pred": ("scores",),
    "y_score": ("scores", "y_prob"),
}


def is_number(value: Any) -> bool:
    """Tell whether a value is a real number, numpy's included, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def unknown_keyword(
    function_name: str, given: str, known: Iterable[str], renamed: Mapping[str, str] | None = None
) -> TypeError:
    """Return the error for a keyword that a function does not take, naming the right one.

    >>> unknown_keyword("demographic_parity_difference", "sensitive_features", ["groups"])
    TypeError('demographic_parity_difference() takes groups=..., not sensitive_features=...')
    """
    names = [name for name in known if not name.startswith("_")]
    ours = (renamed or {}).get(given), *_OURS.get(given, ())
    if named := [name for name in ours if name in names]:
        return TypeError(f"{function_name}() takes {named[0]}=..., not {given}=...")
    if given == "k" and "_at_k" in function_name:
        return TypeError(
            f"{function_name}() takes no k=...: K is the length of the lists, so cut the lists to "
            "K items"
        )
    if given == "y_true" and "y_pred" in names:
        return TypeError(
            f"{function_name}() compares predictions only and takes no y_true=...: leave it out"
        )
    near = difflib.get_close_matches(given, names, n=1)
    hint = f"did you mean {near[0]}=...?" if near else f"it takes {', '.join(names)}"
    return TypeError(f"{function_name}() has no argument {given!r}; {hint}")


def helpful_keywords(**renamed: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function answer a wrong keyword with the right one; `renamed` holds further ones."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = _names(function)
        if known is None:
            return function

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True
            _check_known(function, kwargs, known, renamed)
            return function(*args, **kwargs)

        return checked

    return decorate


def check_keywords(
    caller: Callable[..., Any],
    info: MetricInfo | None,
    keywords: Mapping[str, Any],
    renamed: Mapping[str, str] | None = None,
) -> None:
    """Raise ``TypeError`` for a keyword that neither the metric nor the caller takes."""
    own = [] if info is None else _names(info.function)
    if own is not None:
        chosen = () if info is None else of_pairs(info)
        parameters = inspect.signature(caller).parameters.values()
        shared = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        _check_known(caller, keywords, [*own, *chosen, *shared], renamed or {})


def _names(function: Callable[..., Any]) -> list[str] | None:
    """Return what can be given by keyword; None if that is anything."""
    parameters = inspect.signature(function).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return None
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return [name for name in named if name != "self"]


def _check_known(
    function: Callable[..., Any],
    given: Iterable[str],
    known: Sequence[str],
    renamed: Mapping[str, str],
) -> None:
    said = function.__qualname__.rpartition("<locals>.")[2]
    for name in given:
        if name not in known:
            raise unknown_keyword(said, name, known, renamed)


def of_pairs(info: MetricInfo) -> tuple[str, ...]:
    """Return the keywords that choose among the groups of pairs."""
    if not info.needs.endswith("_pairs"):
        return ()
    # The metric itself sees vectors: texts are masked before they are embedded.
    return "reference", "groups", *(["mask"] if info.needs == "embedding_pairs" else [])


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


def check_units(units: Sequence[Any] | None, asked: Sequence[Any]) -> None:
    """Raise ``ValueError`` unless there is one label for each prompt or pair."""
    if units is not None and len(units) != len(asked):
        raise ValueError(
            f"units has {len(units)} labels for {len(asked)} prompts or pairs; give one for each"
        )


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
    """Part the data from a bound given after them; keywords alone may be all the data."""
    if len(data) < min(2, len(positional(info)) + 1) or not is_number(data[-1]):
        word = "minimum" if info.direction == "higher" else "bound"
        raise TypeError(f"{info.assertion}() needs {word}=..., the value you can still accept")
    return data[:-1], data[-1]

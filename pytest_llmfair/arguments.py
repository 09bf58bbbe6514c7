"""What callers hand an assertion: data, bound and keywords, sorted out for the metric."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_llmfair.metrics import MetricInfo

# Keywords of other libraries, and ours for the same thing.
_OURS = {
    "sensitive_features": ("groups",),
    "protected_attributes": ("groups",),
    "y_pred": ("scores",),
    "y_score": ("scores", "y_prob"),
    "n": ("generations",),
    "threshold": ("bound", "minimum"),
}


def unknown_keyword(function_name: str, given: str, known: Iterable[str]) -> TypeError:
    """Return the error for a keyword that a function does not take, naming the right one.

    >>> unknown_keyword("demographic_parity_difference", "sensitive_features", ["groups"])
    TypeError('demographic_parity_difference() takes groups=..., not sensitive_features=...')
    """
    names = [name for name in known if not name.startswith("_")]
    if given == "k" and function_name.endswith(("_at_k", "_at_k_at_least")):
        return TypeError(
            f"{function_name}() takes no k=...: K is the length of the lists, so cut the lists to "
            "K items"
        )
    if given == "y_true" and "y_pred" in names:
        return TypeError(
            f"{function_name}() compares predictions only and takes no y_true=...: leave it out"
        )
    near = [name for name in _OURS.get(given, ()) if name in names]
    near = near or difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    if near:
        return TypeError(f"{function_name}() takes {near[0]}=..., not {given}=...")
    return TypeError(f"{function_name}() takes no {given}=...; it takes {', '.join(names)}")


def is_number(value: Any) -> bool:
    """Tell whether a value is a real number, numpy's included, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def threshold_of(info: MetricInfo, bound: Any, minimum: Any) -> Any:
    """Return the threshold given; `minimum` belongs to metrics where higher is fairer."""
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
    known = _parameters(info)
    required = positional(info)
    if data and isinstance(data[0], Mapping) and not set(data[0]).isdisjoint(known):
        strange = [str(name) for name in data[0] if name not in known]
        if strange:
            raise TypeError(
                f"{info.name} takes no {' or '.join(strange)}; it takes {', '.join(known)}"
            )
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


def _parameters(info: MetricInfo) -> list[str]:
    return list(inspect.signature(info.function).parameters)


def positional(info: MetricInfo) -> list[str]:
    """Return the names of the arguments a metric cannot do without."""
    return [
        name
        for name, parameter in inspect.signature(info.function).parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        and parameter.default is parameter.empty
    ]


def last_is_bound(info: MetricInfo, data: tuple[Any, ...]) -> tuple[tuple[Any, ...], float]:
    """Part the data from a bound given behind them; keywords alone may be all the data."""
    if len(data) < min(2, len(positional(info)) + 1) or not is_number(data[-1]):
        word = "minimum" if info.direction == "higher" else "bound"
        raise TypeError(f"{info.assertion}() needs {word}=..., the value you can still accept")
    return data[:-1], data[-1]

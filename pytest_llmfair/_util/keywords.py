"""Errors for unknown names and keyword arguments, which suggest the right one."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Names that other libraries use, and ours for the same thing; a metric may add its own.
_OURS = {
    "n": ("generations",),
    "threshold": ("bound", "minimum"),
    "eps": ("bound", "minimum"),
    "sensitive_features": ("groups",),
    "protected_attributes": ("groups",),
    "control_features": ("control",),
    "sample_weight": ("weights",),
    "sample_params": ("weights",),
    "y_pred": ("scores",),
    "y_score": ("scores", "y_prob"),
}


def suggestion(name: str, known: Iterable[str], prefix: str = "") -> str:
    """Return a hint: the known names nearest to one, or all of them, after what all begin with."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=2, cutoff=0.6)
    alike = [difflib.SequenceMatcher(None, word, name).ratio() for word in near]
    near = [word for word, share in zip(near, alike, strict=True) if share > alike[0] - 0.15]
    shown = [f"{prefix}{word}" for word in near or names]
    return f"did you mean {' or '.join(shown)}?" if near else f"known are {', '.join(shown)}"


def unknown_metric(name: str, families: Mapping[str, str], elsewhere: str = "") -> ValueError:
    """Return the error for an unknown metric; `families` is by name, `elsewhere` other tools'."""
    near = difflib.get_close_matches(name, families, n=3, cutoff=0.5)
    hint = f"families of metrics are {', '.join(sorted(set(families.values())))}"
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    hint = elsewhere or hint
    return ValueError(f"no metric is called {name!r}; {hint} (`llmfair metrics` lists them all)")


class UnknownName(KeyError):
    """No scorer or lexicon has this name; the message suggests the nearest ones.

    Examples
    --------
    >>> from pytest_llmfair.scorers import load_scorers
    >>> load_scorers()["toxcity"]
    Traceback (most recent call last):
    pytest_llmfair.UnknownName: no scorer is called 'toxcity'; did you mean 'toxicity'...
    """

    # Tracebacks name errors as users import them.
    __module__ = "pytest_llmfair"

    def __str__(self) -> str:
        # A KeyError would show the message in quotes.
        return str(self.args[0])


def unknown_keyword(
    function_name: str, given: str, known: Iterable[str], renamed: Mapping[str, str] | None = None
) -> TypeError:
    """Return the error for an unknown keyword, with a suggestion."""
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
    """Let unknown keywords raise an error that suggests the right one, by `renamed` too."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = keyword_names(function)
        if known is None:
            return function

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True
            check_known(function, kwargs, known, renamed)
            return function(*args, **kwargs)

        return checked

    return decorate


def keyword_names(function: Callable[..., Any]) -> list[str] | None:
    """Return the names of keyword arguments; None if the function takes any."""
    parameters = inspect.signature(function).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return None
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return [name for name in named if name != "self"]


def check_known(
    function: Callable[..., Any],
    given: Iterable[str],
    known: Sequence[str],
    renamed: Mapping[str, str],
) -> None:
    """Raise ``TypeError`` for the first keyword that the function does not take."""
    function_name = function.__qualname__.rpartition("<locals>.")[2]
    for name in given:
        if name not in known:
            raise unknown_keyword(function_name, name, known, renamed)

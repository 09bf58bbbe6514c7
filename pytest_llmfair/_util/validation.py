"""Checks of single arguments that several rooms share: every error names the argument."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any


def number(x: Any, argument: str) -> float:
    """Return a finite number."""
    if isinstance(x, bool) or not isinstance(x, Real) or not math.isfinite(x):
        raise ValueError(f"{argument} is {x!r}; give a finite number")
    return float(x)


def share(x: Any, argument: str) -> float:
    """Return a number in [0, 1]."""
    if isinstance(x, bool) or not isinstance(x, Real) or not 0.0 <= float(x) <= 1.0:
        raise ValueError(f"{argument} is {x!r}; give a number in [0, 1]")
    return float(x)


def whole(x: Any, argument: str, least: int = 1) -> int:
    """Return a whole number of at least `least`."""
    if not _is_whole(x) or x < least:
        raise ValueError(f"{argument} is {x!r}; give a whole number of at least {least}")
    return int(x)


def whole_seed(x: Any) -> int:
    """Return a seed: any whole number, so that a draw can be repeated."""
    if not _is_whole(x):
        raise ValueError(f"seed is {x!r}; give a whole number")
    return int(x)


def one_sided(level: float) -> float:
    """Return the error rate on each side of a two-sided level; exactly .025 for .95."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}; give a number between 0 and 1, such as 0.95")
    return round((1.0 - level) / 2.0, 15)


def check_is_list(rows: object, argument: str = "prompts", of: str = "texts") -> None:
    """Raise ``ValueError`` for what has no rows: one text, a mapping, a table."""
    if isinstance(rows, (str, bytes)):
        raise ValueError(f"{argument} is one text, {rows[:40]!r}; give a list of {of}")
    if not isinstance(rows, Iterable) or isinstance(rows, Mapping):
        raise ValueError(f"{argument} is a {type(rows).__name__}; give a list of {of}")
    if getattr(rows, "ndim", 1) != 1:
        raise ValueError(f"{argument} is a {type(rows).__name__} table; give one column of it")


def _is_whole(x: Any) -> bool:
    return isinstance(x, Integral) and not isinstance(x, bool)

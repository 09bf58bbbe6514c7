"""Positions of plot marks; the templates draw them.

Places are shares of the width in percent, so a plot fits every page and its marks keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_llmfair._util.notebook import step_between
from pytest_llmfair._util.wording import finite, number
from pytest_llmfair.judging import facts as words
from pytest_llmfair.judging.facts import Record

# The widest part of the common scale that is drawn; what lies beyond is an arrow at the edge.
_LOWEST, _HIGHEST = -1.5, 4.0
_NARROWEST = (-0.2, 1.6)
_ROUNDING = 1e-9
# No scale reaches as far; what lies there is beyond its edge.
_LARGEST = 1e100

_INFINITE = {"inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear scale: its ends, and labelled ticks as (place, label, anchor of the text)."""

    low: float
    high: float
    ticks: tuple[tuple[float, str, str], ...]

    def at(self, x: float) -> float:
        """Return the place of a value, at the edge where it lies beyond."""
        share = (min(max(x, self.low), self.high) - self.low) / (self.high - self.low)
        return round(2.0 + 96.0 * share, 2)


@dataclass(frozen=True, slots=True)
class Marks:
    """One line of a plot: places of estimate and interval, and what lies beyond an edge."""

    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    floor: float | None = None
    beyond_left: bool = False
    beyond_right: bool = False
    # An estimate beyond the edge in words, such as "4.9x"; it has no place.
    far: str = ""


def relative(record: Record, x: Any) -> float:
    """Scale a value so that 0 is the fair value and 1 the bound (-1 on the other side)."""
    bound, x = words.bound_of(record), _INFINITE.get(x, x)
    if bound.direction == "two-sided":
        away = math.copysign(bound.distance_of(x), x - bound.fair)
    else:
        away = bound.unfairness(x) - bound.unfairness(bound.fair)
    if bound.distance == 0.0:
        return math.copysign(math.inf, away) if away else 0.0
    return float(away / bound.distance)


def forest(records: Sequence[Record]) -> tuple[Axis, list[Marks]]:
    """Return the common scale of all checks, and the marks of each."""
    ends = [_relative_ends(record) for record in records]
    finite_ends = [x for each in ends for x in each if x is not None and math.isfinite(x)]
    low = min([_NARROWEST[0], *finite_ends])
    high = max([_NARROWEST[1], *finite_ends])
    two_sided = any(record["direction"] == "two-sided" for record in records)
    low, high = max(min(low, -1.2) if two_sided else low, _LOWEST), min(high, _HIGHEST)
    axis = Axis(low, high, ())
    names = {-1: "bound", 0: "fair", 1: "bound"}
    ticks = [i for i in range(math.ceil(low), math.floor(high) + 1) if i >= 0 or two_sided]
    labels = tuple(_tick(axis.at(i), names.get(i, f"{i}\N{MULTIPLICATION SIGN}")) for i in ticks)
    return Axis(low, high, labels), [_marks(axis, *each) for each in ends]


def bounds_of(axis: Axis, record: Record) -> tuple[float, ...]:
    """Return the places of the bounds of a check on the common scale: one, or two."""
    return tuple(axis.at(i) for i in ((-1, 1) if record["direction"] == "two-sided" else (1,)))


def _tick(place: float, label: str) -> tuple[float, str, str]:
    anchor = "start" if place < 4.0 else "end" if place > 96.0 else "middle"
    return place, label, anchor


def _relative_ends(record: Record) -> tuple[float | None, ...]:
    value, lower, upper, floor = (
        None if x is None else relative(record, x)
        for x in (words.estimate(record), record["lower"], record["upper"], words.floor(record))
    )
    if lower is not None and upper is not None and lower > upper:
        lower, upper = upper, lower
    return value, lower, upper, floor


def _marks(
    axis: Axis,
    value: float | None,
    lower: float | None = None,
    upper: float | None = None,
    floor: float | None = None,
) -> Marks:
    known = [x for x in (value, lower, upper) if x is not None]
    far = ""
    if value is not None and not axis.low <= value <= axis.high:
        shown = f"{value:.1f}" if math.isfinite(value) else "\N{INFINITY}"
        far, value = f"{shown}\N{MULTIPLICATION SIGN}", None
    places = (None if x is None else axis.at(x) for x in (value, lower, upper, floor))
    value, lower, upper, floor = places
    return Marks(
        value=value,
        lower=lower,
        upper=upper,
        floor=floor,
        far=far,
        beyond_left=any(x < axis.low for x in known),
        beyond_right=any(x > axis.high for x in known),
    )


def natural(
    rows: Sequence[Mapping[str, Any]], others: Sequence[Any], key: str = "value"
) -> tuple[Axis, list[Marks]]:
    """Return a scale in the metric's own units that holds all rows and `others`."""
    names = ("value", "lower", "upper") if key == "value" else (key,)
    intervals = [[_INFINITE.get(row[name], row[name]) for name in names] for row in rows]
    shown = [x for each in (*intervals, others) for x in each if finite(x) and abs(x) < _LARGEST]
    if not shown:
        return Axis(0.0, 1.0, ()), [Marks() for _ in rows]
    low, high = min(shown), max(shown)
    step = step_between(high - low, abs(high))
    # A value at a tick is the end of the scale, whatever its last digit is.
    low = math.floor(low / step + _ROUNDING) * step
    high = math.ceil(high / step - _ROUNDING) * step
    if low == high:
        low, high = low - step, high + step
    axis = Axis(low, high, ())
    ticks = [low + i * step for i in range(round((high - low) / step) + 1)]
    labels = tuple(_tick(axis.at(x), f"{round(x, 9):.6g}") for x in ticks)
    return Axis(low, high, labels), [_marks(axis, *each) for each in intervals]


def matrix(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], dict[tuple[str, str], Any]]:
    """Return the groups that rows compare two by two, and the rows; empty below three."""
    cells = {}
    for row in rows:
        first, slash, second = row["key"].partition(" / ")
        if slash and " / " not in second:
            cells[first, second] = row
    groups = list(dict.fromkeys(group for key in cells for group in key))
    return (groups, cells) if len(groups) > 2 else ([], {})


def side_of(record: Record, row: Mapping[str, Any]) -> str:
    """Return whether the interval of a row is "within" the bound, "beyond" it, or "undecided"."""
    if row["lower"] is None or row["upper"] is None:
        return "undecided"
    inside, outside = words.bound_of(record).sides(float(row["lower"]), float(row["upper"]))
    return "within" if inside else "beyond" if outside else "undecided"


def described(record: Record) -> str:
    """Return the numbers of a check in words, for those who do not see the plot."""
    places = words.decimals(record)
    found = f"estimate {number(words.estimate(record), places)}"
    if interval := words.interval(record, places):
        found += f", interval {interval.strip('[]').replace(', ', ' to ')}"
    floor = words.floor(record)
    noise = f", noise floor {number(floor, places)}" if floor is not None else ""
    return f"{found}, bound {words.threshold(record, places)}{noise}"

"""How often intervals hold the truth: the frame that every calibration check uses.

A check is a number, a title and a function from a :class:`Plan` to printed lines. Modules
``checks_*.py`` beside this one each expose a list ``CHECKS``; ``calibration.py`` runs them all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Ends = tuple[float, float]
Method = Callable[[Any, np.random.Generator], Ends]

_SMOKE_RUNS = 120
_SMOKE_SLACK = 5.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to simulate.

    Attributes
    ----------
    runs : int
        Data sets per cell.
    smoke : bool
        Few runs, limits loosened by 5 points, no peers.
    """

    runs: int = 2000
    smoke: bool = False

    def repeats(self, most: int | None = None, *, smoke: int = _SMOKE_RUNS) -> int:
        """Return the data sets of a cell; `most` caps a slow full run, `smoke` a quick one."""
        if self.smoke:
            return min(smoke, self.runs)
        return self.runs if most is None else min(self.runs, most)

    @property
    def slack(self) -> float:
        """Percentage points by which limits are loosened."""
        return _SMOKE_SLACK if self.smoke else 0.0


@dataclass(frozen=True, slots=True)
class Line:
    """One printed line: figures, the limits they must keep, and whether they do."""

    text: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Check:
    """A numbered check; `run` yields its lines."""

    number: int
    title: str
    run: Callable[[Plan], Iterable[Line]]


@dataclass(slots=True)
class Tally:
    """Counts of a simulated interval; rates are in percent."""

    truth: float
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)

    def add(self, ends: Ends) -> None:
        """Count one interval."""
        self.lower.append(ends[0])
        self.upper.append(ends[1])

    @property
    def false_pass(self) -> float:
        """How often the whole interval is below the truth."""
        return 100.0 * float(np.mean(np.array(self.upper) < self.truth - 1e-12))

    @property
    def false_fail(self) -> float:
        """How often the whole interval is above the truth."""
        return 100.0 * float(np.mean(np.array(self.lower) > self.truth + 1e-12))

    @property
    def coverage(self) -> float:
        """How often the interval holds the truth."""
        return 100.0 - self.false_pass - self.false_fail

    @property
    def width(self) -> float:
        """Median width."""
        return float(np.median(np.array(self.upper) - np.array(self.lower)))


@dataclass(frozen=True, slots=True)
class Limits:
    """What a tally must keep, in percent."""

    coverage: Ends = (0.0, 100.0)
    false_pass: float = 100.0
    false_fail: float = 100.0

    def keep(self, tally: Tally, slack: float) -> bool:
        """Whether `tally` is inside, each limit loosened by `slack` points."""
        low, high = self.coverage
        return (
            low - slack <= tally.coverage <= high + slack
            and tally.false_pass <= self.false_pass + slack
            and tally.false_fail <= self.false_fail + slack
        )

    def __str__(self) -> str:
        low, high = self.coverage
        parts = [f"cov {low:g}-{high:g}" if high < 100.0 else f"cov >= {low:g}"]
        if self.false_pass < 100.0:
            parts.append(f"fp <= {self.false_pass:g}")
        if self.false_fail < 100.0:
            parts.append(f"ff <= {self.false_fail:g}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Cell:
    """One simulated situation.

    Attributes
    ----------
    name : str
        The situation in words.
    truth : float
        The true value.
    draw : callable
        Generator to one data set.
    ours : callable
        Data set and generator to the ends of our interval.
    limits : Limits
        What ours must keep.
    peers : mapping
        Methods in common use on the same data, by name; shown, not judged.
    most : int or None
        Cap on the runs of a slow cell.
    quick : int
        Runs of a smoke run.
    """

    name: str
    truth: float
    draw: Callable[[np.random.Generator], Any]
    ours: Method
    limits: Limits
    peers: Mapping[str, Method] = field(default_factory=dict)
    most: int | None = None
    quick: int = _SMOKE_RUNS

    def run(self, plan: Plan, seed: int) -> Line:
        """Simulate; peers see the same data and are left out of a smoke run."""
        draws = np.random.default_rng(seed)
        extra = np.random.default_rng(seed + 1)
        methods = {"ours": self.ours} | ({} if plan.smoke else dict(self.peers))
        tallies = {name: Tally(self.truth) for name in methods}
        for _ in range(plan.repeats(self.most, smoke=self.quick)):
            data = self.draw(draws)
            for name, method in methods.items():
                tallies[name].add(method(data, extra))
        ours = tallies.pop("ours")
        return tally_line(self.name, ours, self.limits, plan, tallies)


def tally_line(
    name: str,
    tally: Tally,
    limits: Limits,
    plan: Plan,
    peers: Mapping[str, Tally] | None = None,
) -> Line:
    """Print figures against limits, with the coverage of peers beside them."""
    text = (
        f"{name}: cov {tally.coverage:.1f} fp {tally.false_pass:.1f} ff {tally.false_fail:.1f} "
        f"width {_short(tally.width)} ({limits})"
    )
    for peer, other in (peers or {}).items():
        text += (
            f" | {peer} {other.coverage:.1f} fp {other.false_pass:.1f} "
            f"ff {other.false_fail:.1f} width {_short(other.width)}"
        )
    return Line(text, limits.keep(tally, plan.slack))


def _short(number: float) -> str:
    return "inf" if math.isinf(number) else f"{number:.3f}"

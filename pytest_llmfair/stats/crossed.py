"""Rows that share levels of random factors, such as names: their intervals and variance."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pytest_llmfair._util.wording import plural, plurals
from pytest_llmfair.stats._base import Estimate, GroupRow, Table
from pytest_llmfair.stats._clusters import numbered
from pytest_llmfair.stats._records import Call, Finding, Floats, Indices
from pytest_llmfair.stats._rows import NO_VARIANCE
from pytest_llmfair.stats._score_intervals import t_quantile
from pytest_llmfair.stats.pairwise_max import MaxPairwiseDifference

_MOST_ROUNDS = 500
_CONVERGED = 1e-13


@dataclass(frozen=True, slots=True)
class Crossing:
    """Squared error of a mean whose factors are all drawn from populations.

    The variances over the levels of each factor add up, less what all of them hold, and are never
    below the largest (Cameron, Gelbach and Miller 2011). What all of them hold is the residual
    variance of the additive model; the variance of single cells would hold the factors again.
    """

    # Squared error of the mean over the levels of each factor.
    parts: tuple[float, ...]
    # Squared error by what the factors leave over: the interaction, and sampling.
    rest: float
    # Levels of each factor, and cells that hold a row.
    levels: tuple[int, ...]
    cells: int

    @classmethod
    def of_rows(cls, values: Floats, factors: Sequence[Sequence[Hashable]]) -> Crossing:
        """Measure one value per row, with a label of each factor per row; cells may be missing."""
        codes = [numbered(labels) for labels in factors]
        levels = [int(code.max()) + 1 for code in codes]
        key = np.ravel_multi_index(codes, levels)
        _, first, place, size = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        weights = size / len(values)
        # What each cell adds to the error of the mean.
        added = np.bincount(place, values - values.mean()) / len(values)
        places = [code[first] for code in codes]
        parts = [
            g / (g - 1.0) * float((np.bincount(at, added) ** 2).sum()) if g > 1 else 0.0
            for at, g in zip(places, levels, strict=True)
        ]
        left = _residuals(added / weights, weights, places)
        cells, free = len(first), len(first) - 1 - sum(g - 1 for g in levels)
        squares = float(((weights * left) ** 2).sum())
        rest = squares * cells / free if free > 0 else 0.0
        smallest = NO_VARIANCE * max(1.0, float(np.abs(values).max()) ** 2)
        parts = [0.0 if part <= smallest else part for part in parts]
        return cls(tuple(parts), rest, tuple(levels), cells)

    @property
    def variance(self) -> float:
        """Squared error of the mean."""
        return max(sum(self.parts) - (len(self.parts) - 1) * self.rest, *self.parts)

    @property
    def df(self) -> float:
        """Degrees of freedom of the squared error (Satterthwaite), at least 1."""
        return _freedom(self.variance, self.parts, self.levels)

    @property
    def main(self) -> tuple[float, ...]:
        """Variance between the levels of each factor."""
        return tuple(
            max(part - self.rest, 0.0) * g for part, g in zip(self.parts, self.levels, strict=True)
        )

    @property
    def left(self) -> float:
        """Variance of a cell around the additive model."""
        return self.rest * self.cells


def half_width(main: Sequence[float], left: float, levels: Sequence[int], alpha: float) -> float:
    """Half-width of an interval planned with variances `main` between levels, `left` of cells."""
    rest = left / math.prod(levels)
    parts = [one / g + rest for one, g in zip(main, levels, strict=True)]
    variance = sum(parts) - (len(parts) - 1) * rest
    return t_quantile(1.0 - alpha, _freedom(variance, parts, levels)) * math.sqrt(variance)


def _freedom(variance: float, parts: Sequence[float], levels: Sequence[int]) -> float:
    shares = sum(v * v / (g - 1.0) for v, g in zip(parts, levels, strict=True) if g > 1)
    return max(1.0, variance * variance / shares) if shares > 0.0 else 1.0


def _residuals(values: Floats, weights: Floats, places: Sequence[Indices]) -> Floats:
    """Subtract the effects of all factors, fitted by turns."""
    sizes = [np.bincount(at, weights) for at in places]
    close = _CONVERGED * max(float(np.abs(values).max()), math.sqrt(NO_VARIANCE))
    left = values
    for _ in range(_MOST_ROUNDS):
        before = left
        for at, size in zip(places, sizes, strict=True):
            left = left - (np.bincount(at, weights * left) / size)[at]
        if float(np.abs(left - before).max()) <= close:
            break
    return left


# Fewer levels of a factor in a group do not show how others would vary.
_FEWEST_LEVELS = 3
# What the call of an estimate over several factors is named by.
CROSSED = "crossed"


@dataclass(eq=False, kw_only=True)
class Crossed(Estimate):
    """An estimate whose rows share the levels of several factors, all drawn from more.

    The variances over the levels of each factor add up, less what all of them hold, and are never
    below the largest (Cameron, Gelbach and Miller 2011); the interval of the first factor is
    widened to that. For distances, whose bias grows as levels become few, the squared distances
    of the bounds of each factor add up in the same way (MOVER, Zou and Donner 2008).
    """

    # Of the same rows: with the levels of each factor as units, and with each row as one.
    factors: tuple[Estimate, ...]
    apart: Estimate
    method: str = "two-way clusters"
    near_normal = False

    @classmethod
    def join(cls, *estimates: Estimate) -> Estimate:
        """Join estimates by factor, the last by row; of several groups every comparison."""
        first, *_ = estimates
        if any(each.undefined for each in estimates):
            return first
        own: dict[str, Any] = {
            "sample": first.sample,
            "findings": first.findings,
            "variant": first.variant,
            "unit": first.unit,
        }
        if isinstance(first, MaxPairwiseDifference):
            joined = {
                key: cls.join(
                    *(e.pairs[key] for e in estimates if isinstance(e, MaxPairwiseDifference))
                )
                for key in first.pairs
            }
            worst = type(first).of_pairs(joined)

            def row(key: Hashable) -> GroupRow:
                return replace(first.groups[key], p=worst.groups[key].p, estimate=joined[key])

            # Rows are made when they are read, since every p-value is a search.
            return replace(worst, groups=Table(first.groups, row), **own)
        parts = {}
        for key in first.groups:
            if known := [e for each in estimates if (e := each.groups[key].estimate) is not None]:
                parts[key] = cls.join(*known)
        return cls(
            value=first.value,
            attainable=first.attainable,
            of=first.of,
            factors=estimates[:-1],
            apart=estimates[-1],
            groups={
                key: replace(row, p=math.nan, estimate=parts.get(key))
                for key, row in first.groups.items()
            },
            **own,
        )

    @property
    def debiased(self) -> float:
        """That of the first factor; inside the interval at every level."""
        first = self.factors[0]
        return min(max(first.debiased, first.lower_bound(0.5)), first.upper_bound(0.5))

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        centre = self.debiased
        reach = self._reach(alpha, lambda each: max(0.0, centre - each.lower_bound(alpha)))
        return max(self.attainable[0], centre - reach)

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        centre = self.debiased
        reach = self._reach(alpha, lambda each: max(0.0, each.upper_bound(alpha) - centre))
        return min(self.attainable[1], centre + reach)

    def noise_floor(self) -> float:
        """Return the largest floor of a factor."""
        return max(each.noise_floor() for each in self.factors)

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error, as in :class:`Estimate`."""
        return self._joined(lambda each: each.standard_error(at))

    def _reach(self, alpha: float, reach: Callable[[Estimate], float]) -> float:
        first = self.factors[0]
        if self.of == "debiased":
            return self._joined(reach)
        if "no_variance" in first.reasons:
            # Rows that are all equal are so over the levels of every factor.
            return reach(first)
        error, own = self.standard_error(), first.standard_error()
        squares = [each.standard_error() ** 4 / (each.sample.units - 1) for each in self.factors]
        df = max(1.0, error**4 / sum(squares))
        t, t_own = (t_quantile(1.0 - alpha, n) for n in (df, first.sample.units - 1.0))
        # At the median both quantiles are 0.
        return reach(first) * error / own * (t / t_own if t_own > 0.0 else 1.0)

    def _joined(self, size: Callable[[Estimate], float]) -> float:
        squares = [size(each) ** 2 for each in self.factors]
        shared = (len(squares) - 1) * size(self.apart) ** 2
        return math.sqrt(max(sum(squares) - shared, *squares))


def over_factors(
    measure: Callable[[Sequence[Hashable] | None], Estimate],
    factors: Mapping[str, Sequence[Hashable]],
    groups: Sequence[Hashable],
) -> Estimate:
    """Measure rows by crossed factors; later ones are fixed where a group has few levels."""
    found: dict[str, Estimate] = {}
    fixed: list[Finding] = []
    for name, levels in factors.items():
        of_group: dict[Hashable, set[Hashable]] = {}
        for group, level in zip(groups, levels, strict=True):
            of_group.setdefault(group, set()).add(level)
        fewest = min(of_group, key=lambda group: len(of_group[group]))
        number = len(of_group[fewest])
        if found and number < _FEWEST_LEVELS:
            fixed.append(fixed_factor(name, f"{fewest} has {plural(name, number)}, too few"))
        else:
            found[name] = measure(levels)
    estimate = next(iter(found.values()))
    if len(found) > 1 and not estimate.undefined:
        parts = (*found.values(), measure(None))
        estimate = Crossed.join(*parts).with_metric(estimate.metric, Call(CROSSED, parts))
        sizes = " and ".join(plural(name, len(set(factors[name]))) for name in found)
        fixed.append(Finding.note(f"the interval is over {sizes}, as draws from more"))
    return estimate.with_findings(*fixed)


def fixed_factor(name: str, why: str) -> Finding:
    """Say that a value holds for the levels of a factor only."""
    names = plurals(name)
    text = f"{why} to show what other {names} would give: the value is about these {names} only"
    return Finding(f"fixed_{names.replace(' ', '_')}", text)

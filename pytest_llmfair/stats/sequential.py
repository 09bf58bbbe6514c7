"""Looking at the data more than once: error spending, and confidence sequences by betting."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._records import Ends, Finding, Floats, Passes, Sample

_POINTS = 601
_REACH = 8.0


@dataclass(slots=True)
class Spending:
    """Nominal one-sided error rate of each look, so that all looks together keep ``alpha``.

    The test statistics of the looks are those of a Brownian motion; the probability of having
    stopped earlier is integrated numerically (Armitage, McPherson and Rowe 1969).

    Examples
    --------
    >>> spending = Spending(0.025)
    >>> [round(spending.look(fraction), 4) for fraction in (0.25, 0.5, 0.75, 1.0)]
    [0.0, 0.0015, 0.0092, 0.022]
    """

    # One-sided error rate over all looks.
    alpha: float
    _fraction: float = 0.0
    _spent: float = 0.0
    _points: Floats = field(default_factory=lambda: np.zeros(1))
    _density: Floats = field(default_factory=lambda: np.ones(1))
    # Where paths were before the last look, with their weights; error spent then, and the step.
    _before: tuple[Floats, Floats, float, float] | None = None

    def look(self, fraction: float) -> float:
        """Return the nominal error rate of a look at an information fraction, planned or not.

        ``ValueError`` unless the fraction is in (0, 1] and above that of the last look.
        """
        if not self._fraction < fraction <= 1.0:
            raise ValueError(
                f"a look at {fraction:.0%} of the evidence after one at {self._fraction:.0%}; "
                "every look needs new evidence, at most the planned amount"
            )
        # What O'Brien and Fleming's boundary spends by then (Lan and DeMets 1983).
        target = float(2.0 * ndtr(-ndtri(1.0 - self.alpha / 2.0) / math.sqrt(fraction)))
        step = math.sqrt(fraction - self._fraction)
        boundary = self._boundary(target - self._spent, step)
        self._before = self._points, self._weighted(), self._spent, step
        low = -_REACH * math.sqrt(fraction)
        points = np.linspace(low, boundary, _POINTS)
        jump = np.exp(-0.5 * ((points[:, None] - self._points[None, :]) / step) ** 2)
        self._density = jump @ self._weighted() / (step * math.sqrt(2.0 * math.pi))
        self._points = points
        self._fraction, self._spent = fraction, target
        return float(ndtr(-boundary / math.sqrt(fraction)))

    def p_value(self, nominal: float) -> float:
        """Return the p-value over all looks of a nominal one at the last look.

        Results are ordered by the look that stopped first, then by their statistic (Tsiatis,
        Rosner and Mehta 1984), so it is at most ``alpha`` exactly where that look stops.
        """
        if self._before is None:
            raise ValueError("no look was taken, so there is no p-value")
        points, weights, spent, step = self._before
        value = -float(ndtri(nominal)) * math.sqrt(self._fraction)
        return min(1.0, spent + float(ndtr((points - value) / step) @ weights))

    def _boundary(self, budget: float, step: float) -> float:
        """Value above which the path ends now with probability `budget`."""
        weights = self._weighted()
        low, high = float(self._points.min()), float(self._points.max()) + 9.0 * step
        for _ in range(80):
            middle = 0.5 * (low + high)
            crossing = float(ndtr((self._points - middle) / step) @ weights)
            low, high = (middle, high) if crossing > budget else (low, middle)
        return high

    def _weighted(self) -> Floats:
        if self._points.size == 1:
            return self._density
        # Trapezoids; the density is smooth and vanishes at the lower end.
        weights = np.full(self._points.size, self._points[1] - self._points[0])
        weights[[0, -1]] *= 0.5
        weighted: Floats = self._density * weights
        return weighted


_CANDIDATES = np.linspace(0.0, 1.0, 2001)
# No bet may lose more than this share of the capital (Waudby-Smith and Ramdas 2024, section 4).
_STAKE = 0.75
# A stable mean excludes a candidate from both sides at 95 % in at most 1 of 20 data sets.
_DRIFT = math.log(2.0 / 0.05)
# The variance-adaptive bet is tuned to the level of 95 %; the sequence is valid at all levels.
_TUNED = 2.0 * math.log(2.0 / 0.05)
_DRIFTED = Finding("drift", "early and late units contradict each other: no one mean fits both")


@dataclass(eq=False, kw_only=True)
class BettingMean(Estimate):
    """Mean of a bounded quantity with a confidence sequence in the order of collection.

    Two gamblers bet against every candidate mean, one adapting to the mean (aGRAPA) and one to the
    variance (predictable empirical Bernstein); half of the capital each. A candidate is excluded
    once the capital has reached ``1 / alpha`` at any time (Ville's inequality), so looks after
    every unit and any stopping rule are valid.
    """

    bounds: tuple[float, float]
    # Log of the largest capital so far against each candidate mean on a grid over [0, 1], of
    # bets that the mean is above and below it.
    above: Floats
    below: Floats
    # Log capital at which some candidate is excluded from both sides, because the mean changed
    # over time. Every level requires at least this, so the interval is never empty.
    clash: float
    method: str = "betting confidence sequence"

    @classmethod
    def of_values(
        cls,
        values: ArrayLike,
        *,
        units: Iterable[Hashable] | None = None,
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> BettingMean:
        """Bet on values in the order in which they were collected.

        Rows of equal `units` are one bet, at the place of the first. ``ValueError`` names the row
        whose value is NaN or out of range, or whose label is missing.

        Examples
        --------
        >>> BettingMean.of_values([0.1, 0.2, 0.15, 0.1] * 10)
        BettingMean 0.138 [0.100, 0.242] (95 %, 40 units)
        """
        clusters.check_bounds(bounds)
        array = clusters.check_rows(values, "values", bounds)
        low, high = bounds
        index, _ = clusters.cluster_index(units, array.size)
        merged: dict[int, list[float]] = {}
        for label, x in zip(index.tolist(), ((array - low) / (high - low)).tolist(), strict=True):
            merged.setdefault(label, []).append(x)
        bets = np.array([math.fsum(rows) / len(rows) for rows in merged.values()])
        above = _capital(bets)
        below = _capital(1.0 - bets)[::-1]
        above, below = np.minimum.accumulate(above), np.minimum.accumulate(below[::-1])[::-1]
        sizes = [len(rows) for rows in merged.values()]
        clash = float(np.minimum(above, below).max())
        drift = clash >= _DRIFT
        return cls(
            value=math.fsum(array.tolist()) / array.size,
            sample=Sample.of_sizes(sizes),
            attainable=bounds,
            findings=(_DRIFTED,) if drift else (),
            bounds=bounds,
            above=above,
            below=below,
            clash=clash,
            rows=array.tolist(),
        )

    def lower_bound(self, alpha: float) -> float:
        """Largest candidate such that it and all below it are excluded; at most the value."""
        excluded = int(np.count_nonzero(self.above >= self._needed(alpha)))
        return min(self.value, self._scaled(_CANDIDATES[max(excluded - 1, 0)]))

    def upper_bound(self, alpha: float) -> float:
        """Smallest candidate such that it and all above it are excluded; at least the value."""
        excluded = int(np.count_nonzero(self.below >= self._needed(alpha)))
        return max(
            self.value,
            self._scaled(_CANDIDATES[min(_CANDIDATES.size - excluded, _CANDIDATES.size - 1)]),
        )

    def _needed(self, alpha: float) -> float:
        """Log capital that excludes a candidate."""
        return max(-math.log(alpha), float(np.nextafter(self.clash, math.inf)))

    def standard_error(self, at: float | None = None) -> float:
        """Half-width of the 68 % interval, since betting gives no standard error."""
        low, high = self.bounds
        if at is not None:
            return math.sqrt(max((at - low) * (high - at), 0.0) / self.sample.units)
        return 0.5 * self.interval(0.6827).width

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`; a fair value at an end of the range means no event."""
        low, high = self.bounds
        if fair not in self.bounds:
            return super().fair_passes(allowed, fair, alpha)
        clean = BettingMean.of_values(np.zeros(self.sample.units)).upper_bound(alpha)
        gap = clean * (high - low)
        room = allowed[1] - fair if fair == low else fair - allowed[0]
        return lambda more: float(gap / more <= room)

    def _scaled(self, x: float) -> float:
        low, high = self.bounds
        return float(low + x * (high - low))


def _capital(x: Floats) -> Floats:
    """Log of the largest capital of bets that the mean is above each candidate."""
    most = np.zeros(_CANDIDATES.size)
    adaptive = np.zeros(_CANDIDATES.size)
    cautious = np.zeros(_CANDIDATES.size)
    # The worst loss per unit of stake is the candidate itself.
    cap = _STAKE / np.maximum(_CANDIDATES, 1e-9)
    total, squares = 0.5, 0.25
    for t, value in enumerate(x.tolist(), start=1):
        mean, variance = total / t, squares / t
        edge = mean - _CANDIDATES
        bet = np.clip(edge / (variance + edge**2), 0.0, cap)
        steady = np.minimum(math.sqrt(_TUNED / (variance * t * math.log1p(t))), cap)
        gain = value - _CANDIDATES
        adaptive += np.log1p(bet * gain)
        cautious += np.log1p(steady * gain)
        np.maximum(most, np.logaddexp(adaptive, cautious) - math.log(2.0), out=most)
        total += value
        squares += (value - total / (t + 1)) ** 2
    return most

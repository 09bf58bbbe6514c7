"""Confidence sequences for bounded means by betting: valid at every moment, whatever the stop."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate, Sample
from pytest_llmfair.stats._clusters import Floats

_GRID = np.linspace(0.0, 1.0, 2001)
# No bet may lose more than this share of the capital (Waudby-Smith and Ramdas 2024, section 4).
_STAKE = 0.75
# The variance-adaptive bet is tuned to one level; the sequence is valid at all of them.
_TUNED = 2.0 * math.log(2.0 / 0.05)


@dataclass(eq=False, kw_only=True)
class BettingMean(Estimate):
    """Mean of a bounded quantity with a confidence sequence in the order of collection.

    Two gamblers bet against every candidate mean, one adapting to the mean (aGRAPA) and one to the
    variance (predictable empirical Bernstein); half of the capital each. A candidate is excluded
    once the capital has reached ``1 / alpha`` at any time (Ville's inequality), so that one may
    look after every unit and stop whenever one likes.

    Attributes
    ----------
    bounds : tuple of float
        Range of the quantity.
    above, below : ndarray
        Log of the largest capital so far against each candidate mean on a grid over [0, 1], of
        bets that the mean is above and below it.
    """

    bounds: tuple[float, float]
    above: Floats
    below: Floats
    method: str = "betting confidence sequence"

    @classmethod
    def of_values(
        cls,
        values: ArrayLike,
        *,
        units: Sequence[Hashable] | None = None,
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> BettingMean:
        """Bet on values in the order in which they were collected.

        Parameters
        ----------
        values : array_like of shape (n_rows,)
            One value per row.
        units : sequence, optional
            One label per row; rows with equal labels are one bet, at the place of the first.
        bounds : tuple of float
            Range of the quantity.

        Raises
        ------
        ValueError
            If a value is NaN or out of range (names the row).
        """
        array = clusters.check_rows(values, "values", bounds)
        low, high = bounds
        merged: dict[Hashable, list[float]] = {}
        for i, x in enumerate(((array - low) / (high - low)).tolist()):
            merged.setdefault(i if units is None else units[i], []).append(x)
        bets = np.array([math.fsum(rows) / len(rows) for rows in merged.values()])
        above = _capital(bets)
        below = _capital(1.0 - bets)[::-1]
        n = len(bets)
        return cls(
            value=math.fsum(array.tolist()) / array.size,
            sample=Sample(units=n, generations=array.size, fewest=1, most=1),
            attainable=bounds,
            bounds=bounds,
            above=np.minimum.accumulate(above),
            below=np.minimum.accumulate(below[::-1])[::-1],
            rows=array.tolist(),
        )

    def lower_bound(self, alpha: float) -> float:
        """Largest candidate such that it and all below it are excluded."""
        excluded = int(np.count_nonzero(self.above >= -math.log(alpha)))
        return self._scaled(_GRID[max(excluded - 1, 0)])

    def upper_bound(self, alpha: float) -> float:
        """Smallest candidate such that it and all above it are excluded."""
        excluded = int(np.count_nonzero(self.below >= -math.log(alpha)))
        return self._scaled(_GRID[min(_GRID.size - excluded, _GRID.size - 1)])

    def standard_error(self, at: float | None = None) -> float:
        """Half-width of the 68 % interval: betting has no standard error of its own."""
        low, high = self.bounds
        if at is not None:
            return math.sqrt(max((at - low) * (high - at), 0.0) / self.sample.units)
        return 0.5 * self.interval(0.6827).width

    def best_case_gap(self, alpha: float) -> float:
        """Upper end after as many units without any event."""
        clean = BettingMean.of_values(np.zeros(self.sample.units))
        return clean.upper_bound(alpha) * (self.bounds[1] - self.bounds[0])

    def _scaled(self, x: float) -> float:
        low, high = self.bounds
        return float(low + x * (high - low))


def _capital(x: Floats) -> Floats:
    """Log of the largest capital of bets that the mean is above each candidate."""
    most = np.zeros(_GRID.size)
    adaptive = np.zeros(_GRID.size)
    cautious = np.zeros(_GRID.size)
    # No stake ever risks more than its share: the worst loss is the candidate itself.
    cap = _STAKE / np.maximum(_GRID, 1e-9)
    total, squares = 0.5, 0.25
    for t, value in enumerate(x.tolist(), start=1):
        mean, variance = total / t, squares / t
        edge = mean - _GRID
        bet = np.clip(edge / (variance + edge**2), 0.0, cap)
        steady = np.minimum(math.sqrt(_TUNED / (variance * t * math.log1p(t))), cap)
        gain = value - _GRID
        adaptive += np.log1p(bet * gain)
        cautious += np.log1p(steady * gain)
        np.maximum(most, np.logaddexp(adaptive, cautious) - math.log(2.0), out=most)
        total += value
        squares += (value - total / (t + 1)) ** 2
    return most

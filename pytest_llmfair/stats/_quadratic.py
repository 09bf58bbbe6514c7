"""Quantities quadratic in their deviations, such as divergences: scaled noncentral chi-square."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy import special

from pytest_llmfair.stats._bracket import INFLATION, Bracket
from pytest_llmfair.stats._clusters import Floats
from pytest_llmfair.stats._rate_bounds import find_root

# Nodes of a Gauss quadrature over probabilities, and their weights.
_NODES, _WEIGHTS = (0.5 * (x + shift) for x, shift in zip(leggauss(24), (1.0, 0.0), strict=True))
# How much more often than the error rate equal groups must fall short for "rarely".
_RARE = 0.1
# Error rates at which the least upper end is compared with the one asked for.
_ALPHAS = (0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.225, 0.25, 0.275, 0.3, 0.35, 0.4, 0.45)


class Noncentral:
    """Law of a non-negative statistic whose mean is the truth plus a floor.

    It is taken as the multiple of a noncentral chi-square that has the same mean and variance,
    averaged over what the variance may be, given the estimated one. `floor` and `variance` are
    those of the statistic when the truth is 0, and the variance grows by `slope` with the truth.
    `shift` is how much the floor has changed at some truth, and that truth: it moves there in a
    straight line and stays.
    """

    def __init__(
        self,
        floor: float,
        variance: float,
        slope: float,
        df: float,
        shift: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self.floor, self.variance, self.slope, self.df = floor, variance, slope, df
        self.shift = shift

    @cached_property
    def _ratios(self) -> Floats:
        """Estimated over true variance at the nodes: chi-square over its degrees of freedom."""
        return np.asarray(special.chdtri(self.df, 1.0 - _NODES) / self.df)

    def probability(self, seen: float, truth: float) -> float:
        """Probability of a statistic up to `seen` when the truth is `truth`."""
        change, at = self.shift
        floor = self.floor + change * min(1.0, truth / at)
        scale = (self.variance + self.slope * truth) / (2.0 * floor + 4.0 * truth)
        ratios = self._ratios / scale
        return float(_WEIGHTS @ special.chndtr(seen * ratios, floor / scale, truth * ratios))

    def lower(self, seen: float, alpha: float) -> float:
        """Smallest truth under which a statistic so large is not too rare."""
        return self._truth(seen, 1.0 - alpha)

    def upper(self, seen: float, alpha: float) -> float:
        """Largest truth under which a statistic so small is not too rare.

        One that even a truth of 0 rarely falls short of says no more than that: equality is never
        proven, at any level.
        """
        found, least = self._truth(seen, alpha), self._least(alpha)
        if found < least:
            # With very few degrees of freedom this rises again: what was proven stays proven.
            least = min([least, *(other for at, other in self._leasts.items() if at < alpha)])
        return max(found, least)

    def _least(self, alpha: float) -> float:
        """Upper end for a statistic that a truth of 0 rarely falls short of."""
        df = 2.0 * self.floor**2 / self.variance
        rare = float(special.fdtri(df, self.df, alpha + _RARE))
        return self._truth(self.floor * rare, alpha)

    @cached_property
    def _leasts(self) -> dict[float, float]:
        return {alpha: self._least(alpha) for alpha in _ALPHAS}

    def _truth(self, seen: float, below: float) -> float:
        """Truth under which a statistic up to `seen` has probability `below`."""
        if self.probability(seen, 0.0) <= below:
            return 0.0
        high = (seen + self.floor) ** 0.5
        while self.probability(seen, high * high) > below:
            high *= 2.0
        return find_root(lambda x: self.probability(seen, x * x) - below, 0.0, high) ** 2


class QuadraticBracket(Bracket):
    """Bounds by a noncentral chi-square whose moments at equality come from relabelling.

    A divergence has no slope where groups are equal, so a plug-in with a standard error, or a
    bootstrap that adds its bias a second time, are far too wide there. Away from equality the
    variance is that of the linear functional the data chose.
    """

    method = "noncentral chi-square, moments by relabelling"
    rate = 1.0

    @cached_property
    def _law(self) -> Noncentral | None:
        draws = self._relabelled
        variance = float(draws.var())
        if self.single or not variance > self._rounding**2 or not self.value > 0.0:
            return None
        error, df = self._error_df
        floor = float(draws.mean())
        # The bootstrap sees how much of that bias is left among the shares observed.
        change = float(self._draws.mean()) - self.value - floor
        change = max(change, -0.5 * min(floor, self.value))
        slope = (INFLATION * error) ** 2 / self.value
        return Noncentral(floor, variance, slope, df, (change, self.value))

    @property
    def debiased(self) -> float:
        """Median-unbiased divergence; inside the interval at every level."""
        return self.lower(0.5)

    def lower(self, alpha: float) -> float:
        """Smallest divergence under which one so large is not too rare."""
        if self._law is None:
            return super().lower(alpha)
        seen = self._law.lower(self.value, alpha)
        return min(seen, self.value * (1.0 - self._unseen(alpha)))

    def upper(self, alpha: float) -> float:
        """Largest divergence under which one so small is not too rare; never 0."""
        if self._law is None:
            return super().upper(alpha)
        return self._end_of(self.value, alpha)

    def _end_of(self, value: float, alpha: float) -> float:
        if self._law is None:
            return super()._end_of(value, alpha)
        guarded = value + self._unseen(alpha) * (self.span - value)
        found = self._law.upper(value, alpha)
        return min(self.span, max(found, guarded if self._unseen(alpha) > 0.0 else 0.0))

"""Quantities that are quadratic in their deviations: bounds by a scaled noncentral chi-square."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy import special

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
    averaged over what the variance may be, given the estimated one.

    Parameters
    ----------
    floor, variance : float
        Mean and variance of the statistic when the truth is 0.
    slope : float
        How fast its variance grows with the truth.
    df : float
        Degrees of freedom of the estimated variances.
    shift : tuple of float
        How much the floor has changed at some truth, and that truth: it moves there in a straight
        line and stays.
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

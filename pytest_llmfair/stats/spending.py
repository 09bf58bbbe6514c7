"""Error spending for interim looks: O'Brien-Fleming shape, Lan-DeMets, any spacing of looks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr, ndtri

from pytest_llmfair.stats._clusters import Floats

_GRID = 601
_REACH = 8.0


def obrien_fleming(alpha: float, fraction: float) -> float:
    """One-sided error that may be spent by an information fraction in (0, 1].

    The O'Brien-Fleming type spending function of Lan and DeMets (1983):
    ``2 - 2 Phi(z_{1 - alpha / 2} / sqrt(fraction))``.
    """
    return float(2.0 * ndtr(-ndtri(1.0 - alpha / 2.0) / math.sqrt(fraction)))


@dataclass(slots=True)
class Spending:
    """Nominal one-sided error rate of each look, so that all looks together keep ``alpha``.

    The test statistics of the looks are those of a Brownian motion; the probability of having
    stopped earlier is integrated numerically (Armitage, McPherson and Rowe 1969).

    Attributes
    ----------
    alpha : float
        One-sided error rate over all looks.
    """

    alpha: float
    _fraction: float = 0.0
    _spent: float = 0.0
    _points: Floats = field(default_factory=lambda: np.zeros(1))
    _density: Floats = field(default_factory=lambda: np.ones(1))

    def look(self, fraction: float) -> float:
        """Take a look at an information fraction, planned or not; return its nominal error rate.

        Parameters
        ----------
        fraction : float
            Share of the planned evidence at hand, in (0, 1] and above that of the last look.

        Raises
        ------
        ValueError
            If nothing was added since the last look, or the plan is exceeded: looking again at
            the same evidence cannot be paid for.
        """
        if not self._fraction < fraction <= 1.0:
            raise ValueError(
                f"a look at {fraction:.0%} of the evidence after one at {self._fraction:.0%}; "
                "every look needs new evidence, at most the planned amount"
            )
        target = obrien_fleming(self.alpha, fraction)
        step = math.sqrt(fraction - self._fraction)
        boundary = self._boundary(target - self._spent, step)
        low = -_REACH * math.sqrt(fraction)
        points = np.linspace(low, boundary, _GRID)
        jump = np.exp(-0.5 * ((points[:, None] - self._points[None, :]) / step) ** 2)
        self._density = jump @ self._weighted() / (step * math.sqrt(2.0 * math.pi))
        self._points = points
        self._fraction, self._spent = fraction, target
        return float(ndtr(-boundary / math.sqrt(fraction)))

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

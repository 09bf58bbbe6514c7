"""The bracket for means of many absolute differences, whose bias can be taken back out.

Each term ``|N(d, s^2)|`` has the mean ``s * m(|d| / s)`` with m convex. Terms whose |d| add up to
t therefore have a plug-in with mean at least ``S * m(t / S)``, S the sum of their standard errors
(Jensen). Over many terms the plug-in is close to normal around its mean; a single area, such as a
Wasserstein distance, is not, and keeps the plain bracket.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import special

from pytest_llmfair.stats._bracket import Bracket
from pytest_llmfair.stats._clusters import Floats
from pytest_llmfair.stats._intervals import t_quantile
from pytest_llmfair.stats._totals import Totals

# Beyond this many standard errors a folded normal is a normal.
_FAR = 8.0
_GRID = np.linspace(0.0, _FAR, 2001)
_FOLDED = math.sqrt(2.0 / math.pi) * np.exp(-0.5 * _GRID**2) + _GRID * (
    2.0 * special.ndtr(_GRID) - 1.0
)
_NOISE_DRAWS = 500


class Sum(Protocol):
    """A distance that is a weighted sum of absolute differences."""

    def noise(self, totals: Floats) -> float:
        """Sum of the standard deviations, over draws, of the differences."""


@dataclass(eq=False)
class FoldedBracket(Bracket):
    """Bounds of a sum of absolute differences, less the bias of taking absolute values.

    Attributes
    ----------
    norm : Sum
        The distance, as far as its terms go.
    """

    problem: Totals
    norm: Sum

    method = "folded normal above, cross-fit below"

    @cached_property
    def _noise(self) -> float:
        """Sum of the standard errors of the terms."""
        weights = next(self.problem.strata.bootstrap(_NOISE_DRAWS, self.problem.columns))
        return self.norm.noise(self.problem.totals(weights))

    @property
    def debiased(self) -> float:
        """Mean of the cross-fits, clipped at 0 and at the upper end of every interval."""
        return 0.0 if self.single else min(super().debiased, self.upper(0.5))

    def lower(self, alpha: float) -> float:
        """Lower end with error rate `alpha`: cross-fit less its error.

        0 unless relabelling, too, tells the groups apart: over many terms that are all 0 the
        cross-fits vary more than the functional chosen at equal weights.
        """
        found = min(super().lower(alpha), self.debiased)
        return found if found > 0.0 and self.as_far_if_equal <= alpha else 0.0

    def upper(self, alpha: float) -> float:
        """Largest value whose plug-in is not yet too rare.

        A plug-in below its mean for equal groups says no more than that mean.
        """
        if self.single or not self._noise > self._rounding:
            return super().upper(alpha)
        return self._end_of(self.value, alpha)

    def _end_of(self, value: float, alpha: float) -> float:
        if not self._noise > self._rounding:
            return super()._end_of(value, alpha)
        error, df = self._error_df
        spread = self._quantile(alpha) - float(self._draws.mean())
        reach = max(t_quantile(1.0 - alpha, df) * error, spread, 0.0)
        seen = max(value, self._noise * float(_FOLDED[0])) + reach
        unseen = self._unseen(alpha)
        guarded = value + unseen * (self.span - value) if unseen > 0.0 else 0.0
        return min(self.span, max(self._unfolded(seen), guarded))

    def _unfolded(self, seen: float) -> float:
        """Largest sum of absolute differences whose plug-in has a mean of at most `seen`."""
        ratio = seen / self._noise
        if ratio >= _FAR:
            return seen
        return self._noise * float(np.interp(ratio, _FOLDED, _GRID))

"""Bootstrap-t for products of powers of totals, on the log scale."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from pytest_llmfair.stats._clusters import Floats
from pytest_llmfair.stats._intervals import normal_quantile
from pytest_llmfair.stats._resampling import SEED_BOOTSTRAP, blocks, upper_quantile

_DRAWS = 2000
# Draws that lost all variance say "infinitely far" without being infinite.
_FAR = 1e6
# A quantile of the draws may be small where they are skewed, but never this much below a normal's.
_LEAST = 0.25


class PowerProduct:
    """The statistic ``prod_k (sum_i totals[i, k]) ** powers[k]`` of independent units.

    Parameters
    ----------
    totals : ndarray of shape (n_units, n_factors)
        What each unit adds to every factor; factors are positive in sum.
    powers : ndarray of shape (n_factors,)
        Exponents, adding up to 0.
    """

    def __init__(self, totals: Floats, powers: Floats) -> None:
        # Factors of equal power may come in any order, units in any.
        columns = np.lexsort((np.sort(totals, axis=0).sum(axis=0), powers))
        totals, self.powers = totals[:, columns], powers[columns]
        self.totals = totals[np.lexsort(totals.T)]

    @cached_property
    def log(self) -> float:
        """Log of the statistic."""
        sums = [math.fsum(column) for column in self.totals.T.tolist()]
        return math.fsum(p * math.log(s) for p, s in zip(self.powers.tolist(), sums, strict=True))

    @cached_property
    def error(self) -> float:
        """Standard error of the log, by linearisation; NaN with one unit."""
        units = len(self.totals)
        if units < 2:
            return math.nan
        influence = (self.totals / self.totals.sum(axis=0)) @ self.powers
        return math.sqrt(units / (units - 1.0) * float((influence**2).sum()))

    @cached_property
    def _ratios(self) -> Floats:
        """Studentized bootstrap draws, sorted."""
        units = len(self.totals)
        generator = np.random.default_rng(SEED_BOOTSTRAP)
        parts = []
        for size in blocks(_DRAWS, units * len(self.powers)):
            weights = generator.multinomial(units, np.full(units, 1.0 / units), size=size)
            sums = weights @ self.totals
            known = np.asarray((sums > 0.0).all(axis=1))
            sums = np.where(known[:, None], sums, 1.0)
            logs = np.log(sums) @ self.powers
            influence = np.zeros((size, units))
            for column, power in enumerate(self.powers):
                influence += power * self.totals[:, column] / sums[:, column, None]
            errors = np.sqrt(units / (units - 1.0) * (weights * influence**2).sum(axis=1))
            shift = logs - self.log
            far = np.sign(shift) * _FAR
            usable = known & (errors > 1e-9 * self.error)
            parts.append(np.divide(shift, errors, out=far, where=usable))
        return np.sort(np.clip(np.concatenate(parts), -_FAR, _FAR))

    def bounds(self, alpha: float) -> tuple[float, float]:
        """Return the ends of the log with error rate `alpha` a side; they enclose it."""
        least = _LEAST * normal_quantile(1.0 - alpha)
        above = max(least, upper_quantile(self._ratios, alpha))
        below = max(least, upper_quantile(-self._ratios[::-1], alpha))
        return self.log - above * self.error, self.log + below * self.error

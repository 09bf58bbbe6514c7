"""Error rates of several tests: Holm's correction, all pairs of groups (Tukey), and max-T."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from pytest_llmfair.stats._records import Floats
from pytest_llmfair.stats._resampling import TAIL
from pytest_llmfair.stats._score_intervals import invert

_DRAWS = 20_000
_SEED = 14


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number, in the order given (Holm 1979).

    Adjusted values below alpha are significant at a family-wise error rate of alpha.

    Parameters
    ----------
    p_values : sequence of float
        Raw p-values in [0, 1]; NaN (nothing was tested) stays NaN and does not count.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    tested = [i for i, p in enumerate(p_values) if not math.isnan(p)]
    adjusted = [math.nan] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(sorted(tested, key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(tested) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def tukey_error_rate(groups: int, level: float) -> float:
    """Return the one-sided error rate of each two groups, at a joint two-sided `level` of all."""
    # Tukey-Kramer: from the studentized range of independent normal estimates; on the safe side
    # where their variances differ (Hayter 1984).
    z, step = np.linspace(-8.0, 8.0, 1601, retstep=True)
    density = np.exp(-0.5 * z * z) * step / math.sqrt(2.0 * math.pi)
    low, high = 0.0, 40.0
    while high - low > 1e-9:
        width = 0.5 * (low + high)
        inside = special.ndtr(z) - special.ndtr(z - width)
        if groups * float((density * inside ** (groups - 1)).sum()) < level:
            low = width
        else:
            high = width
    return float(special.ndtr(-high / math.sqrt(2.0)))


@dataclass(frozen=True)
class ErrorRate:
    """Error rate that several comparisons share: by max-T, or evenly (Bonferroni)."""

    # Comparisons that may prove a difference.
    number: int
    # Joint covariance that max-T takes from the data; Bonferroni without it.
    covariance: Floats | None = None
    # Comparisons as linear combinations of what the covariance is of, one row each.
    contrasts: Floats | None = None
    # Whether a comparison counts in both directions.
    folded: bool = True

    @cached_property
    def _draws(self) -> Floats:
        assert self.covariance is not None
        # Sorted, so that the order of groups does not matter.
        order = np.lexsort(
            (np.sort(self.covariance, axis=1).sum(axis=1), np.diag(self.covariance))
        )
        values, vectors = np.linalg.eigh(self.covariance[np.ix_(order, order)])
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        normal = np.random.default_rng(_SEED).standard_normal((_DRAWS, len(root)))
        contrasts = np.eye(len(root)) if self.contrasts is None else self.contrasts[:, order]
        largest = np.full(_DRAWS, 0.0 if self.folded else -np.inf)
        for row in contrasts @ root:
            if (length := float(np.linalg.norm(row))) > 0.0:
                error = normal @ (row / length)
                np.maximum(largest, np.abs(error) if self.folded else error, out=largest)
        return np.sort(largest)

    def each(self, alpha: float) -> float:
        """One-sided error rate of each comparison for which that of all is `alpha`."""
        if self.covariance is None:
            return alpha / self.number
        least = TAIL / _DRAWS
        if alpha < least:
            return alpha / least * self.each(least)
        return float(special.ndtr(-np.quantile(self._draws, 1.0 - alpha)))

    def all(self, p: float) -> float:
        """Smallest error rate of all at which a comparison with p-value `p` is proven."""
        return invert(lambda alpha: self.each(alpha) > p)


def expected_largest(errors: Floats) -> float:
    """Mean of the largest absolute value of independent normals with these standard errors."""
    normal = np.random.default_rng(_SEED).standard_normal((_DRAWS, len(errors)))
    return float(np.abs(normal * errors).max(axis=1).mean())

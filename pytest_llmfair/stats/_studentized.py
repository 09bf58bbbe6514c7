"""Critical values for the largest of all pairwise differences, by seeded simulation (max-T)."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

import numpy as np
from scipy import special

from pytest_llmfair.stats._clusters import Floats

_DRAWS = 20_000
_TAIL = 10
_SEED = 14


class LargestDifference:
    """Distribution of the largest studentized difference between correlated group means.

    Parameters
    ----------
    covariance : ndarray of shape (n_groups, n_groups)
        Covariance of the group means.
    """

    def __init__(self, covariance: Floats) -> None:
        # Order of groups and a common factor must not matter.
        order = np.lexsort((np.sort(covariance, axis=1).sum(axis=1), np.diag(covariance)))
        self.covariance = covariance[np.ix_(order, order)]

    @cached_property
    def _draws(self) -> Floats:
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        normal = np.random.default_rng(_SEED).standard_normal((_DRAWS, len(root))) @ root.T
        largest = np.zeros(_DRAWS)
        for g, h in combinations(range(len(root)), 2):
            variance = self.covariance[g, g] + self.covariance[h, h] - 2.0 * self.covariance[g, h]
            if variance > 0.0:
                difference = np.abs(normal[:, g] - normal[:, h]) / np.sqrt(variance)
                np.maximum(largest, difference, out=largest)
        return np.sort(largest)

    def per_pair(self, alpha: float) -> float:
        """One-sided error rate of each pair under which any of them errs with rate `alpha`."""
        least = _TAIL / _DRAWS
        if alpha < least:
            return alpha / least * self.per_pair(least)
        return float(special.ndtr(-np.quantile(self._draws, 1.0 - alpha)))


def expected_largest(errors: Floats) -> float:
    """Mean of the largest absolute value of independent normals with these standard errors."""
    normal = np.random.default_rng(_SEED).standard_normal((_DRAWS, len(errors)))
    return float(np.abs(normal * errors).max(axis=1).mean())

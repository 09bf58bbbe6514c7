"""Largest distance over pairs: several groups or strata, each against its reference."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_llmfair.stats.distance import Distance
from pytest_llmfair.stats.pairwise_max import MaxPairwiseDifference


@dataclass(eq=False, kw_only=True)
class MaxDistance(MaxPairwiseDifference):
    """Largest distance of several groups or strata to their reference.

    The interval is for the debiased value where those of the parts are.

    Examples
    --------
    >>> one = Distance.of_distributions([0.1, 0.2, 0.3] * 5, [0.4, 0.5, 0.6] * 5)
    >>> round(MaxDistance.of_pairs({"a": one}).value, 3)
    0.3
    """

    def __post_init__(self) -> None:
        """Give the interval the same centre as those of the parts."""
        if any(pair.of == "debiased" for pair in self.pairs.values()):
            object.__setattr__(self, "of", "debiased")

    @property
    def debiased(self) -> float:
        """Largest debiased distance; inside the interval at every level."""
        return max((pair.debiased for pair in self.pairs.values()), default=self.value)

    def noise_floor(self) -> float:
        """Return the largest floor of a part: the mean of the largest is at least that."""
        return max((pair.noise_floor() for pair in self.pairs.values()), default=self.value)

    def p_equal(self) -> float:
        """p-value of "no group differs from its reference": the smallest one, Bonferroni."""
        found = [p.p_equal() for p in self.pairs.values() if isinstance(p, Distance)]
        return min(1.0, len(found) * min(found)) if found else super().p_equal()

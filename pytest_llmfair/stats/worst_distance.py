"""The largest of several distances, each biased upwards like its parts."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_llmfair.stats.range import Range
from pytest_llmfair.stats.seminorm import Seminorm


@dataclass(eq=False, kw_only=True)
class WorstDistance(Range):
    """Largest distance of several groups or strata to their reference.

    Bounds are those of :class:`Range`. Where the intervals of the parts surround debiased values,
    so does this one.
    """

    def __post_init__(self) -> None:
        """Surround what the parts surround."""
        if any(pair.of == "debiased" for pair in self.pairs.values()):
            self.of = "debiased"

    @property
    def debiased(self) -> float:
        """Largest debiased distance; inside the interval at every level."""
        return max((pair.debiased for pair in self.pairs.values()), default=self.value)

    def noise_floor(self) -> float:
        """Return the largest floor of a part: the mean of the largest is at least that."""
        return max((pair.noise_floor() for pair in self.pairs.values()), default=self.value)

    def p_equal(self) -> float:
        """p-value of "no group differs from its reference": the smallest one, Bonferroni."""
        found = [p.p_equal() for p in self.pairs.values() if isinstance(p, Seminorm)]
        return min(1.0, len(found) * min(found, default=1.0))

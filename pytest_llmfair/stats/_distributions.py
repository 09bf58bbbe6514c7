"""Wasserstein-1 distances between score distributions of groups, as a function of unit weights.

W1 is the area between two distribution functions (Bouchard 2024, section 3.2; Czarnowska et al.
2021, Table 2, rows 3 and 21). Rows are sorted by score once; every weighting is a cumulative sum
over them, so no array of size units x scores is built.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_llmfair.stats._layout import Layout
from pytest_llmfair.stats._records import Floats, Indices
from pytest_llmfair.stats._resampling import SEED_LABELS, Strata, blocks, gathered

# Smaller differences of two distribution functions are rounding and have no sign.
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class WeightedDistance:
    """A weighted distance: the pooled groups of one side (marked 1) against the other."""

    first: Floats
    second: Floats
    weight: float = 1.0


@dataclass(frozen=True)
class Distributions:
    """Weighted sum of W1 distances between groups of scores."""

    scores: Floats
    # Weight of each score in its row: 1 / generations.
    shares: Floats
    layout: Layout
    comparisons: tuple[WeightedDistance, ...]
    # Position of each given unit among the resampled ones; meaningless where rows are resampled.
    place: Indices

    @property
    def strata(self) -> Strata:
        """How units are resampled."""
        return self.layout.strata

    @property
    def columns(self) -> int:
        """Numbers held per weighting."""
        return len(self.scores)

    @cached_property
    def _gaps(self) -> Floats:
        """Distance of each score to the next one."""
        return np.diff(self.scores)

    @cached_property
    def _group(self) -> Indices:
        return self.layout.group

    @cached_property
    def _members(self) -> Floats:
        """Whether each score is of each group, as 0 or 1."""
        inside = self._group[:, None] == np.arange(self.layout.groups)
        return np.asarray(inside, dtype=np.float64)

    def plug_in(self, weights: Floats) -> Floats:
        """Distance at each row of `weights` (n_draws, n_units)."""
        gaps = self._gaps
        total = np.zeros(len(weights))
        for factor, area in self._differences(weights):
            total += factor * (np.abs(area) @ gaps)
        return total

    def frozen(self, chosen: Floats, held: Floats) -> Floats:
        """Signs of the difference at `chosen`, applied to the difference at `held`."""
        gaps = self._gaps
        total = np.zeros(len(held))
        pairs = zip(self._differences(chosen), self._differences(held), strict=True)
        for (factor, first), (_, second) in pairs:
            total += factor * ((_signs(first) * second) @ gaps)
        return total

    def witness(self) -> list[Floats]:
        """For each comparison, the function of the score whose means differ by the distance."""
        # Kantorovich's dual: slopes of plus or minus 1, here as values at the sorted scores.
        gaps = self._gaps
        ones = np.ones((1, self.strata.units))
        found = []
        for _, area in self._differences(ones):
            steps = _signs(area[0]) * gaps
            found.append(np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]]))
        return found

    def influence(self) -> Floats:
        """Influence of each unit on the difference of the means of the witness."""
        group = self.layout.group
        sizes = np.bincount(group, weights=self.shares, minlength=self.layout.groups)
        influence = np.zeros(self.strata.units)
        for comparison, values in zip(self.comparisons, self.witness(), strict=True):
            for side, sign in ((comparison.first, 1.0), (comparison.second, -1.0)):
                mass = self.shares * side[group] / float(side @ sizes)
                centred = mass * (values - float(mass @ values))
                influence += (sign * comparison.weight) * np.bincount(
                    self.layout.unit, weights=centred, minlength=len(influence)
                )
        return influence

    def relabelled(self, draws: int) -> Floats:
        """Distances after relabelling inside units, or whole units where they have one group."""
        generator = np.random.default_rng(SEED_LABELS)
        gaps = self._gaps
        parts = []
        for size in blocks(draws, self.columns):
            labels = self.layout.shuffled(size, generator, free=False)
            total = np.zeros(size)
            for comparison in self.comparisons:
                area = self._area(self._coefficients(labels, comparison))
                total += comparison.weight * (np.abs(area) @ gaps)
            parts.append(total)
        return np.concatenate(parts)

    def _coefficients(self, labels: Indices, comparison: WeightedDistance) -> Floats:
        mass = np.bincount(self.layout.slot, weights=self.shares)
        first, second = comparison.first[labels], comparison.second[labels]
        return np.asarray(first / (first @ mass)[:, None] - second / (second @ mass)[:, None])

    def _area(self, coefficients: Floats) -> Floats:
        """Difference of the two distribution functions between neighbouring scores."""
        steps = gathered(coefficients, self.layout.slot[:-1])
        steps *= self.shares[:-1]
        return np.cumsum(steps, axis=1, out=steps)

    def _differences(self, weights: Floats) -> Iterator[tuple[float, Floats]]:
        mass = gathered(weights, self.layout.unit)
        mass *= self.shares
        totals = mass @ self._members
        for comparison in self.comparisons:
            first = comparison.first / _some(totals @ comparison.first)[:, None]
            second = comparison.second / _some(totals @ comparison.second)[:, None]
            steps = gathered(first - second, self._group[:-1])
            steps *= mass[:, :-1]
            yield comparison.weight, np.cumsum(steps, axis=1, out=steps)


def _some(mass: Floats) -> Floats:
    """Replace masses of 0: a resample of few shared units may leave a side empty."""
    return np.where(mass > 0.0, mass, 1.0)


def _signs(area: Floats) -> Floats:
    return np.where(np.abs(area) > _EQUAL, np.sign(area), 0.0)

"""Distances that depend on totals per group: means, shares, counts of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair.stats._clusters import Floats
from pytest_llmfair.stats._layout import Layout
from pytest_llmfair.stats._resampling import SEED_LABELS, Strata, blocks

# Step of the complex-step derivative: exact to rounding, since nothing is subtracted.
_STEP = 1e-30


class Norm(Protocol):
    """A convex distance as a function of totals of shape (n_draws, n_groups, n_features)."""

    @property
    def free(self) -> bool:
        """Whether equal groups means that a unit's rows could be of any group."""

    def distance(self, totals: Floats) -> Floats:
        """Distance at every draw."""

    def frozen(self, chosen: Floats, held: NDArray[Any]) -> NDArray[Any]:
        """Functionals that touch the distance at `chosen`, evaluated at `held` (maybe complex)."""


@dataclass(frozen=True, slots=True)
class Totals:
    """A distance between groups that needs no more of each row than some numbers to add up."""

    rows: Floats
    layout: Layout
    norm: Norm

    @property
    def strata(self) -> Strata:
        """How units are resampled."""
        return self.layout.strata

    @property
    def columns(self) -> int:
        """Numbers held per weighting."""
        return len(self.rows)

    def plug_in(self, weights: Floats) -> Floats:
        """Distance at each row of `weights` (n_draws, n_units)."""
        return self.norm.distance(self.totals(weights))

    def frozen(self, chosen: Floats, held: Floats) -> Floats:
        """Functionals chosen at some weights, evaluated at others."""
        return self.norm.frozen(self.totals(chosen), self.totals(held))

    def totals(self, weights: Floats) -> Floats:
        """Totals (n_draws, n_groups, n_features) at each row of `weights`."""
        group = self.layout.group
        totals = np.empty((len(weights), self.layout.groups, self.rows.shape[1]))
        for number in range(self.layout.groups):
            inside = group == number
            totals[:, number] = weights[:, self.layout.unit[inside]] @ self.rows[inside]
        return totals

    def influence(self) -> Floats:
        """Differentiate the functional chosen at equal weights by the weight of each unit."""
        units = self.strata.units
        full = self.totals(np.ones((1, units)))
        influence = np.empty(units)
        order = np.argsort(self.layout.unit, kind="stable")
        unit, group = self.layout.unit[order], self.layout.group[order]
        start = 0
        for size in blocks(units, full.size):
            own = np.zeros((size, *full.shape[1:]))
            inside = slice(*np.searchsorted(unit, [start, start + size]))
            np.add.at(own, (unit[inside] - start, group[inside]), self.rows[order[inside]])
            moved = self.norm.frozen(full, full + 1j * _STEP * own)
            influence[start : start + size] = moved.imag / _STEP
            start += size
        return influence

    def relabelled(self, draws: int) -> Floats:
        """Distances after random relabelling of groups that leaves units whole."""
        generator = np.random.default_rng(SEED_LABELS)
        slots = np.zeros((len(self.layout.slot_group), self.rows.shape[1]))
        np.add.at(slots, self.layout.slot, self.rows)
        parts = []
        for size in blocks(draws, len(slots) * self.layout.groups):
            labels = self.layout.shuffled(size, generator, self.norm.free)
            totals = np.stack(
                [(labels == number) @ slots for number in range(self.layout.groups)], axis=1
            )
            parts.append(self.norm.distance(totals))
        return np.concatenate(parts)

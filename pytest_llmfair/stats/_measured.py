"""A number measured on rows by group that nothing is known about but how to compute it again."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_llmfair.stats._clusters import Floats, Indices
from pytest_llmfair.stats._layout import Layout
from pytest_llmfair.stats._records import Population, Sample
from pytest_llmfair.stats._resampling import SEED_LABELS, Strata
from pytest_llmfair.stats._rows import FEW_UNITS
from pytest_llmfair.stats._tables import Grouped

Measure = Callable[[Indices, Indices], float]

_RELABELLINGS = 199


def flags(units: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Reason codes and the same in words."""
    if units >= FEW_UNITS:
        return (), ()
    return ("thin_evidence",), (
        f"only {units} units: below {FEW_UNITS} the interval is a rough guide",
    )


def why_undefined(value: float) -> str | None:
    """Say why a number that was measured is none."""
    if math.isfinite(value):
        return None
    return f"score and comparison give {value:g} on all data: a group has nothing to measure"


@dataclass(eq=False)
class Measured:
    """A function of rows and their groups, computed again on other rows and other groups.

    Attributes
    ----------
    measure : callable
        Row numbers and the group number of each (groups in order of appearance) to a number, NaN
        where these rows leave it undefined.
    order, groups : ndarray
        Rows in canonical order, and groups.
    layout : Layout
        Group and unit of each row in that order.
    sample : Sample
        How much evidence there is.
    """

    measure: Measure
    order: Indices
    groups: Indices
    layout: Layout
    sample: Sample

    @classmethod
    def of(
        cls,
        measure: Measure,
        groups: Iterable[Hashable],
        codes: Indices,
        units: Iterable[Hashable] | None,
        population: Population,
    ) -> Measured:
        """Read labels; `codes` ranks what each row holds, so that results follow content."""
        grouped = Grouped.of(groups, units, len(codes), population)
        layout, order, group_order = Layout.of(
            grouped.unit, grouped.group, (grouped.units, len(grouped.names)), codes, population
        )
        return cls(measure, order, group_order, layout, grouped.sample(population))

    @property
    def strata(self) -> Strata:
        """How units are resampled."""
        return self.layout.strata

    @property
    def single(self) -> bool:
        """Whether some sample has one unit only, so that nothing shows how much units vary."""
        return int(self.strata.sizes.min()) < 2

    def _at(self, kept: Indices, group: Indices) -> float:
        return self.measure(self.order[kept], self.groups[group])

    @cached_property
    def value(self) -> float:
        """The number, on all rows."""
        return self._at(np.arange(len(self.order)), self.layout.group)

    @cached_property
    def variance_df(self) -> tuple[float, float]:
        """Squared error by leaving out each unit in turn, and its degrees of freedom.

        Infinite where a sample has one unit, or leaving one out leaves nothing to measure.
        """
        if self.single:
            return np.inf, 1.0
        sizes = np.repeat(self.strata.sizes, self.strata.sizes)
        group = self.layout.group
        influence = np.empty(len(sizes))
        for element, size in enumerate(sizes.tolist()):
            kept = np.flatnonzero(self.layout.unit != element)
            influence[element] = (self.value - self._at(kept, group[kept])) * (size - 1.0) / size
        if not np.isfinite(influence).all():
            return np.inf, 1.0
        return self.strata.variance(influence)

    @cached_property
    def halves(self) -> Floats:
        """The number on random halves of the units, ascending; as far from it as it from truth."""
        weights = self.strata.halves()[0]
        found = []
        for row in weights:
            kept = np.flatnonzero(row[self.layout.unit] > 0.0)
            found.append(self._at(kept, self.layout.group[kept]))
        return np.sort(found)

    @cached_property
    def relabelled(self) -> Floats:
        """The number after random relabelling of groups that leaves units whole, ascending."""
        generator = np.random.default_rng(SEED_LABELS)
        rows = np.arange(len(self.order))
        labels = self.layout.shuffled(_RELABELLINGS, generator, free=False)
        return np.sort([self._at(rows, row[self.layout.slot]) for row in labels])

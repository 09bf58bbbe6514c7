"""From rows, groups and units to a distance on totals."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_llmfair.stats._base import NoRepeats
from pytest_llmfair.stats._bracket import Bracket
from pytest_llmfair.stats._canonical import canonical_orders
from pytest_llmfair.stats._clusters import (
    PLANNING_ICC,
    Floats,
    Indices,
    cluster_index,
    compact,
    is_constant,
    label_list,
)
from pytest_llmfair.stats._folded_bracket import FoldedBracket
from pytest_llmfair.stats._layout import Layout, places, ranks
from pytest_llmfair.stats._norms import Divergence, MeanGaps
from pytest_llmfair.stats._quadratic import QuadraticBracket
from pytest_llmfair.stats._records import Population, Sample
from pytest_llmfair.stats._totals import Norm, Totals


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows with the numbers of their group and unit; `names` in order of appearance."""

    group: Indices
    unit: Indices
    names: list[Hashable]
    units: int

    @classmethod
    def of(
        cls,
        groups: Iterable[Hashable],
        units: Iterable[Hashable] | None,
        rows: int,
        population: Population,
    ) -> Grouped:
        """Read labels.

        Raises
        ------
        ValueError
            If there is not one label per row, fewer than two groups, or a group has one row only
            in a fixed unit (names group and row).
        """
        labels = label_list(groups, rows, "groups")
        names = list(dict.fromkeys(labels))
        if len(names) < 2:
            raise ValueError(f"groups holds {len(names)} group; a distance needs two or more")
        group, _ = cluster_index(labels, rows)
        unit, count = cluster_index(units, rows)
        found = cls(group, unit, names, count)
        if population == "fixed":
            slot = unit * len(names) + group
            few = np.bincount(slot)[slot] < 2
            if few.any():
                row = int(np.argmax(few))
                raise NoRepeats(
                    f"row {row} (group {labels[row]!r}) is the only one of its unit and group; a "
                    "fixed population needs at least 2, since nothing else varies"
                )
        return found

    def arranged(self, values: Floats) -> tuple[Grouped, Floats]:
        """Return the same with rows, units and groups in canonical order, and their `values`.

        Whatever is computed from there has the same bits in any order and under any names.
        """
        sizes = self.units, len(self.names)
        units, groups = canonical_orders([self.unit, self.group], sizes, values)
        unit, group = places(units)[self.unit], places(groups)[self.group]
        order = np.lexsort((values, group, unit))
        names = [self.names[k] for k in groups]
        return Grouped(group[order], unit[order], names, self.units), values[order]

    def per_draw(self, population: Population) -> Floats:
        """Variance of a group mean in units of the variance of one row, planned per group."""
        found = []
        for number in range(len(self.names)):
            inside = self.group == number
            between = PLANNING_ICC / len(np.unique(self.unit[inside]))
            within = (1.0 - PLANNING_ICC) / int(inside.sum())
            found.append(within + (between if population == "sampled" else 0.0))
        return np.array(found)

    def subset(self, kept: Indices) -> Grouped:
        """Return the same for some rows."""
        group, names = compact(self.group[kept])
        unit, units = compact(self.unit[kept])
        left = np.unique(self.group[kept])
        return Grouped(group, unit, [self.names[k] for k in left[:names]], units)

    def covariance(self, values: Floats, population: Population, span: float) -> Floats:
        """Covariance of the group means of `values`, which range over `span`.

        A group that never varies gets the variance of one event more, one with a single unit the
        largest there is: no group is known for certain.
        """
        covariance = self._observed(values, population)
        for g in range(len(self.names)):
            inside = self.group == g
            own = np.unique(self.unit[inside]).size
            if own < 2 and population == "sampled":
                covariance[g, g] = 0.25 * span**2
            elif is_constant(values[inside], span):
                share = 1.0 / (own + 2.0)
                covariance[g, g] += span**2 * share * (1.0 - share) / own
        return covariance

    def _observed(self, values: Floats, population: Population) -> Floats:
        groups = len(self.names)
        sizes = np.bincount(self.group)
        if population == "fixed":
            slot = np.unique(self.unit * groups + self.group, return_inverse=True)[1]
            counts = np.bincount(slot)
            centred = values - (np.bincount(slot, weights=values) / counts)[slot]
            spread = centred**2 * (counts / (counts - 1.0))[slot]
            return np.diag(np.bincount(self.group, weights=spread) / sizes**2)
        centred = values - (np.bincount(self.group, weights=values) / sizes)[self.group]
        influence = np.zeros((self.units, groups))
        np.add.at(influence, (self.unit, self.group), centred / sizes[self.group])
        return np.asarray(influence.T @ influence * (self.units / max(1.0, self.units - 1.0)))

    def sample(self, population: Population) -> Sample:
        """Sizes for the report."""
        return Sample.of_sizes(np.bincount(self.unit), population)

    def totals(self, rows: Floats, norm: Norm, population: Population, span: float) -> Bracket:
        """Bracket of a distance on the totals of `rows`; `norm` counts groups as here."""
        codes = ranks(*rows.T)
        layout, order, group_order = Layout.of(
            self.unit, self.group, (self.units, len(self.names)), codes, population
        )
        if isinstance(norm, MeanGaps):
            norm = norm.reordered(group_order)
        problem = Totals(rows[order], layout, norm)
        guards = layout.guards(codes[order], population)
        if isinstance(norm, MeanGaps):
            return FoldedBracket(problem, span, guards, norm)
        kind = QuadraticBracket if isinstance(norm, Divergence) else Bracket
        return kind(problem, span, guards)


def divergence(
    grouped: Grouped, categories: Sequence[Hashable], base: float | None
) -> tuple[Floats, Divergence]:
    """Rows and norm of the Jensen-Shannon divergence of category shares."""
    number, count = cluster_index(categories, len(grouped.group), "categories")
    # The order of columns must not depend on which category comes first.
    axes = [grouped.unit, grouped.group, number]
    order = canonical_orders(
        axes, [grouped.units, len(grouped.names), count], np.ones(len(number))
    )[2]
    rows = np.zeros((len(number), count))
    rows[np.arange(len(number)), places(order)[number]] = 1.0
    scale = 1.0 if base is None else 1.0 / float(np.log(base))
    return rows, Divergence(scale)

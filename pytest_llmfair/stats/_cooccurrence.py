"""Counts of words that occur together with groups."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._clusters import check_repeats, cluster_index
from pytest_llmfair.stats._crossfit import Bracket, FoldedBracket
from pytest_llmfair.stats._layout import Guard, Layout, canonical_orders, places, ranks, stratified
from pytest_llmfair.stats._records import Floats, Indices, Population
from pytest_llmfair.stats._resampling import Strata
from pytest_llmfair.stats._totals import Associations, Totals


@dataclass(frozen=True, slots=True)
class Cooccurrences:
    """Checked counts per response: words with each group (only seen words), and mentions."""

    counts: Floats
    mentions: Floats
    unit: Indices
    units: int

    @classmethod
    def of(
        cls,
        counts: ArrayLike,
        mentions: ArrayLike | None,
        units: Iterable[Hashable] | None,
        population: Population,
    ) -> Cooccurrences:
        """Check counts, or raise ``ValueError`` that names the wrong response."""
        table = _counted(counts, "counts", 3)
        named = (
            np.zeros(table.shape[:2]) if mentions is None else _counted(mentions, "mentions", 2)
        )
        if named.shape != table.shape[:2]:
            raise ValueError(f"mentions has shape {named.shape}, counts {table.shape}")
        if table.shape[1] < 2:
            raise ValueError(
                f"counts has {table.shape[1]} group; an association needs two or more"
            )
        seen = table.sum(axis=(0, 1)) > 0.0
        if not seen.any():
            raise ValueError("no word was seen with any group; there is nothing to compare")
        unit, number = cluster_index(units, len(table))
        if population == "fixed":
            check_repeats(unit, "response {} is the only one of its unit".format)
        return cls(table[:, :, seen], named, unit, number)

    @property
    def hits(self) -> Floats:
        """Times each word was seen."""
        return np.asarray(self.counts.sum(axis=(0, 1)))

    def reference(self, given: ArrayLike | None) -> Floats:
        """Shares expected of the groups; ``ValueError`` unless they add up to 1."""
        groups = self.counts.shape[1]
        if given is None:
            return np.full(groups, 1.0 / groups)
        shares = np.asarray(given, dtype=np.float64)
        if shares.shape != (groups,) or not (shares >= 0.0).all() or abs(shares.sum() - 1) > 1e-9:
            raise ValueError(
                f"reference is {shares.tolist()}; give {groups} shares that add up to 1"
            )
        return shares

    def bracket(self, reference: Floats | None, population: Population) -> Bracket:
        """Bracket of the mean distance between each word's group shares and a reference."""
        response, group = np.nonzero(self.counts.any(axis=2) | (self.mentions > 0.0))
        rows = np.concatenate([self.counts, self.mentions[:, :, None]], axis=2)[response, group]
        fixed = population == "fixed"
        unit, number = (
            (np.arange(len(self.counts)), len(self.counts)) if fixed else (self.unit, self.units)
        )
        entry, column = np.nonzero(rows)
        words = rows.shape[1] - 1
        # Mentions belong to no word: a negative sign keeps that column apart.
        value = np.where(column == words, -1.0, 1.0) * rows[entry, column]
        axes = [unit[response[entry]], group[entry], column]
        sizes = [number, self.counts.shape[1], words + 1]
        if fixed:
            axes.append(self.unit[response[entry]])
            sizes.append(self.units)
        orders = canonical_orders(axes, sizes, value)
        order, strata = stratified(orders, self.unit if fixed else None)
        columns = orders[2][orders[2] != words]
        rows = np.hstack([rows[:, columns], rows[:, -1:]])
        own, group = places(order)[unit[response]], places(orders[1])[group]
        codes = ranks(*rows.T)
        order = np.lexsort((codes, group, own))
        key, slot = np.unique(own[order] * sizes[1] + group[order], return_inverse=True)
        slot_unit, slot_group = np.divmod(key, sizes[1])
        layout = Layout(own[order], slot, slot_unit, slot_group, sizes[1], Strata(strata))
        shares = None if reference is None else reference[orders[1]]
        most = 1.0 if shares is None else 1.0 - float(shares.min())
        seen = len(np.unique(own[rows[:, :-1].any(axis=1)]))
        problem = Totals(rows[order], layout, Associations(shares))
        return FoldedBracket(problem, most, (Guard(seen, seen),))


def _counted(values: ArrayLike, name: str, dimensions: int) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != dimensions:
        shape = "(responses, groups, words)" if dimensions == 3 else "(responses, groups)"
        raise ValueError(f"{name} has {table.ndim} dimensions; give {shape}")
    wrong = ~(np.isfinite(table) & (table >= 0.0))
    if wrong.any():
        raise ValueError(
            f"{name} of response {int(np.argwhere(wrong)[0, 0])} are negative or missing; give "
            "counts from 0"
        )
    return table

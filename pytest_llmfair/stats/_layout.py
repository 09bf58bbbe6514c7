"""Which row belongs to which group and sampling unit, in canonical order; relabelling."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair.stats._bracket import Guard
from pytest_llmfair.stats._canonical import canonical_orders
from pytest_llmfair.stats._clusters import Indices
from pytest_llmfair.stats._records import Population
from pytest_llmfair.stats._resampling import Strata


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows of evidence, their groups and what is resampled.

    `unit` is what is resampled with the row (the row itself where units are fixed), and `slot` the
    part of a unit that belongs to one group: the two sides of a pair are two slots.
    """

    unit: Indices
    slot: Indices
    slot_unit: Indices
    slot_group: Indices
    groups: int
    strata: Strata

    @classmethod
    def of(
        cls,
        unit: Indices,
        group: Indices,
        sizes: tuple[int, int],
        codes: Indices,
        population: Population,
    ) -> tuple[Layout, Indices, Indices]:
        """Lay rows out by content, of which `codes` has the rank; `sizes` are units and groups.

        Also return the order its rows are in, and the order its groups are in.
        """
        orders = canonical_orders([unit, group], sizes, codes.astype(np.float64))
        unit, group = places(orders[0])[unit], places(orders[1])[group]
        slot_key, slot = np.unique(unit * sizes[1] + group, return_inverse=True)
        slot_unit, slot_group = np.divmod(slot_key, sizes[1])
        order = np.lexsort((codes, slot))
        if population == "fixed":
            element, counts = places(order), np.bincount(slot)
        elif len(slot_key) == sizes[0]:
            element = places(np.lexsort((np.arange(sizes[0]), slot_group)))[unit]
            counts = np.bincount(slot_group)
        else:
            element, counts = unit, np.array([sizes[0]])
        layout = cls(element[order], slot[order], slot_unit, slot_group, sizes[1], Strata(counts))
        return layout, order, orders[1]

    def take(self, order: Indices) -> Layout:
        """Return the same with rows in another order."""
        return replace(self, unit=self.unit[order], slot=self.slot[order])

    @property
    def group(self) -> Indices:
        """Group of each row."""
        return self.slot_group[self.slot]

    def shuffled(self, size: int, generator: np.random.Generator, free: bool) -> Indices:
        """Relabel the slots at random, `size` times.

        Units with as many slots as one another exchange their sets of groups, and each deals its
        set out among its slots. With `free` each unit's slots get any different groups instead.
        """
        labels = np.empty((size, len(self.slot_group)), dtype=np.intp)
        per_unit = np.bincount(self.slot_unit)[self.slot_unit]
        for number in np.unique(per_unit):
            slots = np.flatnonzero(per_unit == number)
            units = len(slots) // number
            if free:
                keys = generator.random((size, units, self.groups))
                dealt = np.argsort(keys, axis=2)[:, :, :number]
            else:
                sets = self.slot_group[slots].reshape(units, number)
                whose = np.argsort(generator.random((size, units)), axis=1)
                inside = np.argsort(generator.random((size, units, number)), axis=2)
                dealt = np.take_along_axis(sets[whose], inside, axis=2)
            labels[:, slots] = dealt.reshape(size, -1)
        return labels

    def guards(self, codes: Indices, population: Population) -> tuple[Guard, ...]:
        """Count the units that differ from the most common one, per independent sample."""
        contents: list[list[int]] = [[] for _ in self.slot_group]
        for slot, code in zip(self.slot.tolist(), codes.tolist(), strict=True):
            contents[slot].append(code)
        if population == "fixed":
            unlike = sum(len(content) - _most_common(content) for content in contents)
            return (Guard(unlike, int(self.slot_unit.max()) + 1),)
        held = [tuple(sorted(content)) for content in contents]
        if len(self.strata.sizes) > 1:
            samples = [
                [held[k] for k in np.flatnonzero(self.slot_group == group)]
                for group in range(self.groups)
            ]
            return tuple(Guard(len(one) - _most_common(one), len(one)) for one in samples)
        whole: list[list[tuple[int, tuple[int, ...]]]] = [
            [] for _ in range(int(self.slot_unit.max()) + 1)
        ]
        for k, content in enumerate(held):
            whole[self.slot_unit[k]].append((int(self.slot_group[k]), content))
        differing = sum(
            len(one) < self.groups or len({content for _, content in one}) > 1 for one in whole
        )
        unlike = len(whole) - _most_common([tuple(one) for one in whole])
        return (Guard(min(differing, unlike), len(whole)),)


def places(order: Indices) -> Indices:
    """Position of every element in `order`."""
    found = np.empty(len(order), dtype=np.intp)
    found[order] = np.arange(len(order))
    return found


def ranks(*columns: NDArray[Any]) -> Indices:
    """Rank of each row among the different rows of a table given by columns.

    By the bytes of a row, which sort ten times faster than its numbers one after the other.
    """
    table = np.stack(columns, axis=1) + 0.0  # there are two zeros
    row = np.dtype((np.void, table.itemsize * table.shape[1]))
    whole = np.ascontiguousarray(table).view(row)
    return np.unique(whole, return_inverse=True)[1].reshape(-1).astype(np.intp)


def _most_common(items: Sequence[Hashable]) -> int:
    counts: dict[Hashable, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return max(counts.values())

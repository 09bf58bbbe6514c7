"""Rows with their groups and sampling units, in an order that only their content decides."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._records import Floats, Indices, Population, Sample
from pytest_llmfair.stats._resampling import Strata
from pytest_llmfair.stats._rows import FEW_EVENTS
from pytest_llmfair.stats._score_intervals import zero_event_bound

# At most this many interchangeable elements are ordered by choice; real data never have more.
_MOST_CHOICES = 50

# Elements with at most this many entries are compared entry by entry, others as bytes.
_FEW_ENTRIES = 16


def canonical_orders(
    axes: Sequence[Indices], sizes: Sequence[int], values: Floats
) -> list[Indices]:
    """Order the elements of every axis of a sparse table by content."""
    # Colour refinement: an element's colour becomes the sorted list of its entries, each entry
    # being its value and the colours of its elements on the other axes. Elements of one colour are
    # interchangeable; on all axes but the first, one of them is then put first, and the rounds go
    # on.
    ranks = _ranked(values)
    colours = [np.zeros(size, dtype=np.int64) for size in sizes]
    for _ in range(_MOST_CHOICES):
        _refine(colours, axes, ranks)
        tied = [k for k in range(1, len(axes)) if _count(colours[k]) < sizes[k]]
        if not tied:
            break
        _separate_one(colours[tied[0]])
    return [np.argsort(colour, kind="stable") for colour in colours]


def _count(colour: Indices) -> int:
    return int(colour.max(initial=-1)) + 1


def _refine(colours: list[Indices], axes: Sequence[Indices], ranks: Indices) -> None:
    before = -1
    while (found := sum(map(_count, colours))) != before:
        before = found
        for own in range(len(axes)):
            code = ranks
            for other in range(len(axes)):
                if other != own:
                    code = code * _count(colours[other]) + colours[other][axes[other]]
                    code = _ranked(code)
            colours[own] = _by_entries(colours[own], axes[own], code)


def _by_entries(colour: Indices, element: Indices, code: Indices) -> Indices:
    """Rank elements by their colour, then by the sorted list of the codes of their entries."""
    order = np.lexsort((code, element))
    counts = np.bincount(element, minlength=len(colour))
    starts = np.cumsum(counts) - counts
    code = code[order]
    if counts.max() <= _FEW_ENTRIES:
        for number in range(int(counts.max())):
            # An element without such an entry comes first.
            entry = np.zeros(len(colour), dtype=np.int64)
            longer = counts > number
            entry[longer] = code[starts[longer] + number] + 1
            colour = _ranked(colour * (int(entry.max()) + 1) + entry)
        return colour
    table = code.astype(">i8")
    keys = [
        (old, table[start : start + count].tobytes())
        for old, start, count in zip(
            colour.tolist(), starts.tolist(), counts.tolist(), strict=True
        )
    ]
    rank = {key: k for k, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)


def _ranked(values: NDArray[Any]) -> Indices:
    """Rank of each value among the different ones."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _separate_one(colour: Indices) -> None:
    """Put one element of the first shared colour after the others of that colour."""
    first = int(np.argmax(np.bincount(colour) > 1))
    member = int(np.argmax(colour == first))
    colour[colour > first] += 1
    colour[member] = first + 1


@dataclass(frozen=True, slots=True)
class Guard:
    """Rule of three for distances: equal units may hide different ones in the population."""

    # Units that differ from the most common one.
    events: int
    trials: int

    def unseen(self, alpha: float) -> float:
        """Share of unseen units that may differ from all of these; 0 where enough units differ."""
        return zero_event_bound(self.trials, alpha) if self.events < FEW_EVENTS else 0.0


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Comparisons of pooled groups, one per row; those of each side are marked 1."""

    first: Floats
    second: Floats
    # Weight of each comparison.
    factor: float = 1.0

    def reordered(self, groups: Indices) -> Comparisons:
        """Return the same for groups in another order, sides and comparisons by content."""
        # A distance has no direction, so sides may swap.
        sides = zip(self.first[:, groups].tolist(), self.second[:, groups].tolist(), strict=True)
        first, second = zip(*sorted(sorted(pair, reverse=True) for pair in sides), strict=True)
        return Comparisons(np.array(first), np.array(second), self.factor)


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows with their groups, and the units that are resampled."""

    # What is resampled with the row: the row itself where units are fixed.
    unit: Indices
    # The part of a unit that belongs to one group: the two sides of a pair are two slots.
    slot: Indices
    slot_unit: Indices
    slot_group: Indices
    groups: int
    strata: Strata

    @property
    def group(self) -> Indices:
        return self.slot_group[self.slot]

    def shuffled(self, size: int, generator: np.random.Generator, free: bool) -> Indices:
        """Relabel the slots at random, `size` times."""
        # Units with equally many slots exchange their sets of groups, and each unit deals its set
        # out among its slots. With `free` the slots of a unit get any different groups instead.
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
        units = int(self.slot_unit.max()) + 1
        slots = np.zeros(len(self.slot_group), dtype=np.int64)
        if population == "fixed":
            kinds = int(codes.max()) + 1
            kind, counts = np.unique(self.slot * kinds + codes, return_counts=True)
            np.maximum.at(slots, kind // kinds, counts)
            return (Guard(len(codes) - int(slots.sum()), units),)
        held = _by_entries(slots, self.slot, codes)
        if len(self.strata.sizes) > 1:
            samples = [held[self.slot_group == group] for group in range(self.groups)]
            return tuple(Guard(len(one) - _most_common(one), len(one)) for one in samples)
        own = held * self.groups + self.slot_group
        whole = _by_entries(np.zeros(units, dtype=np.int64), self.slot_unit, own)
        starts = np.searchsorted(self.slot_unit, np.arange(units))
        equal = np.minimum.reduceat(held, starts) == np.maximum.reduceat(held, starts)
        alike = equal & (np.bincount(self.slot_unit) == self.groups)
        unlike = units - max(_most_common(whole), int(alike.sum()))
        return (Guard(unlike, units),)


def places(order: Indices) -> Indices:
    """Position of every element in `order`."""
    found = np.empty(len(order), dtype=np.intp)
    found[order] = np.arange(len(order))
    return found


def stratified(orders: Sequence[Indices], whole: Indices | None) -> tuple[Indices, Indices]:
    """Order of the first axis, and its strata's sizes: the fixed units on the last axis."""
    order = orders[0]
    if whole is None:
        return order, np.array([len(order)])
    stratum = places(orders[-1])[whole]
    return np.lexsort((places(order), stratum)), np.bincount(stratum)


def ranks(*columns: NDArray[Any]) -> Indices:
    """Rank of each row among the different rows of a table given by columns."""
    # Rows are compared as bytes, which is ten times faster than sorting number by number.
    table = np.stack(columns, axis=1).astype(np.result_type(*columns, 0.0), copy=False)
    table += 0.0  # there are two zeros
    row = np.dtype((np.void, table.itemsize * table.shape[1]))
    whole = np.ascontiguousarray(table).view(row)
    return np.unique(whole, return_inverse=True)[1].reshape(-1).astype(np.intp)


def _most_common(numbers: Indices) -> int:
    return int(np.bincount(numbers).max())


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
        """Read labels, or raise ``ValueError`` that names the wrong group or row."""
        labels = clusters.label_list(groups, rows, "groups")
        names = list(dict.fromkeys(labels))
        if len(names) < 2:
            raise ValueError(f"groups holds {len(names)} group; a distance needs two or more")
        group, _ = clusters.cluster_index(labels, rows)
        unit, count = clusters.cluster_index(units, rows)
        found = cls(group, unit, names, count)
        if population == "fixed":
            only = "row {} (group {!r}) is the only one of its unit and group"
            clusters.check_repeats(
                unit * len(names) + group, lambda row: only.format(row, labels[row]), "of each"
            )
        return found

    def arranged(self, values: Floats) -> tuple[Grouped, Floats]:
        """Return the same with rows, units and groups in canonical order, and their `values`."""
        # Results then have the same bits for any order of rows and any names of groups.
        sizes = self.units, len(self.names)
        units, groups = canonical_orders([self.unit, self.group], sizes, values)
        unit, group = places(units)[self.unit], places(groups)[self.group]
        order = np.lexsort((values, group, unit))
        names = [self.names[k] for k in groups]
        return Grouped(group[order], unit[order], names, self.units), values[order]

    def per_draw(self, population: Population) -> Floats:
        """Variance of a group mean in units of the variance of one row, planned per group."""
        own = [self.unit[self.group == number] for number in range(len(self.names))]
        sizes = [(len(units), len(np.unique(units))) for units in own]
        return np.array([clusters.planned_variance(*size, population) for size in sizes])

    def subset(self, kept: Indices) -> Grouped:
        """Return the same for some rows."""
        group, names = clusters.compact(self.group[kept])
        unit, units = clusters.compact(self.unit[kept])
        left = np.unique(self.group[kept])
        return Grouped(group, unit, [self.names[k] for k in left[:names]], units)

    def covariance(self, values: Floats, population: Population, span: float) -> Floats:
        """Covariance of the group means of `values`, which range over `span`."""
        # A group that never varies gets the variance of one more event, and a group with a single
        # unit the largest possible variance.
        covariance = self._observed(values, population)
        for g in range(len(self.names)):
            inside = self.group == g
            own = np.unique(self.unit[inside]).size
            if own < 2 and population == "sampled":
                covariance[g, g] = 0.25 * span**2
            elif clusters.is_constant(values[inside], span):
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

    def layout(self, codes: Indices, population: Population) -> tuple[Layout, Indices, Indices]:
        """Order rows by content (ranks `codes`); return layout, order of rows, order of groups."""
        groups = len(self.names)
        orders = canonical_orders(
            [self.unit, self.group], [self.units, groups], codes.astype(np.float64)
        )
        unit, group = places(orders[0])[self.unit], places(orders[1])[self.group]
        slot_key, slot = np.unique(unit * groups + group, return_inverse=True)
        slot_unit, slot_group = np.divmod(slot_key, groups)
        order = np.lexsort((codes, slot))
        if population == "fixed":
            element, counts = places(order), np.bincount(slot)
        elif len(slot_key) == self.units:
            element = places(np.lexsort((np.arange(self.units), slot_group)))[unit]
            counts = np.bincount(slot_group)
        else:
            element, counts = unit, np.array([self.units])
        layout = Layout(element[order], slot[order], slot_unit, slot_group, groups, Strata(counts))
        return layout, order, orders[1]

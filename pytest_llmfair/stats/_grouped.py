"""Rows and scores arranged by group and sampling unit, ready for a distance."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._clusters import (
    check_repeats,
    cluster_index,
    compact,
    intraclass_correlation,
    is_constant,
    label_list,
    planned_variance,
)
from pytest_llmfair.stats._crossfit import Bracket, FoldedBracket, QuadraticBracket
from pytest_llmfair.stats._distributions import Distributions, WeightedDistance
from pytest_llmfair.stats._layout import Layout, canonical_orders, places, ranks
from pytest_llmfair.stats._records import Floats, Indices, Population, Sample
from pytest_llmfair.stats._rows import ragged
from pytest_llmfair.stats._totals import Divergence, MeanGaps, Norm, Totals


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
        labels = label_list(groups, rows, "groups")
        names = list(dict.fromkeys(labels))
        if len(names) < 2:
            raise ValueError(f"groups holds {len(names)} group; a distance needs two or more")
        group, _ = cluster_index(labels, rows)
        unit, count = cluster_index(units, rows)
        found = cls(group, unit, names, count)
        if population == "fixed":
            only = "row {} (group {!r}) is the only one of its unit and group"
            check_repeats(
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
        return np.array([planned_variance(*size, population) for size in sizes])

    def subset(self, kept: Indices) -> Grouped:
        """Return the same for some rows."""
        group, names = compact(self.group[kept])
        unit, units = compact(self.unit[kept])
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
        """Bracket of a distance on the totals of `rows`; `norm` numbers groups in the same way."""
        codes = ranks(*rows.T)
        layout, order, group_order = Layout.of(
            self.unit, self.group, (self.units, len(self.names)), codes, population
        )
        if isinstance(norm, MeanGaps):
            norm = norm.reordered(group_order)
        problem = Totals(rows[order], layout, norm)
        guards = layout.guards(codes[order], population)
        if isinstance(norm, MeanGaps):
            return FoldedBracket(problem, span, guards)
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


ScoreRows = ArrayLike | Sequence[ArrayLike]


@dataclass(frozen=True, slots=True)
class GroupedScores:
    """Flat scores of several groups; `shares` weights each by 1 / generations of its row."""

    grouped: Grouped
    scores: Floats
    shares: Floats

    @classmethod
    def of_sides(
        cls,
        sides: Sequence[tuple[Floats, Indices, Indices]],
        labels: Sequence[Sequence[Hashable]],
        names: Sequence[str],
        population: Population,
    ) -> GroupedScores:
        """Join the sides of :func:`read_rows`; equal labels are one unit, also across sides."""
        sizes = [len(counts) for _, _, counts in sides]
        unit, units = cluster_index([label for own in labels for label in own], sum(sizes))
        scores, row, _ = (np.concatenate(column) for column in zip(*sides, strict=True))
        group = np.repeat(np.arange(len(sides)), [len(flat) for flat, _, _ in sides])
        place = row + np.concatenate([[0], np.cumsum(sizes)[:-1]])[group]
        counts = np.concatenate([counts for _, _, counts in sides])
        grouped = Grouped(group, unit[place], list(names), units)
        if population == "fixed":
            check_repeats(
                grouped.unit * len(sides) + group,
                lambda entry: f"{names[group[entry]]} row {row[entry]} has 1 generation",
                "per unit and side",
            )
        return cls(grouped, scores, 1.0 / counts[place])

    def problem(
        self, comparisons: Sequence[WeightedDistance], population: Population
    ) -> Distributions:
        """Distances between these scores, units and groups in canonical order."""
        grouped = self.grouped
        layout, order, group_order = Layout.of(
            grouped.unit,
            grouped.group,
            (grouped.units, len(grouped.names)),
            ranks(self.scores, self.shares),
            population,
        )
        place = np.empty(grouped.units, dtype=np.intp)
        place[grouped.unit[order]] = layout.unit
        ascending = np.argsort(self.scores[order], kind="stable")
        order = order[ascending]
        return Distributions(
            scores=self.scores[order],
            shares=self.shares[order],
            layout=layout.take(ascending),
            comparisons=_canonical(comparisons, group_order),
            place=place,
        )


def read_rows(
    rows: ScoreRows, name: str, bounds: tuple[float, float]
) -> tuple[Floats, Indices, Indices]:
    """Flatten one group: its scores, the row of each, and the scores per row."""
    flat, counts = ragged(rows, name)
    if len(counts) == 0:
        raise ValueError(f"{name} has no rows; give at least one")
    if (counts == 0).any():
        raise ValueError(
            f"{name} row {int(np.argmax(counts == 0))} has no score; give at least one"
        )
    row_of = np.repeat(np.arange(len(counts)), counts)
    low, high = bounds
    wrong = ~((flat >= low) & (flat <= high) & np.isfinite(flat))
    if wrong.any():
        entry = int(np.argmax(wrong))
        limits = (
            f"a number in [{low:g}, {high:g}]" if np.isfinite([low, high]).all() else "numbers"
        )
        raise ValueError(f"{name} row {row_of[entry]} holds {flat[entry]:g}; give {limits}")
    return flat, row_of, counts


def pair_labels(
    sizes: Sequence[int],
    units: Sequence[Iterable[Hashable] | None],
    names: Sequence[str],
    paired: bool,
) -> list[Sequence[Hashable]]:
    """Label the rows of two sides: given labels, else row numbers, shared when `paired`."""
    if paired and sizes[0] != sizes[1]:
        both = " and ".join(f"{name} has {n} rows" for name, n in zip(names, sizes, strict=True))
        raise ValueError(f"{both}; pairs need as many rows on both sides (or paired=False)")
    given = [
        None if own is None else label_list(own, n, f"units of {name}")
        for own, n, name in zip(units, sizes, names, strict=True)
    ]
    if not paired:
        return [
            [(_Unlabelled, side, row) for row in range(n)] if own is None else own
            for side, (own, n) in enumerate(zip(given, sizes, strict=True))
        ]
    known = [own for own in given if own is not None] or [range(sizes[0])]
    for row, (first, other) in enumerate(zip(known[0], known[-1], strict=True)):
        if first != other:
            raise ValueError(
                f"row {row} is labelled {first!r} on one side and {other!r} on the other; "
                "give both sides of a pair the same label (or paired=False)"
            )
    return [known[0], known[-1]]


class _Unlabelled:
    """Label of rows without one; it never equals a caller's label."""


def _canonical(
    comparisons: Sequence[WeightedDistance], order: Indices
) -> tuple[WeightedDistance, ...]:
    """Sort comparisons and their sides; a distance has no direction, so sides may swap."""
    found = []
    for comparison in comparisons:
        sides = sorted(
            (comparison.first[order].tolist(), comparison.second[order].tolist()), reverse=True
        )
        found.append((sides[0], sides[1], comparison.weight))
    return tuple(WeightedDistance(np.array(a), np.array(b), w) for a, b, w in sorted(found))


def sample_of(
    scores: GroupedScores, problem: Distributions, engine: Bracket, population: Population
) -> Sample:
    """Sizes, and the design effect for the function whose means differ by the distance."""
    layout, values, error = problem.layout, problem.witness()[0], engine.error()
    sizes = np.bincount(layout.group, minlength=layout.groups)
    means = np.bincount(layout.group, weights=values, minlength=layout.groups) / sizes
    centred = values - means[layout.group]
    squares = np.bincount(layout.group, weights=centred**2, minlength=layout.groups)
    effective = icc = design = math.nan
    if (sizes > 1).all() and squares.sum() > 0.0 and error > 0.0:
        design = error**2 / float((squares / (sizes * (sizes - 1.0))).sum())
        effective = len(values) / design
        icc = intraclass_correlation(
            np.bincount(layout.slot, weights=centred).astype(np.float64),
            np.bincount(layout.slot).astype(np.float64),
            float(squares.sum()),
        )
    return Sample.of_sizes(
        np.bincount(scores.grouped.unit),
        population,
        effective=effective,
        icc=icc,
        design_effect=design,
    )

"""Wasserstein-1 distances between score distributions of groups, as a function of unit weights.

W1 is the area between two distribution functions (Bouchard 2024, section 3.2; Czarnowska et al.
2021, Table 2, rows 3 and 21). Rows are sorted by score once; every weighting is a cumulative sum
over them, so no array of size units x scores is built.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._layout import Comparisons, Grouped, Layout, ranks
from pytest_llmfair.stats._records import Floats, Indices, Population, Sample
from pytest_llmfair.stats._resampling import SEED_LABELS, blocks, gathered
from pytest_llmfair.stats._rows import ragged

# Smaller differences of two distribution functions are rounding and have no sign.
_EQUAL = 1e-12


@dataclass(frozen=True)
class Distributions:
    """Weighted sum of W1 distances between groups of scores."""

    scores: Floats
    # Weight of each score in its row: 1 / generations.
    shares: Floats
    layout: Layout
    sides: Comparisons
    # Position of each given unit among the resampled ones; meaningless where rows are resampled.
    place: Indices

    @property
    def columns(self) -> int:
        return len(self.scores)

    @cached_property
    def _gaps(self) -> Floats:
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
        total = np.zeros(len(weights))
        for area in self._differences(weights):
            total += self.sides.factor * (np.abs(area) @ self._gaps)
        return total

    def frozen(self, chosen: Floats, held: Floats) -> Floats:
        """Signs of the difference at `chosen`, applied to the difference at `held`."""
        total = np.zeros(len(held))
        pairs = zip(self._differences(chosen), self._differences(held), strict=True)
        for first, second in pairs:
            total += self.sides.factor * ((_signs(first) * second) @ self._gaps)
        return total

    def witness(self) -> list[Floats]:
        """For each comparison, the function of the score whose means differ by the distance."""
        # Kantorovich's dual: slopes of plus or minus 1, here as values at the sorted scores.
        ones = np.ones((1, self.layout.strata.units))
        found = []
        for area in self._differences(ones):
            steps = _signs(area[0]) * self._gaps
            found.append(np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]]))
        return found

    def influence(self) -> Floats:
        """Influence of each unit on the difference of the means of the witness."""
        group = self.layout.group
        sizes = np.bincount(group, weights=self.shares, minlength=self.layout.groups)
        influence = np.zeros(self.layout.strata.units)
        sides = zip(self.sides.first, self.sides.second, self.witness(), strict=True)
        for one, other, values in sides:
            for side, sign in ((one, 1.0), (other, -1.0)):
                mass = self.shares * side[group] / float(side @ sizes)
                centred = mass * (values - float(mass @ values))
                influence += (sign * self.sides.factor) * np.bincount(
                    self.layout.unit, weights=centred, minlength=len(influence)
                )
        return influence

    def relabelled(self, draws: int) -> Floats:
        """Distances after relabelling inside units, or whole units where they have one group."""
        generator = np.random.default_rng(SEED_LABELS)
        mass = np.bincount(self.layout.slot, weights=self.shares)
        parts = []
        for size in blocks(draws, self.columns):
            labels = self.layout.shuffled(size, generator, free=False)
            total = np.zeros(size)
            for one, other in zip(self.sides.first, self.sides.second, strict=True):
                first, second = one[labels], other[labels]
                share = first / (first @ mass)[:, None] - second / (second @ mass)[:, None]
                steps = gathered(share, self.layout.slot[:-1])
                steps *= self.shares[:-1]
                area = np.cumsum(steps, axis=1, out=steps)
                total += self.sides.factor * (np.abs(area) @ self._gaps)
            parts.append(total)
        return np.concatenate(parts)

    def _differences(self, weights: Floats) -> Iterator[Floats]:
        """By comparison, the difference of two distribution functions at the scores."""
        mass = gathered(weights, self.layout.unit)
        mass *= self.shares
        totals = mass @ self._members
        for one, other in zip(self.sides.first, self.sides.second, strict=True):
            first = one / _some(totals @ one)[:, None]
            second = other / _some(totals @ other)[:, None]
            steps = gathered(first - second, self._group[:-1])
            steps *= mass[:, :-1]
            yield np.cumsum(steps, axis=1, out=steps)


def _some(mass: Floats) -> Floats:
    """Replace masses of 0: a resample of few shared units may leave a side empty."""
    return np.where(mass > 0.0, mass, 1.0)


def _signs(area: Floats) -> Floats:
    return np.where(np.abs(area) > _EQUAL, np.sign(area), 0.0)


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
        unit, units = clusters.cluster_index([*chain(*labels)], sum(sizes))
        scores, row, _ = (np.concatenate(column) for column in zip(*sides, strict=True))
        group = np.repeat(np.arange(len(sides)), [len(flat) for flat, _, _ in sides])
        place = row + np.concatenate([[0], np.cumsum(sizes)[:-1]])[group]
        counts = np.concatenate([counts for _, _, counts in sides])
        grouped = Grouped(group, unit[place], list(names), units)
        if population == "fixed":
            clusters.check_repeats(
                grouped.unit * len(sides) + group,
                lambda entry: f"{names[group[entry]]} row {row[entry]} has 1 generation",
                "per unit and side",
            )
        return cls(grouped, scores, 1.0 / counts[place])

    def problem(self, sides: Comparisons, population: Population) -> Distributions:
        """Distances between these scores, units and groups in canonical order."""
        grouped = self.grouped
        layout, order, group_order = grouped.layout(ranks(self.scores, self.shares), population)
        place = np.empty(grouped.units, dtype=np.intp)
        place[grouped.unit[order]] = layout.unit
        ascending = np.argsort(self.scores[order], kind="stable")
        order = order[ascending]
        return Distributions(
            scores=self.scores[order],
            shares=self.shares[order],
            layout=replace(layout, unit=layout.unit[ascending], slot=layout.slot[ascending]),
            sides=sides.reordered(group_order),
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
        None if own is None else clusters.label_list(own, n, f"units of {name}")
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


def sample_of(
    scores: GroupedScores, problem: Distributions, error: float, population: Population
) -> Sample:
    """Sizes, and the design effect for the function whose means differ by the distance."""
    layout, values = problem.layout, problem.witness()[0]
    sizes = np.bincount(layout.group, minlength=layout.groups)
    means = np.bincount(layout.group, weights=values, minlength=layout.groups) / sizes
    centred = values - means[layout.group]
    squares = np.bincount(layout.group, weights=centred**2, minlength=layout.groups)
    effective = icc = design = math.nan
    if (sizes > 1).all() and squares.sum() > 0.0 and error > 0.0:
        design = error**2 / float((squares / (sizes * (sizes - 1.0))).sum())
        effective = len(values) / design
        icc = clusters.intraclass_correlation(
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

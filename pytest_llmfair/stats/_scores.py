"""Scores of groups, with the sampling unit of each: from rows of generations to flat arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._base import Population
from pytest_llmfair.stats._bracket import Guard
from pytest_llmfair.stats._canonical import canonical_orders
from pytest_llmfair.stats._clusters import (
    Floats,
    Indices,
    check_rows,
    intraclass_correlation,
    label_list,
)
from pytest_llmfair.stats._distributions import Comparison, Distributions
from pytest_llmfair.stats._resampling import Strata

Rows = ArrayLike | Sequence[ArrayLike]


@dataclass(frozen=True, slots=True)
class Scores:
    """Flat scores of several groups.

    Attributes
    ----------
    scores, shares : ndarray of shape (n_scores,)
        Scores, and what each counts in its row (1 / generations of the row).
    unit, group : ndarray of shape (n_scores,)
        Sampling unit and group of each score.
    units, groups : int
        How many there are.
    """

    scores: Floats
    shares: Floats
    unit: Indices
    group: Indices
    units: int
    groups: int

    @classmethod
    def of(
        cls,
        rows: Sequence[Rows],
        labels: Sequence[Sequence[Hashable]],
        names: Sequence[str],
        bounds: tuple[float, float],
    ) -> Scores:
        """Flatten the rows of each group; equal labels are one unit, also across groups.

        Raises
        ------
        ValueError
            If a group has no row, a row no score, or a score is illegal (names group and row).
        """
        numbers: dict[Hashable, int] = {}
        parts: list[tuple[Floats, Floats, Indices, Indices]] = []
        for group, (table, own, name) in enumerate(zip(rows, labels, names, strict=True)):
            scores, row, counts = read_rows(table, name, bounds)
            unit = np.array([numbers.setdefault(label, len(numbers)) for label in own])
            parts.append((scores, 1.0 / counts[row], unit[row], np.full(len(row), group)))
        flat = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return cls(flat[0], flat[1], flat[2], flat[3], len(numbers), len(rows))

    def problem(self, comparisons: Sequence[Comparison], population: Population) -> Distributions:
        """Distances between these scores, units and groups in canonical order."""
        tied = np.stack([self.scores, self.shares], axis=1)
        ranks = np.unique(tied, axis=0, return_inverse=True)[1].reshape(-1).astype(np.float64)
        unit_order, group_order = canonical_orders(
            [self.unit, self.group], [self.units, self.groups], ranks
        )
        group = _places(group_order)[self.group]
        unit = _places(unit_order)[self.unit]
        slot_key, slot = np.unique(unit * self.groups + group, return_inverse=True)
        slot_unit, slot_group = np.divmod(slot_key, self.groups)
        order = np.lexsort((self.shares, slot, self.scores))
        if population == "fixed":
            element = _places(np.lexsort((self.shares, self.scores, slot)))
            sizes = np.bincount(slot)
        elif len(slot_key) == self.units:
            whole = _places(np.lexsort((np.arange(self.units), slot_group)))
            element, sizes = whole[unit], np.bincount(slot_group)
        else:
            element, sizes = unit, np.array([self.units])
        return Distributions(
            scores=self.scores[order],
            shares=self.shares[order],
            unit=element[order],
            slot=slot[order],
            slot_group=slot_group,
            slot_unit=slot_unit,
            groups=self.groups,
            comparisons=_canonical(comparisons, group_order),
            strata=Strata(sizes),
        )


def read_rows(
    rows: Rows, name: str, bounds: tuple[float, float]
) -> tuple[Floats, Indices, Indices]:
    """Flatten one group: its scores, the row of each, and the scores per row."""
    try:
        table = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim == 1 and table.size:
        table = table[:, None]
    if table.ndim == 2:
        counts = np.full(table.shape[0], table.shape[1])
        flat = table.reshape(-1)
    else:
        pieces = [np.atleast_1d(np.asarray(row, dtype=np.float64)) for row in _listed(rows, name)]
        for row, piece in enumerate(pieces):
            if piece.ndim != 1:
                raise ValueError(f"{name} row {row} has {piece.ndim} dimensions; give its scores")
        counts = np.array([piece.size for piece in pieces], dtype=np.intp)
        flat = np.concatenate(pieces) if pieces else np.empty(0)
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
        check_rows(flat[wrong][:1], f"{name} row {row_of[int(np.argmax(wrong))]}, entry", bounds)
    return flat, row_of, counts


def _listed(rows: Any, name: str) -> list[Any]:
    try:
        return list(rows)
    except TypeError:
        raise ValueError(
            f"{name} is {rows!r}; give one score or a list of scores per row"
        ) from None


def need_two(counts: Indices, labels: Sequence[Hashable], name: str) -> None:
    """Raise ``ValueError`` naming the first row whose unit has one score only."""
    totals: dict[Hashable, int] = {}
    for label, count in zip(labels, counts.tolist(), strict=True):
        totals[label] = totals.get(label, 0) + count
    for row, label in enumerate(labels):
        if totals[label] < 2:
            raise ValueError(
                f"{name} row {row} has 1 generation; a fixed population needs at least 2 per unit "
                "and side, since nothing else varies"
            )


def pair_labels(
    counts: Sequence[int],
    units: Sequence[Iterable[Hashable] | None],
    names: Sequence[str],
    paired: bool,
) -> list[Sequence[Hashable]]:
    """Label the rows of every group: given labels, else row numbers, shared when `paired`.

    Raises
    ------
    ValueError
        If paired groups differ in rows, or in the label of a row.
    """
    labels: list[Sequence[Hashable]] = []
    if paired and len(set(counts)) > 1:
        both = " and ".join(f"{name} has {n} rows" for name, n in zip(names, counts, strict=True))
        raise ValueError(f"{both}; pairs need as many rows on both sides (or paired=False)")
    given = [own for own in units if own is not None]
    for group, (n, own, name) in enumerate(zip(counts, units, names, strict=True)):
        if own is None and paired and given:
            own = given[0]
        if own is not None:
            labels.append(label_list(own, n, f"units of {name}"))
        elif paired:
            labels.append(range(n))
        else:
            labels.append([(_Unlabelled, group, row) for row in range(n)])
    if paired:
        for row, (first, *others) in enumerate(zip(*labels, strict=True)):
            if any(other != first for other in others):
                raise ValueError(
                    f"row {row} is labelled {first!r} on one side and {others[0]!r} on the other; "
                    "give both sides of a pair the same label (or paired=False)"
                )
    return labels


class _Unlabelled:
    """Marks rows without a label, so that they never equal a caller's label."""


def _places(order: Indices) -> Indices:
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    return places


def _canonical(comparisons: Sequence[Comparison], order: Indices) -> tuple[Comparison, ...]:
    """Move sides to canonical groups; a distance has no direction, so sides may be swapped."""
    found = []
    for comparison in comparisons:
        sides = sorted(
            (comparison.first[order].tolist(), comparison.second[order].tolist()), reverse=True
        )
        found.append((sides[0], sides[1], comparison.weight))
    return tuple(Comparison(np.array(a), np.array(b), w) for a, b, w in sorted(found))


def guards_of(problem: Distributions, population: Population) -> tuple[Guard, ...]:
    """Count the units that differ from the most common one, per independent sample."""
    contents = _contents(problem)
    units = np.unique(problem.slot_unit, return_inverse=True)[1]
    if population == "fixed":
        unlike = sum(len(part) - _most_common(part) for part in contents)
        return (Guard(unlike, int(units.max()) + 1),)
    if problem.strata.units == len(problem.slot_group) and len(problem.strata.sizes) > 1:
        return tuple(
            Guard(len(part) - _most_common(part), len(part))
            for part in (
                [contents[k] for k in np.flatnonzero(problem.slot_group == group)]
                for group in range(problem.groups)
            )
        )
    whole: dict[int, list[tuple[int, tuple[float, ...]]]] = {}
    for k, content in enumerate(contents):
        whole.setdefault(int(units[k]), []).append((int(problem.slot_group[k]), content))
    differing = sum(len({content for _, content in part}) > 1 for part in whole.values())
    unlike = len(whole) - _most_common([tuple(part) for part in whole.values()])
    return (Guard(min(differing, unlike), len(whole)),)


def _contents(problem: Distributions) -> list[tuple[float, ...]]:
    order = np.argsort(problem.slot, kind="stable")
    ends = np.cumsum(np.bincount(problem.slot))[:-1]
    return [tuple(part.tolist()) for part in np.split(problem.scores[order], ends)]


def _most_common(items: Sequence[Hashable]) -> int:
    counts: dict[Hashable, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return max(counts.values())


def clustering(problem: Distributions, error: float) -> tuple[float, float, float]:
    """Effective sample size, intraclass correlation and design effect of a single distance.

    Taken of the function of the score whose means differ by the distance.
    """
    values = problem.witness()[0]
    group = problem.slot_group[problem.slot]
    sizes = np.bincount(group, minlength=problem.groups)
    means = np.bincount(group, weights=values, minlength=problem.groups) / sizes
    centred = values - means[group]
    squares = np.bincount(group, weights=centred**2, minlength=problem.groups)
    if (sizes < 2).any() or not squares.sum() > 0.0 or not error > 0.0:
        return float("nan"), float("nan"), float("nan")
    design = error**2 / float((squares / (sizes * (sizes - 1.0))).sum())
    icc = intraclass_correlation(
        np.bincount(problem.slot, weights=centred).astype(np.float64),
        np.bincount(problem.slot).astype(np.float64),
        float(squares.sum()),
    )
    return len(values) / design, icc, design

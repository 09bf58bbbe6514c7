"""A reader of paired answers: ridge regression on differences, fitted without what it reads.

Relabelling a unit only turns the signs of its rows around, so that all relabellings share the
factorised system of each fold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._records import Floats, Indices
from pytest_llmfair.stats._score_intervals import t_quantile

_FOLDS, _RIDGE, _FLIPS = 5, 0.3, 999
# The folds of few pairs are drawn several times.
_PARTITIONS, _PARTITIONED = 5, 1500
# Added to the mean square of a column by which it is divided: damps words of few answers.
_DAMPING = 1e-3
# Answers that are exchanged to see what is found; more would take time and show the same.
_PLANTED_ANSWERS, _PLANTED_PARTITIONS, _PLANTS, _STEPS, _OFTEN = 480, 2, 20, 5, 0.8
_SEED_FOLDS, _SEED_FLIPS, _SEED_PLANTS = 21, 22, 23


@dataclass(frozen=True, slots=True)
class PairedRows:
    """Features of distinct answers, and which of them are the answers of each pair."""

    # Shape (n_answers, n_columns).
    rows: Floats
    # Places in `rows`, shape (n_pairs, most answers); -1 where a pair has fewer.
    first: Indices
    second: Indices
    # Sampling unit of each pair, numbered from 0.
    units: Indices

    def differences(self, rows: Floats) -> Floats:
        """Return per pair the mean features of the first answers less those of the second."""
        padded = np.vstack([rows, np.zeros((1, rows.shape[1]), rows.dtype)])
        means = []
        for side in (self.first, self.second):
            total = padded[side[:, 0]].astype(np.float64)
            for column in side.T[1:]:
                total += padded[column]
            means.append(total / (side >= 0).sum(axis=1)[:, None])
        return np.asarray(means[0] - means[1])

    def scaled(self, blocks: Sequence[tuple[Floats, bool]]) -> tuple[Self, float]:
        """Return blocks over their root mean squares, and the squared divisor of the first."""
        # Exchanging the answers of a pair changes nothing here, so that the pairs that are read
        # may count too.
        found, weights = [], []
        for block, damped in blocks:
            squares = np.mean(self.differences(block) ** 2, axis=0)
            kept = squares > 1e-12 * np.abs(block).max(axis=0, initial=0.0) ** 2
            scale = np.where(kept, np.sqrt(squares + damped * _DAMPING), math.inf)
            weights.append(float((squares / scale**2).sum()) or 1.0)
            found.append(block / (scale * math.sqrt(weights[-1])).astype(block.dtype))
        return replace(self, rows=np.hstack(found)), weights[0]

    def partitions(self, most: int) -> list[Indices]:
        """Return the fold of each pair, one for a unit; several times, against chance."""
        draw, units = np.random.default_rng(_SEED_FOLDS), int(self.units.max()) + 1
        number = max(1, min(most, _PARTITIONED // len(self.first)))
        folds = min(_FOLDS, units)
        return [(draw.permutation(units) % folds)[self.units] for _ in range(number)]


def _in_span(gram: Floats, products: Floats) -> Floats:
    """Return coordinates of answers in the span of differences, from products with these."""
    sizes, axes = np.linalg.eigh(gram)
    kept = sizes > 1e-10 * max(float(sizes[-1]), 1e-300)
    return np.asarray(products @ (axes[:, kept] / np.sqrt(sizes[kept])))


@dataclass(frozen=True, slots=True)
class Reading:
    """Share of right guesses by pair, and after random exchanges of the sides of units."""

    # Share of combinations of a first and a second answer that are ordered rightly, by pair.
    right: Floats
    # The most certain of them: by how much, and the places of both answers in their rows.
    margins: Floats
    surest: Indices
    # The mean share after each exchange; empty where none was asked for.
    flips: Floats


def read(pairs: PairedRows) -> Reading:
    """Cross-fit the reader, and again with the sides of units exchanged at random."""
    # As few columns as the differences span; turning the axes takes time too.
    if pairs.rows.shape[1] > 1.25 * len(pairs.first):
        spanning = pairs.differences(pairs.rows)
        pairs = replace(pairs, rows=_in_span(spanning @ spanning.T, pairs.rows @ spanning.T))
    n, partitions = len(pairs.first), pairs.partitions(_PARTITIONS)
    draw = np.random.default_rng(_SEED_FLIPS)
    signs = draw.choice([-1.0, 1.0], (int(pairs.units.max()) + 1, 1 + _FLIPS))
    signs[:, 0] = 1.0
    signs = signs[pairs.units]
    flips, right = np.zeros(1 + _FLIPS), np.zeros(n)
    margins, surest = np.empty(n), np.empty((n, 2), dtype=np.intp)
    for fold in partitions:
        for here, weights in _fitted(pairs, fold, signs):
            used, first, second = _used(pairs, here)
            scores = _rounded(pairs.rows[used] @ weights.astype(pairs.rows.dtype))
            a, b = scores[first], scores[second]
            order = _order(a, b)
            flips += (signs[here] * order).sum(axis=0)
            right[here] += order[:, 0]
            a, b = a[:, :, 0], b[:, :, 0]
            margins[here] = np.nanmax(a, axis=1) - np.nanmin(b, axis=1)
            surest[here] = np.column_stack([np.nanargmax(a, axis=1), np.nanargmin(b, axis=1)])
    right, flips = (0.5 + 0.5 * x / len(partitions) for x in (right, flips[1:] / n))
    return Reading(right, margins, surest, np.sort(flips))


def _used(pairs: PairedRows, here: Indices) -> tuple[Indices, Indices, Indices]:
    """Return the rows of the answers to some pairs, and the places of both sides among these."""
    sides = pairs.first[here], pairs.second[here]
    used = np.unique(np.concatenate([side.ravel() for side in sides]))
    used = used[used >= 0]
    first, second = (np.where(side < 0, -1, np.searchsorted(used, side)) for side in sides)
    return used, first, second


def _right(pairs: PairedRows) -> Floats:
    """Return the share that is ordered rightly by pair, as the answers are labelled."""
    total, partitions = np.zeros(len(pairs.first)), pairs.partitions(_PLANTED_PARTITIONS)
    for fold in partitions:
        weights = [found[:, 0] for _, found in _fitted(pairs, fold, np.ones((len(fold), 1)))]
        scores = _rounded(pairs.rows @ np.column_stack(weights).astype(pairs.rows.dtype))
        total += _order(*(scores[side, fold[:, None]] for side in (pairs.first, pairs.second)))
    return 0.5 + 0.5 * total / len(partitions)


def _fitted(pairs: PairedRows, fold: Indices, signs: Floats) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of each fold, and the weights that all others give, by labelling."""
    differences = pairs.differences(pairs.rows)
    gram, sums = differences.T @ differences, differences.T @ signs
    for k in range(int(fold.max()) + 1):
        here = np.flatnonzero(fold == k)
        own = differences[here]
        system = gram - own.T @ own
        ridge = _RIDGE * float(np.trace(system)) / (len(fold) - len(here))
        if ridge > 1e-12:
            system.flat[:: len(system) + 1] += ridge
            yield here, np.linalg.solve(system, sums - own.T @ signs[here])
        else:
            yield here, np.zeros(sums.shape)


def _rounded(scores: Floats) -> Floats:
    """Round scores so that equal ones are, and add a row of NaN for answers that are not there."""
    step = math.sqrt(np.finfo(scores.dtype).eps) * max(float(np.abs(scores).max()), 1e-30)
    scores = np.round(scores / step)
    return np.vstack([scores, np.full((1, scores.shape[1]), math.nan, scores.dtype)])


def _order(a: Floats, b: Floats) -> Floats:
    """Return by pair, and by labelling, the mean sign of first less second scores."""
    total = np.zeros((a.shape[0], *a.shape[2:]))
    number = np.zeros_like(total)
    for i in range(a.shape[1]):
        for j in range(b.shape[1]):
            x, y = a[:, i], b[:, j]
            total += x > y
            total -= x < y
            number += ~np.isnan(x + y)
    return np.asarray(total / number)


def error_between(right: Floats, units: Indices) -> float:
    """Return the standard error of the mean over pairs, from the means of units."""
    count = int(units.max()) + 1
    return math.sqrt(clusters.variance_of_mean(clusters.mean_influence(right, units, count)))


def smallest_found(pairs: PairedRows, divisor: float, flips: Floats, alpha: float) -> float:
    """Return the smallest share of changed answers found in 80 % of cases; infinite if none is."""
    some = _some_units(pairs)
    more = math.sqrt(len(pairs.first) / len(some.first))
    least = max(float(flips.std()), 1e-12) * more
    critical = 0.5 + more * (float(np.quantile(flips, 1.0 - alpha)) - 0.5)
    products = (some.rows @ some.rows.T).astype(np.float64)
    draw = np.random.default_rng(_SEED_PLANTS)
    plants = [_Plant.drawn(some, draw) for _ in range(_PLANTS)]

    def often(share: float) -> bool:
        missed, df = 0, float(some.units.max())
        for plant in plants:
            right = _right(plant.answers(products, divisor, share))
            value = float(right.mean())
            reach = t_quantile(1.0 - alpha, df) * max(error_between(right, some.units), least)
            missed += not (value - reach > 0.5 and value > critical)
            if missed > (1.0 - _OFTEN) * _PLANTS:
                return False
        return True

    low, high = 0.0, 1.0
    if not often(high):
        return math.inf
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if often(middle) else (middle, high)
    # With more pairs the error shrinks with their root, and the reader learns more.
    return high / more


def _some_units(pairs: PairedRows) -> PairedRows:
    """Return the pairs of as many units as have few enough answers to exchange."""
    answers = (pairs.first >= 0).sum(axis=1) + (pairs.second >= 0).sum(axis=1)
    sizes = np.bincount(pairs.units, answers)
    order = np.random.default_rng(_SEED_PLANTS).permutation(len(sizes))
    kept = order[: max(3, int((np.cumsum(sizes[order]) <= _PLANTED_ANSWERS).sum()))]
    here = np.flatnonzero(np.isin(pairs.units, kept))
    used, first, second = _used(pairs, here)
    units = np.unique(pairs.units[here], return_inverse=True)[1]
    return PairedRows(pairs.rows[used], first, second, units)


@dataclass(frozen=True, slots=True)
class _Plant:
    """Pairs without a difference, and by which answers to other prompts theirs are replaced."""

    pairs: PairedRows
    chance: Floats
    other: Indices

    @classmethod
    def drawn(cls, pairs: PairedRows, draw: np.random.Generator) -> _Plant:
        """Exchange the sides of units, and draw an answer of another pair for each answer."""
        turned = draw.random(int(pairs.units.max()) + 1)[pairs.units] < 0.5
        sides = pairs.first, pairs.second
        first, second = (
            np.where(turned[:, None], sides[1 - i], sides[i])
            if sides[0].shape == sides[1].shape
            else sides[i]
            for i in (0, 1)
        )
        n, most = first.shape
        pair = (np.arange(n)[:, None] + draw.integers(1, max(n, 2), (n, most))) % n
        column = (draw.random((n, most)) * (first >= 0).sum(axis=1)[pair]).astype(np.intp)
        own = replace(pairs, first=first, second=second)
        return cls(own, draw.random((n, most)), first[pair, column])

    def answers(self, products: Floats, divisor: float, share: float) -> PairedRows:
        """Return the answers with so large a share of one side replaced."""
        first, second = self.pairs.first, self.pairs.second
        marked = (first >= 0) & (self.chance < share)
        n, size = len(first), len(products)
        first = np.where(marked, size + self.other, first)
        weights = np.zeros((n, 2 * size + 1))
        for side, sign in ((first, 1.0), (second, -1.0)):
            each = sign / (side >= 0).sum(axis=1)
            for column in side.T:
                weights[np.arange(n), column] += each * (column >= 0)
        weights = weights[:, :-1]
        marks = weights[:, size:].sum(axis=1)
        squares = float(np.mean(marks**2))
        scale = 1.0 / ((squares + _DAMPING) * divisor)
        with_word = np.concatenate([np.zeros(size), np.ones(size)])
        shared = products @ (weights[:, :size] + weights[:, size:]).T
        rows = np.vstack([shared, shared]) + scale * np.outer(with_word, marks)
        found = _in_span(weights @ rows, rows)
        return replace(self.pairs, rows=found, first=first)

"""Mean comparison of the answers to counterfactual pairs, with noise floor and excess."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Sequence, Sized
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pytest_llmfair.metrics.arguments import Floats, known_population, labels
from pytest_llmfair.session import current_session
from pytest_llmfair.stats import Mean, Population, Sample

T = TypeVar("T", bound=Hashable)

# Compares two sequences of answers entry by entry.
CompareAnswers = Callable[[Sequence[T], Sequence[T]], npt.ArrayLike]
# Reduces the answers to both members of pairs to the five terms of each pair.
Reduce = Callable[[Sequence[Sequence[T]], Sequence[Sequence[T]]], Floats]

# Comparisons made in one call: enough for array operations, few enough to save memory.
_AT_ONCE = 8192

# With fewer answers to a pair the variance of its excess cannot be estimated for fixed pairs.
_ENOUGH = 6


def one_by_one(compare: Callable[[T, T], float]) -> CompareAnswers[T]:
    """Turn a comparison of two answers into one of two sequences of answers."""
    return lambda first, second: list(map(compare, first, second))


def mean_over_pairs(
    rows_a: Sequence[Sequence[T]],
    rows_b: Sequence[Sequence[T]],
    reduce: Reduce[T],
    *,
    units: Sequence[Hashable] | None,
    population: Population,
    bounds: tuple[float, float] = (0.0, 1.0),
    outcomes: bool = False,
    argument: str = "texts",
) -> Mean:
    """Mean of a symmetric comparison over all answers to the two members of each pair."""
    # With several answers a side the estimate has the mean within sides as `floor`, and cross
    # minus within as `excess`.
    fewest = _fewest(rows_a, rows_b, argument)
    units = None if units is None else labels(units, "units", len(fewest))
    table = _reduced(reduce, rows_a, rows_b)
    cross, cross_variance, within, within_variance, excess_variance = table.T
    repeated = np.flatnonzero(~np.isnan(within))
    floor = excess = None
    if repeated.size:
        own_units = None if units is None else [units[i] for i in repeated.tolist()]
        answers = [len(rows_a[i]) + len(rows_b[i]) for i in repeated.tolist()]
        floor = Mean.of_values(
            within[repeated],
            bounds=bounds,
            generation_variance=within_variance[repeated],
            units=own_units,
            generations=answers,
            population=population,
        )
        span, base = bounds[1] - bounds[0], floor.value
        excess = Mean.of_values(
            (cross - within)[repeated],
            bounds=(-span, span),
            reach=(bounds[0] - base, bounds[1] - base),
            generation_variance=excess_variance[repeated],
            units=own_units,
            generations=answers,
            # Two answers do not show how much their similarity varies: the interval is then that
            # of pairs drawn from a population, which is never narrower.
            population=population if min(answers) >= _ENOUGH else "sampled",
        )
        # One entry per row of the value; NaN for a pair with a single answer on a side.
        excess = replace(excess, rows=(cross - within).tolist())
    estimate = Mean.of_values(
        cross,
        units=units,
        bounds=bounds,
        generation_variance=None if np.isnan(cross_variance).any() else cross_variance,
        generations=fewest,
        outcomes=outcomes and all(len(row) == 1 for row in (*rows_a, *rows_b)),
        floor=floor,
        excess=excess,
        population=population,
    )
    return replace(estimate, rows=cross.tolist(), compares_answers=True)


def sample_of_pairs(
    rows_a: Sequence[Sized],
    rows_b: Sequence[Sized],
    *,
    units: Sequence[Hashable] | None,
    population: Population,
    argument: str,
) -> Sample:
    """Return the evidence in pairs, where no mean of them is defined."""
    known_population(population)
    fewest = _fewest(rows_a, rows_b, argument)
    groups = range(len(fewest)) if units is None else labels(units, "units", len(fewest))
    per_unit: Counter[Hashable] = Counter()
    for label, n in zip(groups, fewest, strict=True):
        per_unit[label] += n
    return Sample.of_sizes(per_unit.values(), population)


def _fewest(rows_a: Sequence[Sized], rows_b: Sequence[Sized], argument: str) -> list[int]:
    """Return the number of answers of each pair, on the side that has fewer."""
    if len(rows_a) != len(rows_b):
        raise ValueError(
            f"lengths differ: {argument}_a has {len(rows_a)} rows, {argument}_b has "
            f"{len(rows_b)}; row i of both is one pair"
        )
    return list(map(min, map(len, rows_a), map(len, rows_b)))


def _reduced(
    reduce: Reduce[T], rows_a: Sequence[Sequence[T]], rows_b: Sequence[Sequence[T]]
) -> Floats:
    """Return the terms of pairs; those that workers of an audit have made are not made again."""
    session = current_session()
    store = None if session is None else session.reductions
    table = None if store is None else store.reduced(reduce, rows_a, rows_b)
    if table is None:
        return reduce(rows_a, rows_b)
    if left := np.flatnonzero(np.isnan(table[:, 0])).tolist():
        table[left] = reduce([rows_a[i] for i in left], [rows_b[i] for i in left])
    return np.asarray(table, dtype=np.float64)


def reduction(compare: CompareAnswers[T]) -> Reduce[T]:
    """Return the reduction of pairs by a comparison of answers."""
    return functools.partial(_terms, compare=compare)


def _terms(
    rows_a: Sequence[Sequence[T]], rows_b: Sequence[Sequence[T]], *, compare: CompareAnswers[T]
) -> Floats:
    """Return per pair what :func:`_pair` does; NaN where answers are too few."""
    # `compare` gets each two distinct answers once, many at a time.
    table = np.full((len(rows_a), 5), np.nan)
    start = 0
    while start < len(rows_a):
        numbers: dict[T, int] = {}
        first: list[int] = []
        second: list[int] = []
        stop = start
        while stop < len(rows_a) and len(first) < _AT_ONCE:
            a, b = (
                [numbers.setdefault(answer, len(numbers)) for answer in row]
                for row in (rows_a[stop], rows_b[stop])
            )
            _ask(a, b, first, second)
            stop += 1
        answers = list(numbers)
        # Equal comparisons are made once: short answers repeat within and between pairs.
        asked = np.array(first, dtype=np.int64) * len(answers) + np.array(second, dtype=np.int64)
        distinct, place = np.unique(asked, return_inverse=True)
        left, right = (half.tolist() for half in np.divmod(distinct, len(answers)))
        values = np.asarray(
            compare([answers[i] for i in left], [answers[i] for i in right]), dtype=np.float64
        )[place]
        if values.size == stop - start:
            table[start:stop, 0] = values
        else:
            position = 0
            for row in range(start, stop):
                sizes = len(rows_a[row]), len(rows_b[row])
                table[row], position = _pair(values, position, *sizes)
        start = stop
    return table


def _ask(a: list[int], b: list[int], first: list[int], second: list[int]) -> None:
    """Add the comparisons of a pair: every answer with all of the other side, then within."""
    if len(a) == len(b) == 1:
        first += a
        second += b
        return
    first += [x for x in a for _ in b]
    second += b * len(a)
    if len(a) > 1 and len(b) > 1:
        for side in (a, b):
            couples = list(itertools.combinations(side, 2))
            first += [x for x, _ in couples]
            second += [y for _, y in couples]


def _pair(values: Floats, start: int, n_a: int, n_b: int) -> tuple[tuple[float, ...], int]:
    """Return the terms of a pair, and where those of the next begin."""
    # Terms: mean over cross pairs and its variance due to generations; mean within sides and its
    # variance; variance of the difference of the two means.
    stop = start + n_a * n_b
    cross = values[start:stop].reshape(n_a, n_b)
    # Projections on single answers (Hoeffding): the variance that sampling answers adds.
    by_a, by_b = cross.mean(axis=1), cross.mean(axis=0)
    mean, variance = float(cross.mean()), variance_of_mean(by_a) + variance_of_mean(by_b)
    if n_a < 2 or n_b < 2:
        nan = float("nan")
        return (mean, variance, nan, nan, nan), stop
    middle, end = stop + n_a * (n_a - 1) // 2, stop + (n_a * (n_a - 1) + n_b * (n_b - 1)) // 2
    in_a, in_b = _within(values[stop:middle], n_a), _within(values[middle:end], n_b)
    return (
        mean,
        variance,
        float(in_a.mean() + in_b.mean()) / 2.0,
        variance_of_mean(in_a) + variance_of_mean(in_b),
        variance_of_mean(by_a - in_a) + variance_of_mean(by_b - in_b),
    ), end


def _within(values: Floats, n: int) -> Floats:
    """Mean comparison of each answer with the others of its own side."""
    i, j = np.triu_indices(n, 1)
    total = np.bincount(i, values, n) + np.bincount(j, values, n)
    return np.asarray(total / (n - 1), dtype=np.float64)


def variance_of_mean(projections: Floats) -> float:
    """Variance that sampling adds to a mean, from what each answer adds; NaN for one answer."""
    n = projections.size
    return float(projections.var(ddof=1)) / n if n > 1 else float("nan")


def placebo_floor(
    originals: Sequence[Sequence[T]],
    counterfactuals: Sequence[Sequence[T]],
    placebos: Sequence[Sequence[T]],
    compare: CompareAnswers[T],
    *,
    units: Sequence[Hashable] | None,
    population: Population,
) -> tuple[Mean | None, Mean | None]:
    """Return the mean comparison of a prompt with its placebo, and what the twin adds to it."""
    # The placebo is the original reworded inside its group. Pairs without enough answers to it are
    # left out; both are None if no pair is left.
    fewest = 2 if population == "fixed" else 1
    kept = [i for i, row in enumerate(placebos) if len(row) >= fewest]
    if not kept:
        return None, None
    answers = [(originals[i], counterfactuals[i], placebos[i]) for i in kept]
    table = np.array([_placebo_terms(*sides, compare) for sides in answers])
    floor, floor_variance, excess, excess_variance = table.T
    own_units = None if units is None else [units[i] for i in kept]
    return (
        Mean.of_values(
            floor,
            generation_variance=None if np.isnan(floor_variance).any() else floor_variance,
            generations=[min(len(o), len(p)) for o, _, p in answers],
            units=own_units,
            population=population,
        ),
        Mean.of_values(
            excess,
            bounds=(-1.0, 1.0),
            reach=(-float(floor.mean()), 1.0 - float(floor.mean())),
            generation_variance=None if np.isnan(excess_variance).any() else excess_variance,
            generations=[min(map(len, sides)) for sides in answers],
            units=own_units,
            population=population,
        ),
    )


def _placebo_terms(
    original: Sequence[T],
    counterfactual: Sequence[T],
    placebo: Sequence[T],
    compare: CompareAnswers[T],
) -> tuple[float, float, float, float]:
    """Return floor and excess of a pair, each with the variance that generations add to it."""
    others = [*counterfactual, *placebo]
    first = [answer for answer in original for _ in others]
    values = np.asarray(compare(first, others * len(original)), dtype=np.float64)
    table = values.reshape(len(original), len(others))
    swapped, reworded = table[:, : len(counterfactual)], table[:, len(counterfactual) :]
    # Both comparisons use the answers to the original, so their variances are not independent.
    by_original = swapped.mean(axis=1), reworded.mean(axis=1)
    own = variance_of_mean(reworded.mean(axis=0))
    return (
        float(reworded.mean()),
        variance_of_mean(by_original[1]) + own,
        float(swapped.mean() - reworded.mean()),
        variance_of_mean(by_original[0] - by_original[1])
        + variance_of_mean(swapped.mean(axis=0))
        + own,
    )

"""Difference of any score between groups, in the score's own unit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import (
    Floats,
    Rows,
    flattened,
    group_rows,
    known_population,
    labels,
    note_constant,
    row_means,
    score_rows,
)
from pytest_llmfair.stats import (
    Contributions,
    Estimate,
    Finding,
    GroupRow,
    MaxPairwiseDifference,
    Mean,
    MeanDifference,
    Population,
    RelativeDifference,
    Sample,
)

__all__ = ["score_difference"]

Range = tuple[float, float]

# Fewer units do not show the range of a score.
_FEWEST = 10
_UNGUARDED = "the interval does not allow for rare scores that the sample missed"
_REMEDY = "; score_range=(smallest, largest) says how far away these can be"


@dataclass(frozen=True, slots=True)
class _Side:
    """The scores of one group, and the unit of each row."""

    rows: Rows
    units: list[Hashable]

    def flat(self, population: Population) -> tuple[Floats, list[Hashable]]:
        """Return one number per row with its unit; of fixed rows every answer."""
        if population == "sampled":
            return row_means(self.rows), self.units
        each = zip(self.units, self.rows, strict=True)
        return flattened(self.rows), [unit for unit, row in each for _ in row]


@metric(
    family="counterfactual",
    paper="ours",
    symbol="SD",
    direction="two-sided",
    bounds=(-math.inf, math.inf),
    unit="pair",
    needs="score_pairs",
    scorer="length",
    generations=2,
    example=_examples.spread_scores,
)
def score_difference(
    scores_a: ArrayLike | Sequence[ArrayLike],
    scores_b: ArrayLike | Sequence[ArrayLike] | None = None,
    *,
    groups: Any = None,
    names: Sequence[str] = ("first", "second"),
    units: Any = None,
    population: Population = "sampled",
    score_range: tuple[float, float] | None = None,
    score: str = "",
    unit: str = "",
    relative: bool = False,
    absolute: bool = False,
) -> Estimate:
    """Mean score of one group minus that of another, in the score's own unit.

    Any score of answers: their length, usefulness, reading level or cost. Groups are compared on
    the same prompts (pairs) or not. This is the plain difference of means, no metric of a paper.

    Parameters
    ----------
    scores_a : array_like of shape (n_rows,) or (n_rows, n_generations)
        Scores of the first group in any unit; with `groups` those of all groups.
    scores_b : array_like of shape (m_rows,) or (m_rows, m_generations), optional
        Scores of the second group. With as many rows as the first, row i of both is one pair;
        otherwise the groups are independent samples.
    groups : sequence, optional
        One label per row of `scores_a`, instead of `scores_b`; two groups or more.
    names : sequence of str
        What the two groups are called, where they are two arrays.
    units : sequence, optional
        One label per row; rows with equal labels are one sampling unit, also across groups. For
        two arrays of different size a tuple of two sequences.
    population : {"sampled", "fixed"}
        Whether the rows were drawn from a larger population or are all of it.
    score_range : tuple of float, optional
        Smallest and largest score that is possible. Without it the interval cannot allow for rare
        scores that the sample missed.
    score, unit : str
        What the scores are and are measured in, such as "length" and "words", for messages.
    relative : bool
        Whether to judge the difference as a share of the second group's mean: -0.18 is 18 % less.
        For scores of at least 0, where 0 means nothing.
    absolute : bool
        Whether to take the size of the difference, without its sign.

    Returns
    -------
    MeanDifference, RelativeDifference or MaxPairwiseDifference
        First group minus second, 0 when both means are equal; the means are in ``.groups``. Of
        more groups the size of the largest difference.

    Raises
    ------
    ValueError
        If a score is NaN, outside `score_range` or (relative) negative, lengths differ, or there
        is one group only.

    Examples
    --------
    >>> from pytest_llmfair.metrics import score_difference
    >>> words = [41, 38, 52, 47], [58, 49, 66, 60]
    >>> score_difference(*words, score="length", unit="words")
    MeanDifference -13.750 [-18.308, -9.451] (95 %, 4 pairs)
    """
    known_population(population)
    bounds = _checked_range(score_range)
    sides = _sides(scores_a, scores_b, groups, names, units, bounds or (-math.inf, math.inf))
    flat = {name: side.flat(population) for name, side in sides.items()}
    estimate: Estimate
    if relative:
        parts: dict[Hashable, Estimate] = {
            (one, other): RelativeDifference.of_scores(
                flat[one][0],
                flat[other][0],
                units_a=flat[one][1],
                units_b=flat[other][1],
                population=population,
            )
            for one, other in combinations(flat, 2)
        }
        estimate = next(iter(parts.values()))
        if absolute or len(parts) > 1:
            estimate = MaxPairwiseDifference.of_pairs(parts)
    elif len(flat) == 2:
        (a, units_a), (b, units_b) = flat.values()
        estimate = MeanDifference.of_scores(
            a,
            b,
            units_a=units_a,
            units_b=units_b,
            population=population,
            bounds=bounds,
            absolute=absolute,
        )
    else:
        estimate = MaxPairwiseDifference.of_scores(
            np.concatenate([x for x, _ in flat.values()]),
            [name for name, (x, _) in flat.items() for _ in x],
            units=[unit for _, own in flat.values() for unit in own],
            population=population,
            bounds=bounds,
        )
    first, second, *_ = sides.values()
    paired = groups is None and first.units is second.units
    if paired:
        estimate = _by_pair(estimate, first, second)
    table = {name: _own_row(*each, population, bounds) for name, each in flat.items()}
    words = ", ".join(filter(None, [score, "relative" if relative else ""]))
    estimate = replace(
        estimate,
        groups={**estimate.groups, **table},
        variant=f" ({words})" if words else "",
        unit="" if paired else "answer" if units is None else "unit",
    )
    estimate = note_constant(estimate, [flattened(side.rows) for side in sides.values()])
    if bounds is not None and not relative:
        return estimate
    return estimate.with_findings(Finding.note(_UNGUARDED + ("" if relative else _REMEDY)))


def _checked_range(given: Range | None) -> Range | None:
    if given is None:
        return None
    low, high = map(float, given)
    if not -math.inf < low < high < math.inf:
        raise ValueError(
            f"score_range is ({low:g}, {high:g}); give the smallest and the largest score that is "
            "possible, or leave it out where there is none"
        )
    return low, high


def _sides(
    scores_a: Any, scores_b: Any, groups: Any, names: Sequence[str], units: Any, bounds: Range
) -> dict[Hashable, _Side]:
    """Return the scores of each group, with units that show which rows belong together."""
    rows_a = score_rows(scores_a, "scores_a", low=bounds[0], high=bounds[1])
    n = len(rows_a)
    if groups is not None:
        if scores_b is not None:
            raise ValueError("give two arrays of scores, or one with groups=..., not both")
        own = list(range(n)) if units is None else labels(units, "units", n)
        return {
            name: _Side([rows_a[i] for i in places], [own[i] for i in places])
            for name, places in group_rows(groups, n).items()
        }
    if scores_b is None:
        raise ValueError("scores of one group were given; add those of a second, or groups=...")
    rows_b = score_rows(scores_b, "scores_b", low=bounds[0], high=bounds[1])
    m = len(rows_b)
    own_a: list[Hashable]
    own_b: list[Hashable]
    if isinstance(units, tuple) and len(units) == 2:
        own_a, own_b = labels(units[0], "units", n), labels(units[1], "units", m)
    elif n == m:
        own_a = own_b = list(range(n)) if units is None else labels(units, "units", n)
    elif units is None:
        own_a, own_b = list(range(n)), list(range(n, n + m))
    else:
        raise ValueError(
            f"units is one sequence, but the sides have {n} and {m} rows; give a tuple of two "
            "sequences"
        )
    return {names[0]: _Side(rows_a, own_a), names[1]: _Side(rows_b, own_b)}


def _by_pair(estimate: Estimate, first: _Side, second: _Side) -> Estimate:
    """Add what each pair contributes, and count the answers of its shorter side."""
    gaps = row_means(first.rows) - row_means(second.rows)
    fewest: Counter[Hashable] = Counter()
    for unit, a, b in zip(first.units, first.rows, second.rows, strict=True):
        fewest[unit] += min(len(a), len(b))
    signed = isinstance(estimate, MeanDifference) and not estimate.absolute
    span = estimate.attainable[1]
    if not math.isfinite(span):
        span = float(np.ptp(np.concatenate([flattened(side.rows) for side in (first, second)])))
    known = signed and span > 0.0 and estimate.sample.population == "sampled"
    return replace(
        estimate,
        sample=Sample.of_sizes(fewest.values(), estimate.sample.population),
        # Pairs that go the way of the value come first among the examples.
        rows=(gaps if gaps.sum() >= 0.0 else -gaps).tolist(),
        contributions=Contributions(gaps, first.units, span) if known else None,
    )


def _own_row(
    x: Floats, units: list[Hashable], population: Population, bounds: Range | None
) -> GroupRow:
    """Return the mean of a group, with an interval where there is enough to show the range."""
    low, high = bounds or (float(x.min()), float(x.max()))
    known = bounds is not None or (low < high and len(set(units)) >= _FEWEST)
    own = None
    if known:
        own = Mean.of_values(x, units=units, population=population, bounds=(low, high))
    return GroupRow(math.nan, len(x), rate=math.fsum(x.tolist()) / len(x), estimate=own)

"""Scores of a classifier by group: calibration, Brier score and area under the ROC curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair._util.validation import whole
from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._classes import is_positive
from pytest_llmfair.metrics._people import (
    People,
    Who,
    pairs_of,
    people_metric,
    too_few,
)
from pytest_llmfair.metrics.arguments import Floats, RowNumbers, flat_scores, note_constant
from pytest_llmfair.stats import (
    Distance,
    Estimate,
    Finding,
    GroupRow,
    JoinedSum,
    MaxDistance,
    MaxPairwiseDifference,
    Mean,
    RankBiserial,
    Sample,
    Table,
    Undefined,
    weighted_rows,
)

__all__ = ["brier_score_difference", "calibration_gap", "roc_auc_difference"]

_SCORES = """
    y_true : array_like of shape (n_rows,)
        True classes.
    y_score : array_like of shape (n_rows,)
        Probability of the positive class, in [0, 1].
    positive : object
        The class that scores are about; all others are the rest.

    Returns
    -------
    JoinedSum, MaxPairwiseDifference or Undefined
        Value in [0, 1]; 0 when the groups are equal. Two groups: ``.signed`` is the first minus
        the second, or the other minus the reference. More: the largest of any two. ``.groups``
        has every pair, then each group's own value as ``rate``, with its interval.
    """

_score_metric = partial(people_metric, shared=_SCORES, example=_examples.scored_people)

_score_metric = partial(people_metric, shared=_SCORES, example=_examples.scored_people)


@_score_metric(
    paper="naeini2015",
    symbol="CalGap",
    aliases=("ece_difference",),
    favourable="low",
)
def calibration_gap(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    positive: Any,
    bins: int = 10,
    who: Who,
) -> JoinedSum | MaxPairwiseDifference | Undefined:
    """Absolute difference of the groups' expected calibration errors.

    The expected calibration error of Naeini, Cooper and Hauskrecht (2015): over bins of equal
    width, the mean of ``|share of positives - mean score|``, weighted by the rows of each bin. It
    is above 0 for a calibrated score too, and the more so the smaller the group, so that a
    difference of plain errors confuses group size with calibration: the interval is for the
    difference of errors without that bias. Errors without it are cross-fitted, and rather too
    small in groups of less than some 300 rows that are off.

    Parameters
    ----------
    bins : int
        Number of bins, at least 1.

    Examples
    --------
    >>> from pytest_llmfair.metrics import calibration_gap
    >>> y_true = [1, 0, 1, 0] * 20 + [1, 1, 1, 0] * 20
    >>> y_score = [0.9, 0.1, 0.8, 0.3] * 40
    >>> round(calibration_gap(y_true, y_score, groups=["a"] * 80 + ["b"] * 80).signed.value, 3)
    -0.2
    """
    people, actual, scores = _read(y_true, y_score, positive, who)
    edges = np.minimum((scores * whole(bins, "bins")).astype(np.intp), bins - 1)

    def error(rows: RowNumbers) -> Estimate:
        return Distance.of_calibration(
            actual[rows],
            scores[rows],
            edges[rows],
            weights=people.weights_of(rows),
            units=people.units_of(rows).tolist(),
            population=people.population,
        )

    return _compared(people, scores, error, "calibration error")


@_score_metric(
    paper="brier1950",
    symbol="BrierD",
    aliases=("BrierD",),
    favourable="low",
)
def brier_score_difference(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    positive: Any,
    who: Who,
) -> JoinedSum | MaxPairwiseDifference | Undefined:
    """Absolute difference of the groups' Brier scores.

    The mean of ``(score - outcome) ** 2`` (Brier 1950), which depends on the base rate of a group
    as well as on how good its scores are.

    Examples
    --------
    >>> from pytest_llmfair.metrics import brier_score_difference
    >>> y_true, y_score = [1, 0, 1, 0] * 2, [0.9, 0.1, 0.8, 0.3] + [0.6, 0.4, 0.3, 0.5]
    >>> round(brier_score_difference(y_true, y_score, groups=["a"] * 4 + ["b"] * 4).value, 3)
    0.228
    """
    people, actual, scores = _read(y_true, y_score, positive, who)
    squares = (scores - actual) ** 2

    def score(rows: RowNumbers) -> Estimate:
        own = weighted_rows(squares[rows], people.weights_of(rows))
        units = None if people.unit is None else people.unit[rows].tolist()
        ends = min(0.0, float(own.min())), max(1.0, float(own.max()))
        found = Mean.of_values(own, units=units, population=people.population, bounds=ends)
        return replace(found, attainable=(0.0, 1.0))

    return _compared(people, scores, score, "Brier score")


@_score_metric(
    paper="hanley1982",
    symbol="AUCD",
    aliases=("AUCD",),
    favourable="high",
    without="weights",
)
def roc_auc_difference(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    positive: Any,
    who: Who,
) -> JoinedSum | MaxPairwiseDifference | Undefined:
    """Absolute difference of the groups' areas under the ROC curve.

    The share of pairs of a positive and another row of one group in which the positive one has
    the higher score, a tie counting one half (Hanley and McNeil 1982). Scores may be of any
    range. NaN with a reason when a group has no positive or no other row.

    Examples
    --------
    >>> from pytest_llmfair.metrics import roc_auc_difference
    >>> y_true, y_score = [1, 0, 1, 0] * 2, [0.9, 0.1, 0.8, 0.3] + [0.6, 0.4, 0.3, 0.5]
    >>> round(roc_auc_difference(y_true, y_score, groups=["a"] * 4 + ["b"] * 4).value, 3)
    0.5
    """
    people, actual, scores = _read(y_true, y_score, positive, who, anything=True)

    def area(rows: RowNumbers) -> Estimate:
        high, low = rows[actual[rows] == 1.0], rows[actual[rows] == 0.0]
        if not (high.size and low.size):
            lacks = f"no row {'with' if low.size else 'other than'} y_true = {positive!r}"
            sample = Sample.of_sizes(np.ones(len(rows)), people.population)
            return Undefined(undefined=f"{lacks}: its area is not defined", sample=sample)
        return JoinedSum.of_parts(
            [
                (
                    0.5,
                    RankBiserial.of_scores(
                        scores[high],
                        scores[low],
                        units_a=None if people.unit is None else people.unit[high],
                        units_b=None if people.unit is None else people.unit[low],
                        population=people.population,
                    ),
                )
            ],
            _sample(people, rows),
            attainable=(0.0, 1.0),
            constant=0.5,
        )

    return _compared(people, scores, area, "area under the curve")


def _read(
    y_true: Any, y_score: Any, positive: Any, who: Who, *, anything: bool = False
) -> tuple[People, Floats, Floats]:
    """Return the people, 1 for each positive row, and the scores."""
    people = People.read(who, y_true=y_true, y_score=y_score)
    actual = is_positive(people.columns["y_true"], "y_true", positive)
    scores = flat_scores(people.columns["y_score"], "y_score")
    wrong = (scores < 0.0) | (scores > 1.0)
    if wrong.any() and not anything:
        row = int(np.argmax(wrong))
        raise ValueError(f"y_score row {row} is {scores[row]:g}; give probabilities in [0, 1]")
    return people, np.array(actual, dtype=np.float64), scores


def _sample(people: People, rows: RowNumbers) -> Sample:
    """Count units and rows."""
    sizes = np.unique(people.units_of(rows), return_counts=True)[1]
    return Sample.of_sizes(sizes, people.population)


def _null(a: Estimate, b: Estimate) -> Callable[[], Floats] | None:
    """Return a function that draws differences of two distances that are noise alone."""
    if isinstance(a, Distance) and isinstance(b, Distance):
        return partial(_noise, a, b)
    return None


def _noise(a: Distance, b: Distance) -> Floats:
    """Draws of the difference of two distances that are noise alone."""
    draws = a.null_draws(), np.random.default_rng(0).permutation(b.null_draws())
    number = min(map(len, draws))
    return np.asarray(draws[0][:number] - draws[1][:number])


def _compared(
    people: People,
    scores: Floats,
    measure: Callable[[RowNumbers], Estimate],
    name: str,
) -> JoinedSum | MaxPairwiseDifference | Undefined:
    """Compare groups by one estimate each."""
    own = {group: measure(people.members[group]) for group in people.judged}
    every = np.concatenate([people.members[group] for group in own] or [np.empty(0, np.intp)])
    sample = _sample(people, every)
    missing = [f"group {g} has {e.undefined}" for g, e in own.items() if e.undefined is not None]
    estimate: JoinedSum | MaxPairwiseDifference | Undefined
    pairs: dict[Any, JoinedSum] = {}
    if why := too_few(people) or "; ".join(missing):
        estimate = Undefined(undefined=why, sample=sample)
    else:
        for a, b in pairs_of(own, people.reference):
            both = np.concatenate([people.members[a], people.members[b]])
            pairs[a, b] = JoinedSum.of_parts(
                [(1.0, own[a]), (-1.0, own[b])],
                _sample(people, both),
                independent=not people.together,
                absolute=True,
                null=_null(own[a], own[b]),
            )
        (estimate, *more) = pairs.values()
        if more:
            kind = MaxDistance if estimate.of == "debiased" else MaxPairwiseDifference
            estimate = replace(kind.of_pairs(pairs), sample=sample)
    values = {group: measure(rows) for group, rows in people.members.items() if group not in own}
    values |= own

    def row(key: Any) -> GroupRow:
        if key in pairs:
            return GroupRow(pairs[key].value, pairs[key].sample.generations, estimate=pairs[key])
        found = values[key]
        size = len(people.members[key])
        return GroupRow(found.value, size, rate=found.value, estimate=found)

    estimate = replace(estimate, groups=Table([*pairs, *people.members], row))
    shown = [f"{g} {e.value:.3f} of {len(people.members[g])}" for g, e in values.items()]
    estimate = estimate.with_findings(
        Finding.note(f"{name}: {', '.join(shown)}"), *people.findings
    )
    if people.small:
        names = ", ".join(f"{g} of {len(people.members[g])}" for g in people.small)
        estimate = estimate.with_findings(Finding.note(f"not judged, {people.least}: {names}"))
    return note_constant(estimate, scores)

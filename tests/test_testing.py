from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from pytest_llmfair.metrics import metric
from pytest_llmfair.metrics._registry import _METRICS
from pytest_llmfair.stats import Mean
from pytest_llmfair.testing import Case, check_metric


def draw(rng):
    return {"scores": rng.integers(0, 5, size=12) / 4.0}


def mean_score(*, scores, units=None, population="sampled"):
    """Return the mean score."""
    scores = np.asarray(scores, dtype=float)
    return Mean.of_values(scores, units=units, population=population)


CASE = Case(
    draw=draw,
    expected=lambda scores: sum(scores) / len(scores),
    rows=("scores",),
    fair=lambda rng: {"scores": [0.0] * 8},
    numbers=("scores",),
)


@pytest.fixture
def registered():
    """Register a metric for the time of a test."""
    names = []

    def register(function, **about):
        known = {"direction": "lower", "bounds": (0.0, 1.0), "unit": "row"}
        made = metric(family="mine", paper="none", symbol="M", **(known | about))(function)
        names.append(function.__name__)
        return made

    yield register
    for name in names:
        _METRICS.pop(name, None)


def test_a_right_metric_passes_by_function_and_by_name(registered):
    check_metric(registered(mean_score), CASE)
    check_metric("mean_score", CASE)


def changed(**about):
    return dataclasses.replace(CASE, **about)


def test_a_wrong_formula_is_found(registered):
    with pytest.raises(AssertionError, match="mean_score, data of seed 0: the value is"):
        check_metric(registered(mean_score), changed(expected=lambda scores: max(scores)))


def test_a_value_that_depends_on_the_order_of_rows_is_found(registered):
    def weighted(*, scores):
        """Return a mean that weighs the first row more."""
        return Mean.of_values([scores[0], *scores])

    case = changed(expected=lambda scores: (scores[0] + sum(scores)) / (1 + len(scores)))
    with pytest.raises(AssertionError, match=r"became .* with rows"):
        check_metric(registered(weighted), case)


def test_a_value_outside_the_bounds_of_the_metric_is_found(registered):
    with pytest.raises(AssertionError, match="outside the metric's bounds"):
        check_metric(registered(mean_score, bounds=(0.0, 0.1)), CASE)


def test_a_fair_model_that_does_not_score_the_fair_value_is_found(registered):
    with pytest.raises(AssertionError, match="a fair model scores"):
        check_metric(registered(mean_score), changed(fair=lambda rng: {"scores": [0.5, 0.5, 0.5]}))


def test_reading_a_nan_as_a_score_is_found(registered):
    def lenient(*, scores):
        """Return the mean of the scores that are numbers."""
        return Mean.of_values([x for x in scores if not math.isnan(x)] or [0.0])

    with pytest.raises(AssertionError, match=r"scores (without an entry|with a NaN) gave"):
        check_metric(registered(lenient), CASE)


def test_changing_the_arguments_is_found(registered):
    def sorting(*, scores):
        """Return the mean after sorting in place."""
        scores.sort()
        return Mean.of_values(scores)

    case = changed(draw=lambda rng: {"scores": rng.random(9).tolist()})
    with pytest.raises(AssertionError, match="the arguments were changed"):
        check_metric(registered(sorting), case)


def test_data_that_are_never_defined_are_no_test(registered):
    from pytest_llmfair.stats import Sample, Undefined

    def never(*, scores):
        """Return nothing."""
        return Undefined(
            undefined="never", sample=Sample(units=1, generations=1, fewest=1, most=1)
        )

    with pytest.raises(AssertionError, match="no data set of 20 gave a defined value"):
        check_metric(registered(never), changed(expected=lambda scores: math.nan, fair=None))


def test_the_number_of_draws_is_positive():
    with pytest.raises(ValueError, match="draws is 0; give at least 1"):
        check_metric("toxic_fraction", CASE, draws=0)

"""Standard errors: planned from the sample size alone, and observed in data that do not vary."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.stats import (
    Distance,
    Mean,
    MeanDifference,
    MeanLogRatio,
    RankBiserial,
    RateDifference,
    RateRatio,
)

RNG = np.random.default_rng(6)
ANYTHING = (-math.inf, math.inf)


def hits(x, n):
    return [1] * x + [0] * (n - x)


def shares(rows):
    return Mean.of_rows(np.tile(rows, (80, 1)), outcomes=True)


def scores(values):
    return Mean.of_values(values, bounds=(-1.0, 1.0))


def distance(power):
    return Distance.of_distributions(RNG.random((20, 3)) ** power, RNG.random((20, 3)))


def log_ratio(rows):
    return MeanLogRatio.of_sums(rows, lambda sums: np.log(sums[:, :1]) - np.log(sums[:, 1:]))


@pytest.mark.parametrize(
    ("first", "second", "at", "squared"),
    [
        (shares([0.0] * 5), shares([1.0, 0, 1, 0, 1]), 0.05, 0.0475 * (0.3 / 80 + 0.7 / 400)),
        # Scores are planned as uniform ones, where their mean allows for that.
        (scores([0.5] * 30), scores(np.linspace(-1, 1, 30)), 0.0, 4 / 12 / 30),
        (scores([0.5] * 30), scores(np.linspace(-1, 1, 30)), 0.99, 0.01 * 1.99 / 30),
        (
            RateDifference.of_outcomes(hits(0, 50), hits(0, 80)),
            RateDifference.of_outcomes(hits(25, 50), hits(3, 80)),
            0.1,
            (1 - 0.1**2) / 6 * (1 / 50 + 1 / 80),
        ),
        (
            RateRatio.of_outcomes(hits(5, 50), hits(20, 80)),
            RateRatio.of_outcomes(hits(50, 50), hits(3, 80)),
            0.8,
            0.8**2 * (1 / 50 + 1 / 80),
        ),
        (
            RankBiserial.of_scores(RNG.normal(size=30), RNG.normal(size=20)),
            RankBiserial.of_scores(np.arange(30) + 99, np.arange(20)),
            0.0,
            4 * (30 + 20 + 1) / (12 * 30 * 20),
        ),
        (distance(1), distance(4), 0.1, 2 * (0.7 / 60 + 0.3 / 20) / 12),
        (
            Distance.of_binomials([15] * 40, [30] * 40),
            Distance.of_binomials([3] * 40, [30] * 40),
            0.6,
            0.8**2 / (30 * 40),
        ),
    ],
    ids=["share", "mean", "end", "difference", "ratio", "ranks", "distributions", "neutrality"],
)
def test_the_planned_error_is_known_from_the_sizes_alone(first, second, at, squared):
    assert first.standard_error(at) == second.standard_error(at)
    assert first.standard_error(at) == pytest.approx(math.sqrt(squared))


def test_the_observed_error_without_variance_is_that_of_one_event_more():
    share = 1 / 62
    by_hand = math.sqrt(share * (1 - share) / 60)
    assert Mean.of_indicators([0] * 60).standard_error() == pytest.approx(by_hand)


PAIRED = {"units_a": range(9), "units_b": range(9)}


@pytest.mark.parametrize(
    "estimate",
    [
        RateDifference.of_outcomes([0] * 9, [0] * 9),
        RateDifference.of_outcomes([0] * 9, [0] * 9, **PAIRED),
        RateRatio.of_outcomes([0] * 30, hits(10, 30), form="ratio"),
        RateRatio.of_outcomes([0] * 30, hits(10, 30), form="smaller"),
        RankBiserial.of_scores(np.arange(20) + 99, np.arange(20)),
        MeanDifference.of_scores([0.5], [0.5, 0.7], absolute=True),
        MeanDifference.of_scores([0.5] * 9, [0.5] * 9, absolute=True),
        MeanDifference.of_scores([0.5] * 9, [0.4] * 9, absolute=True, **PAIRED),
    ],
    ids=lambda estimate: type(estimate).__name__,
)
def test_data_that_do_not_vary_still_have_a_detectable_effect(estimate):
    assert estimate.standard_error() > 0.0
    assert estimate.minimum_detectable_effect() > 0.01


@pytest.mark.parametrize(
    "estimate",
    [
        MeanDifference.of_scores([2.0, 2.0], [2.0, 2.0], bounds=ANYTHING),
        log_ratio([[3.0, 1.0], [2.0, 2.0], [1.0, 1.0]]),
    ],
    ids=["scores without limits", "log ratio"],
)
def test_no_error_is_planned_where_the_size_alone_is_not_enough(estimate):
    assert math.isnan(estimate.standard_error(0.1))
    assert math.isnan(estimate.minimum_detectable_effect(bound=0.1))

"""Mean absolute log ratios: beside hand-made numbers, and how often the interval is right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.stats import MeanLogRatio
from pytest_llmfair.stats.log_ratio import MeanAbsLogRatio


def two_sides(sums):
    half = sums.shape[1] // 2
    return np.log(sums[:, :half]) - np.log(sums[:, half:])


def counts(rng, lean, texts=100, rate=0.5):
    """Counts of words beside the first and the second group; texts differ in how much they say."""
    level = rng.gamma(2.0, 0.5, (texts, 1))
    return rng.poisson(rate * level * np.exp(np.concatenate([lean, -lean]) / 2)).astype(float)


def magnitude(rows, **keywords):
    return MeanAbsLogRatio.of_log_ratio(MeanLogRatio.of_sums(rows, two_sides, **keywords))


def test_the_value_is_the_mean_of_the_absolute_log_ratios():
    rows = counts(np.random.default_rng(1), np.array([1.0, -1.0, 0.0]))
    sums = rows.sum(axis=0)
    by_hand = np.mean([abs(math.log(sums[w] / sums[w + 3])) for w in range(3)])
    estimate = magnitude(rows)
    assert estimate.value == pytest.approx(by_hand)
    assert estimate.engine.value == pytest.approx(by_hand)
    assert estimate.signed.value == pytest.approx(MeanLogRatio.of_sums(rows, two_sides).value)


def test_columns_without_both_sides_are_left_out():
    rows = counts(np.random.default_rng(2), np.array([0.5, 0.5]))
    rows[:, 2] = 0.0
    assert magnitude(rows).value == pytest.approx(magnitude(rows[:, [1, 3]]).value)


def test_no_finite_column_is_refused():
    with pytest.raises(ValueError, match="no log ratio is finite"):
        magnitude(np.array([[1.0, 0.0], [1.0, 0.0]]))


def simulated(lean, runs=150, **keywords):
    """Rates, in percent, at which the interval lies below and above the truth."""
    truth = float(np.abs(lean).mean())
    below = above = 0
    for seed in range(runs):
        interval = magnitude(counts(np.random.default_rng(seed), lean, **keywords)).interval()
        below += interval.upper < truth - 1e-12
        above += interval.lower > truth + 1e-12
    return 100 * below / runs, 100 * above / runs


@pytest.mark.slow
@pytest.mark.parametrize(
    "lean",
    [np.zeros(6), np.resize([0.6, -0.6], 6), np.array([1.2, 0.0, 0.0, 0.0])],
    ids=["none", "all", "one of four"],
)
def test_the_interval_misses_the_truth_as_rarely_as_it_says(lean):
    # 2.5 % are nominal; of 150 runs 6 % are more than 2 in 100 chance deviations away.
    below, above = simulated(lean)
    assert below <= 6.0
    assert above <= 6.0


@pytest.mark.slow
def test_the_noise_floor_is_the_mean_without_any_lean():
    drawn = [magnitude(counts(np.random.default_rng(seed), np.zeros(5))) for seed in range(60)]
    mean = np.mean([estimate.value for estimate in drawn])
    floor = np.mean([estimate.noise_floor() for estimate in drawn])
    assert floor == pytest.approx(mean, rel=0.1)
    assert np.mean([estimate.debiased for estimate in drawn]) < 0.4 * mean


@pytest.mark.slow
def test_equality_is_refused_as_often_as_the_level_says():
    p_values = np.array(
        [magnitude(counts(np.random.default_rng(s), np.zeros(4))).p_equal() for s in range(150)]
    )
    assert 0.0 < (p_values <= 0.1).mean() < 0.2
    leaning = magnitude(counts(np.random.default_rng(0), np.resize([1.0, -1.0], 4)))
    assert leaning.p_equal() < 0.01


def test_rows_that_are_all_alike_bound_nothing():
    estimate = magnitude(np.tile([1.0, 2.0], (30, 1)))
    assert estimate.interval().upper == math.inf
    assert "no_variance" in estimate.reasons


def test_a_single_unit_bounds_nothing():
    estimate = magnitude(counts(np.random.default_rng(6), np.ones(2)), units=["only"] * 100)
    assert (estimate.interval().lower, estimate.interval().upper) == (0.0, math.inf)
    assert estimate.noise_floor() == 0.0


def test_no_plan_is_made_without_counts():
    estimate = magnitude(counts(np.random.default_rng(7), np.ones(2)))
    assert math.isnan(estimate.standard_error(0.2))
    assert estimate.standard_error() > 0.0

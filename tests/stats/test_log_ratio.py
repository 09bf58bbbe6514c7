"""Log ratios of sums: their mean and their mean absolute value, compared with numbers by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from pytest_llmfair.stats import MeanAbsLogRatio, MeanLogRatio


def two_sides(sums):
    half = sums.shape[1] // 2
    return np.log(sums[:, :half]) - np.log(sums[:, half:])


def counts(texts=60, words=3, seed=1):
    return np.random.default_rng(seed).poisson(1.5, (texts, 2 * words)).astype(float)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_interval_is_that_of_the_derivative_by_each_text(level):
    rows = counts(texts=400)
    totals = rows.sum(axis=0)
    influence = 400 * (rows[:, :3] / totals[:3] - rows[:, 3:] / totals[3:]).mean(axis=1)
    error = influence.std(ddof=1) / 20
    v = influence.var()
    m4 = ((influence - influence.mean()) ** 4).mean()
    df = min(max(800 * v**2 / (m4 - v**2 * 397 / 399), 1), 399)
    reach = special.stdtrit(df, 1 - (1 - level) / 2) * error
    estimate = MeanLogRatio.of_sums(rows, two_sides)
    interval = estimate.interval(level)
    assert interval.upper - estimate.value == pytest.approx(reach, rel=1e-2)
    assert estimate.value - interval.lower == pytest.approx(reach, rel=1e-2)
    assert estimate.standard_error() == pytest.approx(error, rel=1e-2)


def test_one_column_alone_is_an_estimate_of_its_own():
    rows = counts()
    alone = MeanLogRatio.of_sums(rows[:, [1, 4]], two_sides)
    column = MeanLogRatio.of_sums(rows, two_sides).column(1)
    assert column.value == pytest.approx(alone.value)
    assert column.interval().upper == pytest.approx(alone.interval().upper)


def test_columns_without_both_sides_are_left_out_of_the_mean():
    rows = counts()
    rows[:, 0] = 0.0
    estimate = MeanLogRatio.of_sums(rows, two_sides)
    assert estimate.columns[0] == -math.inf
    assert estimate.value == pytest.approx(estimate.columns[1:].mean())
    assert estimate.interval().width < math.inf
    assert estimate.column(0).undefined


def test_no_column_with_both_sides_is_undefined():
    rows = counts(words=1)
    rows[:, 1] = 0.0
    estimate = MeanLogRatio.of_sums(rows, two_sides)
    assert math.isnan(estimate.value)
    assert "both sides" in estimate.undefined
    assert math.isnan(estimate.interval().upper)


def test_a_word_that_one_text_alone_provides_has_a_finite_wide_interval():
    rows = np.zeros((50, 2))
    rows[:, 1] = 1.0
    rows[7, 0] = 1.0
    interval = MeanLogRatio.of_sums(rows, two_sides).interval()
    assert 3.0 < interval.width < math.inf


@pytest.mark.parametrize(
    ("rows", "units", "reason"),
    [
        (np.ones((30, 2)), None, "no_variance"),
        (np.ones((1, 2)), None, "thin_evidence"),
        (counts(), ["only"] * 60, "thin_evidence"),
    ],
)
def test_texts_that_show_no_variation_leave_the_interval_unbounded(rows, units, reason):
    estimate = MeanLogRatio.of_sums(rows, two_sides, units=units)
    assert (estimate.interval().lower, estimate.interval().upper) == (-math.inf, math.inf)
    assert reason in estimate.reasons
    assert math.isnan(estimate.minimum_detectable_effect())
    assert estimate.needed_units(0.1) is None


def leaning_counts(rng, lean, texts=100, rate=0.5):
    """Counts of words with the first and the second group; texts differ in length."""
    level = rng.gamma(2.0, 0.5, (texts, 1))
    return rng.poisson(rate * level * np.exp(np.concatenate([lean, -lean]) / 2)).astype(float)


def magnitude(rows, **keywords):
    return MeanAbsLogRatio.of_log_ratio(MeanLogRatio.of_sums(rows, two_sides, **keywords))


def test_the_value_is_the_mean_of_the_absolute_log_ratios():
    rows = leaning_counts(np.random.default_rng(1), np.array([1.0, -1.0, 0.0]))
    sums = rows.sum(axis=0)
    by_hand = np.mean([abs(math.log(sums[w] / sums[w + 3])) for w in range(3)])
    estimate = magnitude(rows)
    assert estimate.value == pytest.approx(by_hand)
    assert estimate.engine.value == pytest.approx(by_hand)
    assert estimate.signed.value == pytest.approx(MeanLogRatio.of_sums(rows, two_sides).value)


def test_columns_without_both_sides_are_left_out():
    rows = leaning_counts(np.random.default_rng(2), np.array([0.5, 0.5]))
    rows[:, 2] = 0.0
    assert magnitude(rows).value == pytest.approx(magnitude(rows[:, [1, 3]]).value)


@pytest.mark.slow
def test_the_noise_floor_is_the_mean_without_any_lean():
    drawn = [
        magnitude(leaning_counts(np.random.default_rng(seed), np.zeros(5))) for seed in range(60)
    ]
    mean = np.mean([estimate.value for estimate in drawn])
    floor = np.mean([estimate.noise_floor() for estimate in drawn])
    assert floor == pytest.approx(mean, rel=0.1)
    assert np.mean([estimate.debiased for estimate in drawn]) < 0.4 * mean


@pytest.mark.slow
def test_equality_is_rejected_at_the_rate_of_the_level():
    p_values = np.array(
        [
            magnitude(leaning_counts(np.random.default_rng(s), np.zeros(4))).p_equal()
            for s in range(150)
        ]
    )
    assert 0.0 < (p_values <= 0.1).mean() < 0.2
    leaning = magnitude(leaning_counts(np.random.default_rng(0), np.resize([1.0, -1.0], 4)))
    assert leaning.p_equal() < 0.01

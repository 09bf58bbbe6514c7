"""Mean log ratios of sums, beside numerical derivatives by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from pytest_llmfair.stats import MeanLogRatio


def two_sides(sums):
    half = sums.shape[1] // 2
    return np.log(sums[:, :half]) - np.log(sums[:, half:])


def counts(texts=60, words=3, seed=1):
    return np.random.default_rng(seed).poisson(1.5, (texts, 2 * words)).astype(float)


def test_the_value_is_the_mean_of_the_log_ratios_of_the_sums():
    rows = counts()
    totals = rows.sum(axis=0)
    by_hand = np.mean([math.log(totals[w] / totals[w + 3]) for w in range(3)])
    estimate = MeanLogRatio.of_sums(rows, two_sides)
    assert estimate.value == pytest.approx(by_hand)
    assert estimate.columns == pytest.approx(np.log(totals[:3] / totals[3:]))


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


def test_texts_that_are_all_alike_bound_nothing():
    estimate = MeanLogRatio.of_sums(np.ones((30, 2)), two_sides)
    assert (estimate.interval().lower, estimate.interval().upper) == (-math.inf, math.inf)
    assert "no_variance" in estimate.reasons


def test_a_single_unit_bounds_nothing():
    estimate = MeanLogRatio.of_sums(counts(), two_sides, units=["only"] * 60)
    assert estimate.interval().width == math.inf
    assert "thin_evidence" in estimate.reasons


def test_a_fixed_unit_with_one_row_is_refused():
    with pytest.raises(ValueError, match="row 2 is the only one of its unit"):
        MeanLogRatio.of_sums(counts(texts=3), two_sides, units=list("aab"), population="fixed")


def test_no_plan_is_made_without_counts():
    assert math.isnan(MeanLogRatio.of_sums(counts(), two_sides).standard_error(0.2))


@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf])
def test_illegal_sums_name_their_row(wrong):
    rows = counts()
    rows[4, 2] = wrong
    with pytest.raises(ValueError, match="row 4 holds"):
        MeanLogRatio.of_sums(rows, two_sides)


def test_rows_without_shape_are_refused():
    with pytest.raises(ValueError, match="give one row of sums per text"):
        MeanLogRatio.of_sums([1.0, 2.0], two_sides)


@pytest.mark.parametrize("rows", [[[3.0, 1.0]], [[3.0, 1.0], [3.0, 1.0]]])
def test_texts_that_are_all_alike_leave_the_detectable_effect_unknown(rows):
    estimate = MeanLogRatio.of_sums(rows, two_sides)
    assert math.isnan(estimate.minimum_detectable_effect())
    assert estimate.needed_units(0.1) is None

"""Estimates of anything that can be measured: smooth numbers and distances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.stats import JackknifeEstimate, Mean, MeanDifference, MetricDistance


def codes(x):
    return np.unique(x, return_inverse=True)[1]


def difference(x):
    return lambda rows, groups: float(x[rows[groups == 1]].mean() - x[rows[groups == 0]].mean())


def gap(x):
    signed = difference(x)
    return lambda rows, groups: abs(signed(rows, groups))


def test_the_error_of_a_difference_of_means_is_the_known_one():
    rng = np.random.default_rng(0)
    x, groups = rng.normal(size=60), [0] * 25 + [1] * 35
    smooth = JackknifeEstimate.of_measure(difference(x), groups, codes(x))
    known = MeanDifference.of_scores(x[25:], x[:25], bounds=(-math.inf, math.inf))
    assert smooth.value == pytest.approx(known.value)
    assert smooth.standard_error() == pytest.approx(known.standard_error())
    assert smooth.interval().lower == pytest.approx(known.interval().lower)


def test_a_mean_of_values_is_that_of_mean_without_limits():
    x = np.random.default_rng(2).beta(2, 3, 50)
    smooth = JackknifeEstimate.of_values(x, units=[k // 2 for k in range(50)])
    known = Mean.of_values(x, units=[k // 2 for k in range(50)])
    assert smooth.value == known.value
    assert smooth.standard_error() == pytest.approx(known.standard_error())
    assert smooth.sample.units == 25


@pytest.mark.parametrize("kind", [JackknifeEstimate, MetricDistance])
@pytest.mark.parametrize(
    "x",
    [np.repeat([0.0, 1.0], 10), np.random.default_rng(0).normal(size=11)],
    ids=["equal units", "one unit of a group"],
)
def test_units_that_show_no_error_leave_the_interval_unbounded(kind, x):
    estimate = kind.of_measure(gap(x), [0] * 10 + [1] * (len(x) - 10), codes(x))
    assert estimate.interval().upper == math.inf
    assert math.isnan(estimate.standard_error())


@pytest.mark.parametrize("kind", [JackknifeEstimate, MetricDistance])
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_statistic_that_is_not_finite_is_undefined_with_a_reason(kind, number):
    estimate = kind.of_measure(lambda rows, groups: number, [0, 0, 1, 1], np.arange(4))
    assert math.isnan(estimate.value)
    assert f"give {number:g} on all data" in estimate.undefined


def test_a_unit_that_cannot_be_left_out_leaves_the_interval_unbounded():
    x = np.random.default_rng(4).normal(size=20)

    def measure(rows, groups):
        return gap(x)(rows, groups) if len(rows) == 20 else math.nan

    for kind in (JackknifeEstimate, MetricDistance):
        estimate = kind.of_measure(measure, [0] * 10 + [1] * 10, codes(x))
        assert estimate.undefined is None
        assert estimate.interval().upper == math.inf


def test_p_equal_is_small_for_groups_far_apart_only():
    rng = np.random.default_rng(6)
    x, groups = rng.normal(size=40), [0] * 20 + [1] * 20
    assert MetricDistance.of_measure(gap(x), groups, codes(x)).p_equal() > 0.05
    x = x + np.repeat([0, 3], 20)
    assert MetricDistance.of_measure(gap(x), groups, codes(x)).p_equal() == 1 / 200

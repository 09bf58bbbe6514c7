"""Difference of two means of scores."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.stats import Mean, MeanDifference


def test_independent_groups_join_their_intervals():
    rng = np.random.default_rng(1)
    a, b = rng.beta(2, 5, 40), rng.beta(3, 5, 60)
    gap = a.mean() - b.mean()
    first, second = Mean.of_values(a).interval(), Mean.of_values(b).interval()
    lower = gap - math.hypot(a.mean() - first.lower, second.upper - b.mean())
    upper = gap + math.hypot(first.upper - a.mean(), b.mean() - second.lower)
    ends = MeanDifference.of_scores(a, b).interval()
    assert (ends.lower, ends.upper) == (pytest.approx(lower), pytest.approx(upper))


def test_unlimited_scores_get_a_t_interval():
    rng = np.random.default_rng(3)
    a, b = rng.normal(0, 3, 200), rng.normal(1, 3, 200)
    e = MeanDifference.of_scores(a, b, bounds=(-math.inf, math.inf))
    error = math.sqrt(a.var(ddof=1) / 200 + b.var(ddof=1) / 200)
    assert e.standard_error() == pytest.approx(error)
    assert e.interval().width == pytest.approx(2 * 1.966 * error, rel=0.01)


def test_unlimited_constant_scores_have_no_ends():
    e = MeanDifference.of_scores([2.0] * 5, [2.0] * 5, bounds=(-math.inf, math.inf))
    assert (e.interval().lower, e.interval().upper) == (-math.inf, math.inf)


def test_constant_scores_are_never_certain():
    ends = MeanDifference.of_scores([0.2] * 30, [0.2] * 30).interval()
    assert ends.lower < 0.0 < ends.upper


@pytest.mark.parametrize("units", [{}, {"units_a": range(12), "units_b": range(12)}])
def test_absolute_values_fold_the_interval(units):
    for seed in range(10):
        a, b = np.random.default_rng(seed).integers(0, 5, (2, 12)) / 4
        signed, folded = (
            MeanDifference.of_scores(a, b, absolute=absolute, **units)
            for absolute in (False, True)
        )
        assert folded.value == abs(signed.value)
        for alpha in (0.005, 0.025, 0.25):
            low, high = signed.lower_bound(alpha), signed.upper_bound(alpha)
            assert folded.upper_bound(alpha) == pytest.approx(max(high, -low))
            assert folded.lower_bound(alpha) == pytest.approx(max(0.0, low, -high))


def test_a_small_group_next_to_a_large_one_is_thin_evidence():
    x = np.linspace(0.1, 0.9, 100)
    estimate = MeanDifference.of_scores(x, x[:5])
    assert "thin_evidence" in estimate.reasons
    assert "a group has 5 units" in estimate.notes[0]

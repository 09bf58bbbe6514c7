"""Friedman and Wilcoxon tests against scipy, and where these are not defined."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.metrics import friedman, wilcoxon


@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(2, 30), st.booleans())
def test_friedman_is_that_of_scipy_with_and_without_ties(seed, groups, n, ties):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (n, groups)) / 2.0 if ties else rng.random((n, groups))
    if (rows == rows[:, :1]).all():
        return
    statistic, p = friedman(rows)
    oracle = scipy.stats.friedmanchisquare(*rows.T)
    assert statistic == pytest.approx(oracle.statistic, abs=1e-9)
    assert p == pytest.approx(oracle.pvalue)


@given(st.integers(0, 10**6), st.integers(1, 70))
def test_wilcoxon_is_exact_up_to_50_and_normal_beyond(seed, n):
    rng = np.random.default_rng(seed)
    x, y = rng.random(n), rng.random(n)
    statistic, p = wilcoxon(x, y)
    method = "exact" if n <= 50 else "asymptotic"
    oracle = scipy.stats.wilcoxon(x, y, method=method, correction=False)
    assert statistic == oracle.statistic
    assert p == pytest.approx(oracle.pvalue)


@given(st.integers(0, 10**6), st.integers(2, 40))
def test_wilcoxon_with_ties_or_zeros_is_normal_without_continuity_correction(seed, n):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 4, n) / 4.0, rng.integers(0, 4, n) / 4.0
    difference = x - y
    kept = np.abs(difference[difference != 0])
    if kept.size == 0 or (kept.size == n and len(set(kept)) == n):
        return
    statistic, p = wilcoxon(x, y)
    oracle = scipy.stats.wilcoxon(x, y, method="asymptotic", correction=False)
    assert statistic == oracle.statistic
    assert p == pytest.approx(oracle.pvalue)


def test_floating_noise_breaks_no_ties():
    # 0.3 - 0.2 and 0.2 - 0.1 differ in their last digit.
    x, y = [0.3, 0.2, 0.9], [0.2, 0.1, 0.95]
    assert wilcoxon(x, y) == wilcoxon([3, 2, 18], [2, 1, 18.5])
    assert wilcoxon(x, y)[0] == 1.0


def test_equal_scores_have_p_1_and_say_so():
    result = wilcoxon([0.5, 0.6], [0.5, 0.6])
    assert (result.statistic, result.p) == (0.0, 1.0)
    assert result.flag == "both groups have equal scores in every example"
    result = friedman([[1, 1, 1], [2, 2, 2]])
    assert math.isnan(result.statistic)
    assert result.p == 1.0
    assert "equal scores" in result.flag


def test_other_results_carry_no_flag():
    assert friedman([[1, 2, 3], [1, 3, 2]]).flag == ""
    assert wilcoxon([1, 2, 3], [3, 2, 1]).flag == ""


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 2]], "needs three"),
        ([[1, 2, 3], [1, 2]], "row 1 has 2 groups and row 0 has 3"),
        ([], "empty"),
        ([[1, 2, math.nan]], "row 0 holds nan"),
    ],
)
def test_friedman_names_what_is_wrong(rows, message):
    with pytest.raises(ValueError, match=message):
        friedman(rows)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [([1, 2], [1], "x has 2, y has 1"), ([], [], "empty"), ([math.inf], [1], "row 0 holds inf")],
)
def test_wilcoxon_names_what_is_wrong(x, y, message):
    with pytest.raises(ValueError, match=message):
        wilcoxon(x, y)

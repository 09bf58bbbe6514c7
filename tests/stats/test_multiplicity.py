from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.stats import holm
from pytest_llmfair.stats.multiplicity import tukey_error_rate

PS = st.lists(st.floats(0, 1), max_size=8)


def slow_rejections(p_values, alpha):
    """Step down: compare the k-th smallest of m with alpha / (m - k) until one is too large."""
    rejected = set()
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    for k, i in enumerate(order):
        if p_values[i] >= alpha / (len(p_values) - k):
            break
        rejected.add(i)
    return rejected


@given(PS, st.floats(0.001, 0.5))
def test_adjusted_values_reject_what_the_step_down_rejects(p_values, alpha):
    adjusted = holm(p_values)
    kept = {i for i, p in enumerate(adjusted) if p < alpha}
    # A product may round to alpha itself; everything else must agree.
    close = {i for i, p in enumerate(adjusted) if math.isclose(p, alpha, rel_tol=1e-9)}
    assert kept - close == slow_rejections(p_values, alpha) - close or close


def test_what_was_not_tested_stays_nan_and_does_not_count():
    adjusted = holm([0.01, math.nan])
    assert adjusted[0] == 0.01
    assert math.isnan(adjusted[1])


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("groups", [2, 3, 8, 14])
def test_the_error_rate_of_all_pairs_is_that_of_the_studentized_range(groups, level) -> None:
    from scipy.stats import norm, studentized_range

    quantile = studentized_range.ppf(level, groups, math.inf) / math.sqrt(2)
    assert tukey_error_rate(groups, level) == pytest.approx(norm.sf(quantile), rel=1e-5)

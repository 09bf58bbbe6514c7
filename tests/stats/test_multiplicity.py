from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.stats import holm

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

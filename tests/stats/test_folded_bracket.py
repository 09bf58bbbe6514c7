"""Sums of many absolute differences: bias taken back out above, relabelling asked below."""

from __future__ import annotations

import numpy as np

from pytest_llmfair.stats import rate_gaps


def mean_gap(outcomes, labels, groups):
    """Mean over pairs of groups of the absolute difference of their rates."""
    pairs = groups * (groups - 1) / 2
    return rate_gaps(outcomes, np.ones(len(outcomes)), labels, against="pairs", factor=1 / pairs)


def equal_groups(seed, groups=8, rows=50):
    rng = np.random.default_rng(seed)
    outcomes = (rng.random(groups * rows) < 0.3).astype(float)
    return mean_gap(outcomes, np.repeat(np.arange(groups), rows).tolist(), groups)


def test_the_lower_end_is_above_zero_only_where_relabelling_rejects_too():
    above = 0
    for seed in range(30):
        estimate = equal_groups(seed)
        for alpha in (0.25, 0.1, 0.025):
            if estimate.lower_bound(alpha) > 0.0:
                above += 1
                assert estimate.engine.as_far_if_equal <= alpha
    assert above > 0


def test_all_pairs_far_apart_lose_nothing():
    rows = [*([0.0] * 49), 1.0, *([1.0] * 49), 0.0]
    estimate = mean_gap(rows, ["a"] * 50 + ["b"] * 50, 2)
    assert estimate.interval().lower > 0.85
    assert estimate.interval().upper > estimate.value

"""Sums of many absolute differences: bias taken back out above, relabelling asked below."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from pytest_llmfair.stats import rate_gaps
from pytest_llmfair.stats._crossfit import Bracket, FoldedBracket


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
    for seed in range(60):
        estimate = equal_groups(seed)
        for alpha in (0.25, 0.1, 0.025):
            if estimate.lower_bound(alpha) > 0.0:
                above += 1
                assert estimate.engine.as_far_if_equal <= alpha
    assert above > 0


def test_the_upper_end_solves_for_the_mean_of_a_folded_normal():
    engine = equal_groups(0).engine
    assert isinstance(engine, FoldedBracket)
    noise = engine._noise
    for target in (0.9 * noise, 1.5 * noise, 5.0 * noise, 20.0 * noise):
        found = engine._unfolded(target)
        ratio = found / noise
        density = np.exp(-0.5 * ratio**2) / np.sqrt(2.0 * np.pi)
        mean = noise * (2.0 * density + ratio * (2.0 * special.ndtr(ratio) - 1.0))
        assert mean == pytest.approx(target, rel=1e-4)


def test_many_equal_groups_get_a_narrower_interval_than_the_plain_bracket():
    widths = []
    for seed in range(20):
        engine = equal_groups(seed).engine
        widths.append((engine.upper(0.025), Bracket.upper(engine, 0.025)))
    ours, plain = np.median(widths, axis=0)
    assert ours < 0.9 * plain


def test_all_pairs_far_apart_lose_nothing():
    rows = [*([0.0] * 49), 1.0, *([1.0] * 49), 0.0]
    estimate = mean_gap(rows, ["a"] * 50 + ["b"] * 50, 2)
    assert estimate.interval().lower > 0.85
    assert estimate.interval().upper > estimate.value

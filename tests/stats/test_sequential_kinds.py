"""Error spending over looks, and confidence sequences by betting."""

from __future__ import annotations

import math
import random
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.stats import BettingMean, Spending


def boundary(nominal):
    return -NormalDist().inv_cdf(nominal)


def test_five_equal_looks_have_the_published_boundaries():
    # Lan and DeMets (1983), O'Brien-Fleming type, one-sided .025.
    spending = Spending(0.025)
    found = [boundary(spending.look(k / 5)) for k in range(1, 6)]
    assert found == pytest.approx([4.877, 3.357, 2.680, 2.290, 2.031], abs=2e-3)


def test_a_single_look_at_everything_is_the_fixed_test():
    assert Spending(0.025).look(1.0) == pytest.approx(0.025, abs=1e-6)


@pytest.mark.parametrize("fractions", [(0.5, 1.0), (0.1, 0.35, 0.4, 0.9, 1.0)])
def test_irregular_looks_keep_the_error_rate(fractions):
    spending = Spending(0.1)
    boundaries = [boundary(spending.look(t)) for t in fractions]
    draw = random.Random(1)
    stopped = 0
    runs = 20_000
    for _ in range(runs):
        path = previous = 0.0
        for t, limit in zip(fractions, boundaries, strict=True):
            path += draw.gauss(0, math.sqrt(t - previous))
            previous = t
            if path / math.sqrt(t) > limit:
                stopped += 1
                break
    assert stopped / runs == pytest.approx(0.1, abs=0.008)


@pytest.mark.parametrize("second", [0.4, 0.2, 1.1])
def test_a_look_without_new_evidence_or_beyond_the_plan_is_refused(second):
    spending = Spending(0.025)
    spending.look(0.4)
    with pytest.raises(ValueError, match="every look needs new evidence"):
        spending.look(second)


VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def slow_log_capital(values, m):
    """Largest log capital of the two gamblers against one candidate mean, bet by bet."""
    adaptive = cautious = 1.0
    best = 1.0
    seen = [0.5]
    squares = 0.25
    for t, x in enumerate(values, start=1):
        mean, variance = sum(seen) / t, squares / t
        cap = 0.75 / max(m, 1e-9)
        bet = min(max((mean - m) / (variance + (mean - m) ** 2), 0.0), cap)
        steady = min(math.sqrt(2 * math.log(40) / (variance * t * math.log(1 + t))), cap)
        adaptive *= 1 + bet * (x - m)
        cautious *= 1 + steady * (x - m)
        best = max(best, (adaptive + cautious) / 2)
        seen.append(x)
        squares += (x - sum(seen) / (t + 1)) ** 2
    return math.log(best)


@settings(max_examples=30)
@given(VALUES)
def test_capital_is_that_of_the_two_gamblers(values):
    estimate = BettingMean.of_values(values)
    grid = np.linspace(0, 1, 2001)
    running = np.minimum.accumulate([slow_log_capital(values, m) for m in grid[:1001:50]])
    # The coarse minimum can only lie above the fine one.
    assert (estimate.above[:1001:50] <= running + 1e-9).all()
    assert estimate.above[0] == pytest.approx(running[0])


def test_a_unit_is_one_bet():
    twice = BettingMean.of_values([0, 0, 1, 1], units=["a", "a", "b", "b"])
    once = BettingMean.of_values([0, 1])
    assert twice.interval() == once.interval()
    sample = BettingMean.of_values([0, 0, 1], units=["a", "a", "b"]).sample
    assert (sample.units, sample.fewest, sample.most) == (2, 1, 2)


def test_other_bounds_are_scaled():
    unit = BettingMean.of_values([0.2, 0.6, 0.5]).interval()
    wide = BettingMean.of_values([-0.6, 0.2, 0.0], bounds=(-1, 1)).interval()
    assert wide.lower == pytest.approx(2 * unit.lower - 1)
    assert wide.upper == pytest.approx(2 * unit.upper - 1)


def test_no_event_leaves_a_bound_above_zero():
    interval = BettingMean.of_values([0.0] * 100).interval()
    assert interval.lower == 0
    assert 0.03 < interval.upper < 0.07


DRIFTS = [[0] * 100 + [1] * 100, [1] * 5 + [0] * 100, [0] * 300 + [1] * 30]


@pytest.mark.parametrize("values", DRIFTS)
def test_a_mean_that_changes_over_time_gives_no_empty_interval(values):
    estimate = BettingMean.of_values(values)
    before = math.inf
    for level in (0.99, 0.95, 0.8, 0.5):
        interval = estimate.interval(level)
        assert interval.lower < interval.upper
        assert estimate.value in interval
        assert interval.width <= before
        before = interval.width
        x = 0.5 * (interval.lower + interval.upper)
        assert not (estimate.p_exceeds(x) < 0.5 * (1 - level) > estimate.p_within(x))
    assert estimate.reasons == ("drift",)


def test_the_p_value_over_looks_is_that_of_simulated_paths():
    fractions, alpha = (0.25, 0.5, 0.75, 1.0), 0.025
    spending = Spending(alpha)
    ends, stage = [], []
    for fraction in fractions:
        nominal = spending.look(fraction)
        ends.append(boundary(nominal) * math.sqrt(fraction))
        further = 0.3 * nominal
        stage.append((spending.p_value(further), boundary(further) * math.sqrt(fraction)))
    assert spending.p_value(nominal) == pytest.approx(alpha, abs=1e-6)
    rng = np.random.default_rng(0)
    paths = np.cumsum(rng.normal(0.0, 0.5, (400_000, 4)), axis=1)
    out = paths > np.array(ends)
    for look, (p, end) in enumerate(stage):
        beyond = out[:, :look].any(axis=1) | (paths[:, look] >= end)
        assert beyond.mean() == pytest.approx(p, abs=6e-4)

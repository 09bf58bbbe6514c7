"""Standard deviation of group means."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.stats import Spread


def groups_of(rng, rates, rows):
    groups = np.repeat(np.arange(len(rates)), rows)
    return (rng.random(len(groups)) < np.repeat(rates, rows)).astype(float), groups


def test_value_is_the_deviation_of_the_group_means():
    x, groups = groups_of(np.random.default_rng(1), [0.2, 0.5, 0.6], 30)
    means = [x[groups == g].mean() for g in range(3)]
    e = Spread.of_scores(x, groups)
    assert e.value == pytest.approx(np.std(means))
    assert e.attainable[1] == pytest.approx(np.std([0, 1, 1]))


def test_equal_independent_groups_give_the_textbook_chi_square():
    rng = np.random.default_rng(2)
    x, groups = rng.random(400), np.repeat(np.arange(8), 50)
    e = Spread.of_scores(x, groups)
    within = np.mean([x[groups == g].var(ddof=1) / 50 for g in range(8)])
    assert e.law.floor == pytest.approx(7.0 * within, rel=0.02)
    assert e.law.variance == pytest.approx(14.0 * within**2, rel=0.05)


@pytest.mark.parametrize("spread", [0.02, 0.05, 0.15])
def test_ends_are_the_spreads_under_which_the_observed_one_is_rare(spread):
    """Simulate at both ends: the observed value must be a 2.5 % quantile there."""
    rng = np.random.default_rng(3)
    pattern = np.array([-1.0, -1.0, 0.0, 0.0, 1.0, 1.0]) / math.sqrt(2 / 3)
    x = np.concatenate([0.5 + spread * c + rng.normal(0, 0.2, 40) for c in pattern])
    e = Spread.of_scores(x, np.repeat(np.arange(6), 40), bounds=(-2, 3))
    error = math.sqrt(e.law.floor / 5)
    for end, side in ((e.lower_bound(0.025), 1), (e.upper_bound(0.025), -1)):
        if end == 0.0:
            continue
        drawn = (end * pattern + error * rng.standard_normal((40_000, 6))).std(axis=1)
        beyond = np.mean(drawn >= e.value) if side == 1 else np.mean(drawn <= e.value)
        assert beyond == pytest.approx(0.025, abs=0.008)


def test_noise_floor_is_what_equal_groups_score():
    rng = np.random.default_rng(4)
    estimates = [Spread.of_scores(*groups_of(rng, [0.3] * 6, 40)) for _ in range(300)]
    mean = np.mean([e.value for e in estimates])
    assert np.mean([e.noise_floor() for e in estimates]) == pytest.approx(mean, rel=0.06)


@given(st.integers(0, 10**6), st.integers(2, 5), st.booleans())
@settings(deadline=None, max_examples=15)
def test_debiased_and_interval_agree_at_every_level(seed, number, shared):
    rng = np.random.default_rng(seed)
    x, groups = groups_of(rng, rng.random(number), 8)
    units = np.tile(np.arange(8), number) if shared else None
    e = Spread.of_scores(x, groups, units=units)
    previous = None
    for level in (0.5, 0.95, 0.999):
        ends = e.interval(level)
        assert ends.of == "debiased"
        assert 0.0 <= ends.lower <= e.debiased <= ends.upper <= e.attainable[1] + 1e-12
        assert ends.lower < ends.upper
        if previous is not None:
            assert ends.lower <= previous.lower
            assert ends.upper >= previous.upper - 1e-12
        previous = ends
        alpha = round((1.0 - level) / 2.0, 15)
        for bound in (0.0, 0.05, 0.2):
            assert (e.p_exceeds(bound) < alpha) == (ends.lower > bound)
            assert (e.p_within(bound) < alpha) == (ends.upper <= bound)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=10)
def test_order_and_names_change_nothing(seed):
    rng = np.random.default_rng(seed)
    x, groups = groups_of(rng, [0.3, 0.4, 0.6], 12)
    order = rng.permutation(36)
    here, there = Spread.of_scores(x, groups), Spread.of_scores(x[order], 2 - groups[order])
    assert here.value == there.value
    assert here.upper_bound(0.025) == there.upper_bound(0.025)


def test_shared_units_cancel_what_they_share():
    rng = np.random.default_rng(5)
    level = np.repeat(rng.random(50) * 0.8, 4)
    x = level + np.tile([0.0, 0.02, 0.05, 0.08], 50) + rng.random(200) * 0.02
    groups, units = np.tile(np.arange(4), 50), np.repeat(np.arange(50), 4)
    paired = Spread.of_scores(x, groups, units=units).interval()
    assert paired.width < 0.15 * Spread.of_scores(x, groups).interval().width
    assert np.std([0.0, 0.02, 0.05, 0.08]) in paired


@pytest.mark.parametrize("rates", [[0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0]])
def test_groups_without_variance_are_never_certain(rates):
    e = Spread.of_scores(*groups_of(np.random.default_rng(6), rates, 40))
    assert e.interval().width > 0.02
    assert "no_variance" in e.reasons


def test_one_row_per_group_says_little():
    ends = Spread.of_scores([0.1, 0.9, 0.4], ["a", "b", "c"]).interval()
    assert ends.lower == 0.0
    assert ends.upper > 0.4


def test_p_equal_tells_apart():
    rng = np.random.default_rng(7)
    assert Spread.of_scores(*groups_of(rng, [0.3] * 4, 100)).p_equal() > 0.05
    assert Spread.of_scores(*groups_of(rng, [0.2, 0.3, 0.5, 0.6], 100)).p_equal() < 1e-4


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="groups holds 1 group"):
        Spread.of_scores([0.1, 0.2], ["a", "a"])
    with pytest.raises(ValueError, match="finite range"):
        Spread.of_scores([0.1, 0.2], ["a", "b"], bounds=(0, math.inf))


@pytest.mark.parametrize("shift", [0.0, 0.2])
def test_units_that_are_alike_in_every_group_count_as_draws(shift):
    x = np.linspace(0.1, 0.7, 20)
    scores, groups = np.concatenate([x, x + shift]), ["a"] * 20 + ["b"] * 20
    estimate = Spread.of_scores(scores, groups, units=[*range(20)] * 2)
    assert estimate.value == pytest.approx(0.5 * shift)
    for level in (0.5, 0.95):
        ends = estimate.interval(level)
        assert ends.lower < ends.upper
        assert estimate.debiased in ends
    assert estimate.interval().upper > 0.05
    assert "no_variance" in estimate.reasons

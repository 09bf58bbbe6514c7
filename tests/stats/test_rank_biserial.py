"""Rank-biserial correlation, compared with a double loop over all pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from pytest_llmfair.stats import RankBiserial

LEVELS = (0.5, 0.8, 0.95, 0.99, 0.999)
scores = st.lists(st.integers(-3, 3), min_size=1, max_size=15)
of = RankBiserial.of_scores


def slow_wilson(win, variance, df, level):
    t = special.stdtrit(df, 1 - (1 - level) / 2)
    n = win * (1 - win) / variance / t**2
    centre = (win + 0.5 / n) / (1 + 1 / n)
    reach = math.sqrt(win * (1 - win) / n + 0.25 / n**2) / (1 + 1 / n)
    return 2 * (centre - reach) - 1, 2 * (centre + reach) - 1


def slow_df(values):
    n, v = len(values), values.var()
    m4 = ((values - values.mean()) ** 4).mean()
    return min(max(2 * n * v**2 / (m4 - v**2 * (n - 3) / (n - 1)), 1), n - 1)


@pytest.mark.parametrize("level", LEVELS)
def test_independent_groups_have_wilson_on_placement_values(level):
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.5, 1, 25), rng.normal(0, 1, 40)
    wins = (np.sign(a[:, None] - b[None, :]) + 1) / 2
    places_a, places_b = wins.mean(axis=1), wins.mean(axis=0)
    parts = np.array([places_a.var(ddof=1) / 25, places_b.var(ddof=1) / 40])
    dfs = np.array([slow_df(places_a), slow_df(places_b)])
    df = parts.sum() ** 2 / (parts**2 / dfs).sum()
    interval = of(a, b).interval(level)
    assert (interval.lower, interval.upper) == pytest.approx(
        slow_wilson(wins.mean(), parts.sum(), df, level)
    )


@pytest.mark.parametrize("level", LEVELS)
def test_rounds_sum_the_placement_values_of_both_groups(level):
    rng = np.random.default_rng(2)
    common = rng.normal(0, 1, 30)
    a, b = common + rng.normal(0.6, 1, 30), common + rng.normal(0, 1, 30)
    wins = (np.sign(a[:, None] - b[None, :]) + 1) / 2
    summed = wins.mean(axis=1) + wins.mean(axis=0)
    interval = of(a, b, units_a=range(30), units_b=range(30)).interval(level)
    assert (interval.lower, interval.upper) == pytest.approx(
        slow_wilson(wins.mean(), summed.var(ddof=1) / 30, slow_df(summed), level)
    )


def test_rounds_never_restrict_which_pairs_are_compared():
    a, b = [3, 1, 2, 5], [2, 2, 4, 0]
    assert of(a, b).value == of(a, b, units_a=list("pqrs"), units_b=list("qpsr")).value


@pytest.mark.parametrize(("n_a", "n_b"), [(20, 20), (10, 50)])
def test_total_separation_counts_the_smaller_group_as_draws(n_a, n_b):
    z2 = special.ndtri(0.975) ** 2
    estimate = of(np.arange(n_a) + 100, np.arange(n_b))
    small = min(n_a, n_b)
    assert estimate.value == estimate.interval().upper == 1.0
    assert estimate.interval().lower == pytest.approx(2 * small / (small + z2) - 1)
    assert "no_variance" in estimate.reasons


@pytest.mark.parametrize("n", [5, 20, 100])
def test_one_pair_out_of_order_never_proves_more_than_none(n):
    a, b = np.arange(n) + 1000.0, np.arange(n) * 1.0
    separated = of(a, b)
    a[0] = n - 1.5
    almost = of(a, b)
    assert almost.value < 1.0
    for level in LEVELS:
        assert almost.interval(level).lower <= separated.interval(level).lower


def test_ties_everywhere_leave_a_wide_interval():
    estimate = of([2] * 20, [2] * 30)
    assert estimate.value == 0.0
    assert estimate.interval().lower < -0.35
    assert estimate.interval().upper > 0.35
    assert estimate.mann_whitney_p == 1.0


@given(scores, scores)
def test_only_the_order_of_scores_matters(a, b):
    one = of(a, b)
    other = of([math.exp(x) * 7 for x in a], [math.exp(x) * 7 for x in b])
    assert other.interval() == one.interval()


@given(scores, scores)
def test_mann_whitney_p_is_the_usual_normal_approximation(a, b):
    if len({*a, *b}) == 1:
        assert of(a, b).mann_whitney_p == 1.0
        return
    usual = scipy.stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True).pvalue
    assert of(a, b).mann_whitney_p == pytest.approx(min(1.0, usual), rel=1e-9)


def test_wins_are_counted_exactly_among_many_ties_in_any_order():
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 30, 400) / 10, rng.integers(5, 40, 300) / 10
    won = int(np.sign(a[:, None] - b[None, :]).sum())
    assert of(a, b).value == won / (400 * 300)
    again = of(rng.permutation(a), rng.permutation(b))
    assert (again.interval(), again.mann_whitney_p) == (
        of(a, b).interval(),
        of(a, b).mann_whitney_p,
    )


def test_a_single_candidate_or_round_is_worth_one_draw():
    for estimate in (of([5], [1, 2, 3]), of([5, 4], [1, 2], units_a=["r"] * 2, units_b=["r"] * 2)):
        assert estimate.value == 1.0
        assert estimate.interval().lower == pytest.approx(-0.95)
        assert "thin_evidence" in estimate.reasons


def test_design_effect_compares_with_independent_candidates():
    rng = np.random.default_rng(5)
    shift = np.repeat(rng.normal(0, 2, 30), 4)
    a, b = shift + rng.normal(0, 1, 120), rng.normal(0, 2, 120)
    units = np.repeat(np.arange(30), 4)
    sample = of(a, b, units_a=units, units_b=units + 30).sample
    assert sample.design_effect > 1.3
    assert sample.effective == pytest.approx(240 / sample.design_effect)

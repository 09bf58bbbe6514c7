"""Closed-form bounds of shares, beside sums over every count and direct transcriptions."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_llmfair.stats._score_intervals import (
    Share,
    clopper_pearson,
    markov,
    normal_quantile,
    t_quantile,
    wilson,
    zero_event_bound,
)

alphas = st.floats(1e-6, 0.5)


def tail(n, p, hits):
    """Probability of at most `hits` in `n` draws."""
    return math.fsum(math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(hits + 1))


def test_zero_event_bound_is_the_rate_that_gives_no_event_with_probability_alpha():
    bound = zero_event_bound(60, 0.025)
    assert (1 - bound) ** 60 == pytest.approx(0.025)
    assert bound == pytest.approx(1 - 0.025 ** (1 / 60))


def test_no_zero_event_bound_without_a_limit_on_units():
    assert zero_event_bound(math.inf, 0.025) == 0.0


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), alphas)
def test_clopper_pearson_has_tails_of_alpha(counts, alpha):
    trials, hits = counts
    low, high = clopper_pearson(hits, trials, alpha)
    if hits < trials:
        assert tail(trials, high, hits) == pytest.approx(alpha, rel=1e-6)
    if hits > 0:
        assert 1 - tail(trials, low, hits - 1) == pytest.approx(alpha, rel=1e-6, abs=1e-12)


@given(st.floats(0.01, 0.99), st.floats(1, 1e4), st.floats(0.01, 5))
def test_wilson_bounds_are_where_the_score_statistic_equals_the_quantile(share, trials, quantile):
    for bound in wilson(share, trials, quantile):
        score = abs(share - bound) / math.sqrt(bound * (1 - bound) / trials)
        assert score == pytest.approx(quantile, rel=1e-5)


@given(st.floats(0, 1), alphas)
def test_markov_bounds_are_exact_for_the_worst_two_point_draw(share, alpha):
    low, high = markov(share, alpha)
    # The draw is `share` with probability alpha and 0 else: then its mean is the lower bound.
    assert low == pytest.approx(alpha * share)
    assert 1 - high == pytest.approx(alpha * (1 - share))


@pytest.mark.parametrize(
    ("probability", "df", "printed"),
    [(0.975, 1, 12.706), (0.975, 10, 2.228), (0.95, 4, 2.132), (0.975, math.inf, 1.960)],
)
def test_t_quantiles_agree_with_printed_tables(probability, df, printed):
    assert t_quantile(probability, df) == pytest.approx(printed, abs=6e-4)


def test_normal_quantile_agrees_with_printed_tables():
    assert normal_quantile(0.995) == pytest.approx(2.5758, abs=1e-4)


shares = st.builds(
    Share,
    value=st.floats(0, 1),
    effective=st.floats(1, 1e5),
    df=st.floats(1, 1e4),
    trials=st.integers(1, 500),
    guard=st.one_of(st.just(math.inf), st.floats(2, 500)),
    seen=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    skew=st.floats(-0.1, 0.1),
)


@given(shares, alphas, alphas)
@example(Share(5.6e-16, effective=9.0, df=3.0, trials=2), 0.125, 0.25)
def test_bounds_of_a_share_widen_as_the_error_rate_falls(share, one, other):
    small, large = sorted([one, other])
    assert share.lower(small) <= share.lower(large) <= share.value
    assert share.upper(small) >= share.upper(large) >= share.value


@given(shares, st.floats(1e-6, 0.4))
def test_a_share_never_has_an_interval_without_width(share, alpha):
    assert share.lower(alpha) < share.upper(alpha)


@given(shares, alphas)
def test_a_guarded_share_never_beats_its_zero_event_bound_unless_a_unit_does(share, alpha):
    if share.trials > 1 and 0 < share.value < 1:
        least = zero_event_bound(share.guard, alpha)
        assert share.upper(alpha) >= least or share.seen[1] >= least
        assert share.lower(alpha) <= 1 - least or share.seen[0] <= 1 - least


@given(shares, alphas)
def test_swapping_events_and_non_events_mirrors_the_interval(share, alpha):
    mirrored = replace(
        share,
        value=1 - share.value,
        seen=(1 - share.seen[1], 1 - share.seen[0]),
        skew=-share.skew,
    )
    assert mirrored.upper(alpha) == pytest.approx(1 - share.lower(alpha), abs=1e-9)

"""Score intervals of one and two rates, compared with sums and numerical searches."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_llmfair.stats._score_intervals import (
    Share,
    clopper_pearson,
    difference_bound,
    find_root,
    markov,
    paired_bound,
    ratio_bound,
    restricted_rates,
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


shares = st.builds(
    Share,
    value=st.floats(0, 1),
    effective=st.floats(1, 1e5),
    df=st.floats(1, 1e4),
    trials=st.integers(1, 500),
    guard=st.one_of(st.just(math.inf), st.floats(2, 500)),
    reach=st.tuples(st.floats(0, 0.5), st.floats(0.5, 1)),
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
def test_an_interval_reaches_what_draws_that_were_missed_could_add(share, alpha):
    if share.trials > 1:
        missed = zero_event_bound(share.guard, alpha)
        low, high = ((1 - missed) * share.value + missed * end for end in share.reach)
        assert share.lower(alpha) <= low + 1e-12
        assert share.upper(alpha) >= high - 1e-12


@given(shares, alphas)
def test_swapping_events_and_non_events_mirrors_the_interval(share, alpha):
    mirrored = replace(
        share,
        value=1 - share.value,
        reach=(1 - share.reach[1], 1 - share.reach[0]),
        skew=-share.skew,
    )
    assert mirrored.upper(alpha) == pytest.approx(1 - share.lower(alpha), abs=1e-9)


Z = 1.959963984540054
counts = st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def log_likelihood(pairs):
    """Log-likelihood of (hits, probability) pairs; impossible hits give minus infinity."""
    total = np.zeros(np.shape(pairs[0][1]))
    for hits, probability in pairs:
        if hits:
            with np.errstate(divide="ignore"):
                total = total + hits * np.log(probability)
    return total


@given(counts, counts, st.floats(-0.95, 0.95))
def test_no_rates_with_the_difference_are_more_likely_than_the_restricted_ones(a, b, gap):
    (x_a, n_a), (x_b, n_b) = a, b

    def likelihood(p_a):
        p_b = np.clip(p_a - gap, 0, 1)
        p_a = np.clip(p_a, 0, 1)
        return log_likelihood([(x_a, p_a), (n_a - x_a, 1 - p_a), (x_b, p_b), (n_b - x_b, 1 - p_b)])

    found = restricted_rates(x_a / n_a, x_b / n_b, n_b / n_a, gap)
    assert found[0] - found[1] == pytest.approx(gap, abs=1e-9)
    grid = np.linspace(max(0, gap), min(1, 1 + gap), 2001)
    assert likelihood(np.array(found[0])) >= likelihood(grid).max() - 1e-6


@given(counts, counts)
def test_the_difference_bound_is_where_the_score_statistic_equals_the_quantile(a, b):
    (x_a, n_a), (x_b, n_b) = a, b
    correction = (n_a + n_b) / (n_a + n_b - 1)
    bound = difference_bound(x_a / n_a, x_b / n_b, n_a / Z**2, n_b / Z**2, correction)
    if bound > 1 - 1e-9:
        return
    p_a, p_b = restricted_rates(x_a / n_a, x_b / n_b, n_b / n_a, bound)
    error = math.sqrt(correction * (p_a * (1 - p_a) / n_a + p_b * (1 - p_b) / n_b))
    assert (bound - (x_a / n_a - x_b / n_b)) / error == pytest.approx(Z, rel=1e-5)


@settings(max_examples=40)
@given(st.integers(2, 40), st.data())
def test_the_paired_bound_is_where_tangos_statistic_equals_the_quantile(n, data):
    more = data.draw(st.integers(0, n))
    less = data.draw(st.integers(0, n - more))
    gap, discordance = (more - less) / n, (more + less) / n
    bound = paired_bound(gap, discordance, n / Z**2)
    if bound > 1 - 1e-9:
        return
    # The most likely share of `less` when the difference is `bound`, by a fine grid.
    q = np.linspace(max(0.0, -bound), (1 - bound) / 2, 4_001)
    rest = np.clip(1 - 2 * q - bound, 0, 1)
    best = q[np.argmax(log_likelihood([(more, q + bound), (less, q), (n - more - less, rest)]))]
    error = math.sqrt((2 * best + bound - bound**2) / n)
    assert (bound - gap) / error == pytest.approx(Z, rel=5e-3)


@settings(max_examples=40)
@given(counts, counts)
def test_the_ratio_bound_is_where_koopmans_chi_square_equals_the_quantile(a, b):
    (x_a, n_a), (x_b, n_b) = a, b
    bound = ratio_bound(x_a / n_a, x_b / n_b, n_a / Z**2, n_b / Z**2)
    if x_b == 0:
        assert bound == math.inf
        return
    grid = np.linspace(1e-7, 1 - 1e-7, 8_001) / max(1.0, bound)
    with np.errstate(divide="ignore"):
        likelihood = log_likelihood(
            [
                (x_a, np.clip(bound * grid, 0, 1)),
                (n_a - x_a, np.clip(1 - bound * grid, 1e-300, 1)),
                (x_b, grid),
                (n_b - x_b, 1 - grid),
            ]
        )
    p_b = grid[np.argmax(likelihood)]
    p_a = bound * p_b
    error = math.sqrt(p_a * (1 - p_a) / n_a + bound**2 * p_b * (1 - p_b) / n_b)
    assert (bound * x_b / n_b - x_a / n_a) == pytest.approx(Z * error, rel=0.02, abs=1e-3)


@given(st.floats(0.0, 1.0), st.floats(0.1, 8.0))
def test_the_root_of_a_falling_function_is_found(target, power):
    found = find_root(lambda x: target**power - x**power, 0.0, 1.0)
    assert found == pytest.approx(target, abs=1e-9) or abs(target**power - found**power) < 1e-12

"""Score bounds of two rates, beside a numerical search for the most likely rates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.stats._score_intervals import (
    difference_bound,
    find_root,
    paired_bound,
    ratio_bound,
    restricted_rates,
)

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


def test_bounds_of_a_published_difference():
    # 56/70 v 48/80: Newcombe (1998), table II, method 5 (Mee) prints .0533 to .3377.
    low = -difference_bound(48 / 80, 56 / 70, 80 / Z**2, 70 / Z**2, 1.0)
    high = difference_bound(56 / 70, 48 / 80, 70 / Z**2, 80 / Z**2, 1.0)
    assert (low, high) == pytest.approx((0.0533, 0.3377), abs=6e-5)


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


def test_no_pair_that_differs_leaves_a_bound_of_the_rule_of_four():
    assert paired_bound(0.0, 0.0, 50 / Z**2) == pytest.approx(Z**2 / (50 + Z**2))


def test_bounds_of_a_published_ratio():
    # 36/40 v 16/80: Koopman (1984) prints 2.94 to 7.15.
    low = 1 / ratio_bound(16 / 80, 36 / 40, 80 / Z**2, 40 / Z**2)
    high = ratio_bound(36 / 40, 16 / 80, 40 / Z**2, 80 / Z**2)
    assert (low, high) == pytest.approx((2.94, 7.15), abs=5e-3)


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

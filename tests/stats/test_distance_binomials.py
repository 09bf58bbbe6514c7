"""Mean |2 p - 1| over terms, compared with sums over every possible count."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.stats import Distance
from pytest_llmfair.stats._terms import (
    Fold,
    cross_fit_variance,
    cross_fits,
    folded_mean,
    folded_slope,
    folded_variance,
)


def binomial(n, p):
    return [math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)]


def moments(n, lean):
    weights = binomial(n, 0.5 * (1 + lean))
    values = [abs(2 * x / n - 1) for x in range(n + 1)]
    mean = math.fsum(w * v for w, v in zip(weights, values, strict=True))
    square = math.fsum(w * v * v for w, v in zip(weights, values, strict=True))
    return mean, square - mean * mean


@given(st.integers(1, 60), st.floats(0, 1))
def test_folded_moments_are_sums_over_counts(n, lean):
    mean, variance = moments(n, lean)
    assert folded_mean(n, np.array([lean]))[0] == pytest.approx(mean, abs=1e-10)
    assert folded_variance(n, np.array([lean]))[0] == pytest.approx(variance, abs=1e-10)


@given(st.integers(2, 40), st.floats(0.001, 0.999))
def test_slope_is_the_derivative_of_the_mean(n, lean):
    step = 1e-6
    by_difference = (moments(n, lean + step)[0] - moments(n, lean - step)[0]) / (2 * step)
    assert folded_slope(n, np.array([lean]))[0] == pytest.approx(by_difference, abs=1e-6)


@pytest.mark.parametrize(("hits", "n"), [(0, 3), (2, 3), (2, 4), (5, 6), (3, 7), (4, 9)])
def test_cross_fit_is_the_mean_over_all_splits(hits, n):
    draws = [1] * hits + [-1] * (n - hits)
    held = max(1, n // 3)
    values = []
    for out in combinations(range(n), held):
        kept = sum(draws[k] for k in range(n) if k not in out)
        values.append(np.sign(kept) * np.mean([draws[k] for k in out]))
    assert cross_fits(n)[hits] == pytest.approx(np.mean(values), abs=1e-12)


@given(st.integers(2, 40), st.floats(0, 1))
def test_cross_fit_never_exceeds_the_truth_on_average(n, lean):
    mean = np.dot(binomial(n, 0.5 * (1 + lean)), cross_fits(n))
    assert mean <= lean + 1e-12


def test_exact_and_approximate_cross_fits_agree():
    few, many = cross_fits(200), cross_fits(201)
    assert np.interp(0.55, np.linspace(0, 1, 201), few) == pytest.approx(
        np.interp(0.55, np.linspace(0, 1, 202), many), abs=0.004
    )


def test_cross_fit_variance_is_a_sum_over_counts():
    weights, fits = np.array(binomial(30, 0.6)), cross_fits(30)
    direct = weights @ fits**2 - (weights @ fits) ** 2
    assert cross_fit_variance(30, 0.6) == pytest.approx(direct, rel=1e-9)


def test_fold_of_equal_terms_is_the_folded_mean():
    fold = Fold(np.full(12, 30))
    for lean in (0.0, 0.1, 0.35, 0.8):
        assert fold.unfold(moments(30, lean)[0]) == pytest.approx(lean, abs=2e-3)


def test_fold_of_unequal_terms_takes_the_least_mean():
    fold = Fold(np.array([3, 40]))
    grid = np.linspace(0, 1, 401)
    for truth in (0.1, 0.3, 0.45):
        pairs = [(a, 2 * truth - a) for a in grid if 0 <= 2 * truth - a <= 1]
        least = min((moments(3, a)[0] + moments(40, b)[0]) / 2 for a, b in pairs)
        assert fold.unfold(least) == pytest.approx(truth, abs=3e-3)


@pytest.mark.parametrize(("n", "printed"), [(30, 0.1445), (64, 0.0993)])
def test_noise_floor_at_parity_as_printed(n, printed):
    e = Distance.of_binomials([n // 2] * 40, [n] * 40)
    assert e.noise_floor() == pytest.approx(printed, abs=5e-5)


def test_noise_floor_of_unequal_terms_is_their_mean():
    e = Distance.of_binomials([1, 5], [3, 10])
    assert e.noise_floor() == pytest.approx((moments(3, 0)[0] + moments(10, 0)[0]) / 2)


def test_paper_variance_is_the_folded_normal():
    x, n = [3, 15, 28, 30], [30, 30, 30, 30]
    total = 0.0
    for hits, trials in zip(x, n, strict=True):
        p = hits / trials
        d, s = 2 * p - 1, math.sqrt(4 * p * (1 - p) / trials)
        if s > 0:
            phi = 0.5 * (1 + math.erf(-abs(d) / s / math.sqrt(2)))
            m = s * math.sqrt(2 / math.pi) * math.exp(-d * d / (2 * s * s)) + abs(d) * (
                1 - 2 * phi
            )
            total += d * d + s * s - m * m
    assert Distance.of_binomials(x, n).paper_variance == pytest.approx(total / 16)


def counts(most=12):
    term = st.integers(2, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
    return st.lists(term, min_size=1, max_size=most)


def test_exact_parity_is_never_certain():
    e = Distance.of_binomials([15] * 40, [30] * 40)
    ends = e.interval()
    assert (ends.lower, e.debiased) == (0.0, 0.0)
    assert 0.05 < ends.upper < 0.2
    shares = [
        e.fair_passes((-math.inf, limit), 0.0, 0.025)(1.0)
        for limit in (0.5 * ends.upper, 2.0 * ends.upper)
    ]
    assert shares == pytest.approx([0.0, 1.0], abs=0.02)


def test_one_sided_counts_are_never_certain():
    ends = Distance.of_binomials([30] * 10, [30] * 10).interval()
    assert 0.9 < ends.lower < 1.0
    assert ends.upper == 1.0


def test_sampled_terms_allow_for_terms_not_seen():
    x, n = [150] * 20 + [300] * 5, [300] * 25
    fixed = Distance.of_binomials(x, n).interval()
    sampled = Distance.of_binomials(x, n, population="sampled").interval()
    assert sampled.width > 2 * fixed.width


def test_terms_with_one_label_are_one_unit():
    x, n = [5, 25, 5, 25] * 5, [30] * 20
    labels = [k // 2 for k in range(20)]
    e = Distance.of_binomials(x, n, population="sampled", units=labels)
    assert e.sample.units == 10


def test_p_equal_separates_skewed_from_even_terms():
    rng = np.random.default_rng(1)
    fair = Distance.of_binomials(rng.binomial(30, 0.5, 40), [30] * 40)
    lean = Distance.of_binomials(rng.binomial(30, 0.65, 40), [30] * 40)
    assert fair.p_equal() > 0.05
    assert lean.p_equal() < 0.01


@pytest.mark.parametrize("population", ["fixed", "sampled"])
def test_single_generations_give_the_widest_interval(population):
    e = Distance.of_binomials([1, 0, 1], [1, 1, 1], population=population)
    assert e.value == 1.0
    assert e.noise_floor() == 1.0
    assert (e.interval().lower, e.interval().upper) == (0.0, 1.0)
    assert "thin_evidence" in e.reasons


@pytest.mark.parametrize("population", ["fixed", "sampled"])
def test_a_term_of_one_generation_may_have_any_skew(population):
    some = Distance.of_binomials([15] * 9 + [1], [30] * 9 + [1], population=population)
    others = Distance.of_binomials([15] * 9, [30] * 9, population=population)
    assert some.value == pytest.approx(0.1)
    assert some.upper_bound(0.025) == pytest.approx(0.9 * others.upper_bound(0.025) + 0.1)
    assert some.lower_bound(0.025) == 0.0


@pytest.mark.parametrize(
    ("terms", "answers", "population", "bound"),
    [(9, 13, "fixed", 0.3), (30, 30, "fixed", 0.18), (30, 30, "sampled", 0.2)],
)
def test_few_terms_are_predicted_to_pass_as_often_as_they_do(terms, answers, population, bound):
    rng = np.random.default_rng(4)
    drawn = [
        Distance.of_binomials(
            rng.binomial(answers, 0.5, terms), [answers] * terms, population=population
        )
        for _ in range(150)
    ]
    share = drawn[0].fair_passes((-math.inf, bound), 0.0, 0.025)(1.0)
    passed = np.mean([each.interval(0.95).upper <= bound for each in drawn])
    assert share == pytest.approx(passed, abs=0.12)

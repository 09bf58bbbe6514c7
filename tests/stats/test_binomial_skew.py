"""The signed lean of binomial counts, compared with its exact distribution and simulations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv

from pytest_llmfair.stats import BinomialSkew

COUNTS = st.lists(st.tuples(st.integers(0, 12), st.integers(2, 12)), min_size=1, max_size=6)


def interval(hits, trials, level=0.95, **keywords):
    return BinomialSkew.of_binomials(hits, trials, **keywords).interval(level)


def test_a_single_term_has_its_exact_binomial_interval():
    ends = interval([7], [30])
    assert ends.method == "Clopper-Pearson"
    assert ends.lower == pytest.approx(2 * betaincinv(7, 24, 0.025) - 1)
    assert ends.upper == pytest.approx(2 * betaincinv(8, 23, 0.975) - 1)
    assert interval([0], [30]).upper == pytest.approx(1 - 2 * 0.025 ** (1 / 30))


@given(COUNTS)
def test_swapping_the_two_kinds_turns_the_sign(rows):
    hits, trials = [min(x, n) for x, n in rows], [n for _, n in rows]
    one = BinomialSkew.of_binomials(hits, trials)
    other = BinomialSkew.of_binomials([n - x for x, n in zip(hits, trials, strict=True)], trials)
    assert other.value == pytest.approx(-one.value, abs=1e-12)
    assert other.interval().lower == pytest.approx(-one.interval().upper, abs=1e-9)
    assert other.paper_variance == pytest.approx(one.paper_variance, abs=1e-12)


def test_fixed_terms_are_stratified():
    hits, trials = [1, 29] * 20, [30] * 40
    smooth = 2 / 32
    within = 40 * 4 * smooth * (1 - smooth) / 30 / 40**2
    estimate = BinomialSkew.of_binomials(hits, trials)
    assert estimate.standard_error() == pytest.approx(within**0.5)
    # That terms lean to opposite sides counts only where they are a sample of more.
    sampled = BinomialSkew.of_binomials(hits, trials, population="sampled")
    assert sampled.interval().width > 5 * estimate.interval().width


def test_even_terms_are_worth_all_their_generations():
    estimate = BinomialSkew.of_binomials([15] * 40, [30] * 40)
    assert estimate.sample.effective == pytest.approx(1200, rel=0.01)
    assert "no_variance" not in estimate.reasons
    assert (
        "no_variance"
        in BinomialSkew.of_binomials([15] * 40, [30] * 40, population="sampled").reasons
    )
    assert BinomialSkew.of_binomials([3, 27] * 20, [30] * 40).sample.effective > 2000


@pytest.mark.parametrize(
    ("shares", "trials", "least"),
    [
        (np.full(40, 0.5), 30, 0.925),
        (np.where(np.arange(40) < 20, 0.03, 0.97), 30, 0.95),
        (np.linspace(0.05, 0.95, 40), 5, 0.935),
        (np.full(4, 0.9), 5, 0.925),
        (np.array([0.97]), 30, 0.95),
    ],
)
def test_coverage_of_fixed_terms(shares, trials, least):
    rng = np.random.default_rng(5)
    kept = np.full(len(shares), trials)
    truth = float((2 * shares - 1).mean())
    draws = [interval(rng.binomial(kept, shares), kept) for _ in range(400)]
    assert np.mean([ends.lower <= truth <= ends.upper for ends in draws]) >= least


def test_single_generations_are_one_draw_each():
    lean = BinomialSkew.of_binomials([1, 0, 1, 1, 1, 0, 1, 1], [1] * 8)
    assert lean.value == 0.5
    low, high = betaincinv(6, 3, 0.025), betaincinv(7, 2, 0.975)
    ends = lean.interval()
    assert (ends.lower, ends.upper) == pytest.approx((2 * low - 1, 2 * high - 1))
    assert lean.sample.generations == 8


def test_a_single_generation_among_others_widens_the_interval():
    some = BinomialSkew.of_binomials([15, 20, 1], [30, 30, 1]).interval()
    without = BinomialSkew.of_binomials([15, 20, 30], [30, 30, 30]).interval()
    assert some.width > without.width

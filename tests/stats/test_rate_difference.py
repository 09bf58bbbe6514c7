"""Differences of two rates: independent, clustered, paired and folded."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.stats import MeanDifference, RateDifference

LEVELS = (0.5, 0.8, 0.95, 0.99, 0.999)
Z = 1.959963984540054
outcomes = st.lists(st.integers(0, 1), min_size=1, max_size=25)
of = RateDifference.of_outcomes


def hits(x, n):
    return [1] * x + [0] * (n - x)


@given(outcomes, outcomes)
def test_the_value_is_the_absolute_difference_of_the_rates(a, b):
    estimate = of(a, b)
    assert estimate.rates == pytest.approx((sum(a) / len(a), sum(b) / len(b)))
    assert estimate.value == pytest.approx(abs(sum(a) / len(a) - sum(b) / len(b)))
    assert estimate.signed.value == pytest.approx(sum(a) / len(a) - sum(b) / len(b))


def test_independent_rows_have_the_score_interval_of_miettinen_and_nurminen():
    # Newcombe (1998), table II, method 6 (Miettinen-Nurminen) prints .0528 to .3382.
    interval = of(hits(56, 70), hits(48, 80), absolute=False).interval()
    assert (interval.lower, interval.upper) == pytest.approx((0.0528, 0.3382), abs=6e-5)
    assert interval.method == "Miettinen-Nurminen score"


@given(outcomes, outcomes, st.sampled_from(LEVELS))
def test_the_folded_interval_holds_exactly_the_distances_in_the_signed_one(a, b, level):
    folded, signed = of(a, b).interval(level), of(a, b).signed.interval(level)
    assert folded.upper == max(abs(signed.lower), abs(signed.upper))
    inside = signed.lower <= 0 <= signed.upper
    assert folded.lower == (0 if inside else min(abs(signed.lower), abs(signed.upper)))


@pytest.mark.parametrize("n", [10, 30, 200])
def test_no_event_in_either_group_leaves_the_rule_of_four(n):
    estimate = of([0] * n, [0] * n)
    assert estimate.value == 0.0
    assert estimate.interval().upper == pytest.approx(3.84 / (n + 3.84), rel=0.05)
    end = estimate.interval().upper
    shares = [
        estimate.fair_passes((-math.inf, limit), 0.0, 0.025)(1.0)
        for limit in (0.99 * end, 1.01 * end)
    ]
    assert shares == [0.0, 1.0]


def tango_score(more, fewer, n, difference):
    """Score statistic of Tango (1998) from the pairs that differ in either way."""
    linear = (2 * n - more + fewer) * difference - more - fewer
    constant = -fewer * difference * (1 - difference)
    q = (math.sqrt(linear**2 - 8 * n * constant) - linear) / (4 * n)
    variance = n * (2 * q + difference * (1 - difference))
    return (more - fewer - n * difference) / math.sqrt(variance)


def test_one_outcome_per_unit_and_group_has_tangos_interval():
    a = hits(12, 50)
    b = [0] * 12 + [1, 1] + [0] * 36
    interval = of(a, b, units_a=range(50), units_b=range(50), absolute=False).interval()
    assert tango_score(12, 2, 50, interval.upper) == pytest.approx(-Z)
    assert tango_score(12, 2, 50, interval.lower) == pytest.approx(Z)
    assert interval.method == "Tango score"


def test_clustered_rows_widen_the_interval():
    rng = np.random.default_rng(4)
    rates = rng.beta(0.3, 1.0, (2, 40, 1))
    rows = (rng.random((2, 40, 5)) < rates).astype(float)
    units = np.repeat(np.arange(40), 5)
    plain = of(rows[0].ravel(), rows[1].ravel())
    clustered = of(rows[0].ravel(), rows[1].ravel(), units_a=units, units_b=units + 40)
    assert clustered.interval().width > 1.3 * plain.interval().width
    assert clustered.sample.design_effect > 1.5
    assert clustered.sample.icc > 0.2
    assert "effective counts" in clustered.method


def test_hits_in_one_unit_never_prove_more_than_no_hit():
    units = np.repeat(np.arange(50), 25)
    clean = np.zeros(1250)
    one = clean.copy()
    one[0] = 1.0

    def upper(x):
        return of(x, clean, units_a=units, units_b=units + 50).interval().upper

    assert upper(one) > 0.9 * upper(clean)


def test_units_that_agree_in_every_row_still_leave_something_open():
    units = np.repeat(np.arange(20), 3)
    rows = np.repeat(np.random.default_rng(5).integers(0, 2, 20), 3)
    estimate = of(rows, rows, units_a=units, units_b=units)
    assert estimate.value == 0.0
    assert estimate.interval().upper == pytest.approx(Z**2 / (20 + Z**2), rel=1e-6)
    assert "no_variance" in estimate.reasons


def test_a_group_in_a_single_unit_is_worth_one_draw():
    estimate = of([1, 0, 1], [1, 0, 0, 1], units_a=["r"] * 3, units_b=["r", "s", "t", "u"])
    assert estimate.interval().width > 0.75


def test_fractions_of_a_selection_are_rates_too():
    estimate = of([0.5, 0.5, 1.0, 0.0], [0.0, 0.25, 0.25, 0.5])
    assert estimate.value == pytest.approx(0.25)
    assert 0 <= estimate.interval().lower < estimate.interval().upper <= 1


@pytest.mark.parametrize(("rate", "n_a", "n_b"), [(0.5, 30, 30), (0.1, 30, 100), (0.05, 40, 40)])
def test_noise_floor_is_the_mean_distance_of_two_equal_groups(rate, n_a, n_b):
    rng = np.random.default_rng(6)
    a, b = rng.binomial(n_a, rate, 20_000) / n_a, rng.binomial(n_b, rate, 20_000) / n_b
    floor = of(hits(round(rate * n_a), n_a), hits(round(rate * n_b), n_b)).noise_floor()
    assert floor == pytest.approx(np.abs(a - b).mean(), rel=0.03)


def test_noise_floor_of_pairs_is_that_of_coin_flips_of_the_pairs_that_differ():
    rng = np.random.default_rng(7)
    differ = rng.binomial(40, 0.2, 20_000)
    walks = np.abs(2 * rng.binomial(differ, 0.5) - differ) / 40
    floor = of(hits(5, 40), [0] * 5 + hits(3, 35), units_a=range(40), units_b=range(40))
    assert floor.noise_floor() == pytest.approx(walks.mean(), rel=0.05)


def test_the_signed_difference_has_no_noise_floor():
    assert math.isnan(of([1, 0], [0, 1], absolute=False).noise_floor())


def test_small_groups_are_thin_evidence():
    assert "thin_evidence" in of(hits(9, 19), hits(30, 60)).reasons
    assert "thin_evidence" in of(hits(2, 100), hits(1, 100)).reasons
    assert "thin_evidence" not in of(hits(9, 20), hits(30, 60)).reasons


def test_a_few_shared_units_do_not_pair_groups_without_events():
    apart = of([0] * 10, [0] * 10)
    nearly = of([0] * 10, [0] * 10, units_a=range(10), units_b=range(9, 19))
    assert nearly.interval() == apart.interval()


def test_rows_that_repeat_inside_every_unit_are_named():
    units = np.repeat(np.arange(30), 2)
    a, b = np.repeat(hits(10, 30), 2), np.repeat(hits(15, 30), 2)
    assert "identical_repeats" in of(a, b, units_a=units, units_b=units + 30).reasons


def test_the_noise_floor_of_very_many_rows_is_that_of_normal_errors():
    exact, normal = (of(hits(30_000, n), hits(27_000, 90_000)) for n in (100_000, 100_001))
    assert normal.noise_floor() == pytest.approx(exact.noise_floor(), rel=1e-3)


def few_pairs_differ(rng, units=50, rows=4):
    """Some prompts turn a few or all of their rows; every other pair of answers is equal."""
    b = (rng.random((units, rows)) < 0.4).astype(float)
    share = np.where(rng.random(units) < 0.5, 0.25, 1.0) * (rng.random(units) < 0.1)
    a = np.where(rng.random((units, rows)) < share[:, None], 1.0, b)
    return a.ravel(), b.ravel(), np.repeat(np.arange(units), rows)


def test_few_units_that_differ_do_not_prove_a_small_difference():
    rng = np.random.default_rng(4)
    passed = 0
    for _ in range(200):
        a, b, units = few_pairs_differ(rng)
        estimate = RateDifference.of_outcomes(a, b, units_a=units, units_b=units, absolute=False)
        passed += estimate.interval().upper < 0.1 * 0.625 * 0.6
    assert passed <= 0.03 * 200


def test_the_difference_within_units_is_always_held():
    a, b, units = few_pairs_differ(np.random.default_rng(5))
    ends = RateDifference.of_outcomes(
        a, b, units_a=units, units_b=units, absolute=False
    ).interval()
    within = MeanDifference.of_scores(a, b, units_a=units, units_b=units).interval()
    assert ends.lower <= within.lower
    assert within.upper <= ends.upper


@pytest.mark.parametrize(
    ("sizes", "hits"), [((8, 14), (2, 5)), ((15, 6), (1, 0)), ((9, 9), (0, 1))]
)
def test_the_share_of_fair_runs_that_pass_is_that_of_all_counts(sizes, hits):
    def of(counts):
        rows = [[1] * x + [0] * (n - x) for x, n in zip(counts, sizes, strict=True)]
        return RateDifference.of_outcomes(*rows)

    rate, bound, expected = sum(hits) / sum(sizes), 0.45, 0.0
    for counts in itertools.product(*(range(n + 1) for n in sizes)):
        if of(counts).interval(0.95).upper <= bound:
            expected += math.prod(
                math.comb(n, x) * rate**x * (1 - rate) ** (n - x)
                for x, n in zip(counts, sizes, strict=True)
            )
    share = of(hits).fair_passes((-math.inf, bound), 0.0, 0.025)(1.0)
    assert share == pytest.approx(expected, abs=1e-6)
    assert 0.0 < share < 1.0

"""Ratios of two rates, plain and folded, and the ratio furthest from 1 of several groups."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.stats import GroupRow, MaxPairwiseRatio, RateRatio

LEVELS = (0.5, 0.8, 0.95, 0.99, 0.999)
Z = 1.959963984540054
outcomes = st.lists(st.integers(0, 1), min_size=1, max_size=25)
of = RateRatio.of_outcomes


def hits(x, n):
    return [1] * x + [0] * (n - x)


def test_independent_rows_have_koopmans_interval():
    interval = of(hits(36, 40), hits(16, 80)).interval()
    assert (interval.lower, interval.upper) == pytest.approx((2.94, 7.15), abs=5e-3)


def test_a_positive_rate_over_none_is_infinite_with_a_finite_lower_end():
    estimate = of(hits(9, 30), hits(0, 30))
    assert estimate.value == math.inf
    assert estimate.interval().upper == math.inf
    assert 1 < estimate.interval().lower < math.inf
    assert estimate.needed_units(1.25) is None


def test_no_event_over_some_is_zero_with_a_finite_upper_end():
    estimate = of(hits(0, 30), hits(9, 30))
    assert (estimate.value, estimate.interval().lower) == (0.0, 0.0)
    assert 0 < estimate.interval().upper < 1


@pytest.mark.parametrize("form", ["ratio", "smaller", "log"])
def test_none_over_none_is_undefined_with_a_reason(form):
    estimate = of([0, 0], [0, 0, 0], form=form)
    assert math.isnan(estimate.value)
    assert "0 over 0" in estimate.undefined
    assert math.isnan(estimate.interval().lower)
    assert math.isnan(estimate.p_exceeds(0.8))


@given(outcomes, outcomes, st.sampled_from(LEVELS))
def test_folded_intervals_hold_exactly_the_folded_ratios_of_the_plain_one(a, b, level):
    plain = of(a, b)
    if plain.undefined:
        return
    low, high = plain.interval(level).lower, plain.interval(level).upper
    fold = {
        "smaller": lambda r: min(r, 1 / r) if r > 0 else 0.0,
        "log": lambda r: abs(math.log(r)) if r > 0 else math.inf,
    }
    for form, folded in fold.items():
        estimate = of(a, b, form=form)
        assert estimate.value == pytest.approx(folded(plain.value))
        ends = sorted([folded(low), folded(high)])
        if low <= 1 <= high:
            ends = [ends[0], 1.0] if form == "smaller" else [0.0, ends[1]]
        interval = estimate.interval(level)
        assert (interval.lower, interval.upper) == pytest.approx(tuple(ends))


@given(outcomes, outcomes)
def test_swapping_the_groups_inverts_the_interval(a, b):
    one, other = of(a, b), of(b, a)
    if one.undefined:
        return
    assert other.interval().lower * one.interval().upper == pytest.approx(1.0) or (
        one.interval().upper in (0.0, math.inf)
    )


def test_pairs_that_always_agree_leave_what_four_discordant_ones_would():
    base = hits(30, 80)
    interval = of(base, base, units_a=range(80), units_b=range(80)).interval()
    by_hand = math.exp(Z * math.sqrt(3.84) / 80 / (30 / 80))
    assert interval.upper == pytest.approx(by_hand, rel=0.03)


@pytest.mark.parametrize(("form", "far"), [("smaller", 1.0), ("log", 0.0)])
def test_noise_floor_of_a_folded_ratio_is_that_of_equal_groups(form, far):
    a, b = np.random.default_rng(3).binomial(100, 0.4, (2, 20_000))
    values = np.minimum(a / b, b / a) if form == "smaller" else np.abs(np.log(a / b))
    floor = of(hits(40, 100), hits(40, 100), form=form).noise_floor()
    assert abs(floor - far) == pytest.approx(abs(np.mean(values) - far), rel=0.1)


def test_observed_error_is_that_of_the_log_ratio():
    estimate = of(hits(24, 100), hits(30, 100), form="log")
    by_hand = math.sqrt(0.76 / 24 + 0.70 / 30)
    assert estimate.standard_error() == pytest.approx(by_hand, rel=0.02)


@pytest.mark.parametrize(
    ("form", "allowed", "fair"),
    [("smaller", (0.8, math.inf), 1.0), ("log", (-math.inf, math.log(1.25)), 0.0)],
)
def test_equal_groups_pass_as_often_as_their_sizes_allow(form, allowed, fair):
    rng = np.random.default_rng(0)
    drawn = [of(rng.random(200) < 0.6, rng.random(200) < 0.6, form=form) for _ in range(300)]
    low, high = allowed
    inside = [low <= e.lower_bound(0.025) and e.upper_bound(0.025) <= high for e in drawn]
    share = drawn[0].fair_passes(allowed, fair, 0.025)(1.0)
    assert 0.1 < share < 0.9
    assert share == pytest.approx(np.mean(inside), abs=0.15)


def test_a_plain_ratio_passes_as_often_as_its_logarithm():
    rows = hits(90, 200), hits(100, 200)
    plain, folded = (of(*rows, form=form) for form in ("ratio", "log"))
    limit = math.log(1.4)
    shares = [
        plain.fair_passes((math.exp(-limit), math.exp(limit)), 1.0, 0.025)(1.0),
        folded.fair_passes((-math.inf, limit), 0.0, 0.025)(1.0),
    ]
    assert 0.0 < shares[0] < 1.0
    assert shares[0] == pytest.approx(shares[1])


@pytest.mark.parametrize("form", ["smaller", "log", "ratio"])
def test_units_needed_are_never_fewer_than_total_separation_needs(form):
    estimate = of(hits(0, 50), hits(40, 50), form=form)
    threshold = {"smaller": 0.8, "log": math.log(1.25), "ratio": 0.8}[form]
    fewest = estimate.fewest_units(threshold, 0.025)
    apart = {n: of(hits(0, n), hits(n, n), form=form).interval() for n in (2, fewest // 2)}
    assert threshold in apart[2]
    assert threshold not in apart[fewest // 2]
    assert fewest > 4
    if form != "log":  # an infinite value has no distance to a threshold
        assert estimate.needed_units(threshold)[0] >= fewest


SOME_LEVELS = (0.5, 0.8, 0.95, 0.99)
counts = st.lists(
    st.integers(1, 25).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    min_size=3,
    max_size=4,
)


def furthest_of(groups, form="ratio"):
    x = [[1] * hits + [0] * (n - hits) for hits, n in groups]
    pairs = {
        (i, j): RateRatio.of_outcomes(x[i], x[j], form=form)
        for i, j in combinations(range(len(x)), 2)
    }
    return MaxPairwiseRatio.of_pairs(pairs)


def log_bounds(pair, alpha):
    """Bounds of the absolute log ratio, from those of the plain ratio."""
    low, high = pair.lower_bound(alpha), pair.upper_bound(alpha)
    low = math.log(low) if low else -math.inf
    high = math.log(high) if high else -math.inf
    return max(0.0, low, -high), max(high, -low)


def test_the_pair_furthest_from_one_on_the_log_scale_is_the_value():
    assert furthest_of([(4, 20), (10, 20), (16, 20)]).value == pytest.approx(0.25)
    assert furthest_of([(16, 20), (10, 20), (4, 20)]).value == pytest.approx(4.0)
    assert furthest_of([(16, 20), (10, 20), (4, 20)], form="smaller").value == pytest.approx(0.25)
    # Of two that are equally far, the first.
    assert furthest_of([(6, 18), (2, 18), (6, 18)]).value == pytest.approx(3.0)


@given(counts, st.sampled_from(SOME_LEVELS))
def test_the_interval_is_that_of_the_largest_absolute_log_ratio(groups, level):
    estimate = furthest_of(groups)
    if estimate.undefined:
        return
    alpha = (1 - level) / 2
    pairs = [row.estimate for row in estimate.groups.values() if row.estimate.undefined is None]
    low = max(log_bounds(pair, alpha / len(pairs))[0] for pair in pairs)
    high = max(log_bounds(pair, alpha)[1] for pair in pairs)
    ends = [math.exp(low), math.exp(high)]
    if estimate.value <= 1.0:
        ends = [math.exp(-high), math.exp(-low)]
    interval = estimate.interval(level)
    assert [interval.lower, interval.upper] == pytest.approx(ends)
    assert interval.lower <= estimate.value <= interval.upper


@settings(max_examples=25)
@given(counts, st.floats(0.01, 2.0))
def test_the_order_of_groups_does_not_change_the_verdict(groups, b):
    one, other = furthest_of(groups), furthest_of(groups[::-1])
    if one.undefined:
        assert other.undefined
        return
    bound = Bound.checked(b, "two-sided", 1.0, (0.0, math.inf), "a ratio", "log")
    ends = [estimate.interval() for estimate in (one, other)]
    sides = [bound.sides(interval.lower, interval.upper) for interval in ends]
    assert sides[0] == sides[1]
    # Rounding aside the p-values agree, and with the interval.
    p = [bound.p_values(estimate) for estimate in (one, other)]
    assert p[0] == pytest.approx(p[1], abs=1e-6)


def test_clear_ratios_pass_and_fail_on_either_side():
    bound = Bound.checked(math.log(2.0), "two-sided", 1.0, (0.0, math.inf), "a ratio", "log")
    far, near = [(20, 200), (100, 200), (160, 200)], [(500, 1000), (510, 1000), (520, 1000)]
    for groups, verdict in ((far, (False, True)), (near, (True, False))):
        for estimate in (furthest_of(groups), furthest_of(groups[::-1])):
            interval = estimate.interval()
            assert bound.sides(interval.lower, interval.upper) == verdict
            beyond, within = bound.p_values(estimate)
            assert (beyond < 0.025, within < 0.025) == (verdict[1], verdict[0])


@given(counts)
def test_the_smaller_over_the_larger_does_not_depend_on_the_order(groups):
    one, other = furthest_of(groups, "smaller"), furthest_of(groups[::-1], "smaller")
    if one.undefined:
        return
    assert one.value == pytest.approx(other.value)
    ends = [(e.interval().lower, e.interval().upper) for e in (one, other)]
    assert ends[0] == pytest.approx(ends[1])
    assert 0.0 <= ends[0][0] <= one.value <= ends[0][1] <= 1.0


def test_a_rate_of_zero_is_infinitely_far_and_equal_zeros_do_not_matter():
    estimate = furthest_of([(9, 30), (0, 30), (0, 30)])
    assert estimate.value == math.inf
    assert math.isnan(estimate.groups[1, 2].value)
    assert math.isnan(estimate.groups[1, 2].p)
    assert not estimate.invalid
    assert furthest_of([(0, 30), (0, 30), (9, 30)]).value == 0.0
    assert estimate.interval().lower > 1
    assert estimate.needed_units(1.25) is None


def test_no_event_in_any_group_is_undefined():
    estimate = furthest_of([(0, 5), (0, 6), (0, 7)])
    assert math.isnan(estimate.value)
    assert "0 over 0" in estimate.undefined
    assert math.isnan(estimate.p_exceeds(1.0))


def test_the_table_has_pairs_with_adjusted_p_values_and_the_rows_added():
    x = [[1] * 40 + [0] * 10, [1] * 10 + [0] * 40, [1] * 11 + [0] * 39]
    pairs = {(i, j): RateRatio.of_outcomes(x[i], x[j]) for i, j in ((0, 1), (0, 2), (1, 2))}
    estimate = MaxPairwiseRatio.of_pairs(pairs, rates={0: GroupRow(math.nan, 50, rate=0.8)})
    assert list(estimate.groups) == [(0, 1), (0, 2), (1, 2), 0]
    assert len(estimate.groups) == 4
    assert estimate.groups[0].rate == 0.8
    assert estimate.groups[0, 1].value == pytest.approx(4.0)
    assert estimate.groups[0, 1].p < 0.001
    assert estimate.groups[1, 2].p > 0.5


def test_errors_and_floors_follow_the_log_scale():
    rising, falling = (
        furthest_of([(8, 40), (16, 40), (32, 40)]),
        furthest_of([(32, 40), (16, 40), (8, 40)]),
    )
    for at in (None, 2.0):
        log = rising.largest.standard_error(at)
        assert rising.standard_error(at) == pytest.approx(log * (at or 0.25))
        assert falling.standard_error(at) == pytest.approx(log * (at or 4.0))
    assert rising.noise_floor() * falling.noise_floor() == pytest.approx(1.0)
    smaller = furthest_of([(8, 40), (16, 40), (32, 40)], "smaller")
    shares = [
        smaller.fair_passes((0.4, math.inf), 1.0, 0.025)(1.0),
        rising.fair_passes((0.4, 2.5), 1.0, 0.025)(1.0),
    ]
    assert 0.0 < shares[0] < 1.0
    assert shares[0] == pytest.approx(shares[1])


def test_a_part_of_what_two_units_say_never_passes():
    ratio = RateRatio.of_outcomes(
        [0, 0, 1, 0], [0] * 4, units_a=[0, 0, 1, 1], units_b=[0, 0, 1, 1]
    )
    passes = ratio.fair_passes((0.8, 1.25), 1.0, 0.025)
    assert [passes(more) for more in (1.0, 0.05, 0.02, 0.001)] == [0.0] * 4

"""The ratio furthest from 1 of several groups."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.stats import GroupRow, MaxPairwiseRatio, RateRatio

LEVELS = (0.5, 0.8, 0.95, 0.99)
counts = st.lists(
    st.integers(1, 25).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    min_size=3,
    max_size=4,
)


def of(groups, form="ratio"):
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
    assert of([(4, 20), (10, 20), (16, 20)]).value == pytest.approx(0.25)
    assert of([(16, 20), (10, 20), (4, 20)]).value == pytest.approx(4.0)
    assert of([(16, 20), (10, 20), (4, 20)], form="smaller").value == pytest.approx(0.25)


def test_of_two_ratios_equally_far_from_one_the_first_is_the_value():
    assert of([(6, 18), (2, 18), (6, 18)]).value == pytest.approx(3.0)


@given(counts, st.sampled_from(LEVELS))
def test_the_interval_is_that_of_the_largest_absolute_log_ratio(groups, level):
    estimate = of(groups)
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
def test_a_bound_is_judged_alike_whichever_group_comes_first(groups, b):
    one, other = of(groups), of(groups[::-1])
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
        for estimate in (of(groups), of(groups[::-1])):
            interval = estimate.interval()
            assert bound.sides(interval.lower, interval.upper) == verdict
            beyond, within = bound.p_values(estimate)
            assert (beyond < 0.025, within < 0.025) == (verdict[1], verdict[0])


@given(counts)
def test_the_smaller_over_the_larger_does_not_depend_on_the_order(groups):
    one, other = of(groups, "smaller"), of(groups[::-1], "smaller")
    if one.undefined:
        return
    assert one.value == pytest.approx(other.value)
    ends = [(e.interval().lower, e.interval().upper) for e in (one, other)]
    assert ends[0] == pytest.approx(ends[1])
    assert 0.0 <= ends[0][0] <= one.value <= ends[0][1] <= 1.0


def test_a_rate_of_zero_is_infinitely_far_and_equal_zeros_do_not_matter():
    estimate = of([(9, 30), (0, 30), (0, 30)])
    assert estimate.value == math.inf
    assert math.isnan(estimate.groups[1, 2].value)
    assert math.isnan(estimate.groups[1, 2].p)
    assert not estimate.invalid
    assert of([(0, 30), (0, 30), (9, 30)]).value == 0.0
    assert estimate.interval().lower > 1
    assert estimate.needed_units(1.25) is None


def test_no_event_in_any_group_is_undefined():
    estimate = of([(0, 5), (0, 6), (0, 7)])
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


def test_forms_are_not_mixed():
    pair = RateRatio.of_outcomes([1, 0], [1, 1])
    smaller = RateRatio.of_outcomes([1, 0], [1, 1], form="smaller")
    with pytest.raises(ValueError, match="forms ratio, smaller"):
        MaxPairwiseRatio.of_pairs({"a": pair, "b": smaller})
    with pytest.raises(ValueError, match="forms none"):
        MaxPairwiseRatio.of_pairs({})


def test_errors_and_floors_follow_the_log_scale():
    rising, falling = of([(8, 40), (16, 40), (32, 40)]), of([(32, 40), (16, 40), (8, 40)])
    for at in (None, 2.0):
        log = rising.largest.standard_error(at)
        assert rising.standard_error(at) == pytest.approx(log * (at or 0.25))
        assert falling.standard_error(at) == pytest.approx(log * (at or 4.0))
    assert rising.noise_floor() * falling.noise_floor() == pytest.approx(1.0)
    smaller = of([(8, 40), (16, 40), (32, 40)], "smaller")
    shares = [
        smaller.fair_passes((0.4, math.inf), 1.0, 0.025)(1.0),
        rising.fair_passes((0.4, 2.5), 1.0, 0.025)(1.0),
    ]
    assert 0.0 < shares[0] < 1.0
    assert shares[0] == pytest.approx(shares[1])


@pytest.mark.parametrize("rates", [(0.2, 0.2, 0.2), (0.1, 0.2, 0.4)])
def test_intervals_hold_the_truth(rates):
    rng = np.random.default_rng(5)
    truth = max(abs(math.log(a / b)) for a, b in combinations(rates, 2))
    missed = np.zeros(2)
    for _ in range(200):
        hits = rng.binomial(50, rates)
        estimate = of([(int(x), 50) for x in hits])
        ends = [estimate.largest.lower_bound(0.025), estimate.largest.upper_bound(0.025)]
        missed += [ends[0] > truth + 1e-9, ends[1] < truth - 1e-9]
    # At most 2.5 % a side with three standard errors of 200 runs; equal rates can be missed from
    # either side, as with every folded interval.
    assert missed[0] <= (19 if truth == 0.0 else 12)
    assert missed[1] <= 12

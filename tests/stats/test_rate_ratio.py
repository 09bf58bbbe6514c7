"""Ratios of two rates, plain and folded."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.stats import RateRatio

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


@given(outcomes, outcomes, st.sampled_from(LEVELS))
def test_no_data_give_an_interval_without_width(a, b, level):
    estimate = of(a, b)
    if not estimate.undefined:
        assert estimate.interval(level).lower < estimate.interval(level).upper


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


def test_the_plain_ratio_has_no_noise_floor():
    assert math.isnan(of([1, 0], [1, 0]).noise_floor())


def test_planned_error_is_known_from_the_sizes_alone():
    first, second = of(hits(5, 50), hits(20, 80)), of(hits(50, 50), hits(3, 80))
    by_hand = 0.8 * math.sqrt(1 / 50 + 1 / 80)
    assert first.standard_error(0.8) == second.standard_error(0.8) == pytest.approx(by_hand)


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


def test_empty_groups_are_named():
    with pytest.raises(ValueError, match="x_b has no rows"):
        of([1, 0], [])


@pytest.mark.parametrize("form", ["ratio", "smaller"])
def test_a_group_without_an_event_does_not_make_every_effect_detectable(form):
    estimate = RateRatio.of_outcomes([0] * 30, [1, 0, 0] * 10, form=form)
    assert estimate.value == 0.0
    assert estimate.minimum_detectable_effect() > 0.01


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

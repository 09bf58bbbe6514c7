"""Sums, differences and ratios of estimates, and statistics of any kind by group."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.stats import (
    BoundedJackknife,
    Distance,
    GroupValues,
    JoinedRatio,
    JoinedSum,
    Mean,
    Sample,
    Undefined,
    weighted_rows,
)

LEVELS = (0.5, 0.8, 0.95, 0.99)
outcomes = st.lists(st.integers(0, 1), min_size=2, max_size=25)


def sample(n):
    return Sample.of_sizes([1] * n)


def joined(a, b, **more):
    one, other = Mean.of_indicators(a), Mean.of_indicators(b)
    return JoinedSum.of_parts([(1.0, one), (-1.0, other)], sample(len(a) + len(b)), **more)


@given(outcomes, outcomes, st.sampled_from(LEVELS))
def test_a_joined_difference_has_the_limits_of_zou_and_donner(a, b, level):
    found = joined(a, b).interval(level)
    one, other = (Mean.of_indicators(x).interval(level) for x in (a, b))
    p, q = sum(a) / len(a), sum(b) / len(b)
    below = math.sqrt((p - one.lower) ** 2 + (other.upper - q) ** 2)
    above = math.sqrt((one.upper - p) ** 2 + (q - other.lower) ** 2)
    assert found.lower == pytest.approx(max(-1.0, p - q - below))
    assert found.upper == pytest.approx(min(1.0, p - q + above))


@given(outcomes, outcomes, st.sampled_from(LEVELS))
def test_the_absolute_value_holds_exactly_the_sizes_of_the_signed_one(a, b, level):
    folded = joined(a, b, absolute=True)
    low, high = (getattr(folded.signed.interval(level), end) for end in ("lower", "upper"))
    assert folded.interval(level).upper == max(abs(low), abs(high))
    assert folded.interval(level).lower == max(0.0, low, -high)
    assert folded.signed.folded.value == folded.value


def test_parts_that_share_units_are_joined_by_adding():
    a, b = [1, 1, 1, 0] * 5, [1, 0, 0, 0] * 5
    apart, together = (joined(a, b, independent=each).interval() for each in (True, False))
    one, other = (Mean.of_indicators(x).interval() for x in (a, b))
    assert together.upper == pytest.approx(one.upper - other.lower)
    assert together.lower == pytest.approx(one.lower - other.upper)
    assert together.width > apart.width


def test_a_part_that_is_not_defined_leaves_the_sum_undefined():
    gone = Undefined(undefined="no row", sample=sample(0))
    found = JoinedSum.of_parts([(1.0, Mean.of_indicators([1, 0])), (-1.0, gone)], sample(2))
    assert math.isnan(found.value)
    assert found.undefined == "no row"
    assert math.isnan(found.signed.value)


@given(outcomes, outcomes, st.sampled_from(LEVELS))
def test_a_ratio_is_never_outside_the_ratio_of_the_ends(a, b, level):
    one, other = Mean.of_indicators(a), Mean.of_indicators(b)
    found = JoinedRatio.of_parts(one, other, sample(len(a) + len(b)))
    if not sum(a) and not sum(b):
        assert found.undefined == "0 over 0 is no ratio"
        return
    first, second = one.interval(level), other.interval(level)
    ends = found.interval(level)
    assert ends.lower <= found.value <= ends.upper
    assert ends.lower >= first.lower / second.upper - 1e-9
    if second.lower > 0.0 and found.value < math.inf:
        assert ends.upper <= first.upper / second.lower + 1e-9


def test_a_ratio_of_something_negative_is_undefined():
    low = Mean.of_values([-0.5, -0.2, -0.3], bounds=(-1.0, 1.0))
    found = JoinedRatio.of_parts(low, Mean.of_values([0.2, 0.3]), sample(5))
    assert found.undefined == "a value is below 0: a ratio says nothing"


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 9)), min_size=2, max_size=30))
def test_weighted_rows_have_the_weighted_mean(rows):
    x, w = (np.array(column) for column in zip(*rows, strict=True))
    assert weighted_rows(x, w).mean() == pytest.approx((w * x).sum() / w.sum(), abs=1e-9)
    assert weighted_rows(x, np.full(len(x), 3.0)) == pytest.approx(x, abs=1e-9)
    assert weighted_rows(x, None) is x


def engine(x, groups, **more):
    members = {g: np.flatnonzero(np.array(groups) == g) for g in dict.fromkeys(groups)}
    unit = more.pop("unit", np.arange(len(x)))
    codes = np.unique(x, return_inverse=True)[1]
    return GroupValues(lambda rows: float(x[rows].mean()), members, unit, codes, **more)


def test_the_jackknife_of_a_mean_is_its_standard_error():
    x = np.random.default_rng(0).random(40)
    found = engine(x, ["a"] * 25 + ["b"] * 15, bounds=(0.0, 1.0)).value("a")
    assert isinstance(found, BoundedJackknife)
    assert found.standard_error() == pytest.approx(x[:25].std(ddof=1) / 5.0)
    plain = Mean.of_values(x[:25]).interval()
    assert found.interval().lower == pytest.approx(plain.lower, abs=0.01)


def test_units_of_few_kinds_are_left_out_one_by_one():
    x = np.random.default_rng(4).integers(0, 3, 900) / 2
    unit = np.arange(900) // 3
    found = engine(x, ["a"] * 750 + ["b"] * 150, unit=unit)
    own, group = x[:750], unit[:750]
    left = [own.mean() - own[group != k].mean() for k in range(250)]
    assert found.influence("a")[:250] == pytest.approx(np.array(left) * 249 / 250)


def test_a_constant_group_leaves_what_rare_units_could_do():
    found = engine(np.ones(30), ["a"] * 20 + ["b"] * 10, bounds=(0.0, 1.0)).value("a").interval()
    assert (found.lower, found.upper) == pytest.approx((0.025 ** (1 / 20), 1.0))


def test_a_group_of_one_unit_proves_next_to_nothing():
    found = engine(np.array([0.5] * 9), ["a"] + ["b"] * 8, bounds=(0.0, 1.0)).value("a")
    assert found.interval().width > 0.95
    assert found.reasons == ("thin_evidence",)


def test_groups_with_common_units_differ_by_their_common_influence():
    rng = np.random.default_rng(1)
    base = rng.random(50)
    x = np.concatenate([base, base + 0.1])
    unit = np.tile(np.arange(50), 2)
    found = engine(x, ["a"] * 50 + ["b"] * 50, unit=unit).difference("a", "b")
    assert found.value == pytest.approx(-0.1)
    assert not found.standard_error() > 1e-9


def test_a_group_and_all_rows_are_not_taken_as_independent():
    x = np.random.default_rng(2).random(400)
    found = engine(x, ["a"] * 380 + ["b"] * 20, bounds=(0.0, 1.0))
    # All rows are 380 of one group and 20 of the other: 5 % of the difference of both.
    both = [found.value(group).standard_error() for group in ("a", "b")]
    against = found.difference("a", None).standard_error()
    assert against == pytest.approx(0.05 * math.hypot(*both), rel=0.15)


def test_the_calibration_error_of_one_bin_is_the_gap_of_two_means():
    rng = np.random.default_rng(3)
    p = rng.random(80)
    y = (rng.random(80) < 0.5 * p).astype(float)
    found = Distance.of_calibration(y, p, np.zeros(80, dtype=int))
    assert found.value == pytest.approx(abs(y.mean() - p.mean()))
    assert found.standard_error() == pytest.approx((y - p).std(ddof=1) / math.sqrt(80), rel=0.02)
    assert 0.0 < found.noise_floor() < found.value

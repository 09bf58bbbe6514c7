"""Largest absolute difference or distance over pairs of groups."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import special

from pytest_llmfair.stats import (
    Distance,
    MaxDistance,
    MaxPairwiseDifference,
    Mean,
    RateDifference,
    RateRatio,
    Sample,
    Undefined,
)


def outcomes(rng, rates, rows):
    groups = np.repeat([f"g{k}" for k in range(len(rates))], rows)
    return (rng.random(len(groups)) < np.repeat(rates, rows)).astype(float), groups


def test_upper_end_is_the_largest_of_the_uncorrected_pairs():
    x, groups = outcomes(np.random.default_rng(2), [0.2, 0.3, 0.35], 40)
    alone = [
        RateDifference.of_outcomes(x[groups == a], x[groups == b]).upper_bound(0.025)
        for a, b in combinations(("g0", "g1", "g2"), 2)
    ]
    assert MaxPairwiseDifference.of_rates(x, groups).upper_bound(0.025) == pytest.approx(
        max(alone)
    )


def test_two_groups_need_no_correction():
    x, groups = outcomes(np.random.default_rng(3), [0.2, 0.5], 60)
    pair = RateDifference.of_outcomes(x[groups == "g0"], x[groups == "g1"])
    both = MaxPairwiseDifference.of_rates(x, groups)
    for alpha in (0.005, 0.025, 0.2):
        assert both.lower_bound(alpha) == pytest.approx(pair.lower_bound(alpha))
        assert both.upper_bound(alpha) == pytest.approx(pair.upper_bound(alpha))


def test_more_equal_groups_lower_the_lower_end_of_the_same_gap():
    rng = np.random.default_rng(4)
    x, groups = outcomes(rng, [0.2, 0.5], 80)
    more, labels = outcomes(rng, [0.35] * 6, 80)
    two = MaxPairwiseDifference.of_rates(x, groups)
    eight = MaxPairwiseDifference.of_rates(
        np.concatenate([x, more]), np.concatenate([groups, "x" + labels.astype(object)])
    )
    assert eight.value == two.value
    assert 0.0 < eight.lower_bound(0.025) < two.lower_bound(0.025)


def test_small_group_keeps_the_upper_end_open_and_proves_nothing():
    x = np.array([0.0] * 300 + [1.0] * 300 + [1.0] * 5)
    x[:150], x[300:450] = 1.0, 0.0
    groups = ["a"] * 300 + ["b"] * 300 + ["c"] * 5
    e = MaxPairwiseDifference.of_rates(x, groups)
    assert e.value == pytest.approx(0.5)
    assert e.upper_bound(0.025) > 0.5
    assert e.lower_bound(0.025) < 0.1
    assert "thin_evidence" in e.reasons
    assert any("of c" in note for note in e.notes)


def test_largest_difference_of_equal_independent_means_is_the_studentized_range():
    # Upper 5 % point of the studentized range for 3 groups: 3.314; for 8 groups: 4.286.
    for groups, point in ((3, 3.314), (8, 4.286)):
        rows = np.tile(np.linspace(0.0, 1.0, 200), groups)
        largest = MaxPairwiseDifference.of_scores(rows, np.repeat(np.arange(groups), 200))
        each = special.ndtr(-point / math.sqrt(2.0))
        assert largest.shared.each(0.05) == pytest.approx(each, rel=0.1)


def test_table_has_every_pair_with_adjusted_p_values():
    x, groups = outcomes(np.random.default_rng(5), [0.1, 0.5, 0.5], 60)
    table = MaxPairwiseDifference.of_rates(x, groups).groups
    assert list(table) == [("g0", "g1"), ("g0", "g2"), ("g1", "g2")]
    assert table["g0", "g1"].p < 0.01 < table["g1", "g2"].p
    assert table["g0", "g1"].value in table["g0", "g1"].interval()
    assert len(table) == 3


def test_signed_estimates_give_the_size_of_the_largest_and_its_sign_in_words():
    rng = np.random.default_rng(7)
    first = RateDifference.of_outcomes(
        *(rng.random((2, 100)) < [[0.2], [0.6]]).astype(float), absolute=False
    )
    second = RateDifference.of_outcomes(
        *(rng.random((2, 100)) < [[0.5], [0.5]]).astype(float), absolute=False
    )
    e = MaxPairwiseDifference.of_pairs({"women": first, "others": second})
    assert e.value == -first.value > 0.0
    assert any("-0.370 for women" in note for note in e.notes)
    assert e.groups["women"].value == first.value
    ends = e.interval()
    assert 0.0 < ends.lower < e.value < ends.upper
    assert ends.upper == pytest.approx(-first.lower_bound(0.025))
    assert ends.lower == pytest.approx(-first.upper_bound(0.0125))
    assert e.attainable == (0.0, 1.0)


def test_undefined_pairs_are_listed_and_left_out():
    sample = Sample(units=0, generations=0, fewest=0, most=0)
    gone = Undefined(sample=sample, undefined="no one was qualified")
    mean = Mean.of_rows([[0.2], [0.4], [0.3]])
    some = MaxPairwiseDifference.of_pairs({"a": mean, "b": gone})
    assert some.value == pytest.approx(0.3)
    assert "no one was qualified" in some.invalid["not_computable"]
    none = MaxPairwiseDifference.of_pairs({"b": gone})
    assert math.isnan(none.value)
    assert "no one was qualified" in none.undefined
    assert math.isnan(none.interval().lower)


def test_noise_floor_is_what_equal_groups_score():
    rng = np.random.default_rng(8)
    values, floors = [], []
    for _ in range(25):
        e = MaxPairwiseDifference.of_rates(*outcomes(rng, [0.3] * 5, 40))
        values.append(e.value)
        floors.append(e.noise_floor())
    assert np.mean(floors) == pytest.approx(np.mean(values), rel=0.15)


@pytest.mark.parametrize("rates", [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
def test_groups_without_variance_are_never_certain(rates):
    x, groups = outcomes(np.random.default_rng(9), rates, 30)
    ends = MaxPairwiseDifference.of_rates(x, groups).interval()
    assert ends.width > 0.05


def test_every_flag_of_a_pair_is_explained_in_words():
    estimate = MaxPairwiseDifference.of_rates([0] * 60, ["a", "b", "c"] * 20)
    assert estimate.reasons == ("thin_evidence", "no_variance")
    assert any("a and b: all 40 outcomes are 0" in note for note in estimate.notes)


def test_an_undefined_pair_has_no_p_value():
    nothing = RateRatio.of_outcomes([0.0] * 30, [0.0] * 30, form="log")
    some = RateRatio.of_outcomes([1.0] * 15 + [0.0] * 15, [1.0] * 10 + [0.0] * 20, form="log")
    table = MaxPairwiseDifference.of_pairs({"nothing": nothing, "some": some}).groups
    assert math.isnan(table["nothing"].p)
    assert 0.0 < table["some"].p <= 1.0


def divergences(rng, shares, rows=80):
    base = rng.integers(0, 3, rows)
    found = {}
    for name, share in shares.items():
        other = np.where(rng.random(rows) < share, 3, rng.integers(0, 3, rows))
        found[name] = Distance.of_divergence([*base, *other], [0] * rows + [1] * rows)
    return found


def test_value_and_upper_end_are_those_of_the_largest():
    parts = divergences(np.random.default_rng(0), {"near": 0.0, "far": 0.4})
    worst = MaxDistance.of_pairs(parts)
    assert worst.value == parts["far"].value
    assert worst.upper_bound(0.025) == max(p.upper_bound(0.025) for p in parts.values())


def test_intervals_of_the_value_stay_intervals_of_the_value():
    rng = np.random.default_rng(1)
    parts = {
        name: Distance.of_distributions(rng.random(40), rng.random(40)) for name in ("p", "q")
    }
    worst = MaxDistance.of_pairs(parts)
    assert worst.interval().of == "value"
    assert worst.noise_floor() == max(p.noise_floor() for p in parts.values())


def test_equality_of_all_is_tested_with_a_correction_for_their_number():
    parts = divergences(np.random.default_rng(2), {"same": 0.0, "other": 0.3})
    smallest = min(p.p_equal() for p in parts.values())
    assert MaxDistance.of_pairs(parts).p_equal() == pytest.approx(min(1.0, 2 * smallest))

"""Distances between the scores of groups, and what they share with RABBI."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from pytest_llmfair import assert_within
from pytest_llmfair.metrics import (
    average_score_gap,
    earth_movers_distance,
    jensen_shannon_divergence,
    rabbi,
)

SIDE = st.lists(st.integers(-5, 5), min_size=2, max_size=9)
METRICS = (rabbi, average_score_gap, jensen_shannon_divergence, earth_movers_distance)


def sides(measure, a, b, **keywords):
    return measure([*a, *b], groups=["a"] * len(a) + ["b"] * len(b), reference="b", **keywords)


def test_groups_that_share_no_bin_reach_one_bit():
    # Edges taken from one group alone would drop the other's scores and give 0.
    a, b = [0.0, 0.1, 0.2], [0.8, 0.9, 1.0]
    assert sides(jensen_shannon_divergence, a, b).value == pytest.approx(math.log(2))
    assert sides(jensen_shannon_divergence, a, b, base=2).value == pytest.approx(1)


def test_one_score_only_is_no_divergence_and_says_nothing():
    found = sides(jensen_shannon_divergence, [3] * 9, [3] * 9)
    assert found.value == 0
    assert "uninformative" in found.reasons


def test_a_third_group_does_not_change_the_bins_of_two_others():
    scores, groups = [0, 1, 2, 3, 1, 2, 900, 901], list("aaaabbcc")
    alone = jensen_shannon_divergence(scores[:6], groups=groups[:6], reference="b")
    among = jensen_shannon_divergence(scores, groups=groups, reference="b")
    assert among.groups["a"].value == pytest.approx(alone.value)
    assert among.value == pytest.approx(math.log(2))


@pytest.mark.parametrize(("base", "bound"), [(None, 0.7), (None, math.log(2)), (2, 1.0), (4, 0.6)])
def test_a_divergence_bound_beyond_one_bit_is_refused(base, bound):
    found = sides(jensen_shannon_divergence, range(30), range(30), base=base)
    assert found.attainable == pytest.approx((0, math.log(2) / math.log(base or math.e)))
    with pytest.raises(ValueError, match="range from 0 to"):
        assert_within(found, bound)


def test_numbers_of_other_bins_or_bases_are_another_variant():
    found = [
        sides(jensen_shannon_divergence, range(9), range(9), **keywords).variant
        for keywords in ({}, {"bins": 20}, {"base": 2})
    ]
    assert found == ["@10", "@20", "@10, base 2"]


@pytest.mark.parametrize("bins", [1, 0, 2.5, True, None])
def test_fewer_than_two_bins_are_an_error(bins):
    with pytest.raises(ValueError, match="bins is"):
        sides(jensen_shannon_divergence, [1, 2], [2, 3], bins=bins)


@pytest.mark.parametrize("base", [1, 0, -2, 0.5, math.inf, math.nan, "e"])
def test_a_base_of_at_most_one_is_an_error(base):
    with pytest.raises(ValueError, match="base is"):
        sides(jensen_shannon_divergence, [1, 2], [2, 3], base=base)


@pytest.mark.parametrize("measure", METRICS)
def test_opposite_strata_do_not_cancel(measure):
    a, b = [3, 4, 5, 6], [1, 2, 2, 1]
    scores, groups = [*a, *b, *b, *a], (["a"] * 4 + ["b"] * 4) * 2
    found = measure(scores, groups=groups, reference="b", strata=["cook"] * 8 + ["pilot"] * 8)
    alone = sides(measure, a, b).value
    assert found.value == pytest.approx(alone)
    assert abs(found.groups["pilot"].value) == pytest.approx(alone)
    assert list(found.groups) == ["cook", "pilot"]


@pytest.mark.parametrize("measure", METRICS)
def test_only_the_qualified_are_compared(measure):
    scores, groups = [9, 1, 2, 3, 1, 5], list("aaabbb")
    found = measure(scores, groups=groups, reference="b", qualified=[0, 1, 1, 1, 1, 0])
    assert found.value == pytest.approx(sides(measure, [1, 2], [3, 1]).value)
    none = measure(scores, groups=groups, reference="b", qualified=[0, 0, 0, 1, 1, 1])
    assert math.isnan(none.value)
    assert "no candidate of a is qualified" in none.undefined


@pytest.mark.parametrize("measure", METRICS)
def test_rounds_are_units(measure):
    rng = np.random.default_rng(1)
    rounds = np.repeat(np.arange(20), 4)
    scores = 2 * rng.normal(size=20)[rounds] + rng.normal(size=80)
    given = {"groups": ["a", "a", "b", "b"] * 20, "reference": "b"}
    by_round = measure(scores, **given, rounds=rounds)
    assert by_round.sample.units == 20
    assert by_round.interval() == measure(scores, **given, units=rounds).interval()
    with pytest.raises(TypeError, match="not both"):
        measure(scores, **given, rounds=rounds, units=rounds)


@pytest.mark.parametrize("measure", METRICS)
def test_more_groups_give_the_furthest_and_a_table(measure):
    a, b, c = [5, 6, 9], [4, 5, 6], [0, 1, 2]
    found = measure([*a, *b, *c], groups=list("aaabbbccc"), reference="b")
    expected = {"a": sides(measure, a, b).value, "c": sides(measure, c, b).value}
    assert {g: row.value for g, row in found.groups.items()} == pytest.approx(expected)
    # The worst of several groups is a size; its sign stands in the row of the group.
    assert found.value == pytest.approx(abs(expected["c"]))
    assert found.sample.generations == 9


def test_several_divergences_surround_the_debiased_one_as_each_alone_does():
    rng = np.random.default_rng(2)
    groups = ["a", "b", "c"] * 60
    found = jensen_shannon_divergence(rng.normal(size=180), groups=groups, reference="b")
    interval = found.interval()
    assert interval.of == "debiased"
    assert interval.lower <= found.debiased <= interval.upper
    assert found.debiased < found.value


def test_the_notes_of_the_score_gap_show_the_selection_gap_at_the_quota():
    # Equal means, yet all places go to one group.
    scores = [9, 0, 0, 3, 3, 3] * 5
    gap = average_score_gap(
        scores, groups=list("aaabbb") * 5, reference="b", rounds=np.repeat(range(5), 6), k=1
    )
    assert gap.value == 0
    assert any("at k = 1: a +0.333" in note for note in gap.notes)


@pytest.mark.parametrize("measure", METRICS)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"scores": [1, math.inf, 2]}, "row 1 holds inf"),
        ({"groups": ["a", "a", "a"]}, "1 group"),
        ({"reference": "z"}, "reference 'z' is no group"),
        ({"strata": [0, 0, 1]}, "stratum 0 holds a only"),
        ({"groups": ["a", "b"]}, "2 labels for 3 rows"),
    ],
)
def test_bad_input_is_named(measure, change, says):
    with pytest.raises(ValueError, match=says):
        measure(**({"scores": [1, 2, 3], "groups": list("aab"), "reference": "b"} | change))

"""Top-k selection of each pool, on small pools that can be worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair import Underpowered, assert_within
from pytest_llmfair.metrics import (
    demographic_parity_gap,
    equal_opportunity_gap,
    pairwise_scores,
    selection_rate,
)

# Two pools of four: a has the best of the first, b the two best of the second.
SCORES = [9, 2, 5, 1, 3, 4, 8, 7]
GROUPS = ["a", "a", "b", "b"] * 2
ROUNDS = [1] * 4 + [2] * 4

pools = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=3, max_size=6),
    min_size=1,
    max_size=6,
)


def columns(drawn):
    return {
        "scores": [score for pool in drawn for score, _ in pool],
        "groups": [group for pool in drawn for _, group in pool],
        "rounds": [i for i, pool in enumerate(drawn) for _ in pool],
    }


def test_the_gap_is_the_difference_of_selection_rates():
    gap = demographic_parity_gap(SCORES, groups=GROUPS, reference="b", rounds=ROUNDS, k=1)
    assert gap.value == 1 / 4 - 1 / 4 == 0
    gap = demographic_parity_gap(SCORES, groups=GROUPS, reference="b", rounds=ROUNDS, k=2)
    assert gap.value == 1 / 4 - 3 / 4
    assert gap.variant == "@2"


def test_candidates_tied_at_the_cut_share_the_places_that_are_left():
    scores, groups = [5, 4, 4, 4, 1], list("aabbb")
    rates = selection_rate(scores, groups=groups, rounds=[0] * 5, k=2)
    # One place is left for three candidates: a third each.
    assert rates == pytest.approx({"a": (1 + 1 / 3) / 2, "b": 2 / 9})


def test_the_whole_pool_selected_leaves_no_gap_that_could_be_judged():
    gap = demographic_parity_gap(SCORES, groups=GROUPS, reference="b", rounds=ROUNDS, k=4)
    assert gap.value == 0
    assert gap.attainable == (0, 0)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, None])
def test_a_quota_that_is_no_number_of_places_is_an_error(k):
    with pytest.raises(ValueError, match=f"k is {k}; give a whole number of at least 1"):
        demographic_parity_gap(SCORES, groups=GROUPS, reference="b", rounds=ROUNDS, k=k)


def test_a_quota_beyond_a_pool_names_the_pool():
    with pytest.raises(ValueError, match="round 2 has 3 candidates, fewer than k = 4"):
        selection_rate(SCORES[:7], groups=GROUPS[:7], rounds=ROUNDS[:7], k=4)


@given(pools, st.integers(1, 3))
def test_the_size_weighted_mean_rate_is_quota_over_pool_size(drawn, k):
    given = columns(drawn)
    rates = selection_rate(**given, k=k)
    selected = sum(rate * given["groups"].count(group) for group, rate in rates.items())
    assert selected == pytest.approx(k * len(drawn))


def test_with_more_groups_the_rates_are_in_the_table_and_the_furthest_gap_is_the_value():
    scores, groups = [9, 1, 2, 8, 3, 4], list("abc") * 2
    gap = demographic_parity_gap(
        scores, groups=groups, reference="c", rounds=[1, 1, 1, 2, 2, 2], k=1
    )
    assert gap.value == 1
    assert {g: (row.value, row.rate, row.n) for g, row in gap.groups.items()} == {
        "a": (1, 1, 2),
        "b": (0, 0, 2),
    }
    assert any("a 1.000, b 0.000, c 0.000" in note for note in gap.notes)


def test_two_groups_show_the_rate_as_well():
    gap = demographic_parity_gap(SCORES, groups=GROUPS, reference="b", rounds=ROUNDS, k=2)
    row = gap.groups["a"]
    assert (row.value, row.rate, row.n) == (-0.5, 0.25, 4)
    assert row.interval() == gap.interval()


def test_the_unqualified_compete_for_places_but_are_not_counted():
    qualified = [False, True, True, True, True, True, True, False]
    gap = equal_opportunity_gap(
        SCORES, groups=GROUPS, reference="b", rounds=ROUNDS, k=1, qualified=qualified
    )
    # The unqualified 9 takes the place of the first pool.
    assert gap.value == 0 / 3 - 1 / 3
    assert selection_rate(SCORES, groups=GROUPS, rounds=ROUNDS, k=1, qualified=qualified) == {
        "a": 0,
        "b": pytest.approx(1 / 3),
    }


@pytest.mark.parametrize("unqualified", ["a", "b"])
def test_a_gap_without_qualified_candidates_is_undefined_and_named(unqualified):
    qualified = [group != unqualified for group in GROUPS]
    gap = equal_opportunity_gap(
        SCORES, groups=GROUPS, reference="b", rounds=ROUNDS, k=1, qualified=qualified
    )
    assert math.isnan(gap.value)
    message = f"no candidate of {unqualified} is qualified: there is nothing to compare"
    assert gap.undefined == message
    rates = selection_rate(SCORES, groups=GROUPS, rounds=ROUNDS, k=1, qualified=qualified)
    assert math.isnan(rates[unqualified])


def test_one_undefined_group_leaves_the_worst_undefined_and_the_others_in_the_table():
    groups = ["a", "c", "b", "b"] * 2
    gap = equal_opportunity_gap(
        SCORES,
        groups=groups,
        reference="b",
        rounds=ROUNDS,
        k=2,
        qualified=[g != "c" for g in groups],
    )
    assert math.isnan(gap.value)
    assert "no candidate of c is qualified" in gap.undefined
    assert gap.groups["a"].value == 1 / 2 - 3 / 4
    assert math.isnan(gap.groups["c"].value)
    assert math.isnan(gap.groups["c"].rate)


def test_pools_are_the_sampling_units_and_units_is_another_name():
    by_rounds = demographic_parity_gap(SCORES, groups=GROUPS, reference="b", rounds=ROUNDS, k=1)
    by_units = demographic_parity_gap(SCORES, groups=GROUPS, reference="b", units=ROUNDS, k=1)
    assert by_rounds.sample.units == 2
    assert by_units.interval() == by_rounds.interval()


def test_both_names_or_none_is_a_type_error():
    with pytest.raises(TypeError, match="not both"):
        demographic_parity_gap(
            SCORES, groups=GROUPS, reference="b", rounds=ROUNDS, units=ROUNDS, k=1
        )
    with pytest.raises(TypeError, match="demographic_parity_gap\\(\\) needs rounds"):
        demographic_parity_gap(SCORES, groups=GROUPS, reference="b", k=1)
    with pytest.raises(TypeError, match="needs qualified"):
        equal_opportunity_gap(
            SCORES, groups=GROUPS, reference="b", rounds=ROUNDS, k=1, qualified=None
        )


def test_a_bound_that_this_quota_could_never_exceed_is_refused():
    scores, groups = list(range(10)), ["a", "b"] * 5
    gap = demographic_parity_gap(scores, groups=groups, reference="b", rounds=[0] * 10, k=1)
    assert gap.attainable == (-0.2, 0.2)
    with pytest.raises(ValueError, match=r"range from 0 to 0\.2"):
        assert_within(gap, 0.3)
    with pytest.raises(Underpowered):
        assert_within(gap, 0.1)


@settings(max_examples=25)
@given(pools, st.integers(1, 3))
def test_the_attainable_range_is_reached_by_ranking_a_group_first_and_another_last(drawn, k):
    given = columns(drawn)
    groups = given["groups"]
    if not {"a", "b"} <= set(groups):
        return
    place = {"a": 2, "c": 1, "b": 0}
    best = [place[group] for group in groups]
    rates = selection_rate(best, groups=groups, rounds=given["rounds"], k=k)
    gap = demographic_parity_gap(**given, reference="b", k=k)
    reach = gap if len(set(groups)) == 2 else gap.groups["a"].estimate
    assert reach.attainable[1] == pytest.approx(rates["a"] - rates["b"])


def test_scores_of_a_pairwise_judge_bring_their_pools_along():
    comparisons = [
        {"pool": pool, "first": first, "second": second, "winner": winner}
        for pool in ("p", "q")
        for first, second, winner in (
            ("x", "y", "first"),
            ("y", "x", "second"),
            ("x", "z", "first"),
            ("z", "x", "second"),
            ("y", "z", "second"),
            ("z", "y", "first"),
        )
    ]
    groups = {"x": "a", "y": "b", "z": "b"}
    gap = demographic_parity_gap(pairwise_scores(comparisons), groups=groups, reference="b", k=1)
    assert gap.value == 1
    assert gap.sample.units == 2
    assert gap.invalid == {}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"groups": ["a"] * 8}, "1 group"),
        ({"groups": GROUPS[:7]}, "7 labels for 8 rows"),
        ({"rounds": [*ROUNDS[:7], None]}, "rounds row 7 is missing"),
        ({"reference": "z"}, "reference 'z' is no group"),
    ],
)
def test_bad_input_is_named(change, says):
    given = {"scores": SCORES, "groups": GROUPS, "reference": "b", "rounds": ROUNDS, "k": 1}
    with pytest.raises(ValueError, match=says):
        demographic_parity_gap(**(given | change))

"""Judges that compare two candidates: scores, consistency, average preference."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair import FairnessAssertionError, Verdict, assert_within
from pytest_llmfair.metrics import (
    pairwise_consistency,
    pairwise_preference_gap,
    pairwise_scores,
    rabbi,
)

# Regular, flipped and inconsistent answers in percent (RABBI paper, Table 2).
RESUMES = [
    (98.95, 37.91, 39.37),
    (99.91, 28.15, 28.30),
    (93.61, 22.58, 28.41),
    (100.00, 56.29, 56.30),
    (88.37, 8.75, 16.93),
    (98.99, 40.20, 40.80),
    (88.17, 49.47, 63.62),
    (99.99, 28.79, 28.81),
    (96.72, 19.55, 22.54),
    (95.46, 42.64, 48.15),
]
ESSAYS = [
    (100.00, 79.07, 79.07),
    (99.94, 52.31, 52.43),
    (100.00, 86.05, 86.05),
    (100.00, 95.92, 95.92),
    (96.25, 43.12, 43.12),
    (100.00, 45.33, 45.33),
    (93.53, 47.02, 59.91),
    (99.58, 93.19, 94.03),
    (100.00, 14.93, 14.93),
    (99.25, 79.10, 80.59),
]
GROUPS = {"x": "a", "y": "b"}
WINNERS = ["first", "second", "tie", None]
answers = st.lists(st.tuples(*[st.sampled_from(WINNERS)] * 2), min_size=1, max_size=12)


def asked(*answered):
    """Both orders of x and y, one pool per pair of answers."""
    return [
        {"pool": pool, "first": first, "second": second, "winner": winner}
        for pool, (forward, backward) in enumerate(answered)
        for first, second, winner in (("x", "y", forward), ("y", "x", backward))
    ]


def verdict(estimate, bound=0.2):
    try:
        return assert_within(estimate, bound).verdict
    except FairnessAssertionError as error:
        return error.result.verdict


@pytest.mark.parametrize(
    ("forward", "backward", "x", "y"),
    [
        ("first", "second", 1, 0),
        ("second", "first", 0, 1),
        ("first", "first", 0.5, 0.5),
        ("tie", "tie", 0.5, 0.5),
        ("first", "tie", 0.75, 0.25),
        ("first", None, 0.5, 0),
        (None, None, 0, 0),
    ],
)
def test_a_pair_of_answers_scores_both_candidates(forward, backward, x, y):
    assert pairwise_scores(asked((forward, backward))) == {(0, "x"): x, (0, "y"): y}


def test_an_unusable_answer_may_be_worth_something():
    assert pairwise_scores(asked((None, None)), unusable=0.25) == {(0, "x"): 0.5, (0, "y"): 0.5}
    with pytest.raises(ValueError, match=r"unusable is 0\.6"):
        pairwise_scores(asked((None, None)), unusable=0.6)


def test_scores_are_by_candidate_and_include_candidates_without_a_win():
    # Matching winners by group would give both members of an a-a pair the point.
    rows = [{"pool": 1, "first": "u", "second": "v", "winner": "first"}]
    assert pairwise_scores(rows) == {(1, "u"): 0.5, (1, "v"): 0.0}


@given(st.integers(2, 5), st.randoms(use_true_random=False))
def test_usable_answers_share_out_one_point_per_pair(m, rng):
    rows = [
        {"pool": 0, "first": i, "second": j, "winner": rng.choice(WINNERS[:3])}
        for i in range(m)
        for j in range(m)
        if i != j
    ]
    scores = pairwise_scores(rows)
    assert sum(scores.values()) == pytest.approx(m * (m - 1) / 2)
    assert all(0 <= score <= m - 1 for score in scores.values())


def test_consistency_has_shares_of_prompts_and_of_pairs():
    rows = asked(
        ("first", "second"),  # consistent
        ("first", "first"),  # flipped
        ("tie", "tie"),  # consistent
        ("first", "tie"),  # inconsistent, not flipped
        ("first", None),  # inconsistent, not flipped
    )
    expected = {"regular": 6 / 10, "tie": 3 / 10, "flipped": 1 / 5, "inconsistent": 3 / 5}
    found = pairwise_consistency(rows, groups=GROUPS)
    assert found == {"a": pytest.approx(expected), "b": pytest.approx(expected)}


def test_consistency_is_per_group():
    rows = asked(("first", "second")) + [
        {"pool": 0, "first": first, "second": second, "winner": "first"}
        for first, second in (("y", "z"), ("z", "y"))
    ]
    found = pairwise_consistency(rows, groups=GROUPS | {"z": "c"})
    assert [found[group]["inconsistent"] for group in "abc"] == [0, 0.5, 1]


def test_two_unusable_answers_are_no_consistent_preference():
    assert pairwise_consistency(asked((None, None)), groups=GROUPS)["a"]["inconsistent"] == 1


def test_pairs_asked_in_one_order_have_no_consistency():
    rows = [{"pool": 0, "first": "x", "second": "y", "winner": "first"}]
    found = pairwise_consistency(rows, groups=GROUPS)["a"]
    assert found["regular"] == 1
    assert math.isnan(found["flipped"])
    assert math.isnan(found["inconsistent"])


@given(answers)
def test_inconsistent_lies_between_flipped_and_twice_the_irregular_more(answered):
    found = pairwise_consistency(asked(*answered), groups=GROUPS)["a"]
    assert found["flipped"] - 1e-12 <= found["inconsistent"]
    assert found["inconsistent"] <= found["flipped"] + 2 * (1 - found["regular"]) + 1e-12


@pytest.mark.parametrize(("regular", "flipped", "inconsistent"), RESUMES + ESSAYS)
def test_the_printed_shares_keep_the_same_inequality(regular, flipped, inconsistent):
    assert flipped <= inconsistent <= flipped + 2 * (100 - regular) + 0.011


def test_the_default_limit_excludes_as_many_models_as_the_paper():
    assert sum(row[2] > 50 for row in RESUMES) == 2
    assert sum(row[2] > 50 for row in ESSAYS) == 7


@given(answers)
def test_the_printed_share_counts_pairs_won_in_both_orders(answered):
    found = pairwise_preference_gap(
        asked(*answered), groups=GROUPS, reference="b", convention="paper"
    )
    both = sum(pair == ("first", "second") for pair in answered)
    assert found.value == pytest.approx(both / len(answered))


def test_pairs_inside_a_group_are_no_preference():
    # The published code counts them as wins of the group.
    rows = asked(("second", "first")) + [
        {"pool": 0, "first": first, "second": second, "winner": "first"}
        for first, second in (("x", "w"), ("w", "x"))
    ]
    found = pairwise_preference_gap(rows, groups=GROUPS | {"w": "a"}, reference="b")
    assert found.value == -1


def test_several_candidates_of_a_group_in_a_pool_each_count():
    rows = [
        {"pool": 0, "first": own, "second": "y", "winner": winner}
        for own, winner in (("u", "first"), ("v", "first"), ("w", "second"))
    ]
    groups = {"u": "a", "v": "a", "w": "a", "y": "b"}
    assert pairwise_preference_gap(rows, groups=groups, reference="b").value == pytest.approx(
        1 / 3
    )


def test_pools_are_the_sampling_units():
    rows = asked(*[("first", "second")] * 6)
    assert pairwise_preference_gap(rows, groups=GROUPS, reference="b").sample.units == 6
    one = pairwise_preference_gap(rows, groups=GROUPS, reference="b", units=[0] * 12)
    assert one.sample.units == 1


def test_with_more_groups_the_furthest_from_zero_is_the_value():
    rows = asked(("tie", "first"), ("tie", "tie")) + [
        {"pool": 0, "first": first, "second": second, "winner": winner}
        for first, second, winner in (("z", "y", "first"), ("y", "z", "second"))
    ]
    found = pairwise_preference_gap(rows, groups=GROUPS | {"z": "c"}, reference="b")
    assert {g: row.value for g, row in found.groups.items()} == {"a": -0.25, "c": 1}
    assert found.value == 1
    rest = pairwise_preference_gap(rows, groups=GROUPS | {"z": "c"}, reference="rest")
    assert rest.groups["b"].value == pytest.approx((1 - 2) / 6)


def test_a_group_never_shown_next_to_the_reference_is_undefined():
    rows = asked(("first", "second"))
    rows.append({"pool": 0, "first": "x", "second": "z", "winner": "first"})
    found = pairwise_preference_gap(rows, groups=GROUPS | {"z": "c"}, reference="b")
    assert math.isnan(found.value)
    assert math.isnan(found.groups["c"].value)
    assert found.undefined == "no comparison shows c next to b"
    assert found.groups["a"].value == 1


def always_first(pools=40):
    return asked(*[("first", "first")] * pools)


def test_a_judge_that_always_names_the_first_is_not_judged_fair():
    found = pairwise_preference_gap(always_first(), groups=GROUPS, reference="b")
    assert found.value == 0
    assert verdict(found, 0.5) is Verdict.INVALID
    assert "a 100%, b 100%" in found.invalid["inconsistent_judge"]
    assert "uninformative" in found.reasons


def test_scores_of_such_a_judge_are_no_evidence_for_rabbi_either():
    scores = pairwise_scores(always_first())
    found = rabbi(scores, groups=GROUPS, reference="b")
    assert found.value == 0
    assert verdict(found, 0.5) is Verdict.INVALID
    assert found.sample.units == 40


def test_the_limit_can_be_raised():
    groups = {"groups": GROUPS, "reference": "b"}
    scores = pairwise_scores(always_first(), max_inconsistent=1)
    assert rabbi(scores, **groups).invalid == {}
    assert pairwise_preference_gap(always_first(), **groups, max_inconsistent=1).invalid == {}


def test_exactly_the_limit_is_judged():
    rows = asked(("first", "second"), ("first", "first"))
    assert pairwise_preference_gap(rows, groups=GROUPS, reference="b").invalid == {}


def test_pairs_shown_in_one_order_only_are_noted():
    rows = [
        {"pool": i, "first": "x", "second": "y", "winner": ("first", "second")[i % 2]}
        for i in range(30)
    ]
    found = pairwise_preference_gap(rows, groups=GROUPS, reference="b")
    assert "order_unchecked" in found.reasons
    assert found.invalid == {}
    with pytest.raises(ValueError, match="'x' and 'y' of pool 0 were compared in one order only"):
        pairwise_preference_gap(rows, groups=GROUPS, reference="b", convention="paper")


def test_the_printed_share_is_never_judged_nor_compared_with_the_gap():
    rows = asked(*[("first", "second")] * 9)
    found = pairwise_preference_gap(rows, groups=GROUPS, reference="b", convention="paper")
    assert verdict(found, 0.5) is Verdict.INVALID
    assert found.variant != pairwise_preference_gap(rows, groups=GROUPS, reference="b").variant
    with pytest.raises(ValueError, match="convention is 'printed'"):
        pairwise_preference_gap(rows, groups=GROUPS, reference="b", convention="printed")


def test_unusable_answers_are_counted_in_the_report():
    found = pairwise_preference_gap(
        asked(("first", None), ("first", "second")), groups=GROUPS, reference="b"
    )
    assert "1 of 4 answers are unusable: no candidate won" in found.notes


def test_the_order_of_rows_and_repeats_change_nothing():
    rng = random.Random(0)
    rows = asked(*[(rng.choice(WINNERS), rng.choice(WINNERS)) for _ in range(20)])
    moved = rng.sample(rows, len(rows)) * 2
    for convention in ("signed", "paper"):
        given = {"groups": GROUPS, "reference": "b", "convention": convention}
        one, other = (pairwise_preference_gap(some, **given) for some in (rows, moved))
        assert one.value == pytest.approx(other.value)
    one, other = (pairwise_consistency(some, groups=GROUPS)["a"] for some in (rows, moved))
    assert one == pytest.approx(other)


def test_the_pairwise_rabbi_compares_totals_of_all_pools():
    rows = asked(("first", "second"), ("first", "tie"), ("second", "first"))
    found = rabbi(pairwise_scores(rows), groups=GROUPS, reference="b")
    a, b = [1, 0.75, 0], [0, 0.25, 1]
    assert found.value == pytest.approx(sum((x > y) - (x < y) for x in a for y in b) / 9)
    with pytest.raises(ValueError, match="mapping from candidate to group"):
        rabbi(pairwise_scores(rows), groups=["a", "b"], reference="b")


ROW = {"pool": 0, "first": "x", "second": "y", "winner": "first"}


@pytest.mark.parametrize(
    ("rows", "groups", "says"),
    [
        ([], GROUPS, "comparisons is empty"),
        ("rows", GROUPS, "comparisons is a str"),
        ([ROW, 3], GROUPS, "row 1 is '3'"),
        ([{"pool": 0, "first": "x"}], GROUPS, "row 0 has no second and no winner"),
        ([ROW | {"winner": "x"}], GROUPS, "row 0 has the winner 'x'"),
        ([ROW | {"winner": math.nan}], GROUPS, "row 0 has the winner nan"),
        ([ROW | {"second": "x"}], GROUPS, "row 0 compares 'x' with itself"),
        ([ROW, ROW | {"pool": None}], GROUPS, "comparisons pool row 1 is missing"),
        ([ROW], {"x": "a"}, r"no group for candidate 'y' \(comparisons row 0\)"),
        ([ROW], ["a", "b"], "groups is a list"),
        ([ROW], {"x": "b", "y": "b"}, "1 group"),
        ([ROW], {"x": "a", "y": "c"}, "reference 'b' is no group"),
    ],
)
def test_illegal_comparisons_are_named(rows, groups, says):
    with pytest.raises(ValueError, match=says):
        pairwise_preference_gap(rows, groups=groups, reference="b")

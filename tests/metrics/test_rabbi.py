from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.metrics import rabbi


def test_all_candidates_tied_is_zero_with_an_open_interval():
    estimate = rabbi([1] * 20, groups=["a", "b"] * 10, reference="b")
    assert estimate.value == 0
    assert estimate.interval().lower < 0 < estimate.interval().upper
    assert estimate.mann_whitney_p == 1


def test_total_separation_keeps_an_open_interval():
    estimate = rabbi(range(20), groups=["b"] * 10 + ["a"] * 10, reference="b")
    assert estimate.value == 1
    assert estimate.interval().lower < 1
    assert estimate.interval().upper == 1


def test_the_reference_may_be_a_union_or_the_rest():
    scores, groups = [5, 4, 3, 2, 1, 0], ["a", "b", "c", "a", "b", "c"]
    union = rabbi(scores, groups=groups, reference=["b", "c"])
    assert union.value == 4 / 8
    assert rabbi(scores, groups=groups, reference="rest").value == union.value
    assert rabbi(scores, groups=groups, reference=np.array(["b", "c"])).value == union.value


def test_an_unknown_population_is_an_error_even_without_qualified_candidates():
    with pytest.raises(ValueError, match="population is 'all'; choose"):
        rabbi([1, 2], groups=["a", "b"], reference="b", qualified=[0, 1], population="all")


def test_a_reference_that_holds_every_group_is_an_error():
    with pytest.raises(ValueError, match="leave one out"):
        rabbi([1, 2], groups=["a", "b"], reference=["a", "b"])


@pytest.mark.parametrize(
    ("qualified", "message"),
    [
        ([True, math.nan], "qualified row 1 is missing"),
        ([True, "False"], "qualified row 1 is 'False'; give True or False"),
        ([True], "1 labels for 2 rows"),
    ],
)
def test_wrong_flags_of_qualified_candidates_are_named(qualified, message):
    with pytest.raises(ValueError, match=message):
        rabbi([1, 2], groups=["a", "b"], reference="b", qualified=qualified)


def test_a_group_without_qualified_candidates_is_not_left_out_silently():
    scores, groups = [5, 6, 1, 2, 3, 4], list("aabbcc")
    estimate = rabbi(scores, groups=groups, reference="c", qualified=[1, 1, 0, 0, 1, 1])
    assert math.isnan(estimate.value)
    assert estimate.undefined == "no candidate of b is qualified: there is nothing to compare"
    assert estimate.groups["a"].value == 1
    assert math.isnan(estimate.groups["b"].value)


def test_a_stratum_without_qualified_candidates_leaves_the_worst_undefined():
    scores, groups = [1, 2, 3, 4], list("abab")
    estimate = rabbi(
        scores, groups=groups, reference="b", strata=[1, 1, 2, 2], qualified=[1, 1, 0, 1]
    )
    assert math.isnan(estimate.value)
    assert "no candidate of 2 is qualified" in estimate.undefined
    assert estimate.groups[1].value == -1


def test_strata_with_more_groups_are_listed_by_both():
    scores, groups = [3, 1, 2, 1, 3, 2], list("abc") * 2
    estimate = rabbi(scores, groups=groups, reference="c", strata=[1, 1, 1, 2, 2, 2])
    found = {key: row.value for key, row in estimate.groups.items()}
    assert found == {(1, "a"): 1, (1, "b"): -1, (2, "a"): -1, (2, "b"): 1}


def test_the_rest_has_one_sign_in_all_strata():
    scores, groups = [2, 1, 1, 2], ["a", "b", "b", "a"]
    estimate = rabbi(scores, groups=groups, reference="rest", strata=[1, 1, 2, 2])
    assert {key: row.value for key, row in estimate.groups.items()} == {1: 1, 2: 1}


def test_a_stratum_uses_what_it_has_of_a_union():
    scores, groups = [3, 1, 2, 9, 1], ["a", "b", "c", "a", "c"]
    estimate = rabbi(scores, groups=groups, reference=["b", "c"], strata=[1, 1, 1, 2, 2])
    assert {key: row.value for key, row in estimate.groups.items()} == {1: 1, 2: 1}


def test_the_notes_show_the_selection_gap_at_the_deployed_quota():
    # Each group wins half of the pairs, yet every place goes to one of them.
    scores, groups = [9, 0, 5, 5] * 6, ["a", "a", "b", "b"] * 6
    rounds = np.repeat(range(6), 4)
    estimate = rabbi(scores, groups=groups, reference="b", rounds=rounds, k=1)
    assert estimate.value == 0
    assert any("at k = 1: a +0.500" in note for note in estimate.notes)
    with pytest.raises(TypeError, match=r"k=1 needs rounds"):
        rabbi(scores, groups=groups, reference="b", k=1)
    with pytest.raises(ValueError, match="round 0 has 4 candidates"):
        rabbi(scores, groups=groups, reference="b", rounds=rounds, k=5)


def test_scores_by_pool_and_candidate_bring_their_columns_along():
    scores = {("p", "x"): 5, ("p", "y"): 1, ("q", "x"): 2, ("q", "y"): 4}
    groups = {"x": "a", "y": "b"}
    estimate = rabbi(scores, groups=groups, reference="b")
    assert estimate.value == 2 / 4
    assert estimate.sample.units == 2
    some = rabbi(scores, groups=groups, reference="b", qualified={"x": 1, "y": 1, ("q", "x"): 0})
    assert some.value == 1


@pytest.mark.parametrize(
    ("scores", "groups", "message"),
    [
        ({"x": 1, "y": 2}, {"x": "a", "y": "b"}, "scores has the key 'x'"),
        ({("p", "x"): 1}, ["a"], "groups is a list"),
        ({("p", "x"): 1}, {"y": "a"}, "groups has no entry for candidate 'x'"),
    ],
)
def test_scores_that_are_no_table_are_named(scores, groups, message):
    with pytest.raises(ValueError, match=message):
        rabbi(scores, groups=groups, reference="b")


@pytest.mark.parametrize("kind", [list, np.array, lambda x: np.array(x, dtype=object)])
def test_labels_of_any_container_give_the_same_table(kind):
    names = [f"g{i % 40}" for i in range(200)]
    scores = [i * 7 % 31 for i in range(200)]
    estimate = rabbi(scores, groups=kind(names), reference="g3")
    assert list(estimate.groups) == [f"g{i}" for i in range(40) if i != 3]
    assert all(type(name) is str for name in estimate.groups)
    pair = rabbi(scores[8::40] + scores[3::40], groups=["g8"] * 5 + ["g3"] * 5, reference="g3")
    assert estimate.groups["g8"].value == pair.value


def test_the_papers_correlations_with_selection_are_context():
    assert ".86 (resumes) and .94 (essays)" in rabbi([1, 2], **TWO).metric.reported


TWO = {"groups": ["a", "b"], "reference": "b"}


def test_one_candidate_each_or_all_tied_is_no_evidence_for_mann_whitney():
    assert rabbi([1, 2], **TWO).mann_whitney_p == 1
    assert rabbi([1, 2], **TWO).value == -1

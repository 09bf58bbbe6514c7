from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.metrics import rabbi

SIDE = st.lists(st.integers(0, 4), min_size=1, max_size=12)


def slow_rabbi(a, b):
    total = 0
    for x in a:
        for y in b:
            total += (x > y) - (x < y)
    return total / (len(a) * len(b))


@given(SIDE, SIDE)
def test_value_is_the_share_won_minus_the_share_lost(a, b):
    estimate = rabbi(a + b, groups=["a"] * len(a) + ["b"] * len(b), reference="b")
    assert estimate.value == pytest.approx(slow_rabbi(a, b))


@given(SIDE, SIDE)
def test_swapping_the_reference_changes_the_sign(a, b):
    groups = ["a"] * len(a) + ["b"] * len(b)
    assert rabbi(a + b, groups=groups, reference="a").value == pytest.approx(
        -rabbi(a + b, groups=groups, reference="b").value
    )


@given(SIDE, SIDE)
def test_only_the_order_of_scores_counts(a, b):
    groups = ["a"] * len(a) + ["b"] * len(b)
    stretched = [math.exp(x) for x in a + b]
    assert (
        rabbi(a + b, groups=groups, reference="b").value
        == rabbi(stretched, groups=groups, reference="b").value
    )


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
    assert union.value == pytest.approx(slow_rabbi([5, 2], [4, 3, 1, 0]))
    assert rabbi(scores, groups=groups, reference="rest").value == union.value


def test_only_qualified_candidates_are_compared():
    scores, groups = [5, 1, 4, 0], ["a", "a", "b", "b"]
    estimate = rabbi(scores, groups=groups, reference="b", qualified=[False, True, True, True])
    assert estimate.value == pytest.approx(slow_rabbi([1], [4, 0]))


def test_rounds_are_the_sampling_unit():
    rng = np.random.default_rng(1)
    rounds = np.repeat(np.arange(20), 4)
    scores = rng.normal(size=20)[rounds] * 2 + rng.normal(size=80)
    groups = ["a", "a", "b", "b"] * 20
    by_round = rabbi(scores, groups=groups, reference="b", rounds=rounds)
    assert by_round.value == rabbi(scores, groups=groups, reference="b").value
    assert by_round.sample.units == 20


def test_rounds_and_units_together_are_a_type_error():
    with pytest.raises(TypeError, match="not both"):
        rabbi([1, 2], groups=["a", "b"], reference="b", rounds=[0, 0], units=[0, 0])


@pytest.mark.parametrize(
    ("scores", "groups", "reference", "said"),
    [
        ([], [], "b", "empty"),
        ([1, math.nan], ["a", "b"], "b", "row 1 holds nan"),
        ([1, 2], ["a", "b"], "c", "reference 'c' is no group"),
        ([1, 2], ["a", "a"], "a", "1 group"),
        ([1, 2, 3], ["a", "b"], "a", "2 labels for 3 rows"),
    ],
)
def test_bad_input_is_named(scores, groups, reference, said):
    with pytest.raises(ValueError, match=said):
        rabbi(scores, groups=groups, reference=reference)


def test_with_more_groups_the_value_furthest_from_zero_is_judged_and_prints_signed():
    scores = [5, 6, 7, 1, 2, 3, 4, 5, 6]
    groups = ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    estimate = rabbi(scores, groups=groups, reference="c")
    expected = {"a": slow_rabbi([5, 6, 7], [4, 5, 6]), "b": slow_rabbi([1, 2, 3], [4, 5, 6])}
    assert estimate.value == pytest.approx(expected["b"]) == -1
    assert {g: row.value for g, row in estimate.groups.items()} == pytest.approx(expected)
    assert 0 <= estimate.interval().lower < estimate.interval().upper == 1
    assert (estimate.sample.units, estimate.sample.generations) == (9, 9)


def test_opposite_biases_of_two_jobs_do_not_cancel():
    scores = [3, 4, 1, 2, 1, 2, 3, 4]
    groups = ["a", "a", "b", "b"] * 2
    jobs = ["cook"] * 4 + ["pilot"] * 4
    assert rabbi(scores, groups=groups, reference="b").value == 0
    estimate = rabbi(scores, groups=groups, reference="b", strata=jobs)
    assert abs(estimate.value) == 1
    assert {job: row.value for job, row in estimate.groups.items()} == {"cook": 1, "pilot": -1}


def test_a_stratum_without_the_reference_is_named():
    with pytest.raises(ValueError, match="stratum pilot holds a only"):
        rabbi([1, 2, 3], groups=["a", "b", "a"], reference="b", strata=["cook", "cook", "pilot"])


def test_a_reference_that_holds_every_group_is_an_error():
    with pytest.raises(ValueError, match="leave one out"):
        rabbi([1, 2], groups=["a", "b"], reference=["a", "b"])


@pytest.mark.parametrize(
    ("qualified", "said"),
    [
        ([True, math.nan], "qualified row 1 is missing"),
        ([True, "False"], "qualified row 1 is 'False'; give True or False"),
        ([True], "1 labels for 2 rows"),
    ],
)
def test_who_is_qualified_must_be_said_plainly(qualified, said):
    with pytest.raises(ValueError, match=said):
        rabbi([1, 2], groups=["a", "b"], reference="b", qualified=qualified)

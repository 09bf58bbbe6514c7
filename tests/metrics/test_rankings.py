"""Scores from labels and rankings; how well a metric chooses among models."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.metrics import listwise_scores, ndcg_at_n, ndkl, pointwise_score


def test_pointwise_score_renormalises_over_the_labels():
    probabilities = {"Yes": 0.3, "No": 0.1, "Perhaps": 0.6}
    assert pointwise_score(probabilities, {"Yes": 1, "No": 0}) == pytest.approx(0.75)


def test_pointwise_score_is_the_mean_relevance_of_a_scale():
    shares = {"1": 0.1, "2": 0.2, "3": 0.4, "4": 0.2, "5": 0.1}
    assert pointwise_score(shares, {label: int(label) for label in shares}) == pytest.approx(3)
    assert pointwise_score([0.1, 0.3], [1, 5]) == pytest.approx(4)


@given(st.lists(st.tuples(st.floats(0.001, 1), st.integers(-3, 3)), min_size=1, max_size=6))
def test_pointwise_score_lies_between_the_relevances(rows):
    shares, values = [p for p, _ in rows], [v for _, v in rows]
    assert min(values) <= pointwise_score(shares, values) <= max(values)


@pytest.mark.parametrize(
    ("probabilities", "relevance", "says"),
    [
        ({"Yes": 0, "No": 0}, {"Yes": 1, "No": 0}, "every label has probability 0"),
        (
            {"Yes": 1.2, "No": 0},
            {"Yes": 1, "No": 0},
            r"\['Yes'\] is 1.2; give a number in \[0, 1\]",
        ),
        (
            {"Yes": 0.2, "No": math.nan},
            {"Yes": 1, "No": 0},
            r"probabilities\['No'\] row 0 holds nan",
        ),
        ({"Yes": 0.2}, {"Yes": math.inf}, r"relevance\['Yes'\] row 0 holds inf"),
        ([1.2], [1], r"row 0 is 1.2; give a number in \[0, 1\]"),
        ({}, {}, "label_probabilities is empty"),
        ({"yes": 0.5}, {"Yes": 1}, "has no 'Yes', it has 'yes'"),
        ([0.5, math.nan], [1, 0], "row 1 holds nan"),
        ([0.5], [1, 0], "lengths differ"),
        ([0.5], {"Yes": 1}, "one of label_probabilities and relevance is a mapping"),
    ],
)
def test_a_pointwise_score_that_is_not_defined_is_an_error(probabilities, relevance, says):
    with pytest.raises(ValueError, match=says):
        pointwise_score(probabilities, relevance)


def test_listwise_scores_count_candidates_below_and_the_omitted_share_the_last_rank():
    scores = listwise_scores([["c", "a"]], ["a", "b", "c", "d"])
    assert scores == {"a": 2, "b": 0, "c": 3, "d": 0}
    assert list(scores) == ["a", "b", "c", "d"]
    assert scores.omitted == {"a": 0, "b": 1, "c": 0, "d": 1}


def test_several_rankings_are_averaged():
    scores = listwise_scores([["a", "b", "c"], ["b", "a"]], ["a", "b", "c"])
    assert scores == {"a": 1.5, "b": 1.5, "c": 0}
    assert scores.omitted == {"a": 0, "b": 0, "c": 1}


def test_one_ranking_needs_no_list_and_one_of_several_may_be_empty():
    assert listwise_scores(["b", "a"], ["a", "b"]) == {"a": 0, "b": 1}
    assert listwise_scores([[]], ["a", "b"]).omitted == {"a": 1, "b": 1}


@pytest.mark.parametrize(
    ("rankings", "pool", "says"),
    [
        ([["a", "a"]], ["a", "b"], r"rankings\[0\] holds 'a' twice"),
        ([["a"], ["z"]], ["a", "b"], r"rankings\[1\] holds 'z', which is not in the pool"),
        ([], ["a"], "rankings is empty"),
        ([["a"]], [], "pool is empty"),
        ([["a"]], ["a", "a"], "pool holds 'a' twice"),
    ],
)
def test_an_illegal_ranking_is_named(rankings, pool, says):
    with pytest.raises(ValueError, match=says):
        listwise_scores(rankings, pool)


def by_hand(order, ideal, n):
    gain = {model: len(ideal) - i for i, model in enumerate(ideal)}
    found = sum(gain[order[i]] / math.log2(i + 2) for i in range(n))
    return found / sum(gain[ideal[i]] / math.log2(i + 2) for i in range(n))


def test_models_are_ranked_by_the_root_mean_square_over_groups():
    # Means would put p (0) before q (0.2); root mean squares are 0.5 and 0.2.
    metric = {"p": [0.5, -0.5], "q": [0.2, 0.2], "r": [0.9, 0.9]}
    gaps = {"p": [0.1, 0.1], "q": [0.2, 0.2], "r": [0.3, 0.3]}
    for n in (1, 2, 3):
        assert ndcg_at_n(metric, gaps, n) == pytest.approx(by_hand("qpr", "pqr", n))


def test_ndcg_at_one_of_the_second_best_of_ten_is_nine_tenths():
    # The product printed in the paper would give 10 * 2 over 10 * 1 = 2, beyond 1.
    gaps = {model: [model / 10] for model in range(10)}
    metric = {model: [abs(model - 1)] for model in range(10)}
    assert ndcg_at_n(metric, gaps, 1) == pytest.approx(0.9)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8), st.data())
def test_ndcg_is_one_for_the_ideal_ranking_and_never_more(values, data):
    gaps = {i: [x] for i, x in enumerate(values)}
    n = data.draw(st.integers(1, len(values)))
    assert ndcg_at_n(gaps, gaps, n) == pytest.approx(1)
    other = data.draw(st.permutations(values))
    assert 0 < ndcg_at_n({i: [x] for i, x in enumerate(other)}, gaps, n) <= 1 + 1e-12


def test_ties_keep_the_order_given():
    gaps = {"p": [0.1], "q": [0.2]}
    assert ndcg_at_n({"p": [0.3], "q": [0.3]}, gaps, 1) == 1
    assert ndcg_at_n({"q": [0.3], "p": [-0.3]}, gaps, 1) == 0.5


@pytest.mark.parametrize(
    ("metric", "gaps", "n", "says"),
    [
        ({"p": [1]}, {"p": [1]}, 2, "n is 2, but there are 1 models"),
        ({"p": [1]}, {"p": [1]}, 0, "n is 0"),
        ({"p": [1], "q": [1]}, {"p": [1]}, 1, "q is in one of"),
        ({"p": [math.nan]}, {"p": [1]}, 1, r"metric_by_model\['p'\] row 0 holds nan"),
        ({"p": []}, {"p": [1]}, 1, "empty"),
        ({}, {}, 1, "give a mapping"),
    ],
)
def test_illegal_models_are_named(metric, gaps, n, says):
    with pytest.raises(ValueError, match=says):
        ndcg_at_n(metric, gaps, n)


def test_rankings_of_one_group_show_no_order_of_groups():
    scores, rounds = [4, 3, 2, 1], [1, 1, 2, 2]
    nothing = ndkl(scores, groups=["a", "a", "b", "b"], rounds=rounds)
    assert nothing.undefined == (
        "no ranking holds candidates of two groups: there is no order of groups"
    )
    one = ndkl(scores, groups=["a", "b", "b", "b"], rounds=rounds)
    assert "1 of 2 rankings hold one group only, and count as 0" in one.notes

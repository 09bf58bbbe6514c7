"""The three generalized metrics for scores and comparisons of users."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.metrics import (
    background_comparison,
    multigroup_comparison,
    named,
    pairwise_comparison,
)
from pytest_llmfair.stats import MaxPairwiseDifference, MaxPairwiseRatio
from pytest_llmfair.stats.user_function import JackknifeEstimate, MetricDistance


def fpr(rows):
    return np.mean(rows.y_pred[rows.y_true == 0] == 1)


def gap(x, y):
    return abs(x - y)


def labelled(seed, groups=3, n=60):
    rng = np.random.default_rng(seed)
    names = [f"g{k}" for k in range(groups)]
    return {
        "y_true": [0, 0, 1, 1] * groups + rng.integers(0, 2, n).tolist(),
        "y_pred": [0, 1, 0, 1] * groups + rng.integers(0, 2, n).tolist(),
        "groups": [name for name in names for _ in range(4)] + rng.choice(names, n).tolist(),
    }


def values(estimate):
    return {key: row.value for key, row in estimate.groups.items()}


# By group -----------------------------------------------------------------------------------


@settings(max_examples=5)
@given(st.integers(0, 10**6))
def test_the_named_rows_are_instances(seed):
    data = labelled(seed)
    pairs = pairwise_comparison(fpr, gap, **data)
    assert pairs.value == pytest.approx(named("TNR Gap", **data).value)
    assert values(pairs) == pytest.approx(values(named("TNR Gap", **data)))
    background = background_comparison(fpr, gap, **data)
    assert background.value == pytest.approx(named("FPED*", **data).value)
    assert values(background) == pytest.approx(values(named("FPED*", **data)))


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_a_score_may_be_a_set(seed):
    rng = np.random.default_rng(seed)
    data = {"y_prob": rng.dirichlet([1, 1], 40), "groups": rng.choice(["a", "b", "c"], 40)}
    estimate = background_comparison(
        lambda rows: rows[:, 1], scipy.stats.wasserstein_distance, **data
    )
    assert estimate.value == pytest.approx(named("AvgGF", **data).value)


def test_the_background_comes_first_and_the_group_second():
    data = labelled(1)
    estimate = background_comparison(
        fpr, lambda x, y: y / x, **data, reference="rest", aggregate=False
    )
    assert isinstance(estimate, MaxPairwiseRatio)
    ratio = named("FPR Ratio", **data)
    assert values(estimate) == pytest.approx(values(ratio))
    assert estimate.value == pytest.approx(ratio.value)


def test_without_aggregation_the_group_furthest_from_fair_is_the_value():
    data = labelled(2)
    estimate = background_comparison(fpr, gap, **data, aggregate=False)
    assert isinstance(estimate, MaxPairwiseDifference)
    assert estimate.value == max(values(estimate).values())
    assert estimate.value == pytest.approx(max(values(named("FPED", **data)).values()))


def test_a_reference_group_is_the_background():
    data = labelled(3)
    estimate = background_comparison(fpr, gap, **data, reference=["g0", "g1"])
    assert values(estimate) == pytest.approx(values(named("FPED", **data, reference=["g0", "g1"])))


def test_two_groups_may_be_compared_with_a_sign():
    data = labelled(4, groups=2)
    first = pairwise_comparison(fpr, lambda x, y: x - y, **data)
    assert isinstance(first, JackknifeEstimate)
    assert list(first.groups) == [("g0", "g1"), "g0", "g1"]
    other = pairwise_comparison(fpr, lambda x, y: x - y, **data, reference="g0")
    assert other.value == pytest.approx(-first.value)


def test_a_sign_between_more_than_two_groups_is_refused():
    with pytest.raises(ValueError, match="would depend on their order"):
        pairwise_comparison(fpr, lambda x, y: x - y, **labelled(4))
    with pytest.raises(ValueError, match="defined for two groups"):
        pairwise_comparison(fpr, gap, **labelled(4), reference="g0")


@pytest.mark.parametrize(
    "d",
    [
        lambda scores: max(scores) - min(scores),
        lambda *scores: max(scores) - min(scores),
        lambda a, b, c: max(a, b, c) - min(a, b, c),
        np.ptp,
    ],
)
def test_all_scores_come_as_a_list_or_one_by_one(d):
    data = labelled(5)
    own = [row.rate for key, row in named("FPED", **data).groups.items()]
    estimate = multigroup_comparison(fpr, d, **data)
    assert estimate.value == pytest.approx(max(own) - min(own))
    assert isinstance(estimate, MetricDistance)


def test_rows_are_an_array_with_names():
    seen = []

    def phi(rows):
        seen.append((rows.y_true.tolist(), rows["y_pred"].tolist(), rows.y_prob))
        return rows.mean()

    data = {"y_true": [0, 1, 0, 1], "y_pred": [1, 1, 0, 0], "groups": ["a", "a", "b", "b"]}
    assert pairwise_comparison(phi, gap, **data).value == 1.0
    assert seen[0] == ([0, 1], [1, 1], None)


def test_labels_may_be_text_or_tags():
    data = {"y_pred": ["yes", "no", "no", "no"], "groups": ["a", "a", "b", "b"]}
    assert pairwise_comparison(lambda rows: np.mean(rows == "yes"), gap, **data).value == 0.5
    tags = [["O"], ["O", "U-LOC"], ["O", "O", "O"]]
    data = {"y_pred": tags, "groups": ["a", "b", "b"]}
    estimate = pairwise_comparison(lambda rows: max(map(len, rows)), gap, **data)
    assert estimate.value == 2.0


# Counterfactuals ----------------------------------------------------------------------------


def test_counterfactuals_are_compared_inside_each_source_example():
    rng = np.random.default_rng(0)
    data = {"y_prob": rng.dirichlet([1, 1], (10, 3)), "groups": ["a", "b", "c"]}
    estimate = pairwise_comparison(lambda rows: rows[0, 1], gap, **data)
    assert estimate.value == pytest.approx(named("CFGap", **data).value)
    assert values(estimate) == pytest.approx(values(named("CFGap", **data)))
    spread = multigroup_comparison(lambda rows: rows[0, 1], np.std, **data)
    y_true = [1] * 10
    assert spread.value == pytest.approx(named("PertSD", y_true=y_true, **data).value)


def test_several_variations_are_a_set():
    rng = np.random.default_rng(1)
    y_prob = [
        [rng.dirichlet([1, 1], int(rng.integers(1, 4))).tolist() for _ in range(2)]
        for _ in range(8)
    ]
    data = {"y_prob": y_prob, "groups": ["a", "b"]}
    estimate = pairwise_comparison(
        lambda rows: rows[:, 1], scipy.stats.wasserstein_distance, **data
    )
    assert estimate.value == pytest.approx(named("AvgIF", **data).value)


def test_the_original_can_be_the_background():
    rng = np.random.default_rng(2)
    data = {
        "y_prob": rng.dirichlet([1, 1], (10, 3)),
        "groups": ["a", "b", "c"],
        "original": rng.dirichlet([1, 1], 10),
    }
    estimate = background_comparison(lambda rows: rows[0, 1], gap, **data)
    assert estimate.value == pytest.approx(named("CFGap", **data).value)
    vector = background_comparison(lambda rows: rows[0, 1], gap, **data, aggregate=False)
    assert vector.value == pytest.approx(max(values(named("CFGap", **data)).values()))
    with pytest.raises(ValueError, match="not both"):
        background_comparison(lambda rows: rows[0, 1], gap, **data, reference="a")


def test_all_variations_of_an_example_are_its_background_by_default():
    y_prob = [[[0.9, 0.1], [0.7, 0.3], [0.5, 0.5]]]
    estimate = background_comparison(
        lambda rows: rows[:, 1].mean(), gap, y_prob=y_prob, groups=["a", "b", "c"]
    )
    assert values(estimate) == pytest.approx({"a": 0.2, "b": 0.0, "c": 0.2})


def test_counterfactual_predictions_have_one_entry_per_group():
    data = {
        "y_true": [1, 0, 1],
        "y_pred": [[1, 0], [0, 0], [[1, 1], [1, 0]]],
        "groups": ["a", "b"],
    }
    accuracy = pairwise_comparison(lambda rows: np.mean(rows.y_pred == rows.y_true), gap, **data)
    assert accuracy.value == pytest.approx((1 + 0 + 0.5) / 3)
    assert accuracy.sample.units == 3


# What cannot be compared --------------------------------------------------------------------


def test_a_score_that_is_not_defined_is_named_and_never_0():
    data = {"y_true": [0, 0, 1, 1], "y_pred": [1, 0, 1, 1], "groups": ["a", "a", "b", "b"]}
    estimate = pairwise_comparison(fpr, gap, **data)
    assert math.isnan(estimate.value)
    assert estimate.undefined == "phi is not defined for b"
    zero = pairwise_comparison(lambda rows: 1 / 0, gap, **data)
    assert zero.undefined == "phi is not defined for a"


def test_a_comparison_without_end_is_undefined():
    data = {"y_pred": [1, 1, 0, 0], "groups": ["a", "a", "b", "b"]}
    estimate = pairwise_comparison(np.mean, lambda x, y: x / y, **data)
    assert estimate.undefined == "d is inf: scores cannot be compared"


def test_one_undefined_example_is_named():
    y_prob = [[[0.5, 0.5], [0.4, 0.6]], [[0.0, 1.0], [0.2, 0.8]]]
    estimate = pairwise_comparison(
        lambda rows: rows[0, 1] / rows[0, 0], gap, y_prob=y_prob, groups=["a", "b"]
    )
    assert estimate.undefined == "d is inf in example 1: scores cannot be compared"


def test_a_score_of_two_dimensions_is_refused():
    data = {"y_prob": [[0.5, 0.5]] * 4, "groups": ["a", "a", "b", "b"]}
    with pytest.raises(ValueError, match=r"phi gave an array of shape \(2, 2\)"):
        pairwise_comparison(np.asarray, gap, **data)


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="phi gave 'high'"):
        pairwise_comparison(lambda _: "high", gap, y_pred=[0, 1], groups=["a", "b"])


def test_a_score_or_comparison_that_is_no_function_is_named():
    data = {"y_pred": [0, 1], "groups": ["a", "b"]}
    with pytest.raises(TypeError, match="phi is 'FPR'"):
        pairwise_comparison("FPR", gap, **data)
    with pytest.raises(TypeError, match="d is 'gap'"):
        pairwise_comparison(np.mean, "gap", **data)


def test_every_row_of_a_pairwise_table_has_an_interval():
    estimate = pairwise_comparison(fpr, gap, **labelled(7))
    for row in estimate.groups.values():
        assert row.estimate.value == pytest.approx(row.value)
        assert row.interval().lower <= row.interval().upper


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"groups": ["a", "b"]}, "there is no data"),
        ({"y_pred": [0, 1], "groups": ["a", "a"]}, "1 group"),
        ({"y_pred": [0, 1], "groups": ["a"]}, "1 labels for 2 rows"),
        ({"y_prob": [0.2, 1.5], "groups": ["a", "b"]}, "outside"),
        ({"y_prob": [[[0.5, 0.5]]], "groups": ["a", "b"]}, "1 groups for 2 names"),
    ],
)
def test_wrong_data_are_named_in_the_error(data, message):
    with pytest.raises(ValueError, match=message):
        pairwise_comparison(np.mean, gap, **data)


def test_examples_that_are_compared_once_are_no_fixed_population():
    data = {"y_prob": [[[0.5, 0.5], [0.4, 0.6]]] * 3, "groups": ["a", "b"]}
    fixed = pairwise_comparison(lambda rows: rows[0, 1], gap, **data, population="fixed")
    assert "no_repeats" in fixed.reasons


def test_the_order_of_rows_changes_no_bit():
    data = labelled(7)
    order = np.random.default_rng(1).permutation(len(data["groups"]))
    mixed = {key: [x[i] for i in order] for key, x in data.items()}
    one, other = (background_comparison(fpr, gap, **each) for each in (data, mixed))
    assert one.interval() == other.interval()
    assert one.noise_floor() == other.noise_floor()

"""Rows of Table 2 over counterfactuals: forms of data, identities, edge rules."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from pytest_llmfair.metrics import named, variation_product
from pytest_llmfair.stats import MaxPairwiseDifference, Mean

GROUPS = ["a", "b", "c"]


def counterfactuals(seed, groups=3, classes=2, n=12):
    rng = np.random.default_rng(seed)
    return {
        "y_true": rng.integers(0, classes, n).tolist(),
        "y_prob": rng.dirichlet(np.ones(classes), (n, groups)),
        "groups": GROUPS[:groups],
    }


def values(estimate):
    return {key: row.value for key, row in estimate.groups.items()}


def test_a_true_class_variant_divides_by_the_examples_of_that_class():
    # The published code divides by all examples, so that the value shrinks with the class.
    far, near = [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.5], [0.5, 0.5]]
    data = {"y_true": [1, 0, 0, 0], "y_prob": [far, near, near, near], "groups": ["a", "b"]}
    assert named("CFGap(TC)", **data).value == pytest.approx(0.8)
    assert named("AvgIF(TC)", **data).value == pytest.approx(0.8)
    assert named("CFGap", **data).value == pytest.approx(0.2)
    assert named("CFGap(TC)", **data).sample.units == 1


def test_no_example_of_the_gold_class_is_undefined_and_never_0():
    data = counterfactuals(1) | {"y_true": [0] * 12}
    for name in ("CFGap(TC)", "AvgIF(TC)"):
        estimate = named(name, **data)
        assert math.isnan(estimate.value)
        assert "no source example is of gold class 1" in estimate.undefined


def test_the_original_is_the_background_if_given():
    y_prob = [[[0.8, 0.2], [0.5, 0.5]], [[0.6, 0.4], [0.6, 0.4]]]
    data = {"y_true": [1, 0], "y_prob": y_prob, "groups": ["a", "b"]}
    original = [[0.7, 0.3], [0.5, 0.5]]
    gap = named("CFGap", **data, original=original)
    assert values(gap) == pytest.approx({"a": 0.1, "b": 0.15})
    assert gap.value == pytest.approx(0.125)
    assert isinstance(gap, Mean)
    vector = named("PertSS", **data, original=original)
    assert values(vector) == pytest.approx({"a": 0.1, "b": 0.15})
    assert vector.value == pytest.approx(0.15)
    assert isinstance(vector, MaxPairwiseDifference)


def test_without_an_original_groups_are_compared_in_pairs():
    data = counterfactuals(3)
    for name in ("CFGap", "PertSS", "AvgIF"):
        estimate = named(name, **data)
        found = values(estimate)
        pairs = list(combinations(GROUPS, 2))
        assert list(found) == [*pairs, *GROUPS]
        assert estimate.value == pytest.approx(sum(found[pair] for pair in pairs) / 3)
        # The mean over groups of the means over their pairs is the mean over pairs.
        assert estimate.value == pytest.approx(sum(found[name] for name in GROUPS) / 3)
        for row in estimate.groups.values():
            assert row.estimate.value == pytest.approx(row.value)


def test_the_order_of_groups_changes_no_bit():
    data = counterfactuals(3)
    turned = data | {
        "groups": data["groups"][::-1],
        "y_prob": [list(example)[::-1] for example in data["y_prob"]],
    }
    for name in ("CFGap", "CFGap(TC)", "PertSS", "AvgIF"):
        one, other = named(name, **data), named(name, **turned)
        assert one.value == other.value
        assert one.interval() == other.interval()


def test_a_group_can_be_the_background():
    data = counterfactuals(4)
    estimate = named("CFGap", **data, reference="b")
    p = data["y_prob"][:, :, 1]
    assert values(estimate) == pytest.approx(
        {"a": np.abs(p[:, 1] - p[:, 0]).mean(), "c": np.abs(p[:, 1] - p[:, 2]).mean()}
    )
    with pytest.raises(ValueError, match="not both"):
        named("CFGap", **data, reference="b", original=p[:, [0, 1]])
    with pytest.raises(ValueError, match="leave reference out"):
        named("PertSR", **data, reference="b")


def test_the_sample_of_a_large_product_does_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    example = rng.random((3, 12, 2)) / 2
    turned = example[[2, 0, 1]][:, ::-1]
    first = named("PertSD", y_true=[1], y_prob=[example], groups=GROUPS)
    second = named("PertSD", y_true=[1], y_prob=[turned], groups=["c", "a", "b"])
    assert first.value == second.value
    exact = np.std(variation_product(example[:, :, 1], limit=12**3), axis=1).mean()
    assert first.value == pytest.approx(exact, rel=0.1)


def test_a_signed_difference_goes_by_the_order_of_groups_or_the_reference():
    data = {"y_prob": [[[0.9, 0.1], [0.6, 0.4]]], "groups": ["a", "b"]}
    assert named("Average Score Difference", **data).value == pytest.approx(-0.3)
    assert named("Average Score Difference", **data, reference="a").value == pytest.approx(0.3)


def test_mean_scores_are_compared_by_group_as_well():
    estimate = named(
        "Average Score Difference", y_prob=[0.1, 0.3, 0.6, 0.8], groups=["a", "a", "b", "b"]
    )
    assert estimate.value == pytest.approx(-0.5)
    assert estimate.interval().lower < -0.5 < estimate.interval().upper


def test_the_worst_examples_can_be_found():
    data = counterfactuals(5)
    p = data["y_prob"][:, :, 1]
    gaps = [np.mean([abs(row[i] - row[k]) for i, k in combinations(range(3), 2)]) for row in p]
    assert named("CFGap", **data).rows == pytest.approx(gaps)


def test_a_fixed_population_needs_repeats():
    fixed = named("CFGap", **counterfactuals(7), population="fixed")
    assert "no_repeats" in fixed.reasons
    assert fixed.interval() == named("CFGap", **counterfactuals(7)).interval()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_prob": [[[0.5, 0.5]]]}, "example 0 has 1 groups for 2 names"),
        ({"y_prob": [[[0.5, 0.5], [0.4, 0.7, 0.1]]]}, "group b: 3 classes, elsewhere 2"),
        ({"y_prob": [[[0.5, 0.5], []]]}, "group b"),
        ({"y_prob": [[[0.5, 0.5], [[0.5, 0.5], [0.5]]]]}, "group b"),
        ({"y_prob": [[[0.5, 0.5], [0.5, 1.5]]]}, r"group b: row 0 holds 1.5, outside \[0, 1\]"),
        ({"y_prob": [[0.5, 0.5]]}, "give a probability per class"),
        ({"groups": ["a", "a"]}, "names 'a' twice"),
        ({"groups": ["a"]}, "1 group"),
        ({"y_true": [1, 1]}, "2 labels for 1 rows"),
        ({"y_true": None}, "PertSS needs y_true"),
        ({"y_true": ["pos"]}, "class 'pos' has no column"),
        ({"original": [[0.5, 0.5]] * 2}, "original has 2 examples and 2 classes"),
    ],
)
def test_wrong_data_are_named_in_the_error(change, message):
    data = {"y_true": [1], "y_prob": [[[0.5, 0.5], [0.4, 0.6]]], "groups": ["a", "b"]}
    with pytest.raises(ValueError, match=message):
        named("PertSS", **(data | change))

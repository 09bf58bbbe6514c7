from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.metrics import demographic_parity_difference

ROWS = st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 2)), min_size=2, max_size=20)


@given(ROWS.filter(lambda rows: len({g for g, _ in rows}) == 2), st.integers(0, 2))
def test_value_is_the_absolute_difference_of_the_shares(rows, positive):
    groups, predicted = zip(*rows, strict=True)
    rate = {
        name: sum(p == positive for g, p in rows if g == name) / sum(g == name for g, _ in rows)
        for name in "xy"
    }
    estimate = demographic_parity_difference(predicted, groups=groups, positive=positive)
    assert estimate.value == pytest.approx(abs(rate["x"] - rate["y"]))
    assert estimate.signed.value == pytest.approx(rate[groups[0]] - rate[groups[-1]]) or (
        groups[0] == groups[-1]
    )


def test_classes_may_be_words():
    estimate = demographic_parity_difference(
        ["yes", "no", "no", "no"], groups=["a", "a", "b", "b"], positive="yes"
    )
    assert estimate.value == 0.5


def test_rates_of_zero_are_rates():
    estimate = demographic_parity_difference([0] * 20, groups=["a"] * 10 + ["b"] * 10)
    assert estimate.value == 0
    assert 0.2 < estimate.interval().upper < 0.35


def test_renaming_groups_changes_nothing():
    rng = np.random.default_rng(0)
    predicted = rng.integers(0, 2, 60)
    first = demographic_parity_difference(predicted, groups=["a", "b", "b"] * 20)
    second = demographic_parity_difference(predicted, groups=["z", "k", "k"] * 20)
    assert first.value == second.value
    assert first.interval() == second.interval()


def test_the_pair_stands_in_the_table_and_the_rates_in_the_notes():
    estimate = demographic_parity_difference([1, 0, 0, 0], groups=["a", "a", "b", "b"])
    assert estimate.groups["a", "b"].value == 0.5
    assert "a 0.500 of 2, b 0.000 of 2" in estimate.notes[-1]


@pytest.mark.parametrize(
    ("predicted", "groups", "said"),
    [
        ([], [], "empty"),
        ([1, 0], ["a"], "2 rows"),
        ([1, 0], ["a", "a"], "1 group"),
        ([1, math.nan], ["a", "b"], "y_pred row 1"),
        ([1, 0], ["a", None], "groups row 1"),
        (["yes", "no"], ["a", "b"], "no row of y_pred is positive=1; it holds 'yes', 'no'"),
        ([0.3, 0.6], ["a", "b"], "y_pred row 0 is 0.3, no class"),
    ],
)
def test_bad_input_is_named(predicted, groups, said):
    with pytest.raises(ValueError, match=said):
        demographic_parity_difference(predicted, groups=groups)


def test_with_more_groups_the_largest_difference_of_any_two_is_judged():
    rng = np.random.default_rng(2)
    groups = np.repeat(["a", "b", "c"], 100)
    predicted = (rng.random(300) < np.repeat([0.2, 0.5, 0.9], 100)).astype(int)
    rate = {g: predicted[groups == g].mean() for g in "abc"}
    estimate = demographic_parity_difference(predicted, groups=groups)
    assert estimate.value == pytest.approx(rate["c"] - rate["a"])
    assert set(estimate.groups) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert estimate.groups["a", "b"].value == pytest.approx(rate["b"] - rate["a"])
    interval = estimate.interval()
    assert 0.4 < interval.lower < estimate.value <= interval.upper


def test_order_and_names_of_more_groups_change_nothing():
    rng = np.random.default_rng(3)
    predicted, groups = rng.integers(0, 2, 90), np.array(list("abc") * 30)
    order = rng.permutation(90)
    names = dict(zip("abc", "zkm", strict=True))
    first = demographic_parity_difference(predicted, groups=groups)
    second = demographic_parity_difference(
        predicted[order], groups=[names[g] for g in groups[order]]
    )
    assert first.value == second.value
    assert first.interval() == second.interval()

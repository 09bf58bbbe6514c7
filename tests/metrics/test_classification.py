from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from pytest_llmfair.metrics import demographic_parity_difference, impact_ratio


def test_classes_may_be_words():
    estimate = demographic_parity_difference(
        ["yes", "no", "no", "no"], groups=["a", "a", "b", "b"], positive="yes"
    )
    assert estimate.value == 0.5


def test_the_pair_is_in_the_table_and_the_rates_are_in_the_notes():
    estimate = demographic_parity_difference([1, 0, 0, 0], groups=["a", "a", "b", "b"])
    assert estimate.groups["a", "b"].value == 0.5
    assert "a 0.500 of 2, b 0.000 of 2" in estimate.notes[-1]


@pytest.mark.parametrize("positive", [None, math.nan, [1], np.array([1]), {}])
def test_a_positive_class_that_names_none_is_no_rate_of_zero(positive):
    with pytest.raises(ValueError, match=r"^positive is .*, which names no class; name one$"):
        demographic_parity_difference([0, 1] * 20, groups=list("aabb") * 10, positive=positive)


def test_with_more_groups_the_largest_difference_of_any_two_is_judged():
    rng = np.random.default_rng(2)
    groups = np.repeat(["a", "b", "c"], 100)
    predicted = (rng.random(300) < np.repeat([0.2, 0.5, 0.9], 100)).astype(int)
    rate = {g: predicted[groups == g].mean() for g in "abc"}
    estimate = demographic_parity_difference(predicted, groups=groups)
    assert estimate.value == pytest.approx(rate["c"] - rate["a"])
    assert list(estimate.groups) == [("a", "b"), ("a", "c"), ("b", "c"), "a", "b", "c"]
    assert {g: estimate.groups[g].rate for g in "abc"} == pytest.approx(rate)
    assert estimate.groups["a", "b"].value == pytest.approx(rate["b"] - rate["a"])
    interval = estimate.interval()
    assert 0.4 < interval.lower < estimate.value <= interval.upper


def test_a_model_that_selects_all_rows_or_none_is_flagged():
    groups = ["a", "b"] * 10
    for predicted in ([0] * 20, [1] * 20):
        estimate = demographic_parity_difference(predicted, groups=groups)
        assert estimate.value == 0
        assert "uninformative" in estimate.reasons


@pytest.mark.parametrize("metric", [demographic_parity_difference, impact_ratio])
@pytest.mark.parametrize("names", ["ab", "abc"])
def test_a_pair_is_found_whichever_group_is_named_first(metric, names):
    groups = list(names) * 6
    table = metric([1, 0, 0, 1, 1] + [0] * (len(groups) - 5), groups=groups).groups
    assert table["b", "a"].value == table["a", "b"].value
    assert [key for key in table if isinstance(key, tuple)] == list(combinations(names, 2))
    with pytest.raises(KeyError, match=r"\('a', 'z'\)"):
        table["a", "z"]


class TestImpactRatio:
    def test_the_guideline_example_fails_four_fifths(self):
        # 48 of 80 and 12 of 40 selected: rates of 60 % and 30 %, a ratio of one half.
        predicted = [1] * 48 + [0] * 32 + [1] * 12 + [0] * 28
        estimate = impact_ratio(predicted, groups=["x"] * 80 + ["y"] * 40)
        assert estimate.value == pytest.approx(0.5)
        assert estimate.interval().upper < 0.8
        assert estimate.groups["y"].value == pytest.approx(0.5)
        assert (estimate.groups["y"].rate, estimate.groups["y"].n) == (0.3, 40)

    @pytest.mark.parametrize("names", ["ab", "abc"])
    def test_order_of_rows_and_groups_changes_no_digit(self, names):
        rng = np.random.default_rng(4)
        groups = np.array(list(names) * 30)
        predicted = rng.integers(0, 2, len(groups))
        first = impact_ratio(predicted, groups=groups)
        second = impact_ratio(predicted[::-1], groups=groups[::-1])
        assert first.value == second.value
        assert first.interval() == second.interval()

    def test_small_groups_are_named_and_left_unjudged(self):
        predicted = [1] * 30 + [0] * 30 + [1] * 20 + [0] * 19 + [0]
        groups = ["a"] * 60 + ["b"] * 39 + ["tiny"]
        estimate = impact_ratio(predicted, groups=groups, minimum_share=0.02)
        assert estimate.value == pytest.approx(0.5 / (20 / 39))
        assert math.isnan(estimate.groups["tiny"].value)
        assert (estimate.groups["tiny"].rate, estimate.groups["tiny"].n) == (0.0, 1)
        assert "not judged, below 2.0% of 100 rows: tiny 0.000 of 1" in estimate.notes
        assert impact_ratio(predicted, groups=groups).value == 0

    def test_a_group_of_exactly_the_minimum_share_is_judged(self):
        groups = ["a"] * 93 + ["b"] * 7
        estimate = impact_ratio([1] * 93 + [0] * 7, groups=groups, minimum_share=0.07)
        assert estimate.value == 0

    def test_too_few_judged_groups_are_undefined(self):
        estimate = impact_ratio([1, 1, 0, 1], groups=["a", "a", "a", "b"], minimum_share=0.5)
        assert math.isnan(estimate.value)
        assert "1 of 2 groups has at least 50.0% of the 4 rows" in estimate.undefined
        assert estimate.groups["b"].rate == 1.0

    def test_no_selected_row_is_undefined(self):
        for groups in (["a", "b"] * 5, ["a", "b", "c", "d", "e"] * 2):
            estimate = impact_ratio([0] * 10, groups=groups)
            assert math.isnan(estimate.value)
            assert "selection rate of a and of b" in estimate.undefined
            assert "0 over 0 is no ratio" in estimate.undefined

    def test_every_pair_and_every_group_is_in_the_table(self):
        predicted = [1, 0, 1, 1, 0, 0, 1, 1, 1]
        estimate = impact_ratio(predicted, groups=list("aabbbccdd"))
        assert len(estimate.groups) == 6 + 4
        assert estimate.groups["a", "d"].value == 0.5
        assert estimate.groups["d"].value == 1.0

    def test_four_fifths_is_context_and_no_bound(self):
        info = impact_ratio([1, 0, 1, 0], groups=["a", "a", "b", "b"]).metric
        assert "four fifths" in info.reported
        assert (info.name, info.direction) == ("impact_ratio", "higher")

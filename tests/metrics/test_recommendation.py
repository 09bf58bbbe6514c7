from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.metrics import jaccard_at_k, prag_at_k, serp_at_k


class _Unknown:
    """Like the missing value of a data frame: comparing it is neither true nor false."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self

    __ne__ = __eq__

    def __bool__(self):
        raise TypeError("neither true nor false")


@pytest.mark.parametrize("k", [2, 3, 10, 40])
def test_identical_lists_score_one_but_for_the_printed_prag(k):
    some = [list(range(k)), list(range(k, 0, -1))]
    assert jaccard_at_k(some, some).value == 1
    assert serp_at_k(some, some).value == 1
    assert prag_at_k(some, some).value == pytest.approx((k - 1) / (2 * (k + 1)))
    assert prag_at_k(some, some, normalized=True).value == 1


def test_identical_lists_of_one_item_have_no_order_to_normalize_by():
    estimate = prag_at_k([["a"]], [["a"]], normalized=True)
    assert math.isnan(estimate.value)
    assert "K is 1" in estimate.undefined


def test_the_smaller_direction_counts():
    # "d" is last here and first there: 1 of 10 against 4 of 10.
    one, other = [list("abcd")], [list("dxyz")]
    assert serp_at_k(one, other).value == serp_at_k(other, one).value == pytest.approx(0.1)
    # "d" comes last here, but before x, y and z, which are missing.
    assert prag_at_k(one, other).value == prag_at_k(other, one).value == 0


def test_arrays_and_numbers_are_lists_and_items():
    a, b = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[3, 2, 1], [4, 5, 7]])
    assert jaccard_at_k(a, b).value == 0.75
    assert jaccard_at_k(a[:, None], b[:, None]).value == 0.75
    assert serp_at_k(a, b).value == serp_at_k(a.tolist(), b.tolist()).value


@pytest.mark.parametrize("metric", [serp_at_k, prag_at_k])
class TestRanks:
    def test_lists_of_different_length_need_k(self, metric):
        with pytest.raises(ValueError, match=r"lists_b row 1 has 1 items .*; give k"):
            metric([["a", "b"], ["a", "b"]], [["a", "b"], ["a"]])

    def test_empty_lists_need_k(self, metric):
        with pytest.raises(ValueError, match="the lists are empty; give k"):
            metric([[]], [[]])
        assert metric([[]], [[]], k=3).value == 0

    @pytest.mark.parametrize("k", [0, -1, 2.5, True, "3"])
    def test_k_is_a_positive_whole_number(self, metric, k):
        with pytest.raises(ValueError, match=r"k is .*whole number"):
            metric([["a"]], [["a"]], k=k)

    def test_the_number_of_ranks_is_part_of_what_is_compared(self, metric):
        assert metric([list("abc")], [list("abd")]).variant == "@3"
        assert metric([list("abc")], [list("abd")], k=2).variant == "@2"

    def test_what_short_lists_cannot_reach_is_not_attainable(self, metric):
        some = [list("ab")] * 30
        estimate = metric(some, some, k=10)
        assert estimate.attainable == (0.0, estimate.value)
        assert estimate.interval().upper <= estimate.value


def test_the_printed_prag_never_reaches_one_half():
    some = [list("abcdefghij")] * 30
    assert prag_at_k(some, some).attainable[1] == pytest.approx(9 / 22)
    assert prag_at_k(some, some, normalized=True).attainable == (0.0, 1.0)


@pytest.mark.parametrize("metric", [jaccard_at_k, serp_at_k, prag_at_k])
class TestLists:
    def test_a_repeated_item_is_named(self, metric):
        with pytest.raises(ValueError, match="lists_b row 1 holds 'Emma' at rank 1 and 3"):
            metric([["a", "b", "c"]] * 2, [["a", "b", "c"], ["Emma", "Dune", "Emma"]])

    @pytest.mark.parametrize("item", [None, float("nan"), _Unknown()])
    def test_a_missing_item_is_named(self, metric, item):
        with pytest.raises(ValueError, match="lists_a row 0 has no item at rank 2"):
            metric([["a", item]], [["a", "b"]])

    @pytest.mark.parametrize("row", ["abc", 5, b"ab"])
    def test_a_row_that_is_no_list_is_an_error(self, metric, row):
        with pytest.raises(ValueError, match=r"lists_a row 0 is .*give a list of recommended"):
            metric([row], [["a"]])

    def test_items_mixed_with_lists_are_an_error(self, metric):
        with pytest.raises(ValueError, match="lists_a row 0 mixes items and lists"):
            metric([[["a"], "b"]], [["a", "b"]])

    def test_an_item_that_cannot_be_compared_is_an_error(self, metric):
        with pytest.raises(ValueError, match=r"lists_a row 0 holds .* at rank 1; name items"):
            metric([[{"title": "Emma"}]], [["a"]])

    def test_sides_of_different_length_are_an_error(self, metric):
        with pytest.raises(ValueError, match="lists_a has 2 rows, lists_b has 1;"):
            metric([["a"], ["b"]], [["a"]])

    def test_one_list_for_every_pair_is_uninformative(self, metric):
        assert "uninformative" in metric([["a", "b"]] * 5, [["a", "b"]] * 5).reasons
        assert "uninformative" not in metric([["a", "b"]] * 5, [["b", "a"]] * 5).reasons

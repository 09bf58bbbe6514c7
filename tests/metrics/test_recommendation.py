from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.metrics import jaccard_at_k, prag_at_k, serp_at_k

ITEMS = list("abcdef")
RANKED = st.permutations(ITEMS)


class _Unknown:
    """Like the missing value of a data frame: comparing it is neither true nor false."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self

    __ne__ = __eq__

    def __bool__(self):
        raise TypeError("neither true nor false")


def lists(length):
    return RANKED.map(lambda items: items[:length])


PAIRS = st.integers(1, 6).flatmap(
    lambda k: st.lists(st.tuples(lists(k), lists(k)), min_size=1, max_size=4)
)
RAGGED = st.lists(st.tuples(*[st.integers(0, 6).flatmap(lists)] * 2), min_size=1, max_size=4)


def rank(item, items):
    return items.index(item) + 1 if item in items else math.inf


def slow_jaccard(a, b):
    both, either = set(a) & set(b), set(a) | set(b)
    return len(both) / len(either) if either else 1.0


def slow_serp(a, b, k):
    return sum((k - rank(v, a) + 1) * (v in b) for v in a) / (k * (k + 1) / 2)


def slow_prag(a, b, k):
    return sum(
        (v in b) * (rank(v, a) < rank(w, a)) * (rank(v, b) < rank(w, b))
        for v, w in itertools.permutations(a, 2)
    ) / (k * (k + 1))


def smaller(direction, a, b, k):
    a, b = a[:k], b[:k]
    return min(direction(a, b, k), direction(b, a, k))


@given(RAGGED, st.integers(1, 8))
def test_an_explicit_k_cuts_long_lists_and_misses_ranks_of_short_ones(pairs, k):
    a, b = zip(*pairs, strict=True)
    expected = [smaller(slow_serp, x, y, k) for x, y in pairs]
    assert serp_at_k(a, b, k).rows == pytest.approx(expected)
    expected = [smaller(slow_prag, x, y, k) for x, y in pairs]
    assert prag_at_k(a, b, k).rows == pytest.approx(expected)


@pytest.mark.parametrize("k", [2, 3, 10, 40])
def test_identical_lists_score_one_but_for_the_printed_prag(k):
    some = [list(range(k)), list(range(k, 0, -1))]
    assert jaccard_at_k(some, some).value == 1
    assert serp_at_k(some, some).value == 1
    assert prag_at_k(some, some).value == pytest.approx((k - 1) / (2 * (k + 1)))
    assert prag_at_k(some, some, normalized=True).value == 1


@settings(max_examples=25)
@given(PAIRS)
def test_normalized_prag_is_in_units_of_identical_lists(pairs):
    a, b = zip(*pairs, strict=True)
    k = len(a[0])
    normalized = prag_at_k(a, b, normalized=True)
    if k == 1:
        assert math.isnan(normalized.value)
        assert "K is 1" in normalized.undefined
    else:
        printed = prag_at_k(a, b).value
        assert normalized.value == pytest.approx(printed * 2 * (k + 1) / (k - 1))


@settings(max_examples=25)
@given(PAIRS)
def test_swapped_sides_score_the_same(pairs):
    a, b = zip(*pairs, strict=True)
    for metric in (jaccard_at_k, serp_at_k, prag_at_k):
        assert metric(a, b).value == metric(b, a).value


def test_the_smaller_direction_counts():
    # "d" is last here and first there: 1 of 10 against 4 of 10.
    assert serp_at_k([list("abcd")], [list("dxyz")]).value == pytest.approx(0.1)
    # "d" comes last here, but before x, y and z, which are missing.
    assert prag_at_k([list("abcd")], [list("dxyz")]).value == 0
    assert slow_prag(list("dxyz"), list("abcd"), 4) == pytest.approx(0.15)


def test_several_lists_a_side_give_cross_pairs_floor_and_excess():
    rng = np.random.default_rng(0)
    rows_a, rows_b = (
        [[rng.permutation(ITEMS)[:4].tolist() for _ in range(3)] for _ in range(5)]
        for _ in range(2)
    )
    for metric, slow in (
        (jaccard_at_k, slow_jaccard),
        (serp_at_k, lambda a, b: smaller(slow_serp, a, b, 4)),
        (prag_at_k, lambda a, b: smaller(slow_prag, a, b, 4)),
    ):
        estimate = metric(rows_a, rows_b)
        cross = np.mean(
            [slow(x, y) for a, b in zip(rows_a, rows_b, strict=True) for x in a for y in b]
        )
        within = np.mean(
            [slow(x, y) for row in (*rows_a, *rows_b) for x, y in itertools.combinations(row, 2)]
        )
        assert estimate.value == pytest.approx(cross)
        assert estimate.noise_floor() == pytest.approx(within)
        assert estimate.excess.value == pytest.approx(cross - within)


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

    def test_no_pair_is_an_error(self, metric):
        with pytest.raises(ValueError, match="lists_a is empty"):
            metric([], [])

    def test_one_list_for_every_pair_is_uninformative(self, metric):
        assert "uninformative" in metric([["a", "b"]] * 5, [["a", "b"]] * 5).reasons
        assert "uninformative" not in metric([["a", "b"]] * 5, [["b", "a"]] * 5).reasons

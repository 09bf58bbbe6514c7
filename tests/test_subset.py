"""Smaller sets of prompts: the same for everyone, one within the other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.sampling import sampled_product, subset
from tests.processes import python

texts = st.lists(st.text(max_size=5), max_size=30)


@given(texts, st.integers(1, 30), st.integers(1, 30), st.integers(0, 5))
def test_a_smaller_set_lies_within_a_larger_one(items, n, more, seed):
    rows = [(i, text) for i, text in enumerate(items)]
    assert set(subset(rows, n, seed)) <= set(subset(rows, n + more, seed))


@given(texts, st.integers(1, 40))
def test_it_has_the_asked_size_and_the_given_order(items, n):
    chosen = subset(items, n)
    assert len(chosen) == min(n, len(items))
    left = iter(items)
    assert all(item in left for item in chosen)


@given(st.lists(st.text(max_size=5), unique=True, max_size=30), st.integers(1, 30))
def test_order_does_not_matter(items, n):
    assert set(subset(items, n)) == set(subset(items[::-1], n))


def test_another_seed_chooses_others():
    items = [f"prompt {i}" for i in range(100)]
    assert subset(items, 20, 0) != subset(items, 20, 1)


def test_every_item_is_as_likely_as_another():
    items = [f"prompt {i}" for i in range(10)]
    counts = [0] * 10
    for seed in range(1000):
        for item in subset(items, 3, seed):
            counts[int(item[-1])] += 1
    # 300 expected of each; five standard deviations are 72.
    assert all(228 < count < 372 for count in counts)


def test_pairs_are_chosen_by_both_texts():
    pairs = generate_pairs([f"She said {i}." for i in range(20)], attribute="gender")
    chosen = subset(list(pairs), 5)
    assert chosen == [pair for pair in pairs if pair in chosen]
    assert len(chosen) == 5


def test_processes_choose_the_same():
    """The hashes of this process are random, or those of another seed."""
    code = "from pytest_llmfair.sampling import subset; print(*subset(list('abcdefgh'), 3))"
    there = python("-c", code, PYTHONHASHSEED="1")
    assert there.stdout.split() == subset(list("abcdefgh"), 3)


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_a_size_that_is_none_is_an_error(n):
    with pytest.raises(ValueError, match=r"n is .*at least 1"):
        subset(["a"], n)


def test_a_sample_of_a_large_product_never_makes_the_product():
    rows = sampled_product([range(1000)] * 5, limit=3, seed=0)
    assert len(set(rows)) == 3
    assert sampled_product([["she", "he"], ["left"]], 10, 0) == [("she", "left"), ("he", "left")]

"""Combinations of identity terms."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.metrics import variation_product


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_a_small_product_is_complete_and_in_order(sizes):
    groups = [[f"{g}{k}" for k in range(size)] for g, size in enumerate(sizes)]
    assert variation_product(groups, limit=10**6) == list(product(*groups))


@given(st.integers(0, 1000), st.integers(1, 40))
def test_a_large_product_is_sampled_without_replacement(seed, limit):
    groups = [list(range(4))] * 3
    found = variation_product(groups, limit=limit, seed=seed)
    assert len(set(found)) == len(found) == limit
    assert set(found) <= set(product(*groups))


def test_the_default_limit_is_100():
    assert len(variation_product([list(range(20))] * 5)) == 100
    assert len(variation_product([list(range(10))] * 2)) == 100


def test_the_seed_alone_decides():
    groups = [list(range(30))] * 4
    assert variation_product(groups, seed=3) == variation_product(groups, seed=3)
    assert variation_product(groups, seed=3) != variation_product(groups, seed=4)


def test_every_combination_is_as_likely_as_another():
    counts = Counter(
        combination
        for seed in range(2000)
        for combination in variation_product([[0, 1], [0, 1, 2]], limit=2, seed=seed)
    )
    # 4,000 draws of 6: 667 each, with a standard deviation of about 21.
    assert all(580 < count < 750 for count in counts.values())


def test_groups_may_have_names():
    assert variation_product({"female": ["Anna", "Mary"], "male": ["John"]}) == [
        ("Anna", "John"),
        ("Mary", "John"),
    ]


def test_more_combinations_than_can_be_counted_are_no_trouble():
    assert len(variation_product([list(range(100))] * 40)) == 100


@pytest.mark.parametrize(
    ("variations", "keywords", "message"),
    [
        ([], {}, "is empty"),
        ([["a"], []], {}, "group 1 has no variation"),
        ({"x": ["a"], "y": []}, {}, "group y has no variation"),
        (["abc", ["d"]], {}, "give a list"),
        ([["a"]], {"limit": 0}, "limit is 0"),
        ([["a"]], {"limit": 2.5}, "limit is 2.5"),
        ([["a"]], {"limit": "2"}, "limit is '2'"),
        ([["a"]], {"seed": "a"}, "seed is 'a'"),
        (None, {}, "variations is None; give the variations of each group"),
    ],
)
def test_what_is_wrong_is_named(variations, keywords, message):
    with pytest.raises(ValueError, match=message):
        variation_product(variations, **keywords)

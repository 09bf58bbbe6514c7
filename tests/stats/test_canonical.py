from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.stats._layout import canonical_orders

entries = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=14
)


def arranged(unit, group, value, units, groups):
    """The table with units and groups in canonical order, as nested sorted lists."""
    unit_order, group_order = canonical_orders(
        [np.array(unit), np.array(group)], [units, groups], np.array(value, dtype=float)
    )
    return [
        [
            sorted(v for u, g, v in zip(unit, group, value, strict=True) if (u, g) == (a, b))
            for b in group_order
        ]
        for a in unit_order
    ]


@given(entries, st.permutations(range(6)), st.permutations(range(3)), st.randoms())
def test_order_is_a_matter_of_content(table, new_unit, new_group, random):
    before = arranged(*zip(*table, strict=True), 6, 3)
    moved = [(new_unit[u], new_group[g], v) for u, g, v in table]
    random.shuffle(moved)
    assert arranged(*zip(*moved, strict=True), 6, 3) == before


@given(entries)
def test_every_element_has_one_place(table):
    unit, group, value = (np.array(column) for column in zip(*table, strict=True))
    orders = canonical_orders([unit, group], [6, 3], value.astype(float))
    assert [sorted(order.tolist()) for order in orders] == [list(range(6)), list(range(3))]


def test_mirrored_pairs_are_arranged_alike_from_both_sides():
    unit, group = [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]
    here = arranged(unit, group, [2, 5, 5, 2, 1, 3], 3, 2)
    there = arranged(unit, [1 - g for g in group], [2, 5, 5, 2, 1, 3], 3, 2)
    assert here == there

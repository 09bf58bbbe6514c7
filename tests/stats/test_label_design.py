"""How labels are divided over strata, and how many a test needs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.labels.strata import allocated, labels_needed


def test_labels_go_by_share_and_spread():
    weights, rates = [0.8, 0.2, 0.7, 0.3], [0.1, 0.72, 0.1, 0.72]
    found = allocated(weights, rates, [800, 200, 700, 300], 300)
    strength = [w * math.sqrt(q * (1 - q)) for w, q in zip(weights, rates, strict=True)]
    assert found.sum() == 300
    assert found.tolist() == pytest.approx([300 * s / sum(strength) for s in strength], abs=1)


@given(
    st.lists(
        st.tuples(st.floats(0.01, 1), st.floats(0, 1), st.integers(1, 500)), min_size=1, max_size=8
    ),
    st.integers(1, 3000),
)
def test_every_stratum_has_five_and_none_more_than_it_holds(cells, total):
    weights, rates, sizes = zip(*cells, strict=True)
    found = allocated(weights, rates, sizes, total)
    least = [min(5, n) for n in sizes]
    assert all(a <= n <= b for a, n, b in zip(least, found, sizes, strict=True))
    assert found.sum() == min(max(total, sum(least)), sum(sizes))


def test_the_number_needed_is_the_smallest_that_is_enough():
    cells = [0.8, 0.2] * 2, [0.1, 0.72] * 2, [1600, 400] * 2
    answers = 2 * (0.8 * (0.1 - 0.224) ** 2 + 0.2 * (0.72 - 0.224) ** 2) / 2000

    def room(total):
        """Bound that just passes in 80 % of runs, from the formula of both variances."""
        shown = true = 0.0
        for w, q, n in zip(*cells[:2], allocated(*cells, total).tolist(), strict=True):
            p, m = n * q, n + 2
            expected = ((p + 1) * (n - p + 1) - n * q * (1 - q)) / m**2
            shown += w * w * expected / n
            true += w * w * q * (1 - q) / n
        return 1.9599640 * math.sqrt(shown + answers) + 1.2815516 * math.sqrt(true + answers)

    found = labels_needed(*cells, 0.1, answers)
    assert room(found) <= 0.1 < room(found - 1)


def test_no_number_is_enough_where_the_answers_leave_too_much():
    assert labels_needed([0.8, 0.2] * 2, [0.1, 0.7] * 2, [80, 20] * 2, 0.05, 0.01) == math.inf
    assert np.isinf(labels_needed([1.0, 1.0], [0.5, 0.5], [20, 20], 0.1, 0.0))

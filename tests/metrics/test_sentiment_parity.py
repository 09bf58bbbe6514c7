from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.metrics import strict_sentiment_parity, weak_sentiment_parity

UNIT = st.floats(0, 1).map(lambda x: round(x, 3))


def slow_cross(row_a, row_b, compare):
    return np.mean([compare(a, b) for a in row_a for b in row_b])


def slow_wasserstein(a, b):
    grid = sorted({*a, *b})
    area = 0.0
    for left, right in itertools.pairwise(grid):
        share_a = sum(x <= left for x in a) / len(a)
        share_b = sum(x <= left for x in b) / len(b)
        area += abs(share_a - share_b) * (right - left)
    return area


@given(
    st.lists(
        st.tuples(st.lists(UNIT, min_size=1, max_size=3), st.lists(UNIT, min_size=1, max_size=3)),
        min_size=1,
        max_size=5,
    ),
    UNIT,
)
def test_weak_parity_is_the_share_of_cross_pairs_that_change_sides(pairs, threshold):
    a, b = zip(*pairs, strict=True)
    expected = np.mean(
        [slow_cross(x, y, lambda s, t: abs((s > threshold) - (t > threshold))) for x, y in pairs]
    )
    assert weak_sentiment_parity(a, b, threshold).value == pytest.approx(expected)


def test_opposite_flips_do_not_cancel_in_weak_parity():
    assert weak_sentiment_parity([0.9, 0.1], [0.1, 0.9]).value == 1


def test_a_score_on_the_threshold_is_not_positive():
    assert weak_sentiment_parity([0.5], [0.6]).value == 1


def test_strict_parity_shows_the_paired_difference_it_ignores():
    estimate = strict_sentiment_parity([0.2, 0.8, 0.4], [0.8, 0.2, 0.4])
    assert estimate.value == pytest.approx(0, abs=1e-12)
    assert any("mean absolute difference 0.400" in note for note in estimate.notes)


def test_strict_parity_takes_generations_per_pair():
    a, b = [[0.1, 0.3], [0.5, 0.7]], [[0.2, 0.2], [0.9, 0.9]]
    expected = slow_wasserstein([0.1, 0.3, 0.5, 0.7], [0.2, 0.2, 0.9, 0.9])
    assert strict_sentiment_parity(a, b).value == pytest.approx(expected)


def test_sides_of_different_size_need_units_for_each():
    with pytest.raises(ValueError, match="3 and 2 rows; give a tuple of two"):
        strict_sentiment_parity([0.1, 0.2, 0.3], [0.1, 0.2], units=["a", "b", "c"])


def test_sides_of_different_length_are_an_error():
    with pytest.raises(ValueError, match="scores_a has 2 rows, scores_b has 1;"):
        weak_sentiment_parity([0.1, 0.2], [0.1])

from __future__ import annotations

import pytest

from pytest_llmfair.metrics import strict_sentiment_parity, weak_sentiment_parity


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
    # All four scores of one side, in order, against those of the other.
    expected = (0.1 + 0.1 + 0.4 + 0.2) / 4
    assert strict_sentiment_parity(a, b).value == pytest.approx(expected)


def test_sides_of_different_size_need_units_for_each():
    with pytest.raises(ValueError, match="3 and 2 rows; give a tuple of two"):
        strict_sentiment_parity([0.1, 0.2, 0.3], [0.1, 0.2], units=["a", "b", "c"])


def test_sides_of_different_length_are_an_error():
    with pytest.raises(ValueError, match="scores_a has 2 rows, scores_b has 1;"):
        weak_sentiment_parity([0.1, 0.2], [0.1])

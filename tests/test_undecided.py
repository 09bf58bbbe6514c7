"""What undecided evidence says would decide it."""

from __future__ import annotations

import random

import pytest

from pytest_llmfair import (
    InvalidEvidence,
    Underpowered,
    Verdict,
    assert_counterfactual_invariance,
)
from pytest_llmfair.judging.verdict import judge
from pytest_llmfair.stats import Mean

WORDS = ["red", "green", "blue", "grey", "black", "white"]


def pairs_of_noise(n):
    """Answers that are drawn the same way on both sides, all of them apart."""
    draw = random.Random(3)

    def answers():
        return [" ".join(draw.choices(WORDS, k=4)) for _ in range(3)]

    return [(answers(), answers()) for _ in range(n)]


def test_a_value_above_the_bound_but_within_noise_needs_more_units():
    with pytest.raises(Underpowered) as caught:
        assert_counterfactual_invariance(pairs_of_noise(2), 0.1, on="value")
    result = caught.value.result
    assert result.lower > 0.1
    assert "within_noise" in result.reasons
    few, many = result.needed_units
    assert 2 < few <= many


@pytest.mark.parametrize(("events", "n", "bound"), [(1, 4, 0.6), (12, 60, 0.3), (9, 200, 0.07)])
def test_an_undecided_sample_never_counts_as_enough(events, n, bound):
    estimate = Mean.of_indicators([1.0] * events + [0.0] * (n - events))
    result = judge(estimate, bound)
    assert result.verdict in (Verdict.INCONCLUSIVE, Verdict.UNDERPOWERED)
    few, many = result.needed_units
    assert n < few <= many


def test_no_number_of_units_is_enough_when_the_floor_is_above_the_bound():
    with pytest.raises(InvalidEvidence) as caught:
        assert_counterfactual_invariance(pairs_of_noise(80), 0.3, on="value")
    assert "floor_above_bound" in caught.value.result.reasons
    assert caught.value.result.needed_units is None
    assert "would have been enough" not in str(caught.value)

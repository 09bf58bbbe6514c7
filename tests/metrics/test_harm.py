"""Toxicity and stereotype metrics."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair import assert_stereotype_fraction_within
from pytest_llmfair.metrics import (
    expected_maximum_toxicity,
    toxic_fraction,
    toxicity_probability,
)


def test_a_flat_input_is_one_generation_per_prompt():
    assert toxic_fraction([0.9, 0.1, 0.1, 0.1]).value == 0.25


def test_rows_of_different_length_weigh_the_same_and_the_estimate_says_so():
    estimate = toxic_fraction([[0.9], [0.1, 0.1, 0.1]])
    assert estimate.value == 0.5
    assert any("1 to 3 generations" in note for note in estimate.notes)


def test_no_toxic_answer_in_sixty_prompts_leaves_the_exact_binomial_bound():
    estimate = toxic_fraction(np.zeros((60, 25)))
    assert estimate.interval().upper == pytest.approx(1 - 0.025 ** (1 / 60))
    assert estimate.interval().lower == 0


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([], "empty"),
        ([[0.1], []], "row 1"),
        ([0.1, math.nan], "row 1 holds nan"),
        ([0.1, math.inf], "row 1 holds inf"),
        ([[0.1, 1.2]], r"row 0 holds 1.2, outside \[0, 1\]"),
        ([0.1, None], "row 1 is missing"),
        (["a"], "row 0 is 'a'"),
        ("abc", "is a str"),
    ],
)
def test_bad_scores_are_named(scores, message):
    with pytest.raises(ValueError, match=message):
        toxic_fraction(scores)


def test_constant_scores_are_flagged_as_uninformative():
    assert "uninformative" in toxic_fraction([0.3, 0.3, 0.3]).reasons
    assert "uninformative" not in toxic_fraction([0.3, 0.3, 0.4]).reasons


@pytest.mark.parametrize(
    "scores",
    [
        b"abc",
        {0.1, 0.2},
        np.array(0.5),
        ["0.5", "0.6"],
        [b"0.5"],
        [10**400],
        [1j],
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.ma.array([0.1, 0.9], mask=[False, True]),
    ],
)
def test_what_is_no_list_of_numbers_is_an_error_that_names_the_argument(scores):
    with pytest.raises(ValueError, match=r"^scores "):
        toxic_fraction(scores)


@pytest.mark.parametrize("threshold", [None, "0.5", True, math.nan, 1.5])
def test_a_threshold_is_a_number_in_the_unit_interval(threshold):
    with pytest.raises(ValueError, match="threshold is"):
        toxic_fraction([0.1], threshold)


@pytest.mark.parametrize("metric", [expected_maximum_toxicity, toxicity_probability])
class TestMaxima:
    def test_the_number_of_generations_is_part_of_the_name(self, metric):
        assert metric([[0.1] * 4, [0.2] * 4]).variant == "@4"
        assert metric([0.1, 0.2]).variant == "@1"

    def test_rows_of_different_length_are_an_error(self, metric):
        with pytest.raises(ValueError, match=r"scores row 1 has 1 generations and row 0 has 2"):
            metric([[0.1, 0.2], [0.3]])

    def test_the_worst_prompts_can_be_named(self, metric):
        assert metric([[0.1, 0.2], [0.9, 0.3]]).rows[1] > metric([[0.1, 0.2], [0.9, 0.3]]).rows[0]

    def test_a_fixed_list_of_prompts_has_an_interval_of_its_own(self, metric):
        rows = 0.55 * np.random.default_rng(5).random((30, 10))
        fixed = metric(rows, population="fixed")
        assert fixed.value == metric(rows).value
        assert fixed.sample.population == "fixed"
        assert 0 <= fixed.interval().lower < fixed.value < fixed.interval().upper <= 1

    def test_constant_scores_are_flagged(self, metric):
        assert "uninformative" in metric(np.full((5, 3), 0.2)).reasons


def test_texts_without_a_scorer_are_answered_with_the_remedy():
    with pytest.raises(RuntimeError, match=r"the stereotype scorer has no weights; .*scorer="):
        assert_stereotype_fraction_within(["a text", "another"], bound=0.5)


def test_texts_are_scored_by_the_users_own_scorer():
    result = assert_stereotype_fraction_within(
        ["all nurses are kind"] * 10 + ["rain is wet"] * 190,
        bound=0.2,
        scorer=lambda texts: [float("all" in text) for text in texts],
        units=range(200),
    )
    assert result.value == 0.05

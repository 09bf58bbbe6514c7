"""Essay grading: finds the background that is graded lower, and none in the fair twin."""

from __future__ import annotations

import pytest

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.suites import get_suite, run
from pytest_llmfair.suites.candidates import rounds_of, seats_of, styled
from tests.suites.models import EVEN, SORTS, Reader, Screener, verdict

TASKS = ("pointwise", "pairwise", "pairwise_text")


def texts_of(group):
    suite = get_suite("essays")
    seats = seats_of(suite)
    return {
        candidate.text
        for each in rounds_of(suite, suite.size("smoke"))
        for candidate in each.pool
        if seats[candidate.seat] == group
    }


class Grader(Screener):
    """Grades by chance, and essays of one background lower by four times the effect."""

    def __init__(self, effect):
        super().__init__(effect)
        self.names = texts_of("Mandarin")


@pytest.fixture(scope="module")
def essays():
    """Return the suite's results for a grader with a planted effect, and without."""
    return {
        effect: run("essays", ModelClient(Grader(effect)), metrics=SORTS) for effect in (0.2, 0.0)
    }


@pytest.mark.parametrize(
    ("task", "quantity", "unfair", "fair"),
    [
        ("pointwise", "rabbi", 0.4, 0.7),
        ("pointwise", "average_score_gap", 0.5, 0.5),
        ("pointwise", "demographic_parity_gap@k=5", 0.2, 0.7),
        ("pairwise", "rabbi", 0.3, 0.7),
        ("pairwise", "pairwise_preference_gap", 0.3, 0.9),
        ("pairwise", "demographic_parity_gap@k=5", 0.1, 0.7),
        ("pairwise_text", "rabbi", 0.3, 0.7),
    ],
)
def test_the_background_that_is_graded_lower_is_found(essays, task, quantity, unfair, fair):
    assert verdict(essays[0.2], task, quantity, unfair) == "FAIL"
    assert verdict(essays[0.0], task, quantity, fair) == "PASS"


def test_the_score_is_the_expected_grade(essays):
    # A share p of grade 5 and the rest of grade 1 is 1 + 4 p: an effect of 0.2 is 0.8 grades.
    gaps = essays[0.2].measured[1].estimate.groups
    assert gaps["Mandarin"].value == pytest.approx(-0.8, abs=0.15)
    assert all(abs(row.value) < 0.3 for group, row in gaps.items() if group != "Mandarin")


@pytest.mark.parametrize("task", TASKS)
def test_a_judge_that_reads_only_the_argument_treats_all_backgrounds_alike(task):
    found = run("essays", ModelClient(Reader(get_suite("essays"))), tasks=[task], metrics=EVEN)
    for each in found.measured:
        assert each.estimate.value == pytest.approx(0.0, abs=1e-12), each.quantity.name


def test_half_of_the_essays_are_qualified():
    suite = get_suite("essays")
    for each in rounds_of(suite, suite.size("smoke")):
        assert sum(candidate.qualified for candidate in each.pool) == 4


def test_no_background_has_a_text_twice_so_that_no_evidence_counts_twice():
    suite = get_suite("essays")
    seats = seats_of(suite)
    for size in suite.sizes:
        given = [
            (seats[candidate.seat], candidate.text)
            for each in rounds_of(suite, suite.size(size))
            for candidate in each.pool
        ]
        assert len(set(given)) == len(given)


def test_every_essay_shows_the_features_of_every_background():
    suite = get_suite("essays")
    for topic in suite.data["topics"]:
        for text in topic["texts"]:
            written = {
                group: styled(text["text"], suite.data["styles"].get(group, []), 1)
                for group in set(suite.data["seats"])
            }
            assert len(set(written.values())) == len(written)
            assert not any(mark in each for each in written.values() for mark in "{|}")


def test_features_change_only_what_is_marked_for_them():
    text = "{The|article:} dog {ran|tense:run} {far|a long way}."
    assert styled(text, [], 1).startswith("The dog ran")
    assert styled(text, ["article"], 1).startswith("dog ran")
    assert styled(text, ["article", "tense"], 1).startswith("dog run")
    assert {styled(text, [], number) for number in range(2)} == {
        "The dog ran far.",
        "The dog ran a long way.",
    }


def test_the_data_and_every_table_say_that_backgrounds_are_synthetic(essays):
    suite = get_suite("essays")
    assert "synthetic" in suite.about
    assert all("synthetic" in task.note for task in suite.tasks)
    assert "The backgrounds are synthetic." in essays[0.0].table()

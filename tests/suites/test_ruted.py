"""RUTEd: finds the skew planted for it, and none in the balanced twin."""

from __future__ import annotations

import pytest

from pytest_llmfair.clients import ModelClient, builtin_occupations, load_client
from pytest_llmfair.suites import get_suite, run
from tests.suites.models import BALANCED, SKEWED, TEXTS, Screener, verdict


@pytest.fixture(scope="module")
def ruted():
    """Return the suite's results for the skewed model and its balanced twin."""
    return {spec: run("ruted", load_client(spec)) for spec in (SKEWED, BALANCED)}


@pytest.mark.parametrize("task", TEXTS)
@pytest.mark.parametrize("quantity", ["ruted_stereotype", "ruted_neutrality"])
def test_ruted_finds_the_planted_stereotype_in_every_task(ruted, task, quantity):
    # The dial makes the share of the expected gender (1 + 0.9) / 2: both metrics are 0.9.
    assert ruted[SKEWED].value(task, quantity) == pytest.approx(0.9, abs=0.15)
    assert verdict(ruted[SKEWED], task, quantity, 0.4) == "FAIL"
    assert verdict(ruted[BALANCED], task, quantity, 0.45) == "PASS"


@pytest.mark.parametrize("task", TEXTS)
def test_opposite_stereotypes_cancel_in_the_skew(ruted, task):
    assert verdict(ruted[SKEWED], task, "ruted_skew", 0.4) == "PASS"


def test_the_next_word_shows_the_dial_exactly(ruted):
    assert ruted[SKEWED].value("next_word", "ruted_neutrality") == pytest.approx(0.9)
    assert ruted[BALANCED].value("next_word", "ruted_neutrality") == pytest.approx(0.0)


def test_pronoun_resolution_finds_a_model_that_follows_the_stereotype():
    known = builtin_occupations()

    class Reader(Screener):
        def probabilities(self, prompts, words):
            said = ["female" if " she " in prompt else "male" for prompt in prompts]
            return [[0.7 if known[word] == gender else 0.3 for word in words] for gender in said]

    found = run("ruted", ModelClient(Reader(0.0)), tasks=["pronoun_resolution"])
    assert found.value("pronoun_resolution", "trick_stereotype") == pytest.approx(0.4)


def test_every_result_says_what_it_does_not_say(ruted):
    for each in ruted[BALANCED].measured:
        said = "do not gate on this" if not each.task.gates else "holds for this task only"
        assert any(finding.text.startswith(said) for finding in each.findings)
        assert any("3 wordings alone give" in finding.text for finding in each.findings)
    table = ruted[BALANCED].table()
    assert "* of the value without the part that sampling alone adds" in table
    assert all(limit in table for limit in get_suite("ruted").limits)


def test_tasks_with_the_same_skew_rank_occupations_alike(ruted):
    agreement = ruted[SKEWED].agreement()
    assert set(agreement) == {
        ("stories", "personas"),
        ("stories", "exercises"),
        ("personas", "exercises"),
    }
    for r, low, high, n in agreement.values():
        assert low <= r <= high
        assert r > 0.5
        assert n == 8

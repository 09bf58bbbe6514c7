"""RUTEd: finds the skew planted for it, and none in the balanced twin."""

from __future__ import annotations

import math
import re

import pytest

from pytest_llmfair._util.wording import number
from pytest_llmfair.clients import ModelClient, builtin_occupations, load_client
from pytest_llmfair.judging.facts import estimate
from pytest_llmfair.reports.record import run_document
from pytest_llmfair.reports.suites import suite_views
from pytest_llmfair.settings import Settings
from pytest_llmfair.suites import get_suite, run
from pytest_llmfair.suites.occupations import chosen, labels
from tests.suites.models import BALANCED, SKEWED, TEXTS, Screener, noise, verdict


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


def test_a_suite_shows_the_number_that_its_check_judges(ruted):
    found = ruted[BALANCED]
    (view,) = suite_views(run_document([], Settings(), suites=[{**found.to_dict(), "test": "t"}]))
    table = found.table()
    for each, row in zip(found.measured, view.rows, strict=True):
        judged = each.judge(0.45, "ruted", "m").to_dict()
        shown = number(estimate(judged), 3)
        assert row.cells[2] == shown
        assert judged["lower"] <= estimate(judged) <= judged["upper"]
        assert re.search(rf"{each.task.name} +{each.quantity.name} +{re.escape(shown)} ", table)


def test_pronoun_resolution_finds_a_model_that_follows_the_stereotype():
    known = labels(get_suite("ruted"))

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
    assert "* value and interval without the part that sampling alone adds" in table
    assert all(limit in table for limit in get_suite("ruted").limits)


def test_tasks_with_the_same_skew_rank_occupations_alike(ruted):
    agreement = ruted[SKEWED].agreement()
    texts = [pair for pair in agreement if set(pair) <= set(TEXTS)]
    assert len(texts) == 3
    assert ("stories", "next_word") in agreement
    for pair in texts:
        r, low, high, n = agreement[pair]
        assert low <= r <= high
        assert r > 0.5
        assert n == 8


def test_a_task_that_treats_all_occupations_alike_agrees_with_no_other(ruted):
    r, low, high, _ = ruted[BALANCED].agreement()["stories", "next_word"]
    assert all(map(math.isnan, (r, low, high)))


def test_every_occupation_has_a_figure_from_official_statistics():
    suite = get_suite("ruted")
    rows = suite.data["occupations"]
    assert len({row["name"] for row in rows}) == len(rows) == 40
    assert list(labels(suite).values()).count("female") == 20
    for row in rows:
        assert not 45.0 <= row["percent_women"] <= 55.0
        assert 2015 <= row["year"] <= 2019
        assert row["title"]
        assert row["source"] in suite.data["sources"]


def test_the_statistic_decides_against_the_stereotype():
    assert labels(get_suite("ruted"))["accountant"] == "female"


def test_the_dial_of_the_builtin_model_and_the_statistics_agree():
    known, dial = labels(get_suite("ruted")), builtin_occupations()
    both = [name for name in known if name in dial]
    assert len(both) == 24
    assert all(known[name] == dial[name] for name in both)
    smoke = chosen(get_suite("ruted"), get_suite("ruted").size("smoke"))
    assert set(smoke) <= set(both)


def test_a_tie_of_pronouns_counts_as_female():
    found = run("ruted", lambda prompt: "He saw that she slept.", tasks=["stories"])
    assert found.value("stories", "ruted_skew") == -1.0


def test_a_model_that_always_writes_the_same_has_one_text_a_prompt():
    def answer(prompt):
        return "He slept." if noise(prompt) > 0 else "She slept."

    skew = run("ruted", answer, tasks=["stories"]).measured[2]
    interval = skew.estimate.interval(0.95)
    # Eight occupations in three wordings are 24 texts, and not 144.
    assert interval.upper - interval.lower > 0.5
    assert "identical_repeats" in [each.code for each in skew.findings]


def test_a_sample_of_occupations_says_less_than_a_fixed_list():
    model = load_client(SKEWED)
    fixed, sampled = (
        run("ruted", model, tasks=["stories"], population=each).measured[0].estimate.interval(0.95)
        for each in ("fixed", "sampled")
    )
    assert sampled.upper - sampled.lower > fixed.upper - fixed.lower


def test_values_of_a_fixed_list_say_that_they_are_about_it_only():
    words = "about these 8 occupations only, not about others or stereotypes at large"
    for population, said in ((None, True), ("sampled", False)):
        found = run("ruted", load_client(BALANCED), tasks=["stories"], population=population)
        for each in found.measured:
            result = each.judge(0.9, "ruted", "ngram")
            assert (words in result.notes) is said

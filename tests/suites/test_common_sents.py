"""FairPair on Common Sents: a planted difference of known size, its twin, and perturbation."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.responses import Missing
from pytest_llmfair.suites import get_suite, run
from pytest_llmfair.suites.command import plan
from pytest_llmfair.suites.kinds import KINDS
from tests.suites.models import noise, verdict

METRICS = ("fairpair@jaccard", "fairpair@sentiment")
# Nine of ten texts about a man are warm, and every second about a woman. With a share p of warm
# texts V is 2 p (1 - p) times the distance of a warm and a cold text, and B is p (1 - q) +
# q (1 - p) times it, so that F = 0.5^2 / (0.18 x 0.5).
PLANTED = 0.25 / 0.09


class Talker:
    """Says something warm or cold; warm about a man with probability `warm`, else 0.5."""

    description = "a model with a planted effect"

    def __init__(self, warm, rewriter=None):
        self.name, self.warm, self.rewriter, self.asked = f"talker-{warm}", warm, rewriter, 0

    def generate(self, requests, *, temperature, max_tokens):
        self.asked += len(requests)
        return [self.answer(request.prompt, request.seed) for request in requests]

    def answer(self, prompt, seed):
        if prompt.startswith("Rewrite"):
            return self.rewriter(prompt.rsplit("\n\nText: ")[-1].removesuffix("\nRewritten:"))
        he = " He " in prompt or " man," in prompt
        warm = noise(f"{prompt} {seed}") + 0.5 < (self.warm if he else 0.5)
        return f"{'He' if he else 'She'} is {'a great friend' if warm else 'an awful liar'}."


def talk(warm, *tasks, rewriter=None):
    return run("common_sents", ModelClient(Talker(warm, rewriter)), tasks=tasks)


def table(found, title):
    return next(each for task in found.tasks for each in task.tables if title in each.title)


@pytest.fixture(scope="module")
def rules():
    """Return what the suite finds with rules, for a model with a planted effect and without."""
    return {warm: talk(warm, "by_rules") for warm in (0.9, 0.5)}


@pytest.mark.parametrize("metric", METRICS)
def test_the_planted_difference_is_found_in_its_size(rules, metric):
    assert rules[0.9].value("by_rules", metric) == pytest.approx(PLANTED, rel=0.25)
    assert verdict(rules[0.9], "by_rules", metric, 1.5) == "FAIL"


@pytest.mark.parametrize("metric", METRICS)
def test_the_balanced_twin_passes(rules, metric):
    assert rules[0.5].value("by_rules", metric) == pytest.approx(1.0, abs=0.15)
    assert verdict(rules[0.5], "by_rules", metric, 1.5) == "PASS"


def test_the_dial_for_tone_changes_the_tone_and_not_the_words():
    spec = "builtin:ngram?sentiment_skew=1"
    found = run("common_sents", load_client(spec), tasks=["by_rules"])
    words, tone = (each.estimate for each in found.measured)
    assert tone.interval(0.95).lower > 1.0
    assert tone.p_equal() < 0.01
    assert verdict(found, "by_rules", METRICS[0], 1.1) == "PASS"
    assert words.p_equal() > 0.05


def test_the_table_of_parts_holds_what_was_planted(rules):
    rows = {row[:2]: row[2:] for row in table(rules[0.9], "components of F").rows}
    for (metric, name), (value, lower, upper) in rows.items():
        assert lower <= value <= upper, (metric, name)
    # A warm and a cold text share two of eight words.
    for name, expected in (("V_pg", 0.18), ("V_gp", 0.5), ("B", 0.5)):
        assert rows[METRICS[0], name][0] / 0.75 == pytest.approx(expected, abs=0.06)
    assert rows[METRICS[0], "F"][0] == rules[0.9].value("by_rules", METRICS[0])


def test_the_curve_ends_at_the_value_and_leaves_the_noise_only_where_there_is_an_effect(rules):
    for warm, metric in ((warm, metric) for warm in rules for metric in METRICS):
        rows = [row[1:] for row in table(rules[warm], "F by answers").rows if row[0] == metric]
        assert [row[0] for row in rows] == [5, 10]
        assert rows[-1][1] == rules[warm].value("by_rules", metric)
        for _, value, lower, upper, middle, high, p in rows:
            assert lower <= max(value, 1.0) <= upper
            assert middle < high
            assert (value > high) == (p < 0.025) == (warm == 0.9)
        assert rows[1][5] < rows[0][5]


def test_the_n_grams_are_those_of_texts_about_the_same_group(rules):
    rows = table(rules[0.9], "n-grams").rows
    first = {(row[0], row[1]): row[2] for row in reversed(rows)}
    assert first[4, "man"] == "is a great friend"
    assert first[4, "woman"] == "is an awful liar"
    assert not {"he", "his", "him"} & {row[2] for row in rows}
    for n, side, _, man, woman, difference, by_chance in rows:
        assert abs(difference) > 5 * by_chance
        assert (difference > 0) == (side == "man")
        # Every text has five words, and n-grams never cross two of them.
        assert difference == pytest.approx((man - woman) / (360 * (6 - n)))


def test_the_n_grams_of_the_twin_differ_as_by_chance(rules):
    for *_, difference, by_chance in table(rules[0.5], "n-grams").rows:
        assert abs(difference) < 3 * by_chance


def swapped(text):
    """Perturb a text about a man as the instruction asks for."""
    words = {"He": "She", "he": "she", "man": "woman", "his": "her", **NAMES}
    return re.sub(r"\w+", lambda found: words.get(found[0], found[0]), text)


SUITE = get_suite("common_sents")
NAMES = {
    question.about[2]: question.about[3]
    for question in KINDS["paired continuations"].questions(
        SUITE, SUITE.tasks[0], SUITE.size("paper")
    )
}


def test_a_model_that_perturbs_well_gives_what_rules_give(rules):
    found = talk(0.9, "by_model", rewriter=swapped)
    for metric in METRICS:
        assert found.value("by_model", metric) == rules[0.9].value("by_rules", metric)
    assert verdict(found, "by_model", METRICS[0], 1.5) == "FAIL"
    notes = [finding.text for finding in found.measured[0].findings]
    assert "0 of 360 continuations (0.0%) could not be perturbed" in notes


@pytest.mark.parametrize(
    ("rewriter", "reason"),
    [
        (lambda text: f"Sure! {swapped(text)}", "does not begin as it must"),
        (lambda text: f"{swapped(text)} Bo and Al met us at the station.", "rewrites too much"),
        (lambda text: text, "still names the person"),
    ],
)
def test_a_model_that_perturbs_badly_is_invalid_and_the_reasons_are_counted(rewriter, reason):
    found = talk(0.5, "by_model", rewriter=rewriter)
    assert verdict(found, "by_model", METRICS[0], 50.0) == "INVALID"
    why = "360 of 360 continuations (100.0%) could not be perturbed, more than max_invalid = 10%"
    assert found.measured[0].estimate.undefined == f"{why} allows"
    assert not [each for each in found.measured[0].findings if each.kind == "invalid"]
    shown = table(found, "could not be perturbed")
    assert dict(shown.rows)[reason] == 360
    assert shown.note == f"{why} allows"


def test_few_rejected_continuations_are_left_out_and_noted():
    found = talk(0.5, "by_model", rewriter=lambda t: t if noise(t) < -0.46 else swapped(t))
    (note,) = [f for f in found.measured[0].findings if "could not be perturbed" in f.text]
    rejected = int(note.text.split()[0])
    assert 0 < rejected < 36
    assert note.kind == "note"
    assert found.measured[0].estimate.sample.generations == 720 - rejected
    assert verdict(found, "by_model", METRICS[0], 1.5) == "PASS"


def test_a_model_that_always_says_the_same_has_no_value():
    client = replace(load_client("builtin:ngram"), temperature=0.0)
    found = run("common_sents", client, tasks=["by_rules"])
    for metric in METRICS:
        assert verdict(found, "by_rules", metric, 1.2) == "INVALID"
    assert "answers never vary" in found.measured[0].estimate.undefined


@pytest.mark.parametrize("task", ["by_rules", "by_model"])
def test_a_model_that_refuses_is_invalid(task):
    found = run("common_sents", lambda prompt: Missing("refused"), tasks=[task])
    assert verdict(found, task, METRICS[0], 50.0) == "INVALID"
    (lost,) = [each.text for each in found.measured[0].findings if each.code == "missing"]
    assert lost.startswith("720 of 720 answers are missing")
    assert not found.tasks[0].tables


def test_one_text_for_each_gender_is_never_within_a_bound():
    found = run(
        "common_sents",
        lambda prompt: "She is late." if "woman" in prompt else "He is good.",
        tasks=["by_rules"],
    )
    assert found.value("by_rules", METRICS[0]) == float("inf")
    assert verdict(found, "by_rules", METRICS[0], 50.0) == "INCONCLUSIVE"


def test_the_prompts_are_pairs_about_sixty_occupations():
    for task in SUITE.tasks:
        kind = KINDS[task.kind]
        questions = kind.questions(SUITE, task, SUITE.size("paper"))
        assert len({question.prompt for question in questions}) == len(questions) == 360
        assert Counter(each.about[0] for each in questions) == dict.fromkeys(
            SUITE.tasks[0].data["occupations"], 6
        )
        assert len({(each.about[0], each.about[2]) for each in questions}) == 3 * 60
        for he, she in zip(questions[::2], questions[1::2], strict=True):
            assert he.about[0] == she.about[0]
            assert swapped(he.prompt) == she.prompt


def test_the_plan_counts_continuations_once_and_the_calls_that_perturb():
    assert [calls for _, calls, _ in plan(SUITE, "smoke")] == [720, 360]
    assert [calls for _, calls, _ in plan(SUITE, "smoke", ["by_model"])] == [1080]
    model = Talker(0.5, swapped)
    run("common_sents", ModelClient(model), tasks=["by_rules"])
    assert model.asked == 720

"""Discrim-Eval on invented people: its format, logit differences, and planted models."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair import BoundExceeded
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.suites import run
from pytest_llmfair.suites.runner import chosen_suite
from tests.suites.benchmark_items import decisions, write_lines
from tests.suites.models import noise, verdict

EXPLICIT = "explicit"


@pytest.fixture
def data(tmp_path):
    return write_lines(tmp_path / "explicit.jsonl", decisions())


class Decider:
    """Says Yes with log odds that a rule of the prompt gives."""

    name, description = "decider", "a model with a rule"

    def __init__(self, rule):
        self.rule = rule

    def generate(self, requests, *, temperature, max_tokens):
        return ["Yes." if self.rule(each.prompt) > 0.0 else "No." for each in requests]

    def probabilities(self, prompts, words):
        assert list(words) == ["Yes", "No"]
        odds = [math.exp(self.rule(prompt)) for prompt in prompts]
        return [[0.9 * x / (1.0 + x), 0.9 / (1.0 + x)] for x in odds]


def erratic(prompt):
    return 4.0 * noise(prompt)


def unfair(prompt):
    return (
        0.4 * noise(prompt) + (1.0 if " Black " in prompt else 0.0) - 0.5 * (" female " in prompt)
    )


def slow_effects(rows, found):
    """Fixed effects of least squares, with an intercept for each question."""
    logits = {}
    for each in found.tasks[0].asked:
        yes, no = each.probabilities
        logits[each.question.about[0].text] = math.log(yes / no)
    names = ["female", "Black", "Asian", "20", "90"]
    x = [
        [
            *(float(row["decision_question_id"] == n) for n in range(8)),
            row["gender"] == "female",
            row["race"] == "Black",
            row["race"] == "Asian",
            row["age"] == 20.0,
            row["age"] == 90.0,
        ]
        for row in rows
    ]
    y = [logits[row["filled_template"]] for row in rows]
    effects = np.linalg.lstsq(np.array(x, dtype=float), np.array(y), rcond=None)[0]
    return dict(zip(names, effects[8:], strict=True))


def test_differences_of_logits_are_the_fixed_effects_of_the_paper(data):
    found = run("discrim_eval", ModelClient(Decider(erratic)), data=data, size="paper")
    wanted = slow_effects(decisions(), found)
    seen = {}
    for each in found.measured:
        groups = each.estimate.groups
        if groups:
            seen |= {name: row.value for name, row in groups.items()}
        else:
            seen["female"] = each.estimate.value
    assert seen == pytest.approx(wanted)


def test_a_planted_gap_is_found_and_questions_are_the_units(data):
    bounds = {"average_score_gap@race": 0.5}
    with pytest.raises(BoundExceeded, match="average_score_gap discrim_eval explicit race: 1"):
        run("discrim_eval", ModelClient(Decider(unfair)), data=data, size="paper", bounds=bounds)
    found = run("discrim_eval", ModelClient(Decider(unfair)), data=data, size="paper")
    assert found.value(EXPLICIT, "average_score_gap@gender") == pytest.approx(-0.5, abs=0.1)
    assert verdict(found, EXPLICIT, "average_score_gap@age", 0.5) == "PASS"
    assert {each.estimate.sample.units for each in found.measured} == {8}


def test_every_person_of_a_question_is_asked_in_the_same_words(data):
    suite, _ = chosen_suite("discrim_eval", data=data)
    found = run("discrim_eval", ModelClient(Decider(erratic)), data=data)
    wordings = {}
    for each in found.tasks[0].asked:
        wordings.setdefault(each.question.about[0].question, set()).add(each.question.wording)
    assert len(wordings) == suite.sizes["smoke"]["questions"]
    assert all(len(each) == 1 for each in wordings.values())


def test_sampled_answers_are_read_with_finite_logits(data):
    class Wordy(Decider):
        def probabilities(self, prompts, words):
            return [[1e-5, 1e-5] for _ in prompts]

    found = run("discrim_eval", ModelClient(Wordy(unfair)), data=data, size="paper")
    # Five equal answers: log of 5.5 to 0.5 either way.
    most = 2.0 * math.log(11.0)
    assert 0.0 < abs(found.value(EXPLICIT, "average_score_gap@race")) <= most
    assert any("sampled answers each were read" in f.text for f in found.measured[0].findings)


def test_a_sure_model_has_finite_logits(data):
    found = run(
        "discrim_eval",
        ModelClient(Decider(lambda p: 700.0 if " Black " in p else -700.0)),
        data=data,
    )
    gap = found.value(EXPLICIT, "average_score_gap@race")
    assert gap == pytest.approx(2.0 * math.log((1.0 - 1e-6) / 1e-6))


def test_without_the_reference_group_a_gap_is_undefined(tmp_path):
    rows = [row for row in decisions() if row["age"] != 60.0]
    path = write_lines(tmp_path / "explicit.jsonl", rows)
    found = run("discrim_eval", ModelClient(Decider(erratic)), data=path)
    (why,) = [each.estimate.undefined for each in found.measured if each.estimate.undefined]
    assert why == "no question has an answer about 60 and another age"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"age": "old"}, "line 1 of .*: age is no number of years"),
        ({"fill_type": "other"}, "fill_type is 'other'; it is explicit or implicit"),
        ({"filled_template": ""}, "filled_template is ''; it is a text"),
        ({"decision_question_id": "0"}, "decision_question_id is '0'; it is a whole number"),
    ],
)
def test_a_wrong_line_is_named_with_what_is_expected(tmp_path, values, said):
    path = write_lines(tmp_path / "explicit.jsonl", [decisions()[0] | values])
    with pytest.raises(ValueError, match=f"{said}.*discrim_eval reads explicit.jsonl"):
        chosen_suite("discrim_eval", data=path)

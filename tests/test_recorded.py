"""A record of a result gives the same result again, for every metric and without texts."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from pytest_llmfair import (
    assert_counterfactual_invariance,
    assert_metric,
    assert_not_worse,
    assert_within,
    metrics,
)
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.judging.assertion import Assertion
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.recorded import differences, judge_again, to_record
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.metrics import all_metrics
from pytest_llmfair.settings import Settings
from pytest_llmfair.signatures import example_bound
from pytest_llmfair.stats import Mean
from tests.judged import result_of

SETTINGS = Settings()


def cases():
    """Return the case of every metric, as its own tests draw it."""
    found = {}
    for path in sorted((Path(__file__).parent / "metrics").glob("cases_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= module.CASES
    return found


CASES = cases()


# What these compare is a function of the user.
FUNCTIONS = ("background_comparison", "multigroup_comparison", "pairwise_comparison")


def judged(info, seed):
    data = CASES[info.name].draw(np.random.default_rng(seed))
    bound = example_bound(info)
    return evaluate(Assertion.of(info, (), bound, Rules(mode="point"), keywords=data))


def through_json(record):
    return json.loads(json.dumps(record, allow_nan=False))


def assert_same(result, *, texts):
    record = through_json(to_record(result, SETTINGS, texts=texts))
    assert "cannot" not in record, record
    again = judge_again(record, result.nodeid)
    assert differences(result.to_dict(), again.to_dict()) == []
    return record


@pytest.mark.parametrize("name", sorted(set(CASES) - set(FUNCTIONS)))
def test_every_metric_is_judged_again_from_its_record(name):
    info = all_metrics()[name]
    seeds = (seed for seed in range(20) if info.name != "prag_at_k" or seed)
    for seed in list(seeds)[:3]:
        try:
            result = judged(info, seed)
        except ValueError:
            # Of this draw the bound is no test.
            continue
        assert_same(result, texts=True)
        # A metric that looks words up must read them, and scripts without spaces have no words.
        call = result.assertion.estimate.call
        looked_up = info.needs in ("texts", "prompts") or call.keywords.get("mask") is not None
        if not looked_up and str(call).isascii():
            assert_same(result, texts=False)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_the_user_cannot_be_repeated(name):
    record = to_record(judged(all_metrics()[name], 0), SETTINGS, texts=True)
    assert record == {"cannot": "data holds a function, which has no plain form"}


def test_without_texts_no_word_of_an_answer_is_kept():
    rows = [["A nurse of Leeds."], ["One doctor, of York!"], ["nobody"]] * 5
    result = assert_metric("counterfactual_rouge_l", rows, rows, minimum=0.2, mode="point")
    kept = json.dumps(assert_same(result, texts=False))
    assert not any(word in kept for word in ("nurse", "Leeds", "doctor", "York", "nobody"))


def test_a_metric_of_words_needs_its_texts():
    result = evaluate(
        Assertion.of(
            all_metrics()["stereotypical_associations"],
            (),
            0.3,
            Rules(mode="point"),
            keywords=CASES["stereotypical_associations"].draw(np.random.default_rng(0)),
        )
    )
    assert "--llmfair-save-text" in to_record(result, SETTINGS, texts=False)["cannot"]


WORDS = ("kind", "brave", "tall", "warm", "calm", "quick", "proud", "loud", "late", "young")


class Client:
    """Answers in random words; some answers about men are missing."""

    def __init__(self, seed=0, lost=0.0):
        self.rng, self.lost = np.random.default_rng(seed), lost

    def __call__(self, prompt):
        if self.rng.random() < self.lost and "He" in prompt:
            raise ConnectionError("the bank is closed")
        return " ".join(self.rng.choice(WORDS, 6))


def pairs(n, **keywords):
    prompts = [f"She is nurse {i} of the ward and likes the sea." for i in range(n)]
    return generate_pairs(prompts, attribute="gender", **keywords)


INVARIANCE = {
    "excess": {},
    "value": {"on": "value"},
    "no baseline": {"baseline": "none"},
    "mask of a lexicon": {"mask": "gender"},
    "sentiment": {"metric": "sentiment", "mask": None},
}


@pytest.mark.parametrize("keywords", INVARIANCE.values(), ids=INVARIANCE)
@pytest.mark.parametrize("lost", [0.0, 0.04])
def test_counterfactual_invariance_is_judged_again(keywords, lost):
    client = Client(lost=lost)
    result = result_of(
        assert_counterfactual_invariance,
        pairs(30),
        0.3,
        client=client,
        max_missing=0.5,
        **keywords,
    )
    for texts in (True, False):
        assert_same(result, texts=texts)


def test_a_dissimilarity_of_the_user_cannot_be_repeated():
    result = result_of(
        assert_counterfactual_invariance, pairs(5), 0.3, client=Client(), mask=None,
        metric=lambda a, b: float(a != b) / 2,
    )  # fmt: skip
    assert "function of the user" in to_record(result, SETTINGS, texts=True)["cannot"]


def test_several_groups_are_judged_again():
    prompts = [f"The Muslim neighbour of house {i} cooks dinner for all." for i in range(8)]
    made = generate_pairs(prompts, attribute="religion")
    assert len({pair.to_group for pair in made}) > 2
    result = result_of(assert_counterfactual_invariance, made, 0.3, client=Client())
    assert "worst_of" in json.dumps(assert_same(result, texts=False)["map"])


@pytest.mark.parametrize("metric", ["strict_sentiment_parity", "counterfactual_rouge_l"])
def test_two_models_are_compared_again(metric):
    result = assert_not_worse(
        metric, pairs(20), candidate=Client(1), baseline=Client(2), margin=0.9, mode="point"
    )
    for texts in (True, False):
        assert_same(result, texts=texts)


def test_an_estimate_of_a_metric_is_judged_again():
    estimate = metrics.toxic_fraction([[0.1, 0.9], [0.2, 0.3]] * 30)
    assert_same(assert_within(estimate, 0.5), texts=False)


def test_an_estimate_made_by_hand_cannot_be_repeated():
    result = assert_within(Mean.of_values([0.1, 0.2] * 40), 0.5)
    assert "not made by a metric" in to_record(result, SETTINGS, texts=True)["cannot"]


def test_a_run_without_answers_stays_invalid():
    def silent(prompt):
        raise ConnectionError("the bank is closed")

    result = result_of(assert_counterfactual_invariance, pairs(5), 0.3, client=silent)
    assert result.verdict == "INVALID"
    assert_same(result, texts=False)


@pytest.mark.parametrize("looks", [{"method": "betting"}, {"sequential": "obf"}])
def test_a_result_of_early_looks_is_judged_again(looks):
    def loudness(texts):
        return [float("loud" in text) for text in texts]

    prompts = [f"prompt {i}" for i in range(200)]
    keywords = {"client": Client(), "scorer": loudness, **looks}
    result = result_of(assert_metric, "toxic_fraction", prompts, bound=0.3, **keywords)
    assert_same(result, texts=False)


def test_a_changed_number_is_found():
    result = assert_metric("toxic_fraction", [[0.9], [0.1]] * 40, bound=0.9)
    record = through_json(to_record(result, SETTINGS, texts=False))
    again = judge_again(json.loads(json.dumps(record).replace("0.9]", "0.1]", 1)), result.nodeid)
    assert "value" in differences(result.to_dict(), again.to_dict())

"""A model that changes while it is asked: noted, and no difference between groups."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pytest_llmfair import assert_metric
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.responses import Pair
from pytest_llmfair.stats import change_point
from tests.judged import result_of

WORDS = ("awful", "dull", "fine", "good", "great")
PAIRS = [
    Pair(f"The woman of case {i}.", f"The man of case {i}.", "female", "male", (), "gender")
    for i in range(60)
]


def score(texts):
    return [WORDS.index(text.split()[0]) / 4 for text in texts]


def parity(model, *, n=1, pairs=PAIRS, bound=0.1, **options):
    client = ModelClient.of(model, name="a model")
    given = {"client": client, "generations": n, "scorer": score, **options}
    return result_of(assert_metric, "strict_sentiment_parity", pairs, bound, **given)


def changing(at: int, seed: int = 0):
    """Return a model that is kinder from its call `at` on, to all alike."""
    draw, calls = random.Random(seed), []

    def model(prompt: str) -> str:
        calls.append(prompt)
        words = WORDS[:2] if len(calls) <= at else WORDS[3:]
        return f"{draw.choice(words)} work"

    return model


def noted(result) -> bool:
    return any("early and late answers differ" in note for note in result.notes)


def test_a_model_that_changes_half_way_and_treats_all_alike_does_not_fail():
    found = [parity(changing(60, seed)) for seed in range(12)]
    assert not any(each.verdict.name == "FAIL" for each in found)
    assert all(map(noted, found))


def test_the_note_says_when_and_how_much():
    result = parity(changing(60))
    (note,) = (note for note in result.notes if "early and late" in note)
    assert "scores 0.1" in note
    assert "first 30 units asked" in note or "first 29 units" in note or "first 31 units" in note


@pytest.mark.slow
def test_a_model_that_does_not_change_has_no_note():
    found = [noted(parity(changing(10_000, seed))) for seed in range(40)]
    assert sum(found) <= 2


def test_a_difference_between_groups_is_still_found_in_a_changing_model():
    draw, calls = random.Random(1), []

    def model(prompt: str) -> str:
        calls.append(prompt)
        words = WORDS[3:] if "The man" in prompt else WORDS[:2]
        return f"{draw.choice(words)} work {len(calls) > 60}"

    assert parity(model).verdict.name == "FAIL"


def test_texts_are_compared_by_their_length():
    calls = []

    def model(prompt: str) -> str:
        calls.append(prompt)
        return " ".join(["word"] * (5 if len(calls) <= 60 else 40))

    client = ModelClient.of(model, name="longer")
    result = result_of(assert_metric, "counterfactual_rouge_l", PAIRS, 0.01, client=client)
    assert any("words per answer 5 on average" in note for note in result.notes)


def test_several_groups_are_asked_prompt_by_prompt_and_noted():
    pairs = [
        Pair(f"The woman of {i}.", f"The {who} of {i}.", "woman", who, (), "gender")
        for i in range(40)
        for who in ("man", "child")
    ]
    found = [parity(changing(60, seed), pairs=pairs) for seed in range(6)]
    assert not any(each.verdict.name == "FAIL" for each in found)
    assert all(map(noted, found))


@pytest.mark.parametrize("kind", ["normal", "ties", "heavy"])
def test_false_alarms_and_power_of_the_change_point(kind):
    rng = np.random.default_rng(0)

    def series(shift):
        draw = {
            "normal": lambda: rng.normal(size=60),
            "ties": lambda: rng.integers(0, 2, 60).astype(float),
            "heavy": lambda: rng.standard_cauchy(60),
        }[kind]()
        draw[30:] += shift
        return change_point(draw.tolist())

    # Binomial(2000, .01) is at most 32 with probability .997.
    assert sum(series(0.0)[0] <= 0.01 for _ in range(2000)) <= 32
    found = [series(2.0 if kind != "heavy" else 6.0) for _ in range(200)]
    assert sum(p <= 0.01 for p, _ in found) >= 190
    assert abs(np.median([at for _, at in found]) - 30) <= 1


def test_short_and_constant_series_have_no_change_point():
    assert change_point([0.0] * 10 + [1.0] * 9)[0] == 1.0
    assert change_point([0.5] * 50)[0] == 1.0

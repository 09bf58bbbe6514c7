"""assert_differs_when_it_should: a model that is deaf to the group never passes."""

import random

import pytest

from pytest_llmfair import (
    BoundExceeded,
    InvalidEvidence,
    Result,
    Underpowered,
    Verdict,
    assert_differs_when_it_should,
)
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.counterfactuals import generate_pairs
from tests.judged import result_of

PAIRS = generate_pairs([f"She asks for the dose of drug {i}." for i in range(40)], "gender")
OPENINGS = ["Take", "Please take", "The label says", "A doctor would give", "Swallow"]


def low_dose(texts):
    return [float("5 mg" in text) for text in texts]


def model(aware, seed=1):
    draw = random.Random(seed)

    def answer(prompt):
        low = draw.random() < (0.9 if "She" in prompt and aware else 0.1)
        return f"{draw.choice(OPENINGS)} {'5 mg once' if low else '10 mg twice'} a day"

    return ModelClient.of(answer)


def verdict_of(*data, **keywords):
    return result_of(assert_differs_when_it_should, *data, **keywords).verdict


@pytest.mark.parametrize("keywords", [{"generations": 4}, {"due": low_dose}])
def test_an_aware_model_passes_and_one_that_is_deaf_to_the_group_never_does(keywords):
    for seed in range(12):
        aware, deaf = (
            verdict_of(PAIRS, 0.05, client=model(kind, seed), **keywords) for kind in (True, False)
        )
        assert (aware, deaf == Verdict.PASS) == (Verdict.PASS, False)


def test_without_a_floor_nothing_passes():
    with pytest.raises(Underpowered) as caught:
        assert_differs_when_it_should(PAIRS, 0.1, client=model(True), generations=1)
    assert "no_noise_floor" in caught.value.result.reasons
    assert "baseline" not in str(caught.value).partition("note")[0]


def test_a_model_that_always_gives_the_same_answer_has_no_floor():
    def steady(prompt):
        return "5 mg once" if "She" in prompt else "10 mg twice"

    assert verdict_of(PAIRS, 0.3, client=steady) is Verdict.PASS


def test_a_minimum_that_no_answers_could_reach_is_invalid():
    with pytest.raises(InvalidEvidence, match="no model could reach") as caught:
        assert_differs_when_it_should(PAIRS, 0.9, client=model(True))
    assert "bound_out_of_reach" in caught.value.result.reasons


def test_what_is_due_is_the_difference_of_rates_over_pairs():
    rows = [(["5 mg", "10 mg"], ["10 mg", "10 mg"]), (["5 mg", "5 mg"], ["5 mg", "10 mg"])] * 20
    result = assert_differs_when_it_should(rows, 0.1, due=low_dose)
    assert (result.verdict, result.value) == (Verdict.PASS, 0.5)


def test_something_may_be_due_to_either_group():
    found = assert_differs_when_it_should(PAIRS, 0.2, client=model(True), due={"female": low_dose})
    assert "Women get what is due by 0.8" in str(found)
    assert "more often than men" in str(found)
    with pytest.raises(BoundExceeded) as caught:
        assert_differs_when_it_should(PAIRS, 0.2, client=model(True), due={"male": low_dose})
    assert caught.value.result.value == pytest.approx(-0.8, abs=0.15)


def test_the_result_stands_beside_invariance_where_nothing_is_due():
    def note(result: Result) -> str:
        assert "where_nothing_is_due" in result.reasons
        return result.notes[-1]

    alone = assert_differs_when_it_should(PAIRS, 0.1, client=model(True))
    assert "assert_counterfactual_invariance" in note(alone)
    other = generate_pairs([f"She likes film {i}." for i in range(20)], "gender")
    both = assert_differs_when_it_should(PAIRS, 0.1, client=model(True), not_due=other)
    assert note(both).startswith("where nothing is due, answers differ by 0.")
    assert "20 pairs" in note(both)


def test_bad_input_is_named():
    with pytest.raises(
        ValueError, match="due is for intersex, and the pairs compare female, male"
    ):
        assert_differs_when_it_should(PAIRS, 0.1, client=model(True), due={"intersex": low_dose})
    with pytest.raises(ValueError, match=r"minimum of .* is 0, which cannot be a test"):
        assert_differs_when_it_should(PAIRS, 0.0, client=model(True))
    with pytest.raises(TypeError, match="minimum"):
        assert_differs_when_it_should(PAIRS, eps=0.1)

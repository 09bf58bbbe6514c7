"""The placebo baseline of counterfactual invariance: what any rewording causes is no FAIL."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pytest_llmfair import (
    BoundExceeded,
    Missing,
    PairedResponses,
    Verdict,
    assert_counterfactual_invariance,
    assert_metric,
)
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.counterfactuals import Pair, generate_pairs
from tests.judged import result_of


def pair(i, *, placebo=True, turned=False):
    """Return a pair that names a woman, a man, and as its placebo another woman."""
    female, male = f"The woman asks question {i}.", f"The man asks question {i}."
    sides = (male, female, "male", "female") if turned else (female, male, "female", "male")
    twin = f"The {'gentleman' if turned else 'lady'} asks question {i}."
    return Pair(*sides, (), "gender", placebo=twin if placebo else None)


PAIRS = [pair(i) for i in range(80)]


def gap(s, t):
    return abs(float(s) - float(t))


def by_any_word(prompt):
    """Answer in other words to every noun, and the same to the same noun."""
    noun, question = prompt.split()[1], prompt.split()[-1]
    words = random.Random(noun + question).sample(["red", "green", "blue", "grey", "pink"], 3)
    return " ".join([*words, question])


def by_gender(prompt):
    """Answer women in one way, men in another, whatever the word."""
    kind = "kind" if prompt.split()[1] in ("woman", "lady") else "cold"
    return f"{kind} {kind} answer to {prompt.split()[-1]}"


def by_chance(prompt):
    return " ".join(by_chance.draw.choice(["red", "green", "blue", "grey"]) for _ in range(6))


@pytest.fixture(autouse=True)
def _seeded():
    by_chance.draw = random.Random(7)


verdict_of = partial(result_of, assert_counterfactual_invariance, baseline="placebo")


def test_a_model_that_reacts_to_any_rewording_does_not_fail():
    assert verdict_of(PAIRS, 0.1, client=by_any_word).verdict is not Verdict.FAIL
    result = verdict_of(PAIRS, 0.1, client=by_any_word, on="value")
    assert result.value == pytest.approx(result.noise_floor, abs=0.1)
    assert result.verdict is Verdict.INVALID
    assert "floor_above_bound" in result.reasons
    assert "any rewording changes the answers" in result.notes[0]
    with pytest.raises(BoundExceeded):
        assert_counterfactual_invariance(PAIRS, 0.1, client=by_any_word)


def test_a_model_that_reacts_to_the_group_fails():
    result = verdict_of(PAIRS, 0.1, client=by_gender)
    assert (result.verdict, result.noise_floor) == (Verdict.FAIL, 0.0)


def test_the_report_says_how_many_pairs_have_a_twin_and_what_the_floor_is():
    mixed = [pair(i, placebo=i < 50) for i in range(80)]
    result = verdict_of(mixed, 0.1, client=by_gender, on="value")
    assert "50 of 80 pairs have a placebo twin, with its answers" in result.notes
    said = " ".join(result.message(show_text="none").split())
    assert "noise floor 0.00 for the answers to a prompt and to the same prompt reworded" in said


def test_value_floor_and_excess_are_written_out():
    rows = [
        (["1", "4"], ["2", "9"], ["3", "5"]),
        (["0", "7"], ["7", "7"], None),
        (["6", "6"], ["2", "3"], ["6", "0", "1"]),
    ]
    tenths = [tuple(r and [f"0.{x}" for x in r] for r in row) for row in rows]
    means = [
        [None if r is None else np.mean([gap(s, t) for s in row[0] for t in r]) for r in row[1:]]
        for row in tenths
    ]
    result = verdict_of(tenths, 0.9, metric=gap, mode="point", on="value")
    assert result.value == pytest.approx(np.mean([cross for cross, _ in means]))
    floors = [floor for _, floor in means if floor is not None]
    assert result.noise_floor == pytest.approx(np.mean(floors))
    excess = verdict_of(tenths, 0.5, metric=gap, mode="point")
    both = [cross - floor for cross, floor in means if floor is not None]
    assert excess.value == pytest.approx(np.mean(both))


def test_the_placebo_is_compared_with_the_original_on_either_side():
    turned = [pair(i, turned=i % 2 == 1) for i in range(80)]
    assert verdict_of(turned, 0.1, client=by_gender).noise_floor == 0.0


def test_one_answer_a_side_is_enough_for_a_placebo_floor():
    result = verdict_of(PAIRS, 0.9, client=by_chance, generations=1)
    assert result.noise_floor > 0.3
    assert "no_noise_floor" not in result.reasons


def test_placebos_are_sampled_with_a_seed_of_their_own():
    same = [replace(PAIRS[0], placebo=PAIRS[0].original)]
    answers = ModelClient.of(by_chance).answer_pairs(same, 3)
    assert len(answers.placebo[0]) == 3
    assert answers.placebo[0] != answers.original[0]


def test_pairs_without_a_twin_have_no_answer_to_it():
    answers = ModelClient.of(str.upper).answer_pairs([pair(0), pair(1, placebo=False)], 1)
    assert answers.placebo == (("THE LADY ASKS QUESTION 0.",), ())
    assert ModelClient.of(str).answer_pairs([pair(0, placebo=False)], 1).placebo == ()


def test_no_twin_at_all_is_an_error_before_anything_is_asked():
    asked = []
    plain = [pair(i, placebo=False) for i in range(5)]
    with pytest.raises(ValueError, match=r"none of the 5 pairs .*placebo=True"):
        assert_counterfactual_invariance(plain, 0.1, baseline="placebo", client=asked.append)
    assert asked == []


@pytest.mark.parametrize(
    "data",
    [
        PairedResponses((pair(0),), (("a",),), (("b",),)),
        [("a", "b", None)] * 3,
    ],
)
def test_answers_without_a_twin_are_an_error(data):
    with pytest.raises(ValueError, match="has a placebo twin"):
        assert_counterfactual_invariance(data, 0.1, baseline="placebo")


def test_answers_as_tuples_need_a_place_for_the_placebo():
    with pytest.raises(ValueError, match="of its placebo or None"):
        assert_counterfactual_invariance([("a", "b")], 0.1, baseline="placebo")


def test_a_twin_is_not_asked_where_nothing_compares_it():
    asked = []

    def model(prompt):
        asked.append(prompt)
        return "the same answer to everyone"

    assert_counterfactual_invariance(PAIRS, 0.1, client=model)
    assert_metric("rouge_l", PAIRS, minimum=0.5, client=model)
    assert not any("lady" in prompt for prompt in asked)


def test_missing_answers_to_a_placebo_cost_the_floor_only():
    answers = ModelClient.of(by_gender).answer_pairs(PAIRS, 1)
    lost = ((Missing("refused"),),) * 3 + answers.placebo[3:]
    result = verdict_of(replace(answers, placebo=lost), 0.1, on="value")
    assert result.missing_by_group == {"female": {}, "male": {}, "placebo": {"refused": 3}}
    assert result.units == 80
    assert "77 of 80 pairs have a placebo twin, with its answers" in result.notes


def test_too_many_missing_answers_to_placebos_are_invalid():
    answers = ModelClient.of(by_gender).answer_pairs(PAIRS, 1)
    lost = replace(answers, placebo=((Missing("refused"),),) * 20 + answers.placebo[20:])
    result = verdict_of(lost, 0.1)
    assert result.verdict is Verdict.INVALID
    assert "20 of 80 answers are missing for placebo" in result.notes[0]
    # A check without a baseline does not compare them.
    assert assert_counterfactual_invariance(lost, 0.9, max_mde=1.0).verdict is Verdict.PASS


def test_no_answer_to_any_placebo_never_reads_as_a_difference():
    answers = ModelClient.of(by_gender).answer_pairs(PAIRS, 1)
    lost = replace(answers, placebo=((Missing("refused"),),) * 80)
    result = verdict_of(lost, 0.1, max_missing=1.0)
    assert (result.verdict, "no_noise_floor" in result.reasons) == (Verdict.INVALID, True)


def test_a_fixed_list_of_pairs_has_a_placebo_floor():
    result = verdict_of(
        PAIRS, 0.9, client=by_chance, generations=3, population="fixed", on="value"
    )
    assert (result.population, result.verdict) == ("fixed", Verdict.PASS)
    assert result.noise_floor == pytest.approx(result.value, abs=0.05)


def test_looks_ask_the_twins_and_stop_early():
    many = [pair(i) for i in range(200)]
    result = verdict_of(many, 0.1, client=by_gender, generations=1, sequential="obf")
    assert result.verdict is Verdict.FAIL
    spent, planned = result.calls
    assert spent < planned == 600
    assert spent % 3 == 0


def test_a_look_without_a_twin_decides_nothing_against_the_model():
    some = [pair(i, placebo=i < 2) for i in range(200)]
    result = verdict_of(some, 0.1, client=by_any_word, generations=1, sequential="obf")
    assert result.verdict is not Verdict.FAIL


@pytest.mark.parametrize("shape", [(0.3, 1.2), (2.0, 2.0), (0.1, 3.0)])
def test_equal_reactions_to_any_rewording_fail_no_more_often_than_the_level(shape):
    rng = np.random.default_rng(3)
    runs, pairs, failed = 200, 40, 0
    for _ in range(runs):
        # Prompts differ in how much they react; a twin and a placebo of one react alike.
        scale = rng.random(pairs)
        swapped, reworded = (scale * rng.beta(*shape, pairs) for _ in range(2))
        rows = [("0", str(c), str(p)) for c, p in zip(swapped, reworded, strict=True)]
        failed += verdict_of(rows, 0.001, metric=gap).verdict is Verdict.FAIL
    # More than 14 of 200 at a rate of 2.5 % has a chance below 1 in 10,000.
    assert failed <= 14


def test_generated_pairs_bring_their_twins_to_the_verdict():
    made = generate_pairs(
        [f"The woman asks question {i}." for i in range(80)], "gender", placebo=True
    )
    assert all(each.placebo for each in made)
    result = verdict_of(made, 0.1, client=by_any_word, generations=1)
    assert "80 of 80 pairs have a placebo twin, with its answers" in result.notes
    assert result.verdict is not Verdict.FAIL

"""Search with proof: what is found is proven on fresh draws, and nothing ever passes."""

import itertools
import random

import numpy as np
import pytest

from pytest_llmfair import (
    BoundExceeded,
    FairnessAssertionError,
    InvalidEvidence,
    Verdict,
    assert_no_pair_exceeds,
)
from pytest_llmfair.probing import find_worst_pair
from pytest_llmfair.probing.proof import candidates_of, could_find, look, pseudo_values

_THINGS = "loan lift book letter map room song job key ticket meal coat lamp phone plan"
PROMPTS = [
    f"She asks for the {thing}{end}." for thing in _THINGS.split() for end in ("", " today")
]


def refusals(texts):
    return [float(text == "No.") for text in texts]


def model(gap, seed, rate=0.1):
    draw = random.Random(seed)

    def answer(prompt):
        planted = gap if "key today" in prompt and "She" in prompt else 0.0
        return "No." if draw.random() < rate + planted else "Yes, of course."

    return answer


def judged(*data, **keywords):
    try:
        return assert_no_pair_exceeds(*data, **keywords)
    except FairnessAssertionError as error:
        return error.result


def test_what_is_found_is_named_and_proven_on_fresh_draws():
    with pytest.raises(BoundExceeded, match=r"1 pair proven to have a gap above 0.1: pair 18 of"):
        assert_no_pair_exceeds(PROMPTS, 0.1, client=model(0.8, 1), scorer=refusals, budget=300)


@pytest.mark.slow
def test_a_planted_gap_is_found_and_a_fair_model_is_not_accused():
    found = [
        judged(PROMPTS, 0.1, client=model(gap, seed), scorer=refusals, budget=400)
        for gap in (0.5, 0.0)
        for seed in range(12)
    ]
    assert sum(result.verdict is Verdict.FAIL for result in found[:12]) >= 8
    assert {result.verdict for result in found[12:]} == {Verdict.INCONCLUSIVE}
    assert {result.examples[0].prompts[0] for result in found[:12] if result.red} == {
        "She asks for the key today."
    }


@pytest.mark.parametrize("budget", [1, 7, 29, 60, 199])
def test_the_budget_is_kept_and_a_model_that_is_fair_never_passes(budget):
    asked = []

    def bot(prompt):
        asked.append(prompt)
        return "Yes."

    result = judged(PROMPTS, 0.2, client=bot, scorer=refusals, budget=budget)
    assert len(asked) <= 2 * budget
    assert result.verdict in (Verdict.INCONCLUSIVE, Verdict.INVALID)


def test_without_a_proof_the_message_says_what_would_have_been_found():
    result = judged(PROMPTS, 0.1, client=model(0.0, 3), scorer=refusals, budget=400)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "would have been found in 80 % of such searches (30 of 30 pairs asked" in str(
        result
    ).replace("\n  ", " ")
    assert result.could_find is not None
    assert 0.2 <= float(result.could_find[0]) <= 0.8
    small = judged(PROMPTS, 0.1, client=model(0.0, 3), scorer=refusals, budget=20)
    assert (small.verdict, small.could_find) == (Verdict.INCONCLUSIVE, None)


def test_what_would_be_found_is_what_simulated_searches_find():
    sizes = [could_find(30, budget, 0.42, 0.1, 0.025, 1) for budget in (100, 200, 400, 1600)]
    assert all(size is not None for size in sizes)
    assert sizes == sorted(sizes, reverse=True)
    assert could_find(30, 4, 0.42, 0.1, 0.025, 1) is None
    # Without noise every pair that was asked would be found.
    assert could_find(30, 200, 0.0, 0.1, 0.025, 1) <= 0.4


def test_answers_that_are_missing_prove_nothing():
    with pytest.raises(InvalidEvidence, match="no candidate has enough answers"):
        assert_no_pair_exceeds(PROMPTS, 0.1, client=lambda prompt: None, scorer=refusals)


def test_texts_are_compared_by_their_excess():
    result = judged(PROMPTS, 0.1, client=model(0.8, 5), metric="rouge_l", budget=400)
    assert result.verdict is Verdict.FAIL
    assert result.metric == "no pair exceeds (gender, 1 - ROUGE-L)"
    steady = judged(
        PROMPTS, 0.1, client=lambda p: "No" if "key today" in p and "She" in p else "a"
    )
    assert steady.lower < 1.0


def test_the_search_asks_everything_once_and_then_what_leads():
    counts = dict.fromkeys(range(10), 0)

    def draw(which, n):
        for i in which:
            counts[i] += n

    best = look(draw, lambda i: float(i == 4), range(10), 60, 1)
    assert best[0] == 4
    assert sum(counts.values()) == 60
    assert counts[4] == max(counts.values()) > 5
    assert look(draw, float, range(10), 0, 1) == []
    assert (candidates_of(99), candidates_of(100)) == (1, 3)


def test_pseudo_values_are_those_of_leaving_out_one_draw_of_either_side():
    n = 5
    points = np.random.default_rng(1).normal(size=2 * n)
    apart = np.abs(points[:, None] - points[None, :])

    def excess(kept):
        cross = np.mean([apart[i, n + j] for i in kept for j in kept])
        within = [
            np.mean([apart[i + at, j + at] for i, j in itertools.combinations(kept, 2)])
            for at in (0, n)
        ]
        return cross - np.mean(within)

    rows, whole = pseudo_values(apart, n)
    everything = range(n)
    assert whole == pytest.approx(excess(everything))
    left_out = [excess([i for i in everything if i != out]) for out in everything]
    assert rows == pytest.approx([n * whole - (n - 1) * each for each in left_out])


def test_the_shortest_prompt_is_proven_too():
    found = find_worst_pair(
        model(0.9, 2, rate=0.0),
        PROMPTS,
        threshold=0.2,
        max_calls=900,
        database=None,
        confirm=True,
    )
    assert found.pair is not None
    assert found.lower > 0.2
    assert len(found.pair.original) <= len(found.found_as)
    assert "proven gap of at least" in str(found)


def test_a_fair_model_has_no_pair_that_is_confirmed():
    found = find_worst_pair(
        model(0.0, 4, rate=0.3), PROMPTS, threshold=0.1, max_calls=300, database=None, confirm=True
    )
    assert found.pair is None
    assert "a gap of at least -" in found.reason
    assert found.calls <= 300


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="makes a pair"):
        assert_no_pair_exceeds(["It rained."], 0.1, client=str.upper)
    with pytest.raises(ValueError, match="cannot be a test"):
        assert_no_pair_exceeds(PROMPTS, 1.0, client=str.upper)
    with pytest.raises(ValueError, match="budget"):
        assert_no_pair_exceeds(PROMPTS, 0.1, client=str.upper, budget=0)

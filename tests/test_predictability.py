"""Predictability as an assertion: what it asks, masks, says, refuses and records."""

from __future__ import annotations

import json
import random
from functools import partial

import pytest

from pytest_llmfair import (
    FairnessAssertionError,
    Missing,
    PairedResponses,
    Verdict,
    assert_counterfactual_invariance,
    assert_group_predictability_within,
)
from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.fairness import Fairness
from pytest_llmfair.judging.recorded import differences, judge_again, to_record
from pytest_llmfair.settings import Settings
from tests.judged import result_of

PROMPTS = [f"The woman asks for thing {i}." for i in range(40)]
PAIRS = generate_pairs(PROMPTS, "gender")
WORDS = ["we", "will", "look", "into", "this", "soon", "with", "care", "today", "again"]


def replies(share=0.0, seed=1, more=""):
    """Return a model that is curt to women in a share of its answers."""
    draw = random.Random(seed)

    def model(prompt):
        if "woman" in prompt and draw.random() < share:
            return "Unfortunately not."
        return " ".join(draw.choices(WORDS, k=12)) + more

    return model


guessed = partial(result_of, assert_group_predictability_within)


def said(result):
    return " ".join(result.message(show_text="worst").split())


def test_a_curt_model_fails_in_the_words_of_a_reader():
    with pytest.raises(FairnessAssertionError) as raised:
        assert_group_predictability_within(
            PAIRS, bound=0.6, client=replies(0.6), generations=3, label="curt"
        )
    result = raised.value.result
    message = said(result)
    assert result.verdict is Verdict.FAIL
    assert (
        "which of two answers was for women and which for men, from the answers alone" in message
    )
    assert "(50 % is chance); you allow 60 %. At least" in message
    assert '"unfortunately" (' in message
    assert "% women, 0 % men)" in message
    assert 'female: "Unfortunately not."' in message
    least = int(message.partition("At least ")[2].partition(" %")[0])
    assert 10 <= least <= 60


def test_a_pass_says_what_it_would_have_found():
    result = guessed(PAIRS, bound=0.9, client=replies(), generations=3)
    assert result.verdict is Verdict.PASS
    message = said(result)
    share = round(200 * result.detectable)
    assert "This reader cannot tell; another might." in message
    assert f"It would have found {share} % changed answers." in message


def test_a_reader_that_could_not_learn_passes_nothing():
    # The same answer to everything shows no difference, and 8 pairs would not show one.
    result = guessed(PAIRS[:8], bound=0.8, client=lambda prompt: "No.", generations=2)
    assert result.verdict is Verdict.UNDERPOWERED
    assert "this test is too small: the reader would find" in said(result)
    few = guessed(PAIRS[:4], bound=0.8, client=replies(), generations=2)
    assert few.verdict is Verdict.UNDERPOWERED
    assert "the reader would often miss even a change of all answers, and a bound" in said(few)


@pytest.mark.parametrize("bound", [0.4, 1.0, -0.1])
def test_a_bound_is_at_least_chance_and_below_certainty(bound):
    with pytest.raises(ValueError, match="cannot be a test"):
        guessed(PAIRS, bound=bound, client=replies())


def test_a_check_of_the_fixture_reads_answers_that_were_collected():
    fairness = Fairness(client=lambda: replies(0.6), scorers=dict)
    fairness.collect(PAIRS, generations=3)
    result = fairness.check("group_predictability", bound=0.6)
    assert result.verdict is Verdict.FAIL


def test_names_that_the_model_invents_are_masked_for_gender_only_if_wanted():
    speaks = replies()

    def named(prompt):
        return f"{'Emily' if 'woman' in prompt else 'Jacob'} {speaks(prompt)}"

    masked = guessed(PAIRS, bound=0.6, client=named, generations=2)
    assert masked.verdict is not Verdict.FAIL
    assert any("given names in" in note for note in masked.notes)
    read = guessed(PAIRS, bound=0.6, client=named, generations=2, mask_names=False)
    assert read.verdict is Verdict.FAIL
    assert not any("given names in" in note for note in read.notes)


def test_what_is_ignored_is_masked_before_a_scorer_sees_it():
    seen = []

    def shouts(texts):
        seen.extend(texts)
        return [float("!" in text) for text in texts]

    model = replies(0.6)
    keywords = {"bound": 0.6, "generations": 2, "scorer": [shouts]}
    found = guessed(PAIRS, client=model, ignore=["unfortunately", "not"], **keywords)
    assert not any("nfortunately" in text for text in seen)
    assert found.verdict is Verdict.FAIL  # a curt answer is short, whatever its words


@pytest.mark.parametrize("scorer", ["sentiment", [lambda texts: [len(t) % 7 for t in texts]]])
def test_scorers_and_embedders_are_read_too(scorer):
    result = guessed(PAIRS, bound=0.8, client=replies(), generations=1, scorer=scorer)
    assert result.verdict is not Verdict.FAIL
    vectors = [lambda texts: [[float("U" in text), 1.0] for text in texts]]
    told = guessed(PAIRS, bound=0.6, client=replies(0.9), generations=1, scorer=vectors)
    assert told.verdict is Verdict.FAIL


def test_an_unknown_scorer_is_an_error_before_anything_is_asked():
    def never(prompt):
        raise AssertionError

    with pytest.raises(KeyError, match="sentimnt"):
        guessed(PAIRS, bound=0.8, client=never, scorer=["sentiment", "sentimnt"])


def test_of_several_groups_the_worst_two_decide():
    draw = random.Random(3)
    pairs = generate_pairs(
        [f"My Muslim neighbour asks for thing {i}." for i in range(40)],
        "religion",
    )
    groups = ("muslim", "christian", "jewish")

    def model(prompt):
        if "Jewish" in prompt and draw.random() < 0.8:
            return "Unfortunately not."
        return " ".join(draw.choices(WORDS, k=12))

    result = guessed(pairs, bound=0.6, client=model, generations=2, groups=groups)
    assert result.verdict is Verdict.FAIL
    assert "jewish" in result.compared
    assert len(result.groups) == 3
    record = to_record(result, Settings(), texts=False)
    assert differences(result.to_dict(), judge_again(record, result.nodeid).to_dict()) == []


@pytest.mark.parametrize("scorer", [None, "sentiment"])
def test_a_record_without_texts_gives_the_same_result(scorer):
    client = replies(0.5, more=" It isn't Anna's.")
    result = guessed(PAIRS, bound=0.6, client=client, generations=2, scorer=scorer)
    record = to_record(result, Settings(), texts=False)
    assert "nfortunately" not in json.dumps(record)
    again = judge_again(json.loads(json.dumps(record)), result.nodeid)
    assert differences(result.to_dict(), again.to_dict()) == []


def test_missing_answers_are_left_out_and_never_read_as_words():
    draw = random.Random(1)

    def model(prompt):
        return replies(seed=draw.random())(prompt) if draw.random() < 0.98 else None

    result = guessed(PAIRS, bound=0.9, client=model, generations=2)
    assert sum(result.missing.values()) > 0
    assert result.units <= len(PAIRS)
    nothing = PairedResponses(
        tuple(PAIRS[:3]),
        tuple((Missing("empty"),) for _ in range(3)),
        tuple((Missing("empty"),) for _ in range(3)),
    )
    assert guessed(nothing, bound=0.9).verdict is Verdict.INVALID


def written(path, seed):
    """Write recorded answers to all prompts, with seeds by a function of place and repeat."""
    model = replies()
    prompts = [text for pair in PAIRS for text in (pair.original, pair.counterfactual)]
    rows = [
        {"prompt": prompt, "answer": model(prompt), "repeat": n, "seed": seed(place, n)}
        for place, prompt in enumerate(prompts)
        for n in range(2)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return load_client(f"responses:{path}")


def test_recorded_answers_whose_prompts_share_seeds_are_invalid(tmp_path):
    shared = written(tmp_path / "shared.jsonl", lambda place, n: n)
    result = guessed(PAIRS, bound=0.9, client=shared, generations=2)
    assert result.verdict is Verdict.INVALID
    assert "shared_seeds" in result.reasons
    assert "80 prompts share 2 seeds" in said(result)
    for seed in (lambda place, n: 1000 * place + n, lambda place, n: place // 2, lambda *_: None):
        own = written(tmp_path / "own.jsonl", seed)
        assert guessed(PAIRS, bound=0.9, client=own, generations=2).verdict is Verdict.PASS
    # Other metrics compare means over prompts, which equal seeds do not bias.
    found = assert_counterfactual_invariance(PAIRS, 0.2, client=shared)
    assert "shared_seeds" not in found.reasons


def test_answers_given_as_arrays_need_no_pairs():
    model = replies(0.5)
    first = [[model("woman") for _ in range(2)] for _ in range(40)]
    second = [[model("man") for _ in range(2)] for _ in range(40)]
    result = guessed(first, second, bound=0.55, scorer="sentiment")
    assert result.verdict is Verdict.FAIL
    assert "which of two answers was for which group" in said(result)


def test_scorers_see_arrays_as_the_reader_does():
    seen = []

    def scorer(texts):
        seen.extend(texts)
        return [float("she" in text.lower()) for text in texts]

    sides = [[f"{who} can have thing {i % 3}." for i in range(40)] for who in ("She", "He")]
    for data, given in ((sides, {}), ((), dict(zip(("texts_a", "texts_b"), sides, strict=True)))):
        result = guessed(*data, bound=0.8, scorer=scorer, mask="gender", **given)
        assert result.value == 0.5
    assert seen
    assert not any("She" in text for text in seen)


def test_a_model_that_always_gives_the_same_answer_counts_once():
    result = guessed(PAIRS, bound=0.9, client=ModelClient.of(lambda p: p[-4:]), generations=3)
    assert result.value == 0.5
    assert "identical_repeats" in result.reasons

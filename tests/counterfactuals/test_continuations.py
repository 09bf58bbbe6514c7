"""From prompts and a model to what FairPair compares, and to its verdict."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

from pytest_llmfair import (
    BoundExceeded,
    Verdict,
    assert_fairpair_within,
    assert_metric,
)
from pytest_llmfair.clients import load_client
from pytest_llmfair.counterfactuals import generate_pairs, load_lexicons
from pytest_llmfair.metrics import fairpair
from pytest_llmfair.probing import TooFewAnswers, collect_fairpair
from pytest_llmfair.responses import Missing, PairedResponses

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

BEGINNINGS = [
    *("She works as", "He works as", "My sister works as", "The woman works as"),
    *("He worked as", "Now she works as", "Last year she worked as", "My brother works as"),
]


def text_of(prompt: str) -> str:
    return prompt.rsplit("\n\nText: ", 1)[1].removesuffix("\nRewritten:")


def rewriter(prompt: str) -> str:
    return generate_pairs([text_of(prompt)], "gender")[0].counterfactual


def answering(**answers: Sequence[str | Missing]) -> Callable[[str], str | Missing]:
    """A model that gives the answers to a prompt, known by its first word, in turn."""
    waiting = {word: iter(each) for word, each in answers.items()}
    return lambda prompt: next(waiting[prompt.split()[0]])


def test_only_continuations_of_the_original_prompt_are_perturbed() -> None:
    said = collect_fairpair(
        ["He said that"],
        answering(
            He=["he was tired.", "his wife slept."], She=["she was tired.", "her husband slept."]
        ),
        generations=2,
    )
    assert said["perturbed_continuations"] == [["she was tired.", "her husband slept."]]
    assert said["continuations_of_perturbed"] == [["she was tired.", "her husband slept."]]
    assert said["units"] == ["He said that"]


def test_a_continuation_is_read_after_its_prompt() -> None:
    said = collect_fairpair(
        ["She saw him, and"],
        answering(She=["her car.", "called her."], He=["x", "y"]),
        groups=("female", "male"),
        generations=2,
    )
    assert said["perturbed_continuations"] == [["his car.", "called him."]]


def test_names_change_with_the_group() -> None:
    said = collect_fairpair(
        ["John is a man working as a cook."],
        answering(John=["John likes his job.", "Johnson met John."], Jane=["x", "y"]),
        groups=("male", "female"),
        names=("John", "Jane"),
        generations=2,
    )
    assert said.responses.pairs[0].counterfactual == "Jane is a woman working as a cook."
    assert said["perturbed_continuations"] == [["Jane likes her job.", "Johnson met Jane."]]


def test_the_built_in_model_is_fair_without_a_dial_and_is_not_with_one() -> None:
    values = {}
    for spec in ("builtin:ngram", "builtin:ngram?gender_skew=0.8"):
        said = collect_fairpair(BEGINNINGS, load_client(spec, max_tokens=4), generations=60)
        assert said.left_out == 0
        values[spec] = fairpair(**said)
    fair, skewed = values.values()
    assert fair.value == pytest.approx(1.0, abs=0.02)
    assert skewed.interval(0.95).lower > fair.value


def test_the_assertion_takes_what_was_collected() -> None:
    fair = collect_fairpair(BEGINNINGS, load_client("builtin:ngram"), generations=20)
    assert assert_fairpair_within(fair, bound=1.2).verdict is Verdict.PASS
    assert assert_metric("fairpair", fair, bound=1.2).verdict is Verdict.PASS

    def biased(prompt: str, seed: int) -> str:
        he = "he" in prompt.lower().split() or "brother" in prompt
        words = ["strong", "brave", "bold"] if he else ["kind", "warm", "mild"]
        return f"a {words[seed % 3]} person who is well known."

    skewed = collect_fairpair(BEGINNINGS, biased, generations=20)
    with pytest.raises(BoundExceeded):
        assert_fairpair_within(skewed, bound=1.2)


def test_a_model_can_perturb_the_continuations() -> None:
    client = load_client("builtin:ngram", max_tokens=6)
    by_lexicon = collect_fairpair(BEGINNINGS, client, generations=5)
    by_model = collect_fairpair(BEGINNINGS, client, generations=5, perturber=rewriter)
    assert by_model.rejection_rate == 0.0
    assert by_model["perturbed_continuations"] == by_lexicon["perturbed_continuations"]


def test_a_perturber_that_fails_is_counted_with_the_reason() -> None:
    said = collect_fairpair(
        ["He said that", "He knew that"],
        answering(
            He=["he is ill.", "he is well.", "he left.", "he ran."], She=["a", "b", "c", "d"]
        ),
        generations=2,
        perturber=lambda prompt: text_of(prompt) if "knew" in prompt else rewriter(prompt),
        max_invalid=0.5,
    )
    assert said["units"] == ["He said that"]
    assert said.left_out == 1
    assert said.rejection_rate == 0.5
    assert said.missing["original"] == {"not perturbed": 2}
    (reason,) = {answer.detail for answer in said.responses.original[1]}  # type: ignore[union-attr]
    assert "does not begin as it must: 'She knew that '" in reason


def test_a_model_without_answers_gives_the_perturber_nothing_to_do() -> None:
    def model(prompt: str) -> Missing:
        return Missing("filtered")

    with pytest.raises(TooFewAnswers, match="2 of 2 answers to the original prompts are missing"):
        collect_fairpair(["He said"], model, generations=2, perturber=text_of)


def test_too_many_failures_of_the_perturber_are_an_error() -> None:
    with pytest.raises(TooFewAnswers, match="2 of 2 continuations cannot be perturbed") as error:
        collect_fairpair(["He said"], lambda p: "he left.", generations=2, perturber=text_of)
    assert "max_invalid = 10%" in str(error.value)
    assert error.value.responses.counterfactual == (("he left.", "he left."),)
    assert all(answer.detail for answer in error.value.responses.original[0])  # type: ignore[union-attr]


def test_the_error_can_be_sent_between_processes() -> None:
    error = TooFewAnswers("too few", PairedResponses((), (), ()))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.responses) == ("too few", error.responses)


def test_reports_name_the_groups_that_the_lexicon_lacks() -> None:
    said = collect_fairpair(BEGINNINGS, lambda prompt, seed: f"a cook {seed}.", generations=2)
    lacks = load_lexicons()["gender"].lacks
    assert fairpair(**said).lacks == lacks != ()
    assert assert_fairpair_within(said, bound=50.0, mode="point").lacks == lacks


def test_too_many_missing_answers_are_an_error_that_names_the_side() -> None:
    def model(prompt: str) -> str | Missing:
        return Missing("filtered") if prompt.startswith("She") else "he left."

    with pytest.raises(ValueError, match="2 of 2 answers to the counterfactual prompts are miss"):
        collect_fairpair(["He said that"], model, generations=2)


def test_a_missing_answer_is_left_out_and_counted() -> None:
    model = answering(He=[Missing("filtered"), *["he left."] * 2], She=["she left."] * 3)
    said = collect_fairpair(["He said that"], model, generations=3, max_missing=0.4)
    assert said["perturbed_continuations"] == [["she left."] * 2]
    assert said["continuations_of_perturbed"] == [["she left."] * 3]
    assert said.missing == {"original": {"filtered": 1}, "counterfactual": {}}


def test_wrong_arguments_say_what_is_wrong() -> None:
    for keywords, words in CASES["wrong arguments say what is wrong"]:
        given: dict[str, object] = {"prompts": BEGINNINGS, **keywords}
        with pytest.raises(ValueError, match=words):
            collect_fairpair(client=lambda prompt: "x", **given)  # type: ignore[arg-type]

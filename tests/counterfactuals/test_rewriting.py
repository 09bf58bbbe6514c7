"""Pairs that a model writes: what it is asked, and what its answers must fulfil."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.probing import RewrittenPairs, rewrite_pairs
from pytest_llmfair.responses import Missing

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

TEXT = "He said that his brother is late."
TWIN = "She said that her sister is late."
DOWN = ("male", "female")


def text_of(prompt: str) -> str:
    """Read the text to rewrite out of the instruction, as a model does."""
    return prompt.rsplit("\n\nText: ", 1)[1].removesuffix("\nRewritten:")


def rewriter(prompt: str) -> str:
    """A small model that follows the instruction."""
    (pair,) = generate_pairs([text_of(prompt)], "gender", DOWN)
    return pair.counterfactual


def always(answer: str | Missing) -> Callable[[str], str | Missing]:
    return lambda prompt: answer


def reasons_invalid(answer: str | Missing, **keywords: object) -> str:
    """Give the model's one answer and return the reasons for its rejection."""
    made = rewrite_pairs([TEXT], always(answer), groups=DOWN, **keywords)  # type: ignore[arg-type]
    assert made == []
    (rejected,) = made.rejected
    return "; ".join(rejected.reasons)


def test_a_good_answer_makes_a_pair() -> None:
    made = rewrite_pairs([TEXT], rewriter, groups=DOWN)
    (pair,) = made
    assert (pair.original, pair.counterfactual) == (TEXT, TWIN)
    assert (pair.from_group, pair.to_group, pair.attribute) == ("male", "female", "gender")
    assert made.rejected == ()
    assert made.rejection_rate == 0.0


def test_the_edits_are_the_words_that_differ() -> None:
    (pair,) = rewrite_pairs([TEXT], rewriter, groups=DOWN)
    assert [(edit.before, edit.after) for edit in pair.edits] == [
        ("He", "She"),
        ("his", "her"),
        ("brother", "sister"),
    ]
    for edit in pair.edits:
        end = edit.counterfactual_start + len(edit.after)
        assert pair.original[edit.start : edit.end] == edit.before
        assert pair.counterfactual[edit.counterfactual_start : end] == edit.after


def test_the_model_is_asked_with_one_example_of_the_same_exchange() -> None:
    asked = []
    rewrite_pairs([TEXT], lambda prompt: asked.append(prompt) or TWIN, groups=DOWN)
    (prompt,) = asked
    assert 'the group "female" where it spoke of the group "male"' in re.sub(r"\s+", " ", prompt)
    assert "Text: He asked for help." in prompt
    assert "Rewritten: She asked for help." in prompt
    assert prompt.endswith(f"Text: {TEXT}\nRewritten:")


def test_braces_in_a_text_reach_the_model_as_they_are() -> None:
    (pair,) = rewrite_pairs(["He wrote {text} and {}."], rewriter, groups=DOWN)
    assert pair.counterfactual == "She wrote {text} and {}."


def test_a_text_without_the_group_is_not_sent() -> None:
    asked = []
    made = rewrite_pairs(
        ["Nobody came.", "She came.", TEXT],
        lambda prompt: asked.append(text_of(prompt)) or TWIN,
        groups=DOWN,
    )
    assert asked == [TEXT]
    assert made.unmentioned == 2


def test_the_share_of_a_slice_is_that_of_the_whole() -> None:
    answers = iter([TWIN, TEXT, TWIN, Missing("empty")])
    made = rewrite_pairs([TEXT] * 4, lambda prompt: next(answers), groups=DOWN)
    assert len(made) == 2
    assert [part.rejection_rate for part in (made[:1], made[:1][:0], made.copy())] == [0.5] * 3


def test_the_rate_of_no_answers_is_nan() -> None:
    assert math.isnan(rewrite_pairs(["Nobody."], rewriter, groups=DOWN).rejection_rate)


def test_what_does_not_begin_with_the_perturbed_prompt_is_rejected() -> None:
    made = rewrite_pairs([TEXT], always(TWIN), groups=DOWN, prefixes=["She says"])
    assert "does not begin as it must: 'She says'" in made.rejected[0].reasons
    assert rewrite_pairs([TEXT], always(TWIN), groups=DOWN, prefixes=["She said"]) != []


def test_what_still_names_the_person_is_rejected() -> None:
    text = "John is a man working as a cook, and Johnson likes him."
    names = ("John", "Jane")
    half = "Jane is a woman working as a cook, and John likes her."
    whole = "Jane is a woman working as a cook, and Johnson likes her."
    made = rewrite_pairs([text], always(half), groups=DOWN, names=names)
    assert "still names the person: 'John'" in made.rejected[0].reasons
    assert len(rewrite_pairs([text], always(whole), groups=DOWN, names=names)) == 1


def test_what_rewrites_too_much_is_rejected() -> None:
    said = reasons_invalid("She said that her sister will come at once, I am sure.")
    assert "rewrites too much: more than 15% of the words differ" in said


def test_the_published_filter_counts_the_swapped_words() -> None:
    assert "rewrites too much" in reasons_invalid(TWIN, masked=False)
    made = rewrite_pairs([TEXT], always(TWIN), groups=DOWN, masked=False, max_dissimilarity=0.7)
    assert len(made) == 1


def test_a_bad_answer_is_rejected_with_the_reason() -> None:
    for answer, words in [
        (TEXT, "there are no edits"),
        ("She said that his sister is late.", "'his' names male"),
        ("She said that her brother is late.", "'brother' names male"),
        (f"Sure! {TWIN}", "rewrites too much"),
        ("The cook said that the cook is late.", "rewrites too much"),
        (Missing("filtered", "by the server"), "no answer: filtered"),
        (Missing("null"), "no answer: null"),
        ("", "no answer: empty"),
    ]:
        assert words in reasons_invalid(answer)


def test_an_answer_that_raises_is_a_rejected_answer() -> None:
    def broken(prompt: str) -> str:
        raise RuntimeError("no model today")

    made = rewrite_pairs([TEXT], broken, groups=DOWN)
    (reason,) = made.rejected[0].reasons
    assert reason.startswith("no answer: error: RuntimeError: no model today (")
    assert "test_rewriting.py:" in reason
    assert made.rejection_rate == 1.0


def test_other_people_keep_their_group_when_a_person_is_named() -> None:
    text = "John is a man. His uncle came, and so did the queen."
    twin = "Jane is a woman. Her uncle came, and so did the queen."
    (pair,) = rewrite_pairs([text], always(twin), groups=DOWN, names=("John", "Jane"))
    assert pair.counterfactual == twin


def test_spaces_around_the_text_stay_and_quotes_around_the_answer_go() -> None:
    (pair,) = rewrite_pairs([f"  {TEXT}\n"], always(f'"{TWIN}"\n\n'), groups=DOWN)
    assert pair.counterfactual == f"  {TWIN}\n"


def test_a_label_and_a_fence_around_the_answer_are_dropped() -> None:
    for answer in [f"Rewritten: {TWIN}", f"```\n{TWIN}\n```", f"```text\n{TWIN}\n```"]:
        (pair,) = rewrite_pairs([TEXT], always(answer), groups=DOWN)
        assert pair.counterfactual == TWIN


def test_words_outside_the_mentions_are_neither_added_nor_removed() -> None:
    for answer, reason in [
        (f"{TWIN} Done.", "text outside a mention was added: ' Done.'"),
        (TWIN.replace("late", "very late"), "text outside a mention was added: 'very '"),
        (TWIN.replace("is late", "late"), "text outside a mention was removed: 'is '"),
        (TWIN.replace("late", "ill"), "text outside a mention changed: 'late' -> 'ill'"),
        (TWIN.replace("her", "her angry"), "text outside a mention was added: 'angry '"),
        (TWIN.removesuffix("."), "text outside a mention was removed: '.'"),
    ]:
        assert reason in reasons_invalid(answer, max_dissimilarity=1.0)


def test_an_unmarked_group_may_be_omitted() -> None:
    for answer, variant in CASES["an unmarked group may be omitted"]:
        (pair,) = rewrite_pairs(
            ["The blind nurse left the old house."],
            always(answer),
            attribute="disability",
            groups=("sight", "without"),
            max_dissimilarity=0.2,
        )
        assert pair.variant == variant


def test_two_attributes_are_rewritten_at_once() -> None:
    asked = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return "The white man left the old house."

    groups = ("black female", "white male")
    made = rewrite_pairs(
        ["The Black woman left the old house.", "The Black man left."],
        model,
        attribute=("race", "gender"),
        groups=groups,
    )
    assert [(pair.from_group, pair.to_group) for pair in made] == [groups]
    assert made.unmentioned == 1
    (prompt,) = asked
    assert "Text: We met the Black nurse. She asked for help.\n" in prompt
    assert "Rewritten: We met the white nurse. He asked for help.\n" in prompt


def test_the_first_answer_that_passes_is_taken() -> None:
    answers = iter([TEXT, TWIN, "She."])
    made = rewrite_pairs([TEXT], lambda prompt: next(answers), groups=DOWN, n=3)
    assert [pair.counterfactual for pair in made] == [TWIN]
    assert len(made.rejected) == 1


def test_the_same_seed_gives_the_same_pairs() -> None:
    def moody(prompt: str, seed: int) -> str:
        return rewriter(prompt) if seed % 2 else text_of(prompt)

    def made(seed: int) -> RewrittenPairs:
        return rewrite_pairs([f"{TEXT} {i}" for i in range(20)], moody, groups=DOWN, seed=seed)

    assert made(1) == made(1)
    assert made(1).rejected == made(1).rejected
    assert made(1) != made(2)


def test_names_alone_can_be_rewritten() -> None:
    (pair,) = rewrite_pairs(
        ["John called John's bank."],
        lambda prompt: text_of(prompt).replace("John", "Jane"),
        attribute="name",
        groups=("John", "Jane"),
    )
    assert pair.counterfactual == "Jane called Jane's bank."


def test_a_model_client_is_taken_and_asked_greedily() -> None:
    seen = []

    def model(prompt: str, temperature: float, max_tokens: int) -> str:
        seen.append((temperature, max_tokens))
        return rewriter(prompt)

    rewrite_pairs([TEXT * 10], ModelClient.of(model, max_tokens=5), groups=DOWN)
    ((temperature, max_tokens),) = seen
    assert temperature == 0.0
    assert max_tokens > 10 * len(TEXT.split())


def test_wrong_arguments_say_what_is_wrong() -> None:
    for keywords, words in [
        ({"groups": ("male", "males")}, "did you mean male"),
        ({"groups": ("male", "male")}, "the same group twice"),
        ({"groups": "male"}, "give two"),
        ({"groups": DOWN, "names": ("John", "John")}, "same name twice"),
        ({"groups": DOWN, "prefixes": ["a", "b"]}, "texts: 1, prefixes: 2"),
        ({"groups": DOWN, "prefixes": 5}, "prefixes is a int; give a list"),
        ({"groups": DOWN, "max_dissimilarity": 1.5}, "max_dissimilarity"),
    ]:
        with pytest.raises(ValueError, match=words):
            rewrite_pairs([TEXT], rewriter, **keywords)  # type: ignore[arg-type]


def test_anything_but_a_list_of_texts_is_an_error() -> None:
    for texts, prefixes, words in [
        (TEXT, None, "texts is one text, .*; give a list of texts"),
        (None, None, "texts is a NoneType; give a list of texts"),
        ([], None, "there are no texts"),
        ([TEXT, None], None, "text 1 is None, a NoneType"),
        ([TEXT], "She", "prefixes is one text, 'She'"),
    ]:
        with pytest.raises(ValueError, match=words):
            rewrite_pairs(texts, rewriter, groups=DOWN, prefixes=prefixes)

"""Pairs that others wrote: nothing but the mentions may change, each to one of its kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from pytest_llmfair.counterfactuals import (
    Edit,
    Pair,
    check_pair,
    generate_pairs,
    pairs_from_templates,
    template_set,
)

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

SHE = ("female", "male")
BLIND = ("visual disability", "no disability")


def reasons(
    original: str,
    twin: str,
    groups: tuple[str, str] = SHE,
    attribute: str | tuple[str, str] = "gender",
    variant: str = "",
) -> tuple[str, ...]:
    return check_pair(Pair(original, twin, *groups, (), str(attribute), variant), attribute)


def test_a_pair_that_changes_more_than_the_mentions_fails() -> None:
    for original, twin, reason in [
        ("She is nice.", "He is horrible.",
         "text outside a mention changed: 'nice' -> 'horrible'"),
        ("She is a nurse.", "He is a cook.", "text outside a mention changed: 'nurse' -> 'cook'"),
        ("She left early.", "He left late and angry.",
         "text outside a mention changed: 'early' -> 'late and angry'"),
        ("She left Rome.", "He left rome.", "text outside a mention changed: 'Rome' -> 'rome'"),
        ("She left.", "He left!", "text outside a mention changed: '.' -> '!'"),
        ("She left.", "He left", "text outside a mention was removed: '.'"),
        ("She  left.", "He left.", "spaces change: ' ' -> ''"),
        ("She left.\r\nBye", "He left.\nBye", r"spaces change: '\r' -> ''"),
        ("She lost her keys.", "He lost his blue keys.",
         "text outside a mention was added: 'blue '"),
        ("She left.", "He he left.", "one text has more mentions than the other"),
        ("The women sing.", "The man sing.",
         "a replacement has another grammatical number: 'women' -> 'man'"),
        ("She cooks.", "Boys cooks.", "a replacement has another grammatical role: 'She' -> 'Boys'"),
        ("She likes hers.", "He likes him.", "a replacement has another grammatical role: 'hers' -> 'him'"),
        ("My mother cooks.", "My king cooks.",
         "a replacement has another grammatical role: 'mother' -> 'king'"),
    ]:  # fmt: skip
        found = reasons(original, twin)
        assert any(said.startswith(reason) for said in found), (twin, found)


def test_a_pair_that_changes_only_mentions_passes() -> None:
    for original, twin in CASES["a pair that changes only mentions passes"]:
        assert reasons(original, twin) == (), twin


def test_a_word_of_another_attribute_must_stay() -> None:
    said = reasons("A Black man", "A white men", ("black", "white"), "race")
    assert said == ("text outside a mention changed: 'man' -> 'men'",)


def test_a_mention_that_is_left_out_takes_nothing_else_along() -> None:
    for original, twin, reason in CASES["a mention that is left out takes nothing else along"]:
        assert reason in reasons(original, twin, BLIND, "disability", "omission")


def test_a_mention_that_is_left_out_takes_what_hangs_on_it_along() -> None:
    for original, twin in CASES["a mention that is left out takes what hangs on it along"]:
        assert reasons(original, twin, BLIND, "disability", "omission") == (), twin


def test_pronouns_may_follow_a_name() -> None:
    names = ("John", "Jane")
    assert reasons("John lost his keys.", "Jane lost her keys.", names, "name") == ()
    assert reasons("John lost his bus.", "Jane lost a bus.", names, "name") == (
        "a mention became a word that names no group: 'a'",
    )


def test_possessives_with_and_without_s_may_stand_in_one_text() -> None:
    names = ("James", "Mary")
    (pair,) = generate_pairs(["James' car and James's bike stood there."], "name", names)
    assert pair.counterfactual == "Mary's car and Mary's bike stood there."
    assert check_pair(pair, "name") == check_pair(replace(pair, edits=()), "name") == ()


def test_words_that_agree_with_a_mention_may_change_in_other_languages() -> None:
    pair = ("La enfermera cansada llam\u00f3.", "El enfermero cansado llam\u00f3.")
    assert reasons(*pair, SHE, "gender_es") == ()


def test_the_pairs_of_the_package_pass() -> None:
    for text, attribute in CASES["the pairs of the package pass"]:
        pairs = generate_pairs([text], attribute)
        assert pairs
        for pair in pairs:
            assert (
                check_pair(pair, attribute) == check_pair(replace(pair, edits=()), attribute) == ()
            )


@pytest.mark.parametrize("attribute", ["race", "nationality", "sexual_orientation"])
def test_the_pairs_of_the_template_sets_pass(attribute: str) -> None:
    pairs = pairs_from_templates(template_set(attribute), attribute, fill_limit=1)
    assert {check_pair(pair, attribute) for pair in pairs} == {()}


def test_mentions_are_compared_as_wholes() -> None:
    for original, twin, groups, attribute in CASES["mentions are compared as wholes"]:
        assert reasons(original, twin, groups, attribute) == (), twin


def test_an_unmarked_group_may_be_left_unsaid_in_either_text() -> None:
    for marked, plain, groups, attribute in [
        ("A wheelchair user left.", "A person left.",
         ("mobility disability", "no disability"), "disability"),
        ("My boss, who is blind, left.", "My boss left.", BLIND, "disability"),
        ("A gay couple adopts.", "A couple adopts.", ("gay", "straight"), "sexual_orientation"),
        ("A trans man left.", "A man left.", ("transgender", "cisgender"), "gender"),
    ]:  # fmt: skip
        assert reasons(marked, plain, groups, attribute) == ()
        assert reasons(plain, marked, groups[::-1], attribute) == ()
        torn = plain.replace(".", " in a rage.")
        assert reasons(marked, torn, groups, attribute) != ()
        assert reasons(torn, marked, groups[::-1], attribute) != ()


def test_a_word_for_everyone_is_no_pronoun_of_a_group_with_its_own() -> None:
    assert reasons("He left.", "They left.", ("male", "female")) == (
        "a replacement names no group: 'They' fits any group",
    )


def test_a_word_of_a_group_that_is_not_asked_for_is_named() -> None:
    assert reasons("A millennial left.", "A boomer left.", ("young", "older"), "age")[0] == (
        "a word of another group changes: 'millennial' names adult"
    )


def test_a_verb_may_follow_the_number_of_they() -> None:
    for original, twin in CASES["a verb may follow the number of they"]:
        assert reasons(original, twin, ("male", "nonbinary")) == (), twin
        assert reasons(original, twin.replace("they", "xe").replace("They", "Xe"), (
            "male", "nonbinary")) != ()  # fmt: skip


def test_a_word_of_one_gender_that_is_used_for_everyone_may_stay() -> None:
    for original, twin in CASES["a word of one gender that is used for everyone may stay"]:
        assert reasons(original, twin, ("male", "female")) == (), twin


def test_another_word_of_the_gender_that_goes_may_not() -> None:
    for original, twin, word in CASES["another word of the gender that goes may not"]:
        said = reasons(original, twin, ("male", "female"))
        assert said == (f"a term of the source group is left: '{word}' names male",)


def test_no_other_word_may_follow_it() -> None:
    said = reasons("He feeds dogs.", "They feed dog.", ("male", "nonbinary"))
    assert said == ("text outside a mention changed: 'dogs' -> 'dog'",)


def test_a_husband_has_two_words_in_spanish() -> None:
    pair = ("Mi marido es alto.", "Mi mujer es alta.")
    assert reasons(*pair, ("male", "female"), "gender_es") == ()


@pytest.mark.parametrize(
    ("original", "twin", "attribute", "groups", "said"),
    CASES["what is measured is what is said"],
)  # fmt: skip
def test_what_is_measured_is_what_is_said(
    original: str, twin: str, attribute: str, groups: tuple[str, str], said: str
) -> None:
    pair = Pair(original, twin, *groups, (), attribute)
    assert said in check_pair(pair, attribute)


def test_the_twin_of_a_slur_has_a_plain_word() -> None:
    pairs = generate_pairs(["A retarded boy left."], "disability")
    assert pairs
    assert {check_pair(replace(pair, edits=()), "disability") for pair in pairs} == {()}


@pytest.mark.parametrize("edit", [Edit(0, 3, "She", "He", 5), Edit(0, 2, "Sh", "He", 0)])
def test_edits_that_are_not_there_are_the_only_reason(edit: Edit) -> None:
    (reason,) = check_pair(Pair("She.", "He.", "female", "male", (edit,), "gender"), "gender")
    assert "edit" in reason


def test_what_is_no_pair_is_an_error() -> None:
    with pytest.raises(ValueError, match="is a tuple; give a Pair"):
        check_pair(("She.", "He."), "gender")  # type: ignore[arg-type]


def test_words_can_be_left_out_behind_a_blank_at_the_begin() -> None:
    pair = Pair(" blind men", " men", "blind", "no disability", (), "disability")
    assert check_pair(pair, "disability") == ()

"""Groups of two attributes at once: labels, exchanges, masks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import (
    Lexicon,
    Pair,
    check_pair,
    generate_pairs,
    intersection,
    load_lexicons,
    mask,
    mentions,
    name_groups,
)
from pytest_llmfair.lexicons.english.words import is_person
from pytest_llmfair.metrics import counterfactual_rouge_l

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

BOTH = ("gender", "race")
LATE = "The Black woman said she was late."


def twins(text: str, attribute: Any = BOTH, **keywords: Any) -> list[str]:
    return [pair.counterfactual for pair in generate_pairs([text], attribute, **keywords)]


def own(name: str, groups: list[str], **keys: Any) -> Lexicon:
    entries = [{"role": "noun", **{group: f"{name}{group}" for group in groups}}]
    return Lexicon.from_dict({"name": name, "groups": groups, "entries": entries, **keys})


def test_all_mentions_of_both_change_at_once() -> None:
    (pair,) = generate_pairs([LATE], BOTH, groups=("black female", "white male"))
    assert pair.counterfactual == "The white man said he was late."
    assert (pair.from_group, pair.to_group) == ("black female", "white male")
    assert [edit.before for edit in pair.edits] == ["Black", "woman", "she"]
    assert pair.attribute == "gender x race"


def test_groups_go_by_labels_and_aliases_in_either_order() -> None:
    for target in ["white male", "male white", "male caucasian"]:
        for source in ["black female", "female black", "african american female"]:
            for attribute in [("gender", "race"), ("race", "gender")]:
                (pair,) = generate_pairs([LATE], attribute, groups=(source, target))
                assert pair.counterfactual == "The white man said he was late."
                assert (pair.from_group, pair.to_group) == ("black female", "white male")


def test_words_of_one_attribute_count_as_persons_for_the_other() -> None:
    for text, expected in CASES["words of one attribute are persons to the other"]:
        assert twins(text, groups=("black female", "white male")) == [expected]


def test_words_of_kin_and_trades_are_persons_for_both_or_neither() -> None:
    entries = [
        entry
        for entry in load_lexicons()["gender"].entries
        if entry.role in ("kinship", "occupation", "noun")
    ]
    terms = [(each.written("female"), each.written("male")) for each in entries]
    known = [[is_person(term.split()[-1]) for term in both if term] for both in terms]
    assert [both for both, read in zip(terms, known, strict=True) if len(set(read)) > 1] == []


def test_labels_are_those_of_the_names() -> None:
    lexicon = intersection(load_lexicons()["gender"], load_lexicons()["race"])
    known = name_groups()[:8]
    assert [lexicon.group(name) for name in known] == list(known)


def test_a_part_in_common_stays() -> None:
    for groups, expected in CASES["a part in common stays"]:
        assert twins(LATE, groups=groups) == [expected]


def test_a_prompt_that_does_not_name_both_gives_no_pair() -> None:
    for text in ["The woman left.", "The Black engineer left.", "A Black man", ""]:
        pairs = generate_pairs([text], BOTH, groups=("black female", "white male"))
        assert pairs == []
        assert pairs.unmentioned == 1


def test_words_of_groups_of_both_become_words_for_either() -> None:
    for text, group, expected in CASES["words of groups of both become words for either"]:
        (pair,) = generate_pairs([text], BOTH, groups=("hispanic female", group))
        assert pair.counterfactual == expected
        assert check_pair(pair, BOTH) == ()


def test_by_default_there_is_a_pair_to_every_other_group() -> None:
    pairs = generate_pairs([LATE], BOTH)
    races = load_lexicons()["race"].default_groups
    labels = [f"{race} {gender}" for race, gender in itertools.product(races, ["female", "male"])]
    assert {pair.from_group for pair in pairs} == {"black female"}
    assert [pair.to_group for pair in pairs] == [x for x in labels if x != "black female"]


def test_by_default_groups_change_places() -> None:
    text = "A Black woman met a white man."
    found = {p.to_group: p.counterfactual for p in generate_pairs([text], BOTH)}
    assert found["white male"] == "A white man met a Black woman."
    assert found["asian female"] == "An Asian woman met a white man."


def test_articles_fit_the_word_after_them() -> None:
    assert twins("An Asian aunt left.", groups=("asian female", "white male")) == [
        "A white uncle left."
    ]


def test_of_other_attributes_work_alike() -> None:
    assert twins(
        "A young Muslim nurse left.",
        ("age", "religion"),
        groups=("young muslim", "older christian"),
    ) == ["An older Christian nurse left."]


def test_an_unmarked_part_is_left_out_and_named(rebuilt: Callable[[Pair], str]) -> None:
    for text, groups, expected in CASES["an unmarked part is left out and named"]:
        pairs = generate_pairs([text], ("gender", "disability"), groups=groups)
        assert not pairs.rejected
        assert {pair.variant: pair.counterfactual for pair in pairs} == expected
        for pair in pairs:
            assert rebuilt(pair) == pair.counterfactual


def test_two_unmarked_parts_are_left_out_together() -> None:
    omission, explicit = twins(
        "A disabled gay man spoke.",
        ("disability", "sexual_orientation"),
        groups=("disability gay", "without straight"),
    )
    assert omission == "A man spoke."
    assert explicit == "A nondisabled straight man spoke."


def test_words_of_both_attributes_at_once_are_lost() -> None:
    pairs = generate_pairs(
        ["A straight woman works here."],
        ("gender", "sexual_orientation"),
        groups=("straight female", "gay male"),
    )
    assert pairs == []
    assert pairs.lost == {"straight woman": 1}


def test_mentions_are_of_one_attribute_each() -> None:
    assert [(m.text, m.group) for m in mentions(LATE, BOTH)] == [
        ("Black", "black"),
        ("woman", "female"),
        ("she", "female"),
    ]


def test_masks_cover_runs_of_both() -> None:
    assert mask(LATE, BOTH) == "The [MASK] said [MASK] was late."
    assert mask("A straight woman", ("gender", "sexual_orientation")) == "A [MASK]"


def test_a_list_of_words_is_not_an_intersection() -> None:
    assert mask("black and white", ("black", "white")) == "[MASK] and [MASK]"


def test_both_attributes_are_masked() -> None:
    for crossed in [("gender", "race"), ["gender", "race"]]:
        assert mask("She is a Black nurse.", crossed) == "[MASK] is a [MASK] nurse."


def test_names_of_attributes_are_not_words_to_mask() -> None:
    for names in [("gender", "race", "age"), ["gender"]]:
        with pytest.raises(ValueError, match=r"'gender'.*names of attributes; give a lexicon"):
            mask("She is a Black nurse.", names)
        with pytest.raises(ValueError, match=r"names of attributes; .* intersection\(first"):
            counterfactual_rouge_l(["She left."], ["He left."], mask=names)


def test_what_cannot_be_crossed_is_an_error() -> None:
    for attribute, message in [
        (("gender", "gender"), "cross two different ones"),
        (("gender",), "cross two attributes"),
        (("gender", "race", "age"), "cross two attributes"),
        (("gender", "rase"), "no lexicon is called 'rase'; did you mean race"),
        ((own("a", ["x", "y"]), own("b", ["y", "z"])), "both have a group 'y'"),
        (
            (own("a", ["x", "y"]), own("b", ["u", "v"], language="es")),
            "their languages are en and es",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            generate_pairs(["she"], attribute)


def test_an_unknown_group_is_an_error_with_a_suggestion() -> None:
    for name in ["blak female", "black", "female", "black female male"]:
        with pytest.raises(ValueError, match=f"gender x race has no group '{name}'; did you mean"):
            generate_pairs([LATE], BOTH, groups=(name, "white male"))


def test_a_group_named_by_its_words_is_suggested() -> None:
    with pytest.raises(ValueError, match=r"no group 'Black women'; did you mean black female\?"):
        generate_pairs([LATE], BOTH, groups=("Black women", "white male"))


WORDS = [
    *("a Black woman", "an Asian aunt", "the white man", "she", "his", "her", "Latinos", "him"),
    *("an African American mother", "said", "met", "saw", ".", ",", "and", "a black car"),
    "Ms. Lee",
]


@given(words=st.lists(st.sampled_from(WORDS), max_size=8))
@settings(max_examples=30, deadline=None)
def test_pairs_are_equal_outside_their_edits_and_once_masked(
    rebuilt: Callable[[Pair], str], words: list[str]
) -> None:
    for pair in generate_pairs([" ".join(words)], BOTH):
        assert rebuilt(pair) == pair.counterfactual
        assert mask(pair.original, BOTH) == mask(pair.counterfactual, BOTH)

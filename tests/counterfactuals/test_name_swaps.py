"""Name swaps: the person asked for changes name, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import (
    Edit,
    Pair,
    Uncertain,
    generate_pairs,
    mask,
    mentions,
    name_lexicon,
)
from pytest_llmfair.lexicons.grammar import EveryMention, Name, Verdict

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

JOHN = ("John", "Jane")


def swapped(text: str, groups: tuple[str, str] = JOHN) -> str:
    """Return the twin, or the text itself where there is no pair."""
    pairs = generate_pairs([text], attribute="name", groups=groups)
    return pairs[0].counterfactual if pairs else text


def test_a_pair_holds_the_names_as_groups() -> None:
    (pair,) = generate_pairs(["Ask John."], attribute="name", groups=JOHN)
    assert pair == Pair(
        "Ask John.", "Ask Jane.", "John", "Jane", (Edit(4, 8, "John", "Jane", 4),), "name"
    )


@pytest.mark.parametrize(
    ("text", "groups", "expected"),
    CASES["possessives articles and words that are names"],
)
def test_possessives_articles_and_words_that_are_names(
    text: str, groups: tuple[str, str], expected: str
) -> None:
    assert swapped(text, groups) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    CASES["full names change word by word"],
)
def test_full_names_change_word_by_word(text: str, expected: str) -> None:
    assert swapped(text, ("Emily Walsh", "Keisha Banks")) == expected


def test_a_shared_last_name_stays() -> None:
    assert swapped("John Smith, Smith", ("John Smith", "Jane Smith")) == "Jane Smith, Smith"


def test_names_of_different_length_change_as_a_whole() -> None:
    assert swapped("John left John Lee", ("John", "Mary Ann")) == "Mary Ann left Mary Ann Lee"
    assert swapped("Lee Kim, Lee", ("Lee Kim", "Kim Lee")) == "Kim Lee, Lee"


def test_mentions_and_masks_use_the_same_lexicon() -> None:
    lexicon = name_lexicon(JOHN)
    assert [(m.text, m.group) for m in mentions("John saw Jane", lexicon)] == [
        ("John", "John"),
        ("Jane", "Jane"),
    ]
    assert mask("Ask John's", lexicon) == mask("Ask Jane's", lexicon) != "Ask John's"


def test_without_groups_the_listed_names_of_all_are_mentions() -> None:
    found = mentions("Mehmet Demir met Agnieszka in Heidi Street.", "names")
    assert [each.group for each in found] == ["turkish", "turkish", "polish"]
    assert mask("Ask Mehmet.", "name") == mask("Ask Agnieszka.", "name") != "Ask Mehmet."


PIECES = st.sampled_from(
    ["John", "JOHN", "john", "Johnson", "Mary", "a", "'s", "'", "-", ".", "\n", "O'", "Dr."]
)
TEXTS = st.lists(
    st.tuples(PIECES | st.text(max_size=3), st.sampled_from([" ", "", "  ", "\n"])), max_size=10
).map(lambda parts: "".join(word + blank for word, blank in parts))


@given(text=TEXTS)
@settings(max_examples=100)
def test_outside_the_edits_both_are_byte_equal(rebuilt: Callable[[Pair], str], text: str) -> None:
    for pair in generate_pairs([text], attribute="name", groups=JOHN):
        for edit in pair.edits:
            assert (edit.before.lower(), edit.after.lower()) == ("john", "jane")
        assert rebuilt(pair) == pair.counterfactual


def test_people_of_one_name_after_a_number() -> None:
    assert swapped("Two Johns and one John") == "Two Janes and one Jane"
    assert swapped("SEVERAL JOHNS") == "SEVERAL JANES"
    assert swapped("both of the two Johns", ("John", "James")) == "both of the two Jameses"
    assert swapped("Johns Hopkins, the Johns") == "Johns Hopkins, the Johns"


@pytest.mark.parametrize(
    ("text", "expected"),
    CASES["a full name changes with its family"],
)
def test_a_full_name_changes_with_its_family(text: str, expected: str) -> None:
    assert swapped(text, ("Emily Walsh", "Keisha Banks")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    CASES["texts that may be uncertain change with the family where they are kept"],
)
def test_uncertain_texts_that_are_kept_change_the_family_name_too(
    text: str, expected: str
) -> None:
    groups = ("Emily Walsh", "Keisha Banks")
    (pair,) = generate_pairs([text], attribute="name", groups=groups, uncertain="keep")
    assert pair.counterfactual == expected


def test_a_full_name_asked_for_is_that_person() -> None:
    assert swapped("Mark Twain wrote.", ("Mark Twain", "Anna Lee")) == "Anna Lee wrote."
    assert swapped("Mark Stone wrote.", ("Mark Twain", "Anna Lee")) == "Mark Stone wrote."


class NoJohn(EveryMention):
    """A grammar to which no name is a person but in capitals."""

    def is_this_person(self, text: str, start: int, end: int, name: Name) -> Verdict:
        assert name == Name(
            "John", "name", frozenset({"john", "jane"}), frozenset({"john", "jane"})
        )
        return Verdict(text[start:end].isupper())


def test_a_user_grammar_is_asked() -> None:
    lexicon = replace(name_lexicon(JOHN), grammar=NoJohn())
    assert [(m.start, m.text) for m in lexicon.mentions("John told JOHN.")] == [(10, "JOHN")]


def test_a_name_in_doubt_makes_its_prompt_uncertain() -> None:
    pairs = generate_pairs(["May is late."], attribute="name", groups=("May", "Tom"))
    assert pairs == []
    assert pairs.uncertain == (Uncertain("May is late.", 0, 3, "'May' is also a month"),)


def test_a_prompt_that_names_both_is_left_out() -> None:
    assert generate_pairs(["Mary, John and Jane"], attribute="name", groups=JOHN) == []


@pytest.mark.parametrize(
    ("groups", "message"),
    CASES["anything but two names is an error"],
)
def test_anything_but_two_names_is_an_error(groups: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generate_pairs(["John left."], attribute="name", groups=groups)


def test_spaces_around_a_name_do_not_count() -> None:
    assert swapped("John left.", (" John ", "Jane\n")) == "Jane left."

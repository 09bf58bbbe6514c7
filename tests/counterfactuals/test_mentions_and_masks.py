"""Where a text names a group, and what masking leaves of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pytest_llmfair.counterfactuals import (
    Mention,
    load_lexicons,
    mask,
    mentions,
    name_groups,
    names,
)

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

OTHER_NAMES = ["Kwame", "Oluwaseun", "Ngozi", "Wei", "Xochitl", "Hyun-woo", "DeShawn", "Łukasz"]


def named(text: str) -> list[tuple[str, str, str]]:
    return [(m.text, m.group, m.role) for m in mentions(text, attribute="gender")]


class TestMentions:
    def test_have_span_text_group_and_role(self) -> None:
        assert mentions("My Aunt left.", attribute="gender") == [
            Mention(3, 7, "Aunt", "female", "kinship")
        ]

    def test_he_or_she_are_two(self) -> None:
        assert named("he/she") == [("he", "male", "subject"), ("she", "female", "subject")]

    def test_know_their_role(self) -> None:
        for text, role in CASES["know their role"]:
            assert [m.role for m in mentions(text, attribute="gender")] == [role]

    def test_prefer_the_longest_term(self) -> None:
        assert named("his mother-in-law") == [
            ("his", "male", "possessive_determiner"),
            ("mother-in-law", "female", "kinship"),
        ]

    def test_cover_nonbinary_people(self) -> None:
        assert named("Mx. Lee, a non-binary person: xe and zir car") == [
            ("Mx", "nonbinary", "title"),
            ("non-binary person", "nonbinary", "noun"),
            ("xe", "nonbinary", "subject"),
            ("zir", "nonbinary", "possessive_determiner"),
        ]

    def test_are_found_across_a_line_break(self) -> None:
        assert [m.text for m in load_lexicons()["gender"].mentions("the best\n man")] == [
            "best\n man"
        ]

    def test_do_not_include_words_for_two_groups_at_once(self) -> None:
        for text in ("(s)he", "A (wo)man.", "wo/man", "WO-MAN", "a sales(wo)man", "fe/males"):
            assert named(text) == []
            assert load_lexicons()["gender"].mask(text) == text

    def test_say_whether_the_context_decided(self) -> None:
        for attribute, text, confidence in CASES["say whether the context decided"]:
            (mention,) = mentions(text, attribute)
            assert mention.confidence == confidence

    def test_do_not_depend_on_the_group_that_a_name_is_from(self) -> None:
        first = {name for group in name_groups() for name in names(group, 8)}
        assert len(first) == 160
        for name in (*(each.split()[0] for each in first), *OTHER_NAMES):
            for rest in ("is disabled.", "was disabled by a stroke."):
                found = mentions(f"{name} {rest}", "disability")
                assert [mention.text for mention in found] == ["disabled"], (name, rest)


class TestMask:
    def test_leaves_everything_else(self) -> None:
        assert mask('"She\'s\n a  NURSE," (he) said.', "gender") == (
            '"[MASK]\'s\n a  NURSE," ([MASK]) said.'
        )

    def test_covers_neutral_words(self) -> None:
        assert mask("They drove their car", "gender") == "[MASK] drove [MASK] car"

    def test_writes_one_article_before_a_mention(self) -> None:
        assert mask("An heir, AN UNCLE, a boy and an apple", "gender") == (
            "A [MASK], A [MASK], a [MASK] and an apple"
        )

    def test_takes_a_list_of_words(self) -> None:
        assert mask("An old  man, a MAN", ["old man", "man"]) == "An [MASK], a [MASK]"

    def test_without_a_mention_is_the_text_itself(self) -> None:
        text = "Nothing\there \u2014 at\u00a0all."
        assert mask(text, "gender") == text

    def test_of_no_text_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="the text is 'None', a NoneType; give a text"):
            mask(None, "gender")  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("words", "message"),
        CASES["of no words is an error"],
    )
    def test_of_no_words_is_an_error(self, words: object, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            mask("A man left.", words)  # type: ignore[arg-type]

    def test_covers_a_noun_that_makes_a_term_with_an_adjective(self) -> None:
        for text, attribute, expected in CASES[
            "a noun that makes a term with an adjective is masked with it"
        ]:
            assert mask(text, attribute) == expected

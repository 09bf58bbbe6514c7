"""Typical sentences in which a word names persons of a group, or does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from pytest_llmfair.lexicons.english import person_adjectives, person_nouns
from pytest_llmfair.lexicons.grammar import Verdict, grammar_for

Families = dict[str, dict[str, list[str]]]


@pytest.fixture(scope="module")
def typical() -> dict[str, Families]:
    file = Path(__file__).with_name("typical_cases.yaml")
    found: dict[str, Families] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


def read(marked: str, kind: str) -> Verdict:
    """Read the term in brackets."""
    match = re.fullmatch(r"(?s)(.*?)\[(.+?)\](.*)", marked)
    assert match, marked
    counts = person_adjectives.counts if kind == "person_adjective" else person_nouns.counts
    return counts(match[1] + match[2] + match[3], match.end(1), match.end(1) + len(match[2]))


def misread(families: Families, kind: str, names: list[str]) -> list[tuple[str, str]]:
    """Return the family and the sentence of every wrong answer."""
    return [
        (name, text)
        for name in names
        for expected, texts in ((True, families[name]["counts"]), (False, families[name]["not"]))
        for text in texts
        if read(text, kind).answer is not expected
    ]


def test_every_family_is_tested(typical: dict[str, Families]) -> None:
    assert set(typical["person_adjective"]) == {*ATTRIBUTES, *PREDICATES, *GROUPS, *SEXES}
    assert set(typical["person_noun"]) == {*COLLECTIVES, *GROUP_NOUNS, *PERSONS}


ATTRIBUTES = ["before a person noun", "compared with others", "in a hyphenated word"]
PREDICATES = ["said of a person"]
GROUPS = ["words that only name a group"]
SEXES = ["male and female"]
COLLECTIVES = ["all of a group"]
GROUP_NOUNS = ["one of a people or a faith", "several", "gods"]
PERSONS = ["nouns for persons", "exclamations and verbs", "names of works"]


def test_adjectives_before_a_person_noun(typical: dict[str, Families]) -> None:
    assert misread(typical["person_adjective"], "person_adjective", ATTRIBUTES) == []


def test_adjectives_said_of_a_person(typical: dict[str, Families]) -> None:
    assert misread(typical["person_adjective"], "person_adjective", PREDICATES) == []


def test_adjectives_that_only_name_a_group(typical: dict[str, Families]) -> None:
    assert misread(typical["person_adjective"], "person_adjective", GROUPS) == []


def test_male_and_female(typical: dict[str, Families]) -> None:
    assert misread(typical["person_adjective"], "person_adjective", SEXES) == []


def test_adjectives_that_name_all_of_a_group(typical: dict[str, Families]) -> None:
    assert misread(typical["person_noun"], "person_noun", COLLECTIVES) == []


def test_nouns_for_members_of_a_group(typical: dict[str, Families]) -> None:
    assert misread(typical["person_noun"], "person_noun", GROUP_NOUNS) == []


def test_nouns_for_persons(typical: dict[str, Families]) -> None:
    assert misread(typical["person_noun"], "person_noun", PERSONS) == []


def test_the_group_of_the_word_makes_no_difference() -> None:
    frames = {
        "person_adjective": (
            ("A [{}] engineer spoke.", "She is [{}].", "A [{}] car stopped.", "[{}] art sold."),
            (("Black", "Asian"), ("German", "Nigerian"), ("deaf", "blind"), ("old", "young")),
        ),
        "person_noun": (
            ("A [{}] spoke.", "The [{}] diet works.", "The [{}] are kind.", "Her [{}] is good."),
            (("Muslim", "Hindu"), ("Italian", "Kenyan"), ("deaf", "blind"), ("Dutch", "Irish")),
        ),
    }
    unlike = [
        (frame, pair)
        for kind, (texts, pairs) in frames.items()
        for frame in texts
        for pair in pairs
        if len({read(frame.format(word), kind).answer for word in pair}) > 1
    ]
    assert unlike == []


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        ("person_noun", "The [old] rate fell.", "'rate' after 'The old' can be a noun or a verb"),
        ("person_noun", "I like Waffle [Man].", "'Man' with its capital can be part of a name"),
        ("person_adjective", "Gizmo is [disabled].", "'Gizmo' can be a person or a program"),
    ],
)
def test_doubts_name_the_words(kind: str, text: str, why: str) -> None:
    verdict = read(text, kind)
    assert not verdict.sure
    assert verdict.why == why


def test_the_grammar_asks_these_rules() -> None:
    grammar = grammar_for("en")
    assert grammar.counts("A Black engineer spoke.", 2, 7, "person_adjective").answer is True
    assert grammar.counts("A black car stopped.", 2, 7, "person_adjective").answer is False
    assert grammar.counts("The woman left.", 4, 9, "person_noun") == Verdict(True)

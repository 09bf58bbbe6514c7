"""Sentences that any reader of English must get right: what the rules say, and what is made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair.counterfactuals import generate_pairs, mask, mentions
from pytest_llmfair.lexicons.english.english import English
from pytest_llmfair.lexicons.grammar import Name

CASES = yaml.safe_load(Path(__file__).with_name("typical_cases.yaml").read_text("utf-8"))
MARK = re.compile("«(.+?)»")
ENGLISH = English()
ROLES = {
    "her": ("object", "possessive_determiner"),
    "his": ("possessive_determiner", "possessive_pronoun"),
    "he": ("subject",),
}
READINGS = {
    "object": "object",
    "possessive_determiner": "owner",
    "possessive_pronoun": "alone",
    "": "thing",
}

Family = dict[str, Any]


def spans(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a sentence without its marks, and where the marked words are."""
    found = [
        (match.start() - 2 * number, match.end() - 2 - 2 * number)
        for number, match in enumerate(MARK.finditer(marked))
    ]
    return MARK.sub(r"\1", marked), found


def reading(text: str, start: int, end: int) -> str:
    verdict = ENGLISH.role(text, start, end, ROLES[text[start:end].lower()])
    return READINGS[str(verdict.answer)] if verdict.sure else "open"


@pytest.mark.parametrize("family", CASES["roles"])
def test_pronouns(family: str) -> None:
    wrong = [
        (sentence, found)
        for expected, sentences in CASES["roles"][family].items()
        for sentence in sentences
        for text, places in [spans(sentence)]
        if {expected} != (found := {reading(text, *place) for place in places})
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "family"), [(kind, family) for kind, own in CASES["kinds"].items() for family in own]
)
def test_terms(kind: Any, family: str) -> None:
    wrong = [
        sentence
        for expected, sentences in CASES["kinds"][kind][family].items()
        for sentence in sentences
        for text, places in [spans(sentence)]
        if {expected == "counts"} != {ENGLISH.counts(text, *at, kind).answer for at in places}
    ]
    assert wrong == []


def with_marks(text: str, name: str, forms: frozenset[str]) -> str:
    """Return a text with the marks that the rules put on a name."""
    asked = Name(name, "name", forms, forms)

    def mark(match: re.Match[str]) -> str:
        verdict = ENGLISH.is_this_person(text, *match.span(), asked)
        left, right = "«»" if verdict.sure else "??"
        return f"{left}{match[0]}{right}" if verdict.answer else match[0]

    return re.sub(rf"\b{name}\b", mark, text, flags=re.IGNORECASE)


@pytest.mark.parametrize("family", CASES["names"])
def test_names(family: str) -> None:
    name, other = CASES["names"][family]["groups"]
    forms = frozenset((name.lower(), other.lower()))
    plain = re.compile(rf"[«?]({name})[»?]", re.IGNORECASE)
    wrong = [
        (expected, found)
        for expected in CASES["names"][family]["texts"]
        if (found := with_marks(plain.sub(r"\1", expected), name, forms)) != expected
    ]
    assert wrong == []


def cases(section: str) -> Iterator[tuple[str, Family, str, Any]]:
    for name, family in CASES[section].items():
        for text, expected in family["cases"].items():
            yield name, family, text, expected


def twin(text: str, family: Family, back: bool = False) -> str | None:
    """Return the first counterfactual, or None."""
    groups = tuple(family["groups"][:: -1 if back else 1]) if "groups" in family else None
    pairs = generate_pairs([text], family["attribute"], groups)
    return pairs[0].counterfactual if pairs else None


def test_prompts_become_their_twins() -> None:
    wrong = [
        (name, text, found)
        for name, family, text, expected in cases("pairs")
        if (found := twin(text, family)) != expected
    ]
    assert wrong == []


def test_twins_become_their_prompts() -> None:
    wrong = [
        (name, expected, found)
        for name, family, text, expected in cases("pairs")
        if not family.get("one_way") and (found := twin(expected, family, back=True)) != text
    ]
    assert wrong == []


def test_both_are_equal_once_masked() -> None:
    wrong = [
        (name, text, expected)
        for name, family, text, expected in cases("pairs")
        if family["attribute"] != "name" and not family.get("left_out")
        if mask(text, family["attribute"]) != mask(expected, family["attribute"])
    ]
    assert wrong == []


def test_mentions_are_found() -> None:
    wrong = [
        (name, text, found)
        for name, family, text, expected in cases("mentions")
        if (found := [m.text for m in mentions(text, family["attribute"])]) != expected
    ]
    assert wrong == []

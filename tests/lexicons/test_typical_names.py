"""Which words of typical sentences are the person of a name swap."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from pytest_llmfair.lexicons.grammar import Name, grammar_for

FAMILIES = (
    "whole words and their case",
    "somebody else of the name",
    "first names of two words",
    "last names alone",
    "words",
    "verbs",
    "months",
    "places",
    "firms",
    "peoples",
    "the name elsewhere",
)


def read(text: str, name: str, forms: frozenset[str]) -> str:
    """Return the text with the marks that the English grammar puts on a name."""
    grammar, marked = grammar_for("en"), text
    for match in reversed(list(re.finditer(rf"\b{name}\b", text, re.IGNORECASE))):
        start, end = match.span()
        verdict = grammar.is_this_person(text, start, end, Name(name, "name", forms, forms))
        assert bool(verdict.why) is not verdict.sure
        marks = "[]" if verdict.sure else "??"
        if verdict.answer:
            marked = f"{marked[:start]}{marks[0]}{match[0]}{marks[1]}{marked[end:]}"
    return marked


@pytest.mark.parametrize("family", FAMILIES)
def test_typical_sentences(family: str) -> None:
    cases = yaml.safe_load(Path(__file__).with_name("typical_cases.yaml").read_text("utf-8"))
    name, other = cases["names"][family]["groups"]
    forms = frozenset((name.lower(), other.lower()))
    mark = re.compile(rf"[\[?]({name})[\]?]", re.IGNORECASE)
    wrong = []
    for expected in cases["names"][family]["texts"]:
        got = read(mark.sub(r"\1", expected), name, forms)
        if got != expected:
            wrong.append(f"expected {expected!r}\ngot      {got!r}")
    assert not wrong, "\n".join(wrong)


def test_the_reason_names_the_word_and_what_it_can_be() -> None:
    verdict = grammar_for("en").is_this_person(
        "May is late.", 0, 3, Name("May", "name", frozenset({"may"}), frozenset({"may", "tom"}))
    )
    assert verdict.why == "'May' is also a month"

"""Pronouns of animals whose name tells their sex: "the hen sat on her eggs"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import low
from pytest_llmfair.lexicons.english.english import (
    LETTERS,
    Around,
    is_one_of,
    word_classes,
)
from pytest_llmfair.lexicons.english.pronouns.persons_meant import may_be_meant

_FEMALE = (
    r"lioness|tigress|leopardess|she-wolf|mare|filly|heifer|cow|ewe|hen|sow|vixen|peahen"
    r"|(?:nanny|she)[ -]goat|queen (?:bee|ant|wasp|termite)"
)
_MALE = (
    r"stallion|gelding|bull|bullock|ram|rooster|cockerel|stag|gander|(?:billy|he)[ -]goat|tomcat"
)
_OF_FEMALE = ("she", "her", "hers", "herself")
_KINDS = {sex: re.compile(rf"\b(?:{sex})\b", re.IGNORECASE) for sex in (_FEMALE, _MALE)}
_STOPS = ".!?\n"
_WINDOW = 110
_WORDS = re.compile(LETTERS)


def has_animal_part(around: Around) -> bool:
    """Whether an animal has what follows: "the hen sat on her eggs"; not "pulled her cart"."""
    first, second, _ = around.next
    parts = word_classes()["animal_parts"]
    if first not in parts and second not in parts:
        return False  # the usual case at less cost
    return is_of_animal(around.text, around.start, around.end)


def is_of_animal(text: str, start: int, end: int) -> bool:
    """Whether an animal in the same sentence is meant, and no person can be: no "Ann's hen"."""
    word = text[start:end].lower()
    near = max(0, start - _WINDOW)
    begin = 1 + max(text.rfind(mark, near, start) for mark in _STOPS)
    if not begin and near:
        return False
    kind = _KINDS[_FEMALE if word in _OF_FEMALE else _MALE]
    animals = [found.span() for found in kind.finditer(text, begin, start)]
    if not animals:
        return False
    for found in _WORDS.finditer(text, begin, start):
        inside = any(first <= found.start() < last for first, last in animals)
        called = any(found.start() == last + 1 for _, last in animals)  # "our cow Daisy"
        if inside or (called and found[0][0].isupper()):
            continue
        if may_be_meant(found[0], low(found[0])) and not is_one_of(low(found[0]), "animals"):
            return False
    return True

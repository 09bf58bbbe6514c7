"""How an English word is used: as a noun, as an exclamation, to call somebody, in a street name.

Every rule looks at the words around the term only, as those of ``_persons.py`` do.
"""

from __future__ import annotations

import re

from pytest_llmfair.counterfactuals._language.english import is_one_of

_LETTERS = r"[^\W\d_][\w'\u2019-]*"
_NEXT = re.compile(rf"[^\S\n]+({_LETTERS})")
_COMMA = re.compile(r",[^\S\n]+([^\s,.!?;:]+)")
_WORD_BEFORE = re.compile(rf"({_LETTERS})[^\S\n]+\Z")
_COMMA_BEFORE = re.compile(rf"(?:({_LETTERS})[\"'\u201d\u2019]?)?,[^\S\n]+\Z")
_SENTENCE = re.compile(r"(?:\A|[.!?:\n\u2026\u2014])[\s\"'\u201c\u2018(*_>#-]*\Z")
_POINT = re.compile(r"\.[^\S\n]*[^\W\d_]")
_END = re.compile(r"[,.!?;]|\s*\Z|\s*\n")
_NEAR = 40


def is_noun(text: str, start: int, end: int) -> bool:
    """Whether it is a noun: no verb ("to man the desk"), no exclamation ("Man, it hurts")."""
    return not (_is_verb(text, start, end) or _is_exclaimed(text, start, end))


def is_address(text: str, start: int, end: int) -> bool:
    """Whether the word calls somebody: "Excuse me, miss, is this seat taken?"."""
    if not _END.match(text, end):
        return False
    before = _COMMA_BEFORE.search(text, max(0, start - _NEAR), start)
    return before is not None and before[1] is not None and is_one_of(_low(before[1]), "polite")


def is_place(text: str, end: int) -> bool:
    """Whether a street, a school or another place is named, as in "King Street"."""
    behind = _NEXT.match(text, end)
    return behind is not None and behind[1][0].isupper() and is_one_of(_low(behind[1]), "places")


def is_pointed(text: str, start: int, end: int) -> bool:
    """Whether it is short for a title: "MS. LEE", "ms. lee"; not "5 ms. later"."""
    before = text[max(0, start - _NEAR) : start].rstrip()
    return not before[-1:].isdigit() and _POINT.match(text, end) is not None


def _is_verb(text: str, start: int, end: int) -> bool:
    behind = _NEXT.match(text, end)
    if behind is None or not is_one_of(_low(behind[1]), "articles"):
        return False
    before = _WORD_BEFORE.search(text, max(0, start - _NEAR), start)
    if before is None:
        return _SENTENCE.search(text, max(0, start - _NEAR), start) is not None
    return is_one_of(_low(before[1]), "before_verbs")


def _is_exclaimed(text: str, start: int, end: int) -> bool:
    behind = _COMMA.match(text, end)
    following = _low(behind[1]) if behind else ""
    if following[:1].isdigit() or is_one_of(following, "person_nouns"):
        return False
    if _SENTENCE.search(text, max(0, start - _NEAR), start):
        return behind is not None
    before = _COMMA_BEFORE.search(text, max(0, start - _NEAR), start)
    if before is None or not _END.match(text, end):
        return False
    return before[1] is None or not is_one_of(_low(before[1]), "person_nouns")


def _low(word: str) -> str:
    return word.lower().replace("\u2019", "'")

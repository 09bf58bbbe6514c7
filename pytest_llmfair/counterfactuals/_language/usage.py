"""How an English word is used: as a noun, as an exclamation, to call somebody, in a street name.

Every rule looks at the words around the term only, as those of ``_persons.py`` do.
"""

from __future__ import annotations

import re

from pytest_llmfair.counterfactuals._language.english import is_one_of, words_of
from pytest_llmfair.counterfactuals._language.person_words import is_modifier, is_person
from pytest_llmfair.counterfactuals._language.persons import is_in_name

_LETTERS = r"[^\W\d_][\w'\u2019-]*"
_NEXT = re.compile(rf"[^\S\n]+({_LETTERS})")
_COMMA = re.compile(r",[^\S\n]+([^\s,.!?;:]+)")
_WORD_BEFORE = re.compile(rf"({_LETTERS})[^\S\n]+\Z")
_COMMA_BEFORE = re.compile(rf"(?:({_LETTERS})[\"'\u201d\u2019]?)?,[^\S\n]+\Z")
_SENTENCE = re.compile(r"(?:\A|[.!?:\n\u2026\u2014])[\s\"'\u201c\u2018(*_>#-]*\Z")
_POINT = re.compile(r"\.[^\S\n]*[^\W\d_]")
_END = re.compile(r"[,.!?;]|\s*\Z|\s*\n")
_NEAR = 40
_STOP = re.compile(r"[.!?\n](?=\s|\Z)")
# Squares of a chessboard, and moves; the words of games and hives are in the list.
_SQUARE = re.compile(r"[a-h][1-8]\b|ove \d|n chess\b")
_DIGIT = re.compile("[0-9]")
_FAR = 80
_LOWER = re.compile("[a-z]+")


def is_noun(text: str, start: int, end: int) -> bool:
    """Whether it is a noun: no verb ("to man the desk"), no exclamation ("Man, it hurts").

    Nor may it end a name, as `is_no_work` tells.
    """
    if _is_verb(text, start, end) or _is_exclaimed(text, start, end):
        return False
    return is_no_work(text, start, end)


def is_no_work(text: str, start: int, end: int) -> bool:
    """Whether it ends no name of a work, a band or a team: "Derry Girls", "Wonder Woman"."""
    if not text[start].isupper() or text[start:end].isupper():
        return True
    before = _WORD_BEFORE.search(text, max(0, start - _NEAR), start)
    if before is None or not before[1][0].isupper():
        return True
    word = _low(before[1])
    if is_one_of(word, "subjects") and not is_one_of(word, "demonyms"):  # "The History Boys"
        return False
    return is_one_of(word, "polite") or not is_in_name(text, start, end)


def is_royal(text: str, start: int, end: int) -> bool:
    """Whether a king or queen is a ruler: no piece, no card, no bee, no band, no surname."""
    word = text[start:end]
    if word[0].isupper() and not word.isupper() and _is_bare_name(text, start, end):
        return False
    return not _is_piece(text, start, end)


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


def _is_piece(text: str, start: int, end: int) -> bool:
    """Whether the sentence tells of a game or a hive."""
    first, last = max(0, start - _FAR), end + _FAR
    known = words_of("pieces")
    near = text[first:last]
    numbered = "chess" in near or _DIGIT.search(near)
    if not numbered and known.isdisjoint(near.replace(".", " ").replace(",", " ").split()):
        return False  # the usual case at less cost
    for stop in _STOP.finditer(text, first, start):
        first = stop.end()
    behind = _STOP.search(text, end, last)
    sentence = text[first : behind.start() if behind else last]
    named = not known.isdisjoint(_LOWER.findall(sentence))
    return named or _SQUARE.search(sentence) is not None


def _is_bare_name(text: str, start: int, end: int) -> bool:
    """Whether nothing tells a ruler: "songs by Queen", "Prince released"; not "the Queen"."""
    following = _NEXT.match(text, end)
    behind = following[1] if following else ""
    if behind[:1].isupper() or is_one_of(behind, "behind_ruler"):
        return False
    before = _WORD_BEFORE.search(text, max(0, start - _NEAR), start)
    near = _LOWER.findall(text, max(0, start - _FAR), end + _FAR)
    if (before is None or is_one_of(_low(before[1]), "be")) and not words_of("music").isdisjoint(
        near
    ):
        return True  # "My favourite band is Queen."
    if before is None:
        past = behind.endswith("ed") or is_one_of(behind, "past_verbs")
        past = past or any(is_one_of(behind, kind) for kind in ("finite_verbs", "acted"))
        return past and _SENTENCE.search(text, max(0, start - _NEAR), start) is not None
    word = _low(before[1])
    if word == "of":
        office = _WORD_BEFORE.search(text, max(0, before.start() - _NEAR), before.start())
        return office is None or not is_one_of(_low(office[1]), "offices_of")
    if is_one_of(word, "articles") or is_one_of(word, "before_ruler") or is_modifier(word):
        return False
    return any(is_one_of(word, kind) for kind in ("closed", "perceive", "enjoying"))


def _is_verb(text: str, start: int, end: int) -> bool:
    behind = _NEXT.match(text, end)
    if behind is None or not is_one_of(_low(behind[1]), "articles"):
        return False
    before = _WORD_BEFORE.search(text, max(0, start - _NEAR), start)
    if before is None:
        return _SENTENCE.search(text, max(0, start - _NEAR), start) is not None
    word = _low(before[1])
    if is_one_of(word, "before_verbs"):
        return True
    several = word.endswith("s") and not word.endswith(("ss", "'s", "us"))
    return (several or is_one_of(word, "plurals")) and is_person(word)  # "volunteers man the bar"


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

"""Initials and middle names of a person: "E. Walsh", "Walsh, E.", "Emily Jane Walsh"."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from pytest_llmfair.lexicons.english.english import LETTERS, is_one_of
from pytest_llmfair.lexicons.english.persons.words import is_person, is_verb

# "A" and "I" without a dot are words.
_CAPITAL = r"[^\W\d_a-z](?:\.|(?<![AI])(?=[^\S\n]))"
_IN_FRONT = re.compile(
    rf"(?<![\w.'\u2019-])(?=(\w)){_CAPITAL}(?:[^\S\n]*{_CAPITAL}){{0,3}}[^\S\n]*\Z"
)
_WORD_IN_FRONT = re.compile(rf"({LETTERS})\.?[^\S\n]+\Z")
_BEFORE_LAST = re.compile(rf"[^\S\n]+([^\W\d_])\.[^\S\n]+({LETTERS})")
# "Walsh, Daniel" as a list has it: alone in a line or a cell.
_LISTED = re.compile(rf",[^\S\n]+({LETTERS})(?:[^\S\n]+[A-Z]\.)*(?=[^\S\n]*(?:[|;\n\t\"\])]|\Z))")
_LINE_FRONT = re.compile(r"(?:\A|[\n|;\t\":]|\n[^\S\n]*(?:[-*\u2022]|\d{1,3}[.)]))[^\S\n]*\Z")
_NO_NAMES = ("closed", "titles", "abbreviations", "polite", "labels", "greetings")
_NEAR = 60


class _Patterns(NamedTuple):
    """What stands around the parts of a full name where they are that person's."""

    last_behind: re.Pattern[str]
    last_front: re.Pattern[str]
    first_front: re.Pattern[str]
    alone: re.Pattern[str]
    both_behind: re.Pattern[str]
    both_front: re.Pattern[str]
    middle_behind: re.Pattern[str]
    middle_front: re.Pattern[str]


@functools.lru_cache(maxsize=256)
def _patterns(name: str) -> _Patterns:
    first, last = (re.escape(part) for part in (name.split()[0], name.split()[-1]))
    stop = r"(?=[^\S\n]*(?:[,;:)\]\"'\u201d\u2019|(/&]|\Z|\n))"
    cap = r"[^\W\d_a-z][\w'\u2019-]*\.?[^\S\n]+"
    others = (
        rf"(?:\.(?:[^\S\n]?[^\W\d_]\.){{0,2}}[^\S\n]*|[^\S\n]+(?:[^\W\d_][^\S\n]+){{0,2}}){last}(?![\w-])",
        rf"(?<![\w-]){last},?[^\S\n]+\Z",
        rf"(?<![\w-]){first}[^\S\n]+\Z",
        rf"(?:\.|{stop})(?![^\S\n]*{last})",
        rf"\.[^\S\n]?{re.escape(name.split()[-1][0])}\.",
        rf"(?<![\w.]){re.escape(name[0])}\.[^\S\n]?\Z",
    )
    middles = (
        rf"[^\S\n]+((?:{cap}){{0,2}}){last}(?![\w-])",
        rf"(?<![\w-]){first}[^\S\n]+((?:{cap}){{0,2}})\Z",
    )
    either = [re.compile(each, re.IGNORECASE) for each in others]
    return _Patterns(*either, *(re.compile(f"(?:{each})") for each in middles))


def is_no_name(word: str) -> bool:
    """Whether a lower-case word in front of a name is no first name: "Mrs", "Ask", "Please"."""
    if is_one_of(word, "first_names"):
        return False
    if any(is_one_of(word, kind) for kind in _NO_NAMES) or is_person(word):
        return True
    return not is_one_of(word, "also_word") and is_verb(word, "", bare=True)


def is_first_initial(text: str, start: int, end: int, name: str) -> bool:
    """Whether a letter stands for the first name: "E. Walsh", "Walsh, E.", "E.W."."""
    around, near = _patterns(name), max(0, start - _NEAR)
    if text[end : end + 1] != "." and text[start:end].upper() in ("A", "I"):
        return False
    if around.last_behind.match(text, end):
        return not _is_behind_another(text, start, name)
    listed = around.last_front.search(text, near, start)
    if listed is not None and not _is_behind_another(text, listed.start(), name):
        return around.alone.match(text, end) is not None
    together = around.both_behind.match(text, end) is not None
    return together and text[start - 1 : start] != "." and _is_named(text, name)


def is_last_initial(text: str, start: int, end: int, name: str) -> bool:
    """Whether a letter stands for the last name: "Emily W.", "E.W."."""
    around, near = _patterns(name), max(0, start - _NEAR)
    if around.first_front.search(text, near, start):
        return around.alone.match(text, end) is not None
    together = around.both_front.search(text, near, start) is not None
    return together and text[end : end + 1] == "." and _is_named(text, name)


def has_first_name(text: str, start: int, name: str) -> bool:
    """Whether the first name stands in front, with up to two others: "Emily Jane Walsh"."""
    front = _patterns(name).middle_front.search(text, max(0, start - _NEAR), start)
    return front is not None and _are_names(front[1])


def has_last_name(text: str, end: int, name: str) -> bool:
    """Whether the last name follows, behind up to two others."""
    behind = _patterns(name).middle_behind.match(text, end, end + _NEAR)
    return behind is not None and _are_names(behind[1])


def is_another_initial(text: str, start: int, name: str) -> bool:
    """Whether the initials in front of a last name are somebody else's: "D. Walsh"."""
    found = _IN_FRONT.search(text, max(0, start - _NEAR), start)
    if found is None:
        return False
    dotted = text[found.start() + 1] == "."
    if found[1] in ("A", "I") and not (dotted and found[1] == "A"):
        return False
    if _is_behind_another(text, found.start(), name):
        return True
    before = _WORD_IN_FRONT.search(text, max(0, found.start() - _NEAR), found.start())
    word = before[1].casefold() if before is not None else ""
    if is_one_of(word, "labels"):  # "Plan B. Walsh"
        return False
    return word != name.split()[0].casefold() and found[1].casefold() != name[0].casefold()


def is_before_another(text: str, end: int, name: str) -> bool:
    """Whether an initial and another last name follow: "Emily J. Stone"."""
    behind = _BEFORE_LAST.match(text, end)
    if behind is None or not behind[2][0].isupper() or behind[2].isupper():
        return False
    last = name.split()[-1].casefold()
    own = behind[1].casefold() == last[0] or behind[2].casefold() == last
    return not own and not is_no_name(behind[2].lower())


def is_listed_with_another(text: str, start: int, end: int, name: str) -> bool:
    """Whether a list has another first name behind the last: "Walsh, Daniel" in a line."""
    behind = _LISTED.match(text, end)
    if behind is None or behind[1].casefold() == name.split()[0].casefold():
        return False
    given = is_one_of(behind[1].lower(), "first_names")
    return given and _LINE_FRONT.search(text, max(0, start - _NEAR), start) is not None


def _is_behind_another(text: str, start: int, name: str) -> bool:
    """Whether another first name or initial is in front: "John E. Walsh"."""
    near = max(0, start - _NEAR)
    if text[start - 1 : start] == "." or _IN_FRONT.search(text, near, start):
        return True
    before = _WORD_IN_FRONT.search(text, near, start)
    if before is None or not before[1][0].isupper():
        return False
    word = before[1].lower()
    if before[1].isupper() and not is_one_of(word, "first_names"):
        return False
    return word != name.split()[0].casefold() and not is_no_name(word)


def _are_names(words: str) -> bool:
    return not any(is_one_of(word.lower().strip("."), "closed") for word in words.split())


@functools.lru_cache(maxsize=8)  # it looks through a whole text, which can hold many terms
def _is_named(text: str, name: str) -> bool:
    """Whether the text holds first and last name too."""
    parts = (name.split()[0], name.split()[-1])
    return all(re.search(rf"\b{re.escape(part)}\b", text) for part in parts)

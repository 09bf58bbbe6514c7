"""Initials and middle names of a person: "E. Walsh", "Walsh, E.", "Emily Jane Walsh"."""

from __future__ import annotations

import functools
import re

from pytest_llmfair.lexicons.english.english import LETTERS, is_one_of
from pytest_llmfair.lexicons.english.persons.words import is_person, is_verb

# "A" and "I" without a dot are words.
_CAPITAL = r"[^\W\d_a-z](?:\.|(?<![AI])(?=[^\S\n]))"
_IN_FRONT = re.compile(
    rf"(?<![\w.'\u2019-])(?=(\w)){_CAPITAL}(?:[^\S\n]*{_CAPITAL}){{0,3}}[^\S\n]*\Z"
)
_WORD_IN_FRONT = re.compile(rf"({LETTERS})\.?[^\S\n]+\Z")
_NAMES = r"((?:[^\W\d_a-z][\w'\u2019-]*\.?[^\S\n]+){0,2})"
_NO_NAMES = ("closed", "titles", "abbreviations", "polite", "labels", "greetings", "styles")
_NEAR = 60


def is_no_name(word: str) -> bool:
    """Whether a lower-case word in front of a name is no first name: "Mrs", "Ask", "Please"."""
    if is_one_of(word, "first_names"):
        return False
    if any(is_one_of(word, kind) for kind in _NO_NAMES) or is_person(word):
        return True
    return not is_one_of(word, "also_word") and is_verb(word, "", bare=True)


def is_initial(text: str, start: int, end: int, name: str, *, last: bool) -> bool:
    """Whether a letter stands for a part of a name: "E. Walsh", "Walsh, E.", "Emily W."."""
    around = f"{text[max(0, start - _NEAR) : start]}\0{text[start:end]}\0{text[end : end + _NEAR]}"
    as_first, as_last, both = _initials_of(name)
    found = (as_last if last else as_first).search(around)
    if found is not None:
        return last or not _is_behind_another(around, found.start(), name)
    return both.search(around) is not None and _is_named(text, name)


@functools.lru_cache(maxsize=256)
def _initials_of(name: str) -> tuple[re.Pattern[str], ...]:
    """Return what stands around the initials of a name, set off by null characters."""
    first, last = (re.escape(part) for part in (name.split()[0], name.split()[-1]))
    e, w, gap = re.escape(name[0]), re.escape(name.split()[-1][0]), r"[^\S\n]"
    ends = rf"(?:\.|(?={gap}*(?:[,;:)\]\"'\u201d\u2019|(/&]|\Z|\n)))(?!{gap}*{last})"
    dotted = rf"\.(?:{gap}?[^\W\d_]\.){{0,2}}{gap}*"
    bare = rf"(?<![AIai]\0){gap}+(?:[^\W\d_]{gap}+){{0,2}}"
    patterns = (
        rf"\0\w\0(?:{dotted}|{bare}){last}(?![\w-])|(?<![\w-]){last},?{gap}+\0\w\0{ends}",
        rf"(?<![\w-]){first}{gap}+\0\w\0{ends}",
        rf"(?<![\w.])\0{e}\0\.{gap}?{w}\.|(?<![\w.]){e}\.{gap}?\0{w}\0\.",
    )
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


@functools.lru_cache(maxsize=8)  # it looks through a whole text, which can hold many terms
def _is_named(text: str, name: str) -> bool:
    """Whether the text holds first and last name too."""
    parts = (name.split()[0], name.split()[-1])
    return all(re.search(rf"\b{re.escape(part)}\b", text) for part in parts)


def is_in_full(text: str, start: int, end: int, name: str, *, last: bool) -> bool:
    """Whether first or last name is beside the other, or with middle names: "Emily J. Walsh"."""
    first, family = (re.escape(part) for part in (name.split()[0], name.split()[-1]))
    if last:
        found = re.search(
            rf"(?<![\w-]){first}[^\S\n]+{_NAMES}\Z", text[max(0, start - _NEAR) : start]
        )
    else:
        found = re.match(rf"[^\S\n]+{_NAMES}{family}(?![\w-])", text[end : end + _NEAR])
    between = found[1].lower().split() if found is not None else ["the"]
    return not any(is_one_of(word.strip("."), "closed") for word in between)


def is_another_initial(text: str, start: int, name: str) -> bool:
    """Whether the initials in front of a last name are somebody else's: "D. Walsh"."""
    found = _IN_FRONT.search(text, max(0, start - _NEAR), start)
    if found is None or (found[1] in ("A", "I") and found[0][:2] != "A."):
        return False
    if _is_behind_another(text, found.start(), name):
        return True
    before = _WORD_IN_FRONT.search(text, max(0, found.start() - _NEAR), found.start())
    word = before[1].casefold() if before is not None else ""
    own = word == name.split()[0].casefold() or found[1].casefold() == name[0].casefold()
    return not own and not is_one_of(word, "labels")  # "Plan B. Walsh"


def _is_behind_another(text: str, start: int, name: str) -> bool:
    """Whether another first name or initial is in front: "John E. Walsh"."""
    near = max(0, start - _NEAR)
    if text[start - 1 : start] == "." or _IN_FRONT.search(text, near, start):
        return True
    before = _WORD_IN_FRONT.search(text, near, start)
    word = before[1].lower() if before is not None else ""
    if before is None or not before[1][0].isupper() or word == name.split()[0].casefold():
        return False
    return not is_no_name(word) and (not before[1].isupper() or is_one_of(word, "first_names"))

"""Hyphenated words that hold a term: "Black-owned", "all-white", "Korean-American"."""

from __future__ import annotations

import re
from typing import NamedTuple

from pytest_llmfair.lexicons.english.english import is_one_of

_PREFIX = re.compile(
    r"(?<![\w-])(all|majority|mostly|predominantly|non|half|part|anti|ex)-\Z", re.IGNORECASE
)
_BORN = re.compile(r"-(?:born|raised|identifying|identified|presenting)\b", re.IGNORECASE)
# What persons do to a thing; not "white-LED lamp".
_DONE = re.compile(
    r"-(?:[Oo]wned|[Ll]ed|[Rr]un|[Ff]ounded|[Mm]ajority|[Dd]ominated|[Cc]ontrolled|[Oo]perated"
    r"|[Ss]taffed|[Dd]irected|[Aa]uthored|[Ss]erving|[Ff]riendly)\b"
)
_SECOND = re.compile(r"-([A-Z]\w+)\b")
_LONGEST_PREFIX = 16


class Compound(NamedTuple):
    """A hyphenated word from `begin` to `end` that stands for the term in it.

    `prefix` is what stands before the term, in lower case; `done` is True if the word says what
    persons do to a thing ("Black-owned"), so that no person needs to follow.
    """

    begin: int
    end: int
    prefix: str
    done: bool


def is_hyphenated(text: str, start: int, end: int) -> bool:
    """Whether a hyphen joins ``text[start:end]`` to another word."""
    return text[max(0, start - 1) : start] == "-" or text[end : end + 1] == "-"


def compound_at(text: str, start: int, end: int) -> Compound | None:
    """Return the compound that holds the term; None for others such as "off-white"."""
    prefix = _PREFIX.search(text, max(0, start - _LONGEST_PREFIX), start)
    if prefix is None and text[max(0, start - 1) : start] == "-":
        return None
    begin, name = (start, "") if prefix is None else (prefix.start(), prefix[1].lower())
    if text[end : end + 1] != "-":
        return Compound(begin, end, name, False)
    done = _DONE.match(text, end)
    suffix = done or _BORN.match(text, end) or _second_people(text, start, end)
    return None if suffix is None else Compound(begin, suffix.end(), name, done is not None)


def _second_people(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return the second part of "Korean-American" and the like; the first alone is exchanged."""
    second = _SECOND.match(text, end)
    if second is None or not is_one_of(second[1].lower(), "demonyms"):
        return None
    return second if second[1] != text[start:end] else None

"""Whether a name is a short month: "Friday, Jan 7", "5 Jan to 9 Feb"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.names.words import (
    is_of_class,
    word_behind,
    word_in_front,
)

_DAY = re.compile(r"\.?[^\S\n]+(?:[12]\d{3}|\d{1,2}(?:st|nd|rd|th)?)(?![\w/%]|[.,:]\d)")
_DAY_BEFORE = re.compile(r"(?<![\w.,])\d{1,2}(?:st|nd|rd|th)?(?:[^\S\n]+of)?[^\S\n]*[-/]?\Z")
_JOINED = re.compile(
    r"\.?(?:[^\S\n]*[-/\u2013][^\S\n]*|[^\S\n]+(and|or|to|until|through)[^\S\n]+)([A-Z][a-z]+)"
)
_NEAR = 12


def is_short_month(text: str, start: int, end: int) -> bool:
    """Whether a name of the class "short_months" stands beside a day, a year or another month."""
    day = _DAY.match(text, end)
    if day is not None:
        following = word_behind(text, day.end())
        return not following.islower() or is_one_of(following, "closed")  # no "gave Jan 7 books"
    if _DAY_BEFORE.search(text, max(0, start - _NEAR), start):
        return text[end : end + 2] != ", " and not word_behind(text, end)[:1].isupper()
    joined = _JOINED.match(text, end)
    if joined is not None and is_of_class(joined[2].lower(), "other_months"):
        return joined[1] not in ("and", "or") or not is_of_class(joined[2].lower(), "months")
    return word_in_front(text, start).lower() in ("early", "late", "mid", "since", "until")

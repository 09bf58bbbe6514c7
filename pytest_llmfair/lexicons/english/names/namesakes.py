"""Whether a last name alone is somebody else's: "Boris Harrison left. They miss Harrison"."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.names.words import is_famous, word_behind

# "Harrison, my flatmate" is somebody new.
_NEW = re.compile(r",[^\S\n]+(?:my|our|your|his|her|their|an?|the)[^\S\n]")


def namesakes(
    text: str,
    spans: Sequence[tuple[int, int]],
    phrases: Iterable[str],
    others: Callable[[], Iterable[tuple[int, int]]],
) -> int:
    """Return how many of the first mentions are somebody else, whose full name stands before them.

    `spans` are the mentions of one name in order; `phrases` are the names of well-known persons
    and of things that hold it, and `others` gives where it is the last name of somebody else.
    """
    start, end = spans[0]
    first = _first_of(text, text[start:end], start, phrases, others)
    for number, (begin, stop) in enumerate(spans):
        if begin < first or _is_somebody(text, stop):
            return number
    return len(spans)


def _first_of(
    text: str,
    name: str,
    stop: int,
    phrases: Iterable[str],
    others: Callable[[], Iterable[tuple[int, int]]],
) -> int:
    """Return where somebody else is first named in full before a place."""
    found = [begin for begin, end in others() if not word_behind(text, end)[:1].isupper()]
    for phrase in phrases:
        if phrase.endswith(f" {name}") and is_famous(phrase) and " of " not in phrase:
            at = text.find(phrase, 0, stop)
            if at >= 0 and not text[at + len(phrase) : at + len(phrase) + 1].isalnum():
                found.append(at)
    return min(found, default=sys.maxsize)


def _is_somebody(text: str, end: int) -> bool:
    """Whether a last name or who it is follows."""
    following = word_behind(text, end)
    named = following[:1].isupper() and not is_one_of(following.lower(), "closed")
    return named or _NEW.match(text, end) is not None

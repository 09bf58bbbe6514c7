"""Whether "the old" stands before code, a quote or a bracket, and so before a thing."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.persons.surroundings import Place, Words
from pytest_llmfair.lexicons.english.persons.words import (
    ends_phrase,
    is_modifier,
    no_noun,
)

_FIRST = frozenset("`'\u2018<({[$\\_")
_MARKED = re.compile(
    r"[^\S\n]+(?:`|'\w|\u2018\w|[\[{$\\]\w|_?[a-z]+_[a-z]"
    r"|<(?:code|tt|kbd|var|samp|pre|a|literal|filename)\b)"
)
_MORE = ("more", "less", "very", "rather", "quite", "somewhat", "now", "once", "still")
_ASIDE = re.compile(r"[^\S\n]+\([\w-]+\)[^\S\n]+([\w-]+)[^\S\n]*([\w-]*)")


def is_before_thing(place: Place, rest: Words) -> bool:
    """Whether a thing follows: "the old `content` field", "the old (broken) link".

    `rest` are the words behind what is joined to the term.
    """
    if place.rear[1:2] in _FIRST and (_MARKED.match(place.rear) or _is_aside(place.rear)):
        return True
    if rest[:1] == (",",):
        return _is_described(rest[1:])
    return _is_initialism(place)


def _is_aside(rear: str) -> bool:
    """Whether a noun follows a bracket of one word: "the old (legacy) behaviour"."""
    aside = _ASIDE.match(rear)
    return aside is not None and not no_noun([word.lower() for word in aside.groups() if word])


def _is_described(words: Words) -> bool:
    """Whether another describing word and a noun follow: "the old, less general method"."""
    at = 0
    while at < len(words) and (words[at] in _MORE or words[at].endswith("ly")):
        at += 1
    if not 0 < at < len(words) - 1:
        return False
    return is_modifier(words[at]) and not no_noun(words[at + 1 : at + 3])


def _is_initialism(place: Place) -> bool:
    """Whether a name in capitals looks like a closed word: "the old AT & T line"."""
    if not ends_phrase(place.next) or not place.behind:
        return False
    written = place.raw[len(place.before)]
    return len(written) > 1 and written.isupper() and any(map(str.islower, place.raw))

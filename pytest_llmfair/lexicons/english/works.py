"""Names of places and works: "King Street", "The King's Speech"; and headlines."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.phrase import (
    NEXT,
    low,
    phrase_at,
    word_before,
)
from pytest_llmfair.lexicons.english.words import (
    is_any,
    is_one_of,
    words_of,
)

POSSESSED = re.compile(r"['\u2019]s?((?:[^\S\n]+[A-Z][a-z]+(?:-[A-Z]?[a-z]+)?(?!\w)){1,4})")


def is_in_headline(text: str, start: int, end: int) -> bool:
    """Whether only closed words of the sentence are without a capital."""
    raw = phrase_at(text, start, end).raw
    known = words_of("closed")
    return not any(word[0].islower() and len(word) > 1 and word not in known for word in raw)


def is_possessed(text: str, start: int, end: int) -> bool:
    """Whether a possessive makes what follows a name: "The King's Speech"."""
    if text[end : end + 1] not in ("'", "\u2019") or POSSESSED.match(text, end) is None:
        return False
    return not is_in_headline(text, start, end)


def is_in_street(text: str, start: int, end: int) -> bool:
    """Whether a capitalised word begins the name of a street, a hill or a hospital."""
    place, stop = _place_after(text, end)
    word = low(text[start:end])
    if not place or word == "sir" or is_one_of(word, "titles"):
        return False
    numbered = text[max(0, start - 2) : start].rstrip()[-1:].isdigit()
    if not numbered and is_one_of(place, "place_surnames") and is_any(word, "callings"):
        return False
    following = NEXT.match(text, stop)
    if following is None or not following[1][0].isupper():
        return True
    return is_one_of(low(word_before(text, start)[0]), "locatives")


def _place_after(text: str, end: int) -> tuple[str, int]:
    """Return the last word for a place among the next capitals, and its end; "" for none."""
    place, stop, at = "", end, end
    for _ in range(3):
        following = NEXT.match(text, at)
        if following is None or not following[1][0].isupper():
            break
        word, at = low(following[1]).removesuffix("'s"), following.end()
        if is_one_of(word, "places") or is_one_of(word, "more_places"):
            if word == "st" and text[at + 1 : at + 3].strip()[:1].isupper():
                break  # "Pastor St. John"
            place, stop = word, at
        elif place:
            break
    return place, stop

"""Names of bodies: "the Institute of the Blind", "the Canadian Paraplegic Association"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.surroundings import (
    Place,
    is_title,
    place_at,
)
from pytest_llmfair.lexicons.english.persons.words import is_any

_BEHIND = re.compile(r"(?: (?:and |of )?[A-Z][\w'\u2019-]*){1,4}")
_FOR = re.compile(r" for (?!The\b)[A-Z]")
_FRONT = re.compile(r"\b([A-Z]\w+) (?:for|of|on) (?:the )?\Z")
_NEAR = 40


def is_of_body(place: Place, the: int) -> bool:
    """Whether a body is named: "the Institute of the Blind", "Guide Dogs for the Deaf".

    The first `the` words of the place end with the article.
    """
    at = the - 3
    if at < 0 or place.before[at + 1] not in ("of", "for"):
        return False
    if not place.raw[at][0].isupper():
        return False
    return is_any(place.before[at], "bodies_named") or (at > 0 and not is_title(place.raw))


def is_in_body(text: str, start: int, end: int) -> bool:
    """Whether a term before a capital is part of such a name: "Center for Lesbian Rights".

    So it is in "Priests for Life"; not in a title, where all words have their capital.
    """
    if text.startswith(" for ", end):
        return _FOR.match(text, end) is not None and not is_title(place_at(text, start, end).raw)
    if not text[end + 1 : end + 2].isupper() or text[end] != " ":
        return False  # the usual case
    front = _FRONT.search(text, max(0, start - _NEAR), start)
    if front is not None and is_one_of(front[1].lower(), "bodies_named"):
        return True
    behind = _BEHIND.match(text, end)
    words = behind[0].lower().split() if behind else []
    if not any(is_one_of(word, "bodies_of_people") for word in words[1:]):
        return False
    return not is_title(place_at(text, start, end).raw)

"""Whether a term fills an item of a list that tells of a person: "Greg, 41, white", "26F, bi"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.surroundings import Words
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    bare,
    is_abstract,
    is_any,
    is_person,
)

_YEARS = r"(?:1[01]\d|[1-9]\d)"
_AGE = re.compile(rf"{_YEARS}\Z")
# An age that nothing else looks like: "26F", "72 M", "58 y/o", "M 34"; not "5 m", a length.
_OF_PERSON = re.compile(
    rf"(?:\A|.* ){_YEARS}(?:[FMfm]| (?:F|M|NB)| ?(?:yo|y / ?o|y\.o|yrs?|years?(?: old)?)"
    r"(?: [FMfm]| (?:fe)?male| (?:wo)?man)?)\Z"
)
_SEX = re.compile(r"[FMfm]|NB|(?:[Ff]e)?[Mm]ale|[Nn]on-?binary")
_MARKS = (",", "(", ")", "[", "]", "/")
_LONGEST = 5


def is_listed(raw: Words, before: Words, behind: Words) -> bool:
    """Whether the term behind the words `before` follows an age or stands in front of one.

    Parameters
    ----------
    raw : tuple of str
        The words and marks of the sentence without the term, as they are written.
    before, behind : tuple of str
        Those in front of the term, up to a comma or a bracket, and behind it, in lower case.
    """
    if behind and behind[0] not in (*_MARKS, *JOINS):
        return False
    if any(is_any(word, "sold_by_size") for word in before):
        return False
    items = _items(raw[: len(before) - 1])
    following = raw[len(raw) - len(behind) :]
    if len(following) > 1 and following[0] == "," and _AGE.match(following[1]):
        ended = len(following) < 3 or following[2] in _MARKS
        return ended and bool(items) and _is_person(items, len(items) - 1)
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        if _OF_PERSON.match(" ".join(item)):
            return True
        if len(item) > _LONGEST:
            return False
        if _AGE.match(item[-1]) and len(item) == 1:
            return place > 0 and _is_person(items, place - 1)
    return False


def _items(raw: Words) -> list[list[str]]:
    items: list[list[str]] = [[]]
    for word in raw:
        if word in (",", "(", "["):
            items.append([])
        else:
            items[-1].append(word)
    return [item for item in items if item]


def _is_person(items: list[list[str]], place: int) -> bool:
    """Whether an item ends with a name or another word for a person, or is a sex."""
    item = items[place]
    word = item[-1]
    low = bare(word.lower())
    if is_person(low) or is_one_of(low, "person_subjects") or is_one_of(low, "person_objects"):
        return True
    return bool(_SEX.fullmatch(" ".join(item))) or is_name(low, word)


def is_name(word: str, written: str) -> bool:
    """Whether a lower-case word is a name by the capital that it is written with."""
    if not written[:1].isupper():
        return False
    return not (is_one_of(word, "closed") or is_one_of(word, "not_names") or is_abstract(word))

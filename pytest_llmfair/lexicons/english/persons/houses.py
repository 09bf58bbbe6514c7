"""Houses of worship, and names that hold one: "a mosque in Leeds", "the Church of England"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.old_names import is_of_class
from pytest_llmfair.lexicons.english.persons.proper_names import are_no_team
from pytest_llmfair.lexicons.english.persons.surroundings import Place, is_title

_TITLE_BEFORE = re.compile(r"[\"'\u2018\u201c*_]The \Z")
_QUOTES = "\"'\u2019\u201d*_"


def is_house(place: Place) -> bool:
    """Allow "the church", "a mosque in Leeds"; not "St Mary's Church", "the Church of England"."""
    opens = len(place.before) == 1 and not place.term.capital  # "Regular church attendance"
    if _is_quoted(place) or not (opens or are_no_team(place) or _is_any(place)):
        return False
    if place.term.capital and _is_author(place):
        return False
    capital = place.term.capital and not is_title(place.raw)
    if capital and len(place.before) > 1 and place.raw[len(place.before) - 1][:1].isupper():
        return is_one_of(place.last, "closed") or is_one_of(place.last, "determiners")
    return place.next != "of" or not _is_called(place, capital)


def _is_any(place: Place) -> bool:
    """Whether it is one of a style, and small: "a Norman church", "an Art Deco mosque"."""
    at = len(place.before)
    while at and place.raw[at - 1][0].isupper():
        at -= 1
    return not place.term.capital and at > 0 and place.before[at - 1] in ("a", "an", "this")


def _is_author(place: Place) -> bool:
    """Whether it is a last name joined to another one: "Gale & Church", "Church and Hanks"."""
    if is_one_of(place.last, "determiners"):
        return False
    at = len(place.before)
    beside = (
        (place.raw[at + 1 : at + 2], place.next),
        (place.raw[max(0, at - 2) : at - 1], place.last),
    )
    return any(join in ("and", "&") and words and words[0][0].isupper() for words, join in beside)


def _is_quoted(place: Place) -> bool:
    """Whether it is a whole title: 'the film "The Church"'."""
    return place.rear[:1] in _QUOTES and _TITLE_BEFORE.search(place.front) is not None


def _is_called(place: Place, capital: bool) -> bool:
    """Whether "of" begins a name: "the Church of Norway", "the church of Saint Anne"."""
    at = len(place.before) + 1
    raw, words = place.raw[at : at + 2], place.behind[1:3]
    named = [word for word, large in zip(words, raw, strict=True) if large[0].isupper()]
    land = any(is_of_class(word, kind) for word in words[:1] for kind in ("lands", "regions"))
    if land and not named:  # "the church of england"
        return True
    return bool(named) and (capital or any(is_one_of(word, "patrons") for word in named))

"""Words that name a group wherever they stand, but for other uses: a letter F, a church's name."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.old_names import is_of_class
from pytest_llmfair.lexicons.english.persons.surroundings import (
    Place,
    is_name_behind,
    is_title,
    place_at,
)
from pytest_llmfair.lexicons.english.persons.words import is_any, is_modifier, is_person, no_noun
from pytest_llmfair.lexicons.grammar import Verdict

_FIELD = re.compile(r"\b(?:sex|gender)[\"'*_]{0,3}\s?[:=]\s?[\"'*_]{0,3}\Z", re.IGNORECASE)
_YEARS_OLD = re.compile(
    r"\d[\s-]?(?:y/?o|years?[\s-]old|yrs?[\s-]old|y\.o\.)\s(?:[A-Z][a-z]+\s)?\Z"
)

_NAMING = ("as", "being", "openly", "one", "other", "or", "not")


def counts(text: str, start: int, end: int) -> Verdict:
    """Tell whether a letter, a house of worship or "gay" names a group here."""
    if end - start == 1:
        return Verdict(_is_field(text, start, end))
    word = text[start:end].lower().rpartition(" ")[2]
    if is_any(word, "houses"):
        return Verdict(_is_house(text, start, end))
    return Verdict(_is_before_thing(text, start, end))


def _is_before_thing(text: str, start: int, end: int) -> bool:
    """Allow an adjective before a noun, "gay rights"; not "Gay Talese", "gay ribbons"."""
    place = place_at(text, start, end)
    if no_noun(place.behind):
        return place.last in _NAMING  # "identifies as lesbian", "gay or straight"
    if is_any(place.next, "merry_things") or is_one_of(place.next, "places"):
        return False
    if not text[start].isupper() or is_title(place.raw):
        return True
    if len(place.before) > 1 and place.raw[len(place.before) - 1][0].isupper():
        return False  # "Roxane Gay wrote"
    known = is_person(place.next) or is_modifier(place.next) or is_any(place.next, "causes")
    return known or not is_name_behind(place)


def _is_field(text: str, start: int, end: int) -> bool:
    """Whether a letter is the value of a field: "sex": "F"; not "Sex: M/F"."""
    if text[end : end + 1] in ("/", "|") or text[end : end + 2] == " /":
        return False
    near = max(0, start - 20)
    return bool(_FIELD.search(text, near, start) or _YEARS_OLD.search(text, near, start))


def _is_house(text: str, start: int, end: int) -> bool:
    """Allow "the church", "a mosque in Leeds"; not "St Mary's Church", "the Church of England"."""
    place = place_at(text, start, end)
    head = text.rfind(" ", start, end) + 1 or start  # "the Buddhist temple of"
    capital = text[head].isupper() and not is_title(place.raw)
    last, written = place.last, place.raw[len(place.before) - 1] if place.before else ""
    if capital and last in ("&", "and") and place.raw[len(place.before) - 2][0].isupper():
        return False  # "Gale & Church"
    if written[:1].isupper() and not is_title(place.raw):
        kinds = ("closed", "determiners", "quantities", "person_modifiers", "demonyms")
        common = any(is_one_of(last, kind) for kind in kinds[: 2 if capital else 5])
        style = not capital and not {"a", "an", "this"}.isdisjoint(place.before[-3:])
        if not (common or style or (not capital and len(place.before) == 1)):
            return False  # "LDS Church", "St Anne's church"; "a Norman church" counts
    return place.next != "of" or not _is_called(place, capital)


def _is_called(place: Place, capital: bool) -> bool:
    """Whether "of" begins a name: "the Church of Norway", "the church of Saint Anne"."""
    at = len(place.before) + 1
    raw, words = place.raw[at : at + 2], place.behind[1:3]
    named = [word for word, large in zip(words, raw, strict=True) if large[0].isupper()]
    if not named:  # "the church of england"
        return any(is_of_class(word, kind) for word in words[:1] for kind in ("lands", "regions"))
    return capital or any(is_one_of(word, "patrons") for word in named)

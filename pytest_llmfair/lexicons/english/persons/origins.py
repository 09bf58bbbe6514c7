"""The rule for countries, which count as the place somebody is from: "a man from Kenya"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.predicates import is_predicate
from pytest_llmfair.lexicons.english.persons.surroundings import (
    Place,
    Words,
    is_name_behind,
)
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    is_person,
    is_person_compound,
)

_BETWEEN = ("from", "the", ",", "not")  # "from Peru, not from", "from the Gambia or from"


def is_origin(place: Place) -> bool:
    """Allow "a man from Kenya", "born in Turkey"; not "wine from France"."""
    words, raw = place.before, place.raw[: len(place.before)]
    if not words or (place.raw[len(words) :][:1] and is_name_behind(place)):
        return False
    count = _without_joined(raw)
    words, raw = words[:count], raw[:count]
    if not words:
        return False
    if words[-1] == "in" and len(words) > 1:
        return is_one_of(words[-2], "born_in")
    if words[-1] == "of" and len(words) > 1:
        return is_one_of(words[-2], "belong_to")
    if words[-1] != "from" or len(words) < 2:
        return False
    first = _first_from(words, raw)
    words, raw = words[:first], raw[:first]
    while words and is_one_of(words[-1], "behind_moved"):
        words, raw = words[:-1], raw[:-1]
    verb = words[-1] if words else ""
    if is_one_of(verb, "journeys") and _goes_on_to(place):
        return False
    if verb in (",", "(") and len(words) > 1:
        return is_person(words[-2])  # "the woman, originally from Peru,"
    if verb.endswith(("self", "selves")):
        return False  # "they distanced themselves from Peru"
    if is_person_compound(" ".join(words[-2:-1]), verb):
        return True  # "an au pair from Brazil"
    if is_person(verb) or is_one_of(verb, "indefinite") or is_one_of(verb, "person_objects"):
        return True
    if is_one_of(verb.removesuffix("s"), "demonyms"):
        return True  # "an Italian from Italy"
    if is_one_of(verb, "come_from"):
        words, raw = (*words[:-1], "is"), (*raw[:-1], "is")
    return is_predicate(raw, words, (), place.earlier)


def _without_joined(raw: Words) -> int:
    """Count the words in front of countries joined: "from Mexico, the Gambia, and Haiti"."""
    count = len(raw)
    while count > 2 and (raw[count - 1] in JOINS or raw[count - 1] == ","):
        at = count - 1
        while at > 2 and raw[at - 1] == ",":  # ", and"
            at -= 1
        named = at
        while at > 2 and raw[at - 1][:1].isupper():
            at -= 1
        if at == named:
            break
        count = at - 1 if raw[at - 1] == "the" else at
    return count


def _first_from(words: Words, raw: Words) -> int:
    """Count the words in front of the first "from": "from Peru, not from", "and from"."""
    at = len(words) - 1
    begin = at
    while at > 2 and (words[at] in _BETWEEN or words[at] in JOINS or raw[at][:1].isupper()):
        if words[at] == "from":
            begin = at
        at -= 1
    return at if words[at] == "from" and at < begin else begin


def _goes_on_to(place: Place) -> bool:
    """Whether the way goes on to another place: "flew from Peru to Canada"."""
    behind = place.raw[len(place.before) :]
    return len(behind) > 1 and behind[0] == "to" and behind[1][:1].isupper()

"""The rule for words that need an opposite in their sentence: "gays and straights"."""

from __future__ import annotations

from pytest_llmfair.counterfactuals._language.persons.nouns import are_people
from pytest_llmfair.counterfactuals._language.persons.surroundings import Place
from pytest_llmfair.counterfactuals._language.persons.words import (
    JOINS,
    is_adjective,
    is_any,
    names_any,
)

_KIND = "opposed_orientations"
_ALONG = ("on", "along", "down", "in")


def is_beside_opposite(place: Place) -> bool:
    """Allow "gays and straights", "gay and straight sex"; not "on the straights"."""
    if place.term.plural:
        if place.last == "the" and " ".join(place.before[-2:-1]) in _ALONG:
            return False
        return names_any((*place.before, *place.behind), _KIND) and are_people(place)
    rest = place.behind
    if len(rest) > 2 and rest[0] in JOINS and is_adjective(rest[1]):
        rest = rest[2:]
    if not rest or not is_any(rest[0], "of_love"):
        return False
    return names_any((*place.before, *place.behind), _KIND)

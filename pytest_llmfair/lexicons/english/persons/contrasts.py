"""The rule for words that need an opposite in their sentence: "gays and straights"."""

from __future__ import annotations

import itertools

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.heads import is_before_person
from pytest_llmfair.lexicons.english.persons.nouns import are_people
from pytest_llmfair.lexicons.english.persons.surroundings import Place, Words
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    ends_phrase,
    is_adjective,
    is_any,
    is_person,
    names_any,
    no_noun,
)

_KIND = "opposed_orientations"
_OF_TWO = ("one", "other", "another", "others", "former", "latter")
_HEARING = ("deaf", "hearing")
_NO_HEARING = (*_HEARING, "officer", "examiner", "judge")
_ALONG = ("on", "along", "down", "in")


def is_beside_opposite(place: Place) -> bool:
    """Allow "gays and straights", "gay and straight sex", "one is gay, the other straight".

    Not "on the straights", nor "the gay couple said that the road is straight".
    """
    words = (*place.before, *place.behind)
    if place.term.plural:
        if place.last == "the" and " ".join(place.before[-2:-1]) in _ALONG:
            return False
        others = [word for word in words if not word.startswith("straight")]
        return names_any(others, _KIND) and are_people(place)
    rest = place.behind
    if place.term.opposed == "opposed_abilities":
        return _is_of_hearing(place)
    if ends_phrase(place.next) and _is_one_of_two(place.before):
        return names_any(words, _KIND)
    if place.next in ("one", "ones") and place.last == "the" and no_noun(rest[1:]):
        return names_any((*(word.lower() for word in place.earlier()), *words), _KIND)
    if len(rest) > 2 and rest[0] in JOINS and is_adjective(rest[1]):
        rest = rest[2:]
    if not rest or not is_any(rest[0], "of_love"):
        return False
    return names_any(words, _KIND)


def _is_one_of_two(before: Words) -> bool:
    """Whether it is said of one of two: "one gay", "the other is straight"."""
    words = list(before)
    if words and is_one_of(words[-1], "be"):
        words.pop()
    return bool(words) and words[-1] in _OF_TWO


def _is_of_hearing(place: Place) -> bool:
    """Whether deaf and hearing persons are told apart: "deaf and hearing children".

    Not in "the hearing officer asked the deaf man", "hearing deaf people sing".
    """
    if place.next.removesuffix("s") in _NO_HEARING or not is_before_person(place):
        return False
    return any(
        word in _HEARING and (following in JOINS or is_person(following))
        for words in (place.before, place.behind)
        for word, following in itertools.pairwise(words)
    )

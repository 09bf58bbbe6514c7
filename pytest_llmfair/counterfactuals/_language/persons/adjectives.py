"""Rules for adjectives: "a Black engineer", "my old mother", "he is gay", "Italian cooks"."""

from __future__ import annotations

from pytest_llmfair.counterfactuals._language.english import is_one_of
from pytest_llmfair.counterfactuals._language.persons.heads import head_of, is_before_person
from pytest_llmfair.counterfactuals._language.persons.nouns import (
    is_collective,
    is_one_of_all,
    is_opposed,
)
from pytest_llmfair.counterfactuals._language.persons.predicates import is_predicate, tells_group
from pytest_llmfair.counterfactuals._language.persons.surroundings import Place
from pytest_llmfair.counterfactuals._language.persons.words import is_any, is_person


def describes(place: Place) -> bool:
    """Allow "a Black engineer", "he is gay", "the old are"; not a thing, nor "jet-black"."""
    if is_before_person(place) or is_said(place) or tells_group(place.before, place.behind):
        return True
    if "alike" in place.behind[:3] and is_opposed(place):
        return True
    return is_one_of(place.next, "plural_verbs") and is_collective(place)


def is_attribute(place: Place) -> bool:
    """Allow "an older worker"; not "my older brother", which compares, nor "he is older"."""
    head, thing = head_of(place)
    return bool(head) and not (thing or is_any(head, "kin"))


def is_old(place: Place) -> bool:
    """Allow "my old mother"; not "my old friend", where the bond has lasted."""
    head, thing = head_of(place)
    return bool(head) and not (thing or is_any(head, "bonds"))


def is_superlative(place: Place) -> bool:
    """Allow "our oldest clerk", "the oldest was 61" behind it; not "my oldest son", "friend"."""
    return is_one_of_all(place) or (is_attribute(place) and is_old(place))


def is_said(place: Place) -> bool:
    """Allow "my roommate is straight", "two officers, both white,"; not "the road is straight"."""
    return is_predicate(place.raw, place.before, place.behind, place.earlier)


def is_age(place: Place) -> bool:
    """Allow what `is_said` allows, and "too young to vote", "people too old to drive"."""
    if is_said(place):
        return True
    if place.last != "too" or place.next != "to" or len(place.before) < 2:
        return False
    before = place.before[:-1]
    return is_person(before[-1]) or is_predicate(place.raw, before, (), place.earlier)


def is_national(place: Place) -> bool:
    """Allow what `describes` allows, but no persons of a language: "Spanish speakers"."""
    if is_before_person(place, national=True) and not is_any(
        head_of(place)[0], "language_persons"
    ):
        return True
    return is_said(place) or tells_group(place.before, place.behind)

"""The book of a religion, written small: "read the bible"; not "the bible of gardeners"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.surroundings import Place
from pytest_llmfair.lexicons.english.persons.words import is_any, is_modifier, no_noun

_WHOSE = ("of", "for")


def is_scripture(place: Place) -> bool:
    """Allow "a bible", "read the bible"; not "a style bible", "it is the bible of gardeners"."""
    if is_any(place.next, "parts_of_scripture"):
        return True
    if place.next in _WHOSE or not no_noun(place.behind):
        return False
    words = list(place.before)
    while words and is_modifier(words[-1]) and not is_one_of(words[-1], "determiners"):
        words.pop()
    if not words or not is_one_of(words[-1], "determiners"):
        return False
    front = words[-2] if len(words) > 1 else ""
    return not (is_one_of(front, "be") or is_one_of(front, "copulas") or front == "as")

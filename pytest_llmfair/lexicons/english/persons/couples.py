"""The rule for words that tell couples apart: "a same-sex couple", "opposite-sex marriage"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.persons.surroundings import Place
from pytest_llmfair.lexicons.english.persons.words import JOINS, is_any, is_modifier

_FAR = 5  # words
_JOINED = (*JOINS, "same", "opposite", "different", "sex", "gender")  # "same sex and opposite sex"


def is_of_couple(place: Place) -> bool:
    """Allow "same-sex married couples"; not "a same-sex school", "the same-sex parent"."""
    for word in place.behind[:_FAR]:
        if is_any(word, "of_couples"):
            return True
        if not (word in _JOINED or is_modifier(word)):
            return False
    return False

"""English context rules: whether a word such as "black", "old" or "French" speaks of a person.

The rules look at the words around the term, hardly ever at the term itself, so that the members of
a counterfactual pair are read alike. What no rule allows is no mention: the rules rather miss a
person than take a colour for one. `RULES` holds them by the name of the context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_llmfair.counterfactuals._language.persons.adjectives import (
    describes,
    is_age,
    is_attribute,
    is_national,
    is_old,
    is_superlative,
)
from pytest_llmfair.counterfactuals._language.persons.compounds import (
    compound_at,
    is_no_double_name,
    is_part,
)
from pytest_llmfair.counterfactuals._language.persons.labels import is_value
from pytest_llmfair.counterfactuals._language.persons.nouns import (
    are_people,
    is_collective,
    is_had,
    is_noun,
)
from pytest_llmfair.counterfactuals._language.persons.origins import is_origin
from pytest_llmfair.counterfactuals._language.persons.places import Place, place_at
from pytest_llmfair.counterfactuals._language.persons.proper_names import (
    are_no_team,
    is_no_first_name,
    is_no_given_name,
    is_no_institution,
)
from pytest_llmfair.counterfactuals._language.persons.words import is_any

_SHARES = ("all", "majority", "mostly", "predominantly")
_COMPOUNDS = ("before_person", "demonym", "no_first_name")
_NO_VALUES = ("person_noun", "people", "collective", "no_team")

RULES: Mapping[str, Callable[[Place], bool]] = {
    "before_person": describes,
    "demonym": is_national,
    "predicate": is_age,
    "compared": is_attribute,
    "old": is_old,
    "collective": is_collective,
    "person_noun": is_noun,
    "people": are_people,
    "no_team": are_no_team,
    "no_first_name": is_no_first_name,
    "had": is_had,
    "origin": is_origin,
    "no_given_name": is_no_given_name,
    "no_institution": is_no_institution,
    "superlative": is_superlative,
}


def speaks_of_person(text: str, start: int, end: int, context: str) -> bool:
    """Whether ``text[start:end]`` speaks of a person, by the rule of a context."""
    if is_part(text, start, end):
        return _is_compound(text, start, end, context)
    if RULES[context](place_at(text, start, end, end)):
        return True
    return context not in _NO_VALUES and is_value(text, start, end)


def _is_compound(text: str, start: int, end: int, context: str) -> bool:
    """Whether a part of a hyphenated word speaks of persons: "Black-owned"; not "off-white".

    An adjective that only names of institutions take ("ex-Muslim") always does.
    """
    if context == "no_institution":
        return True
    if context == "no_given_name":
        return is_no_double_name(text, start, end)
    whole = compound_at(text, start, end)
    named = context in _COMPOUNDS
    if whole is None or (whole.prefix and not named):
        return False
    if whole.done:
        return named
    place = place_at(text, whole.begin, end, whole.end)
    if whole.prefix == "anti":
        return is_any(place.next, "hostility")
    if whole.prefix in _SHARES and is_any(place.next, "made_of_persons"):
        return True
    return RULES[context](place)

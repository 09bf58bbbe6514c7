"""English context rules: whether a word such as "black", "old" or "French" speaks of a person.

The rules look at the words around the term, hardly ever at the term itself, so that the members of
a counterfactual pair are read alike. What no rule allows is no mention: the rules rather miss a
person than take a colour for one. `RULES` holds them by the name of the context.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.adjectives import (
    describes,
    is_age,
    is_attribute,
    is_national,
    is_old,
    is_superlative,
)
from pytest_llmfair.lexicons.english.persons.bodies import is_in_body
from pytest_llmfair.lexicons.english.persons.books import is_scripture
from pytest_llmfair.lexicons.english.persons.compounds import (
    compound_at,
    is_no_double_name,
    is_part,
)
from pytest_llmfair.lexicons.english.persons.conditions import is_had, is_owned
from pytest_llmfair.lexicons.english.persons.contrasts import is_beside_opposite
from pytest_llmfair.lexicons.english.persons.couples import is_of_couple
from pytest_llmfair.lexicons.english.persons.houses import is_house
from pytest_llmfair.lexicons.english.persons.insults import is_insult
from pytest_llmfair.lexicons.english.persons.labels import is_value
from pytest_llmfair.lexicons.english.persons.nouns import (
    are_people,
    is_collective,
    is_noun,
)
from pytest_llmfair.lexicons.english.persons.origins import is_origin
from pytest_llmfair.lexicons.english.persons.proper_names import (
    is_no_first_name,
    is_no_given_name,
    is_no_institution,
    is_no_team,
)
from pytest_llmfair.lexicons.english.persons.surroundings import (
    Place,
    Term,
    place_between,
    sides,
)
from pytest_llmfair.lexicons.english.persons.switches import is_no_switch, is_switched
from pytest_llmfair.lexicons.english.persons.titles import is_in_work
from pytest_llmfair.lexicons.english.persons.words import is_any, is_people

_SHARES = ("all", "majority", "mostly", "predominantly")
_COMPOUNDS = ("before_person", "demonym", "no_first_name")
_NO_VALUES = (
    *("owned", "person_noun", "insult", "people", "collective", "no_team", "house"),
    *("of_couple", "scripture"),
)

RULES: Mapping[str, Callable[[Place], bool]] = {
    "before_person": describes,
    "no_switch": is_no_switch,
    "contrasted": is_beside_opposite,
    "demonym": is_national,
    "predicate": is_age,
    "compared": is_attribute,
    "old": is_old,
    "collective": is_collective,
    "person_noun": is_noun,
    "insult": is_insult,
    "people": are_people,
    "no_team": is_no_team,
    "no_first_name": is_no_first_name,
    "had": is_had,
    "owned": is_owned,
    "origin": is_origin,
    "no_given_name": is_no_given_name,
    "no_institution": is_no_institution,
    "superlative": is_superlative,
    "house": is_house,
    "of_couple": is_of_couple,
    "scripture": is_scripture,
}

_KNOWN: Mapping[str, Sequence[str]] = {
    "before_person": ("opposed", "seldom", "doubtful"),
    "demonym": ("language",),
    "contrasted": ("plural", "opposed"),
    "no_switch": ("opposed", "seldom", "doubtful"),
    "compared": ("seldom", "capital"),
    "superlative": ("seldom", "capital"),
    "old": ("seldom", "capital"),
    "collective": ("opposed", "people", "capital"),
    "person_noun": ("people", "noun"),
    "insult": ("people", "plural"),
    "no_first_name": ("capital", "one_case"),
    "no_team": ("capital", "people"),
    "no_given_name": ("capital", "one_case"),
    "no_institution": ("capital",),
    "house": ("capital",),
}
_PARTS = re.compile(r"[\s/-]+")
_DOUBTFUL = ("indigenous", "colored", "coloured", "depressed", "paralyzed", "paralysed")
_OPPOSED = ("opposed_ages", "opposed_abilities", "opposed_orientations", "opposed_races")


def speaks_of_person(text: str, start: int, end: int, context: str) -> bool:
    """Whether ``text[start:end]`` speaks of a person, by the rule of a context."""
    if is_in_work(text, start, end) or (text[start].isupper() and is_in_body(text, start, end)):
        return False
    if is_part(text, start, end):
        return _is_compound(text, start, end, context)
    term = _term(text[start:end], context)
    if _allows(context, *sides(text, start, end), term):
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
    former = whole is not None and whole.prefix == "ex"
    if whole is None or (whole.prefix and named == former):
        return False  # "an ex-Muslim"; not "an ex-gay man"
    if former and context != "person_noun":
        return False
    if whole.done:
        return named
    term = _term(text[whole.begin : end], context)
    place = place_between(*sides(text, whole.begin, whole.end), term)
    if whole.prefix == "anti":
        return is_any(place.next, "hostility")
    if whole.prefix in _SHARES and is_any(place.next, "made_of_persons"):
        return True
    return RULES[context](place)


# A text and its twins often differ in the term alone, of which a rule knows little: one answer
# serves them all.
@functools.lru_cache(maxsize=64)
def _allows(context: str, front: str, rear: str, term: Term) -> bool:
    place = place_between(front, rear, term)
    if context == "no_switch":  # mostly asked beside the wider rule
        return _allows("before_person", front, rear, term) and not is_switched(place)
    return RULES[context](place)


@functools.lru_cache(maxsize=4096)
def _term(word: str, context: str) -> Term:
    """Return what the rule of a context knows of a word."""
    low = word.lower()
    whole = low.removeprefix("non-")
    begin = word.rfind(" ") + 1 if context == "house" else 0  # "the Buddhist temple of"
    seen = Term(
        capital=word[begin : begin + 1].isupper(),
        one_case=word.islower() or word.isupper(),
        people=is_people(low),
        opposed=next((kind for kind in _OPPOSED if is_one_of(low, kind)), ""),
        doubtful=whole if whole in _DOUBTFUL else "",
        plural=low.endswith("s"),
        language=is_one_of(low, "languages"),
        noun=is_one_of(low, "peoples_only_nouns"),
        seldom=is_one_of(_PARTS.split(low)[-1], "seldom_of_things"),
    )
    return Term(**{name: getattr(seen, name) for name in _KNOWN.get(context, ())})

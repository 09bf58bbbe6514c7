"""Whether a describing word that is a noun too ends its phrase: "a Black male presents with"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.surroundings import Words
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    ends_phrase,
    is_person,
    no_noun,
    singulars,
)

_NO_VERBS = ("ss", "us", "is", "ics", "'s")
_LEADING = ("with", "to", "into", "from", "at")  # behind a verb more often than behind a noun


def ends_with_adjective(behind: Words, one: bool) -> bool:
    """Whether `behind` an adjective such as "male" no noun follows; `one` of a singular."""
    first, second = (*behind[:2], "", "")[:2]
    if first.endswith("s") and is_one_of(second, "finite_forms"):
        return ends_phrase(first)  # "the black male leads are missing"
    if no_noun(behind[:1]) or no_noun(behind[:2]):
        return True
    if is_one_of(first, "doing_something"):
        return True  # "a female taking aspirin"
    if is_one_of(first, "undergone") and ends_phrase(second) and second not in JOINS:
        return True  # "a Black male seen in clinic"
    return _is_noted(behind) or (first.endswith("s") and _does(first, second, one))


def _is_noted(behind: Words) -> bool:
    """Whether a note goes on: "c/o chest pain", "w/ asthma", "age 54", "x2 days"."""
    first, second = (*behind[:2], "", "")[:2]
    if second[:1].isdigit() and first in ("age", "aged", "x"):
        return True
    short = first == "w" or is_one_of("".join(behind[:3]), "clinical_notes")
    return (second == "/" and short) or (first[:1] == "x" and first[1:].isdigit())


def _does(first: str, second: str, one: bool) -> bool:
    """Whether a word in -s is what somebody does: "wants quiet"; not "male sales clerk".

    Where it can be a plural ("the male needs") what follows a verb has to follow.
    """
    if first.endswith(_NO_VERBS) or second in ("'", "\u2019", "of"):
        return False
    forms = singulars(first)[1:]
    deed = any(is_one_of(form, "deeds") for form in forms)
    known = deed or any(is_one_of(form, "noun_verbs") for form in forms)
    opened = is_one_of(second, "determiners") or is_one_of(second, "articles")
    if not one:
        return known and (opened or is_one_of(second, "objects") or second in _LEADING)
    if deed and second:
        return second.endswith("s") or not is_person(second)
    if second.endswith("ly") and not is_one_of(second, "not_adverbs"):
        return True
    if is_one_of(second, "closed_if_final") or is_one_of(second, "how_done"):
        return known
    return ends_phrase(second) and second not in JOINS and (known or opened)

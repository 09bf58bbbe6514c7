"""Whether a thing is described twice: "the Italian and the Greek constitution"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.surroundings import Words
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    is_adverbial,
    is_modifier,
    is_people,
    is_person,
    no_noun,
)

_JOINED = frozenset((*JOINS, ","))
_ARTICLES = ("the", "a", "an")
_ENDS = ("alike", "each")


def describes_thing_too(behind: Words) -> bool:
    """Whether "and the Greek constitution" follows: a term of a people with its own article.

    What stands behind the last of them is a noun for a thing, and no verb as in "the Italian and
    the Greek agree".
    """
    if len(behind) < 4 or behind[0] not in _JOINED or not _JOINED.isdisjoint(behind[2:3]):
        return False  # the usual case
    rest = behind
    while len(rest) > 2 and rest[0] in _JOINED:
        own = 2 if rest[1] in JOINS else 1  # ", and the"
        if rest[own] not in _ARTICLES or len(rest) < own + 2 or not _is_group(rest[own + 1]):
            return False
        rest = rest[own + 2 :]
    if not rest or rest is behind or is_adverbial(rest):
        return False
    while len(rest) > 1 and is_modifier(rest[0]) and not no_noun(rest[1:]):
        rest = rest[1:]
    return not (no_noun(rest, bare=True) or rest[0] in _ENDS or is_person(rest[0]))


def _is_group(word: str) -> bool:
    return is_people(word) or is_one_of(word, "contrasted") or is_one_of(word, "person_adjectives")

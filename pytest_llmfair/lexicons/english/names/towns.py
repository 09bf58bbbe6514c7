"""Whether a town, its team or its state bears a name: "Hope, Arkansas, is", "Atlanta, Georgia"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import LETTERS, is_one_of
from pytest_llmfair.lexicons.english.names.words import (
    STOPS,
    is_of_class,
    word_behind,
    word_in_front,
)

_GAME = re.compile(r"\b(?:touchdown|quarterback|field goal|linebacker|inning|free throw)s?\b")
_DASHES = re.compile(r"(?:--|\u2013)[A-Z][a-z]")
_ASKED_WHERE = re.compile(
    r"\b(?:[Ww]here|(?:[Ww]hat|[Ww]hich)(?:[^\S\n]+\w+){0,2}[^\S\n]+(?:city|town|country|state|capital"
    r"|nation|region|county|continent|island))\b[^?\n]{0,150}\?"
)
# "Hope, Arkansas, is": of any name.
_IS_TOWN = re.compile(rf",[^\S\n]+({LETTERS}),[^\S\n]+(?:is|was|has|had|lies|sits)\b")
# "Fairfax, Virginia, is", "Atlanta, Georgia": a text or a sentence begins with it.
_OPENS_STATE = re.compile(
    r"(?:\A|[\n(:]|[.!?][^\S\n])([A-Z][a-z]+)(?:[^\S\n][A-Z][a-z]+)?,[^\S\n]+\Z"
)
_ENDS_STATE = re.compile(r"[^\S\n]*(?:[.)\n]|\Z|,?[^\S\n]+(?:is|was|has|had|lies|sits)\b)")
# "at Hogwarts, " before a state
_BEHIND_PLACE = re.compile(
    r"\b(?:[Aa]t|[Ff]rom|[Tt]o|[Nn]ear|[Oo]utside|of)[^\S\n]+(?:[A-Z][\w'\u2019-]+[^\S\n]+)?([A-Z][\w'\u2019-]+),[^\S\n]+\Z"
)
_NEAR = 60
_FAR = 200


def is_team(text: str, start: int, end: int) -> bool:
    """Whether a town stands for its team: "Dallas kicked a field goal"."""
    if not is_of_class(text[start:end].lower(), "team_towns"):
        return False
    if word_in_front(text, start)[:1].isupper() or word_behind(text, end)[:1].isupper():
        return False
    return _GAME.search(text, max(0, start - _FAR), end + _FAR) is not None


def is_on_route(text: str, start: int, end: int) -> bool:
    """Whether a dash joins it to another place: "Paris\u2013Dakar"."""
    return _DASHES.match(text, end) is not None or (
        text[start - 1 : start] == "\u2013" and text[start - 2 : start - 1].isalpha()
    )


def answers_where(text: str, start: int, end: int) -> bool:
    """Whether it alone answers a question for a place: "In which city is it? Answer: Paris"."""
    return (
        STOPS.match(text, end) is not None
        and _ASKED_WHERE.search(text, max(0, start - _FAR), start) is not None
    )


def is_state_of(text: str, start: int, end: int, front: str) -> bool:
    """Whether a state stands behind one of its towns: "at Hogwarts, Virginia"."""
    if not is_of_class(text[start:end].lower(), "regions_at_end"):
        return False
    town = _BEHIND_PLACE.search(front)
    if town is not None and not is_of_class(town[1].lower(), "given"):
        return ends_place(text, end)
    opens = _OPENS_STATE.search(text, max(0, start - _NEAR), start)
    if opens is None or _ENDS_STATE.match(text, end) is None:
        return False
    first = opens[1].lower()
    return is_of_class(first, "places") or not is_of_class(first, "given")


def is_in_state(text: str, end: int) -> bool:
    """Whether something is told of a town and its state: "Hope, Arkansas, is small"."""
    state = _IS_TOWN.match(text, end)
    return state is not None and is_of_class(state[1].lower(), "regions")


def ends_place(text: str, end: int) -> bool:
    """Whether what follows can follow a place: a mark, or a preposition."""
    following = word_behind(text, end)
    return STOPS.match(text, end) is not None or is_one_of(following, "prepositions")

"""Fields of work between a describing word and its person: "a Black piano teacher".

What a term says of most things in front of a person noun, it says of the thing: "an old book
dealer", "a German car mechanic". So a noun counts as a field of work by a list; only where hardly
anything but a person is called so ("a deaf coin collector") does any noun.
"""

from __future__ import annotations

import functools

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.surroundings import Place, Words
from pytest_llmfair.lexicons.english.persons.words import (
    ends_phrase,
    is_any,
    is_modifier,
    is_person,
    is_verb,
)

_FIELDS = ("fields", "crafts", "field_begins", "field_parts")
_BEFORE_PART = ("fields", "field_begins", "person_modifiers")


def is_field(place: Place, at: int, national: bool) -> bool:
    """Whether ``place.behind[at]`` is a field of work, and a person noun follows.

    Of a people (`national`) instruments and dishes are things: "a Spanish guitar teacher".
    """
    word, following, third = (*place.behind[at : at + 3], "", "")[:3]
    kinds = _kinds(word)
    if not (kinds or place.term.seldom):
        return False  # the usual case at less cost
    listed = "fields" in kinds or (not national and "crafts" in kinds)
    direct = is_person(following)
    head = following if direct else third
    if not head or not (direct or is_person(head)):
        return False
    if place.term.seldom:
        if is_one_of(word, "things_called_so") or not _begins_phrase(place.last):
            return False
        if _is_noun((word,) if direct else (word, following), _is_single(place)):
            return True
    if direct and at and "field_parts" in kinds:  # the second word of "quiz show"
        listed = listed or any(is_one_of(place.behind[at - 1], kind) for kind in _BEFORE_PART)
    if not direct:
        part = is_one_of(following, "field_parts") or is_modifier(following)
        listed = listed or (part and "field_begins" in kinds)
        listed = listed and (part or is_one_of(following, "fields"))
    return listed and not is_any(head, "dealers")


@functools.lru_cache(maxsize=4096)
def _kinds(word: str) -> frozenset[str]:
    """Return the classes of fields that a lower-case word belongs to."""
    return frozenset(kind for kind in _FIELDS if is_one_of(word, kind))


def _begins_phrase(last: str) -> bool:
    """Whether a noun phrase can begin behind a word; not behind the verb of "walked straight"."""
    return ends_phrase(last) or is_one_of(last, "quantities") or is_modifier(last)


def _is_single(place: Place) -> bool:
    """Whether one is spoken of, so that no verb follows: "a deaf"; not "the deaf"."""
    words = place.before
    return bool(words) and (is_one_of(words[-1], "singular_determiners") or is_modifier(words[-1]))


def _is_noun(words: Words, single: bool) -> bool:
    """Whether words that no class holds can be nouns, and no verb."""
    if any(map(ends_phrase, words)):
        return False
    return single or not any(is_verb(word, "", bare=True) for word in words)

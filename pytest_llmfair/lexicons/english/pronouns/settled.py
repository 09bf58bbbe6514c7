"""What follows "her" and is never hers: "gave her such a fright", "sued her due to the delay"."""

from __future__ import annotations

import functools

from pytest_llmfair.lexicons.english.beside import low
from pytest_llmfair.lexicons.english.english import (
    Around,
    is_adverb,
    is_final,
    word_classes,
)
from pytest_llmfair.lexicons.english.pronouns.nearby import words_behind

_OTHERS = ("one", "following")
_REPEATED = ("by", "after", "for", "to")
_AGAIN = ("last", "more", "final", "single")


def is_settled(around: Around) -> bool:
    """Whether "her" is an object by the next words, whatever the verb is."""
    first = around.next[0]
    before, nearest = around.before
    if nearest == "with" and before in word_classes()["brings"]:  # "brought with her many fans"
        return first != "own"
    if around.next[1] in _REPEATED and first == around.next[2]:
        return _is_piecemeal(around)
    if first not in _firsts():
        return False  # the usual case at less cost
    return _is_never_owned(around) or _is_place_in_order(around) or _is_name_for_her(around)


def _is_piecemeal(around: Around) -> bool:
    """Whether a word said twice ends the phrase: "her line by line"; not "her day to day life"."""
    return is_final(low(words_behind(around.text, around.end, 4)[3]))


@functools.cache
def _firsts() -> frozenset[str]:
    words = word_classes()
    pairs = {pair.partition("-")[0] for pair in words["never_owned_of_two"]}
    return words["never_owned"] | words["ordinals"] | words["pet_names"] | pairs | set(_OTHERS)


def _is_never_owned(around: Around) -> bool:
    """Whether the next words never stand behind a possessive: "her only to learn"."""
    words = word_classes()
    first, second, _ = around.next
    if first.endswith("ing") and not around.before[1][:1].isalpha():  # "Her using it annoyed us"
        return False
    if first in words["never_owned"] or f"{first}-{second}" in words["never_owned_of_two"]:
        return True
    if first == "following":  # "aimed at her following the match"
        return second in words["articles"]
    return first == "one" and _is_amount(around)


def _is_place_in_order(around: Around) -> bool:
    """Whether she is put there: "ranked her second", "put her fourth on the list"."""
    words = word_classes()
    first, second, _ = around.next
    if around.before[1] not in words["ranking"] or first not in words["ordinals"]:
        return False
    return is_final(second) or is_adverb(second)


def _is_name_for_her(around: Around) -> bool:
    """Whether it is what she is called without quotes: "calls her baby"."""
    words = word_classes()
    first, second, _ = around.next
    return around.before[1] in words["name"] and first in words["pet_names"] and is_final(second)


def _is_amount(around: Around) -> bool:
    """Whether "one" counts how often or begins another phrase: "her one last time", "one of"."""
    words = word_classes()
    _, second, third = around.next
    if second == "of" or (second in _AGAIN and third in words["times"]):
        return True
    owned = around.before[1] in words["prepositions_of_things"]  # "reminded of her one night"
    return second in words["times"] and is_final(third) and not owned

"""Rules for words that stand as nouns: "the old", "a Muslim", "most whites", "has anxiety"."""

from __future__ import annotations

from pytest_llmfair.counterfactuals._language.english import is_one_of
from pytest_llmfair.counterfactuals._language.person_heads import head_of
from pytest_llmfair.counterfactuals._language.person_words import (
    JOINS,
    ends_phrase,
    is_adjective,
    is_modifier,
    is_verb,
    no_noun,
)
from pytest_llmfair.counterfactuals._language.places import Place, Words
from pytest_llmfair.counterfactuals._language.predicates import is_subject_word


def is_collective(place: Place) -> bool:
    """Allow "the blind", "for the elderly", "the French are": no noun follows."""
    words = list(place.before)
    while words and (words[-1].endswith("ly") or words[-1] in ("very", "most", "and", "or")):
        words.pop()
        while len(words) > 1 and words[-1] != "the" and is_adjective(words[-1]):
            words.pop()
    if not words or words[-1] != "the" or "new" in (*place.before[-4:], *place.behind[:4]):
        return False
    rest = _behind_joined(place.behind)
    if _is_near_things(place) or (rest and is_one_of(rest[0], "behind_things")):
        return False
    begins = len(words) < 2 or words[-2] in JOINS or not words[-2][0].isalnum()
    if begins and rest and is_one_of(rest[0], "singular_verbs"):
        return False
    asked = len(words) > 1 and words[-2] in ("are", "were")
    if asked and len(rest) > 1 and (is_adjective(rest[0]) or rest[0].endswith("er")):
        return ends_phrase(rest[1])
    return no_noun(rest) or is_one_of(rest[0], "plural_verbs")


def _behind_joined(words: Words) -> Words:
    """Return what follows the adjectives that are joined to the term: "the sick and frail"."""
    rest = words
    while len(rest) > 1 and rest[0] in (*JOINS, ",") and is_adjective(rest[1]):
        rest = rest[2:]
    return rest


def is_noun(place: Place) -> bool:
    """Allow "as an Italian, I", "a Muslim prayed"; not "an Italian dish"."""
    words = list(place.before)
    while words and is_modifier(words[-1]) and not is_one_of(words[-1], "determiners"):
        words.pop()
    if not words or not is_one_of(words[-1], "determiners"):
        return False
    if head_of(place)[0] and not _is_next_phrase(place.behind):
        return False
    several = "and" in place.before[-3:]  # "a Pole and a Dane share"
    if no_noun(place.behind, bare=several) or _is_adverbial(place.behind):
        return True
    return len(words) > 1 and _is_asked_of(words[-2], place.behind)


def _is_next_phrase(behind: Words) -> bool:
    """Whether another noun phrase is joined: "a Swede and an Italian woman"."""
    if len(behind) < 2 or behind[0] not in (*JOINS, ","):
        return False
    return is_one_of(behind[1], "determiners") or behind[1].isdigit()


def _is_adverbial(behind: Words) -> bool:
    """Whether an adverb follows that could be part of a noun phrase: "a Dane next time"."""
    first, second = (*behind[:2], "", "")[:2]
    if first in ("next", "last"):
        return is_one_of(second, "times") or second == "door"
    return (first == "first" or is_one_of(first, "closed_if_final")) and ends_phrase(second)


def _is_asked_of(verb: str, behind: Words) -> bool:
    """Whether a question goes on behind its subject: "is a Dane likely", "would a Dane feel"."""
    first, second = (*behind[:2], "", "")[:2]
    if is_one_of(verb, "be"):
        said = is_one_of(first, "said_of") or is_one_of(first, "adjectives")
        return is_one_of(first, "compares") or (said and ends_phrase(second))
    if not is_one_of(verb, "asking"):
        return False
    adverb = ends_phrase(second) or is_one_of(second, "said_of") or is_one_of(second, "adjectives")
    return adverb and is_verb(first, second, bare=True)


def are_people(place: Place) -> bool:
    """Allow "most whites", "many seniors"; not "egg whites", "high school seniors"."""
    if _is_near_things(place) or place.next == "of":
        return False
    first = place.last
    if is_one_of(first, "school_words"):
        return False
    opens = ends_phrase(first) or is_modifier(first) or is_verb(first, "")
    return (opens or is_one_of(first, "quantities")) and (
        no_noun(place.behind)
        or _is_adverbial(place.behind)
        or is_one_of(place.next, "plural_verbs")
        or is_one_of(place.next, "verbs_of_several")
    )


def _is_near_things(place: Place) -> bool:
    return any(is_one_of(word, "no_people_near") for word in (*place.before, *place.behind))


def is_had(place: Place) -> bool:
    """Allow "a student with depression", "has severe anxiety"; not "the Great Depression"."""
    words = list(place.before)
    while words and is_modifier(words[-1]):
        words.pop()
    had = len(words)
    while words and (is_one_of(words[-1], "having") or (len(words) < had and _is_aux(words[-1]))):
        words.pop()
    if not words or len(words) == had or not no_noun(place.behind):
        return False
    owner, written = words[-1], place.raw[len(words) - 1]
    known = is_one_of(owner, "person_subjects") or is_one_of(owner, "person_objects")
    return known or is_subject_word(owner, written, True)


def _is_aux(word: str) -> bool:
    """Whether it may stand between a person and "living with": "has recently been"."""
    return word.endswith("ly") or is_one_of(word, "be") or is_one_of(word, "verb_chain")

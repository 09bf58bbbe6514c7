"""Rules for conditions: "a child with ADHD", "his dyslexia"; not "the Great Depression"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import NEXT, low, word_before
from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.asides import without_aside
from pytest_llmfair.lexicons.english.persons.standing import is_several
from pytest_llmfair.lexicons.english.persons.subjects import is_subject_word
from pytest_llmfair.lexicons.english.persons.surroundings import Place
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    bare,
    ends_phrase,
    is_adverbial,
    is_any,
    is_modifier,
    is_person,
    is_verb,
    no_noun,
)

_JOINED = frozenset((*JOINS, ","))
_OWNERS = ("my", "your", "his", "her", "our", "their", "whose", "one's", "xyr")
_MINE = ("mine", "yours", "his", "hers", "ours", "theirs")
_BE = r"(?:is|are|was|were|isn['\u2019]t|aren['\u2019]t|would|can|should|does|do)"
_ASKED = re.compile(
    rf"(?:\A|[.!?:\n]\s*|\b(?:if|whether)\s)[\"'\u201c]?{_BE}\s[^.!?:;,\n]*\Z", re.IGNORECASE
)
_EXAMINED = re.compile(
    r"\b(?:reveal|show|demonstrat|display|(?:notable|significant|remarkable)\sfor)[^.!?;]*\Z",
    re.IGNORECASE,
)
_BETWEEN = ("as", "not", "never", "started", "began", "still", "also", "does", "did", "do")
# With a condition they are persons: "one with autism", "those with autism".
_SOMEBODY = ("one", "another", "those", "many", "some", "others", "ones", "people")
_NEAR = 80


def is_had(place: Place) -> bool:
    """Allow "a student with depression", "has severe anxiety"; not "the Great Depression"."""
    words = list(place.before)
    _drop_joined(words)
    while words and _qualifies(words[-1]):
        words.pop()
    if words[-1:] == ["of"] and is_any(" ".join(words[-2:-1]), "spells"):  # "bouts of"
        del words[-2:]
        while words and (is_one_of(words[-1], "articles") or _qualifies(words[-1])):
            words.pop()
    had = len(words)
    while words and (is_one_of(words[-1], "having") or (len(words) < had and _is_aux(words[-1]))):
        words.pop()
    if len(words) == had:
        return False
    if not words:  # "Living with diabetes is hard"
        return place.before[0] == "living" and no_noun(place.behind)
    begin = len(words)
    if len(subject := without_aside(words)) < len(words) - 1:  # "Ann, 41, has"
        words = subject
    # "How can a child with ADHD focus"
    first = place.before[begin]
    owner, written = words[-1], place.raw[len(words) - 1]
    if first == "got" and owner.endswith(("'s", "'ve")):  # "she's got"
        owner, written = owner.partition("'")[0], written[: owner.index("'")]
    if not (
        no_noun(place.behind, bare=first == "with")
        or is_adverbial(place.behind)
        or is_one_of(place.next, "having")
        or _is_need(owner, place.next)
        or "than" in place.behind[1:3]  # "are pupils with ADHD calmer than"
    ):
        return False
    if place.next == "about":
        return False  # "has anxiety about the test"
    if first == "with" and owner in _SOMEBODY:
        return True
    if words[-1] in _MINE and words[-2:-1] == ["of"]:
        return True  # "a friend of mine has"
    known = is_one_of(owner, "person_subjects") or is_one_of(owner, "person_objects")
    return known or is_subject_word(owner, written, True)


def _is_need(owner: str, word: str) -> bool:
    """Whether a verb that is a noun too follows in number: "people need", "somebody needs"."""
    several = owner in _SOMEBODY[2:] or is_several(owner)
    verb = word if several else word.removesuffix("s")
    return (several or verb != word) and is_one_of(verb, "needing")


def _qualifies(word: str) -> bool:
    """Whether it tells how a condition is: "severe", "significant"."""
    known = is_one_of(word, "severities") or is_modifier(word)
    return known and not is_one_of(word, "having")


def _drop_joined(words: list[str]) -> None:
    """Drop the conditions that are joined in front: "has ADHD and", "with autism, anxiety or"."""
    at = len(words)
    while at > 1 and words[at - 1] in _JOINED:
        at -= 1
        while at > 1 and words[at - 1] in _JOINED:
            at -= 1
        if not is_one_of(words[at - 1], "conditions"):
            return
        at -= 1
        while at and _is_in_condition(words[at - 1]):
            at -= 1
        del words[at:]


def _is_in_condition(word: str) -> bool:
    return word in ("a", "an", "no") or _qualifies(word) or is_one_of(word, "condition_parts")


def _is_aux(word: str) -> bool:
    """Whether it may stand between a person and "living with": "has not been", "started"."""
    return (
        word in _BETWEEN
        or word.endswith("ly")
        or is_one_of(word, "be")
        or is_one_of(word, "verb_chain")
    )


def is_owned(place: Place) -> bool:
    """Allow "his dyslexia", "a customer's disability"; not "her disability claim"."""
    words = list(place.before)
    while words and is_modifier(words[-1]) and not words[-1].endswith(("'s", "s'")):
        words.pop()
    if not words:
        return False
    owner = words[-1]
    if not (owner in _OWNERS or _is_owner(owner, place.raw[len(words) - 1])):
        return False
    following, second = (*place.behind[:2], "", "")[:2]
    if ends_phrase(following):
        return following != "to"  # "his blindness to the risk"
    if is_any(following, "disability_things"):
        return False
    if is_adverbial(place.behind):
        return True  # "his asthma last year"
    told = following.endswith("s") and ends_phrase(second)  # "manifests as", "is so"
    acted = following == "cost" or is_one_of(following, "acted")
    if acted and (is_one_of(second, "determiners") or is_one_of(second, "person_objects")):
        return True  # "cost her the job", "kept him at home"
    return told or (is_verb(following, second) and not is_any(following, "noun_verbs"))


def _is_owner(word: str, written: str) -> bool:
    if not word.endswith(("'s", "s'")):
        return False
    owner = bare(word)
    return is_one_of(owner, "indefinite") or is_subject_word(owner, bare(written), True)


def is_condition(text: str, start: int, end: int) -> bool:
    """Allow "has a disability"; not "is asthma a disability?", "a disability lawyer".

    Nor is short stature a condition where an examination shows it.
    """
    first = text[start : start + 2].lower()
    if first == "dw" and low(word_before(text, start)[0]).endswith(("ia", "ic")):
        return False  # "hypoplasia dwarfism" is one name
    if first == "sh":
        return _EXAMINED.search(text, max(0, start - _NEAR), start) is None
    if first != "a " and (first != "an" or text[start + 2 : start + 3] != " "):
        return True
    behind = NEXT.match(text, end)
    if behind is not None:
        word = low(behind[1])
        if is_any(word, "disability_things") or (is_person(word) and not ends_phrase(word)):
            return False
    word = low(word_before(text, start)[0])
    if word in ("as", "considered", "called", "deemed", "not", "be") or is_one_of(word, "be"):
        return False
    if ends_phrase(word) or is_one_of(word, "having") or word.endswith("ing"):
        return True
    return _ASKED.search(text, max(0, start - _NEAR), start) is None


def is_no_compound(text: str, start: int, end: int) -> bool:
    """Allow "in a wheelchair", "in wheelchairs"; not "in a wheelchair race"."""
    if text[end - 1] in "sS":
        return True
    behind = NEXT.match(text, end)
    return behind is None or not is_any(low(behind[1]), "wheelchair_things")

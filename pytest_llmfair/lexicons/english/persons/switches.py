"""The rule for "disabled", said of switches too: "Maria is disabled", "GC is disabled"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.english import is_number, is_one_of
from pytest_llmfair.lexicons.english.persons.adjectives import describes
from pytest_llmfair.lexicons.english.persons.heads import is_before_person
from pytest_llmfair.lexicons.english.persons.standing import is_several
from pytest_llmfair.lexicons.english.persons.subjects import clause_of
from pytest_llmfair.lexicons.english.persons.surroundings import Place
from pytest_llmfair.lexicons.english.persons.switched_names import (
    is_given,
    is_named,
    tells_person,
)
from pytest_llmfair.lexicons.english.persons.words import (
    bare,
    is_any,
    is_person,
    singulars,
)

_SWITCHED_BY = ("can", "could", "cannot", "can't", "couldn't")
_SEVERAL = ("are", "were")
_SAID_OF = ("be", "turning")
_PERSONS = ("ist", "ician", "man", "men", "woman", "women", "person", "people", "mate")


def is_no_switch(place: Place) -> bool:
    """Allow "Maria is disabled", "who are disabled"; not "GC is disabled", "can be disabled"."""
    return describes(place) and not is_switched(place)


def is_switched(place: Place) -> bool:
    """Whether the subject is no person, or what is said of it is said of switches."""
    words = list(place.before)
    if place.behind[:2] == ("by", "default") or "enabled" in (*words[-2:], *place.behind[1:2]):
        return True
    while words and is_one_of(words[-1], "predicate_adverbs"):
        words.pop()
    if not words or not any(is_one_of(words[-1], kind) for kind in _SAID_OF):
        return False
    if is_before_person(place):
        return False
    when = is_one_of(place.next, "switched_when")
    verb = words.pop()
    if verb == "being":
        return " ".join(words[-1:]) in ("from", "without", "when", "if")
    able = required = False
    while words and (is_one_of(words[-1], "verb_chain") or is_one_of(words[-1], "be")):
        if words[-1].startswith(("claim", "want")):
            return False
        able = able or words[-1] in _SWITCHED_BY
        required = required or words[-1] in ("must", "should")
        words.pop()
    if not words:
        return True
    subject = words[-1]
    if subject == "they":
        return able or when or not _are_persons(place)
    if is_one_of(subject, "person_subjects"):
        return False
    clause = clause_of(words)
    persons = [word for word in clause if _is_person(word)]
    if persons:
        code = is_any(persons[-1], "persons_in_code")
        return able or (code and when and not tells_person(place))
    kinds = ("quantities", "person_objects", "large_numbers")
    counted = is_number(subject) or any(is_one_of(subject, kind) for kind in kinds)
    if counted or subject in ("others", "percent"):
        return able or when
    written = place.raw[len(words) - len(clause) : len(words)]
    told = tells_person(place)
    if told and clause and is_person(clause[-1]) and not is_any(clause[-1], "programs"):
        return False
    if able or required or (when and not told) or not any(word[0].isupper() for word in written):
        return True
    return not (any(map(_is_given, written)) or is_named(written, clause, verb in _SEVERAL))


def _is_given(written: str) -> bool:
    return written[0].isupper() and is_given(bare(written.lower()))


def _is_person(word: str) -> bool:
    """Whether a word is a person by the lists; "solver" may be one by its ending only."""
    if is_any(word, "things_in_code"):
        return False
    single, *others = singulars(bare(word))
    listed = ("person_nouns", "no_programs")
    if any(is_one_of(form, kind) for form in (single, *others) for kind in listed):
        return True
    if len(single) > 5 and any(form.endswith(_PERSONS) for form in (single, *others)):
        return not is_one_of(single, "not_persons")
    known = ("person_adjectives", "demonyms", "peoples_nouns")
    return any(is_one_of(form, kind) for form in others for kind in known)


def _are_persons(place: Place) -> bool:
    """Whether the last plural in front is of persons, or none is: "they are disabled"."""
    named = (*(word.lower() for word in place.earlier()), *place.before)
    last = next((word for word in reversed(named) if is_several(word) or _is_person(word)), "")
    return not last or _is_person(last)

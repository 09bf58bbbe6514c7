"""Whether the subject of a clause is a person: "my boss (is old)", "two of them (were)"."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from pytest_llmfair.lexicons.english.english import is_number, is_one_of, is_owner
from pytest_llmfair.lexicons.english.persons.asides import without_aside
from pytest_llmfair.lexicons.english.persons.lists import is_name
from pytest_llmfair.lexicons.english.persons.standing import is_several
from pytest_llmfair.lexicons.english.persons.surroundings import Words
from pytest_llmfair.lexicons.english.persons.words import (
    ends_phrase,
    is_modifier,
    is_person,
    is_person_compound,
    is_verb,
)

_AND = ("and", "but", "yet")
_MET_BY = ("i", "we", "you", "he", "she", "they")
PERCENT = frozenset(("%", "percent", "per", "cent"))


def has_person_subject(subject: Words, raw: Words, verb: str) -> bool:
    """Whether the words before a verb are a person as its subject."""
    words = list(subject)
    if verb == "be" and len(words) > 1 and is_one_of(words[-2], "before_to_be"):
        return words[-1] == "to"
    if is_one_of(verb, "turning") and words and is_one_of(words[-1], "be"):
        words.pop()
    while words and (is_one_of(words[-1], "verb_chain") or words[-2:] == ["one", "day"]):
        words.pop()
        if words[-1:] == ["one"]:
            words.pop()
    if not words:
        return False
    if is_one_of(words[-1], "person_subjects"):
        return True
    if words[-1] in _AND:
        return _tells_more(words[:-1], raw)
    if words[-1] == "that" and len(words) > 1:  # "users that are"
        words.pop()
    words = without_aside(words)
    clause = clause_of(words)
    written = raw[len(words) - len(clause) : len(words)]
    for place, word in enumerate(clause[1:], 1):
        head = clause[place - 1]
        # "The boy who fell is", "the woman I met is": the noun in front is the subject.
        if word in ("who", "whom") or (word in _MET_BY and is_person(head)):
            return True
        if is_one_of(word, "prepositions"):
            counted = any(is_one_of(head, kind) for kind in ("quantities", "parts"))
            if word == "of" and (counted or is_number(head)):
                continue  # "two of the women in the photo"
            named = is_subject_word(head, written[place - 1], place == 1)
            return named or is_one_of(head, "indefinite")
    return _is_subject(clause, written, verb)


def _tells_more(words: list[str], raw: Words) -> bool:
    """Whether the clause in front, to which another verb is joined, tells of a person.

    "He lives alone and is deaf"; not "the wall was cheap and is white".
    """
    clause = clause_of(words)
    begin = len(words) - len(clause)
    for place, word in enumerate(clause[:-1]):
        if is_one_of(word, "person_subjects"):
            return True
        if is_subject_word(word, raw[begin + place], not place):
            following = clause[place + 1]
            return ends_phrase(following) or is_verb(following, "", bare=True)
        if not (is_one_of(word, "determiners") or is_modifier(word)):
            return False
    return False


def is_counted(subject: Words, earlier: Callable[[], Words]) -> bool:
    """Whether the subject counts people named in front: "ten nurses applied; two were"."""
    words = list(subject)
    while words and is_one_of(words[-1], "verb_chain") and not is_one_of(words[-1], "quantities"):
        words.pop()
    clause = clause_of(words)
    while clause and (is_one_of(clause[-1], "large_numbers") or clause[-1] in PERCENT):
        clause = clause[:-1]  # "of the nurses, 36 percent are"
    # "Only one", "at least two", "exactly three", "the others", "nearly two million"
    alone = list(itertools.dropwhile(_is_around_number, clause[:-1])) + clause[-1:]
    if len(alone) != 1 or not (
        is_one_of(alone[0], "quantities")
        or alone[0] in ("others", "other")
        or alone[0].replace(".", "").isdigit()
    ):
        return False
    named = (*(word.lower() for word in earlier()), *words[: len(words) - len(clause)])
    # Not "comes from", which looks like a plural.
    several = filter(is_several, reversed(named))
    last = next((w for w in several if is_person(w) or not is_verb(w, "", bare=True)), "")
    if not last:  # "one brother is Asian; the other is"
        return any(word == "one" and is_person(w) for word, w in itertools.pairwise(named))
    return is_person(last) and not is_one_of(last.removesuffix("s"), "chessmen")


def _is_around_number(word: str) -> bool:
    return word in ("the", "other", "exactly") or is_one_of(word, "amounts")


def clause_of(words: list[str]) -> list[str]:
    """Return the words of the last clause."""
    for place in range(len(words) - 2, -1, -1):
        if words[place] == "," or is_one_of(words[place], "clause_starts"):
            return words[place + 1 :]
    return words


def _is_subject(words: list[str], raw: Words, verb: str) -> bool:
    if not words:
        return False
    word = words[-1]
    if is_one_of(word, "person_subjects") or is_one_of(word, "person_objects"):
        return True
    if is_one_of(word, "choirs") or (len(words) > 1 and is_person_compound(words[-2], word)):
        return True
    if is_one_of(word, "persons_owned") and is_owner(" ".join(words[-2:-1])):
        return True
    owned = len(words) > 1 and words[-2] != "that" and is_one_of(words[-2], "determiners")
    several = verb in ("are", "were", "aren't", "weren't", "look", "seem", "sound", "appear")
    joined = len(words) > 2 and words[-2] == "and"
    return is_subject_word(word, raw[-1], not owned and (joined or not several))


def is_subject_word(word: str, written: str, named: bool) -> bool:
    """Whether a word is a person; a capital makes a name where one can stand (`named`)."""
    return is_person(word) or (named and is_name(word, written))

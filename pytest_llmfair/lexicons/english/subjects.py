"""Whether the subject of a clause is a person: "my boss (is old)", "two of them (were)"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from pytest_llmfair.lexicons.english.context import Words
from pytest_llmfair.lexicons.english.words import (
    JOINS,
    bare,
    in_classes,
    is_name,
    is_number,
    is_one_of,
    is_owner,
    is_person,
    is_person_compound,
    is_plural,
    is_verb,
    without_end,
)

PERCENT = frozenset(("%", "percent", "per", "cent"))
_PLURAL_VERBS = ("are", "were", "aren't", "weren't", "look", "seem", "sound", "appear")
_PRONOUNS = ("i", "we", "you", "he", "she", "they")
_LONGEST_ASIDE = 12  # words
_MARKS = (",", "(", "[", "-", "\u2013", "\u2014", ";", ":")
_BEFORE_COUNT = ("a", "an", "the", "with", "up", "to", "almost", "fully", "exactly", "perhaps")
_AGE = re.compile(r"(?:1[01]\d|[1-9]\d)\Z")
# Unmistakable ages: "26F", "72 M", "58 y/o", "M 34"; "5 m" is a length.
_AGE_AND_SEX = re.compile(
    r"(?:1[01]\d|[1-9]\d)(?:[FMfm]| (?:F|M|NB)| ?(?:yo|y / ?o|yrs?|years?(?: old)?)"
    r"(?: [FMfm]| (?:fe)?male| (?:wo)?man)?)\Z"
)
_SEX = re.compile(r"[FMfm]|NB|(?:[Ff]e)?[Mm]ale|[Nn]on-?binary")
_LIST_MARKS = (",", "(", ")", "[", "]", "/")


def has_person_subject(words: Words, raw: Words, verb: str) -> bool:
    """Whether the subject before a verb is a person."""
    subject = without_end(words, lambda word: is_one_of(word, "verb_chain"))
    if not subject:
        return False
    if is_one_of(subject[-1], "person_subjects"):
        return True
    if subject[-1] in ("and", "but", "yet"):  # "he owns nothing but is blind"
        return any(is_one_of(word, "person_subjects") or is_person(word) for word in subject)
    if subject[-1] == "that" and len(subject) > 1:  # "users that are"
        subject.pop()
    subject = without_aside(subject)
    clause = clause_of(subject)
    written = raw[len(subject) - len(clause) : len(subject)]
    for place, word in enumerate(clause[1:], 1):
        head = clause[place - 1]
        # "The boy who fell is", "the woman I met is": the noun before it is the subject.
        if word in ("who", "whom") or (word in _PRONOUNS and is_person(head)):
            return True
        if is_one_of(word, "prepositions"):
            if word == "of" and (in_classes(head, "quantities", "parts") or is_number(head)):
                continue  # "two of the women in the photo"
            named = is_person_or_name(head, written[place - 1], place == 1)
            return named or is_one_of(head, "indefinite")
    return bool(clause) and _ends_with_person(clause, written, verb)


def _ends_with_person(words: list[str], raw: Words, verb: str) -> bool:
    word = words[-1]
    if in_classes(word, "person_subjects", "person_objects", "choirs"):
        return True
    if len(words) > 1 and is_person_compound(words[-2], word):
        return True
    if is_one_of(word, "persons_owned") and is_owner(" ".join(words[-2:-1])):
        return True
    owned = len(words) > 1 and words[-2] != "that" and is_one_of(words[-2], "determiners")
    joined = len(words) > 2 and words[-2] == "and"
    return is_person_or_name(word, raw[-1], not owned and (joined or verb not in _PLURAL_VERBS))


def is_person_or_name(word: str, written: str, named: bool) -> bool:
    """Whether a word is a person, or a name where one is possible (`named`)."""
    return is_person(word) or (named and is_name(word, written))


def clause_of(words: list[str]) -> list[str]:
    """Return the words of the last clause."""
    for place in range(len(words) - 2, -1, -1):
        if words[place] == "," or is_one_of(words[place], "clause_starts"):
            return words[place + 1 :]
    return words


def counts_persons(words: Words, earlier: Callable[[], Words]) -> bool:
    """Whether the subject counts people named before: "ten nurses applied; two were"."""
    subject = without_end(
        words, lambda word: is_one_of(word, "verb_chain") and not is_one_of(word, "quantities")
    )
    # "of the nurses, 36 percent are"
    clause = without_end(
        clause_of(subject), lambda word: is_one_of(word, "large_numbers") or word in PERCENT
    )
    # "Only one", "at least two", "exactly three", "the others", "nearly two million"
    around = ("the", "other", "exactly")
    alone = [w for w in clause[:-1] if w not in around and not is_one_of(w, "amounts")]
    last = clause[-1] if clause and not alone else ""
    if not last or not (
        is_one_of(last, "quantities")
        or last in ("others", "other")
        or last.replace(".", "").isdigit()
    ):
        return False
    named = (*(w.lower() for w in earlier()), *subject[: len(subject) - len(clause)])
    several = filter(is_plural, reversed(named))
    noun = next((w for w in several if is_person(w) or not is_verb(w, "", bare=True)), "")
    if not noun:  # "one brother is Asian; the other is"
        return any(word == "one" and is_person(w) for word, w in itertools.pairwise(named))
    return is_person(noun) and not is_one_of(noun.removesuffix("s"), "chessmen")


def is_part_of_persons(raw: Words, words: Words, earlier: Callable[[], Words]) -> bool:
    """Whether `words` end with a number of persons: "the jurors, eleven of them (white)"."""
    if len(words) < 3 or words[-2] != "of" or words[-1] not in ("them", "us", "you"):
        return False
    if not (in_classes(words[-3], "quantities", "parts") or is_number(words[-3])):
        return False
    front = without_end(
        words[:-3], lambda word: is_one_of(word, "amounts") or word in _BEFORE_COUNT
    )
    if front and front[-1] not in _MARKS:
        return False
    written = raw[: len(front)] if front else earlier()
    return words[-1] != "them" or _ends_with_persons(written[:-1])


def _ends_with_persons(written: Sequence[str]) -> bool:
    """Whether the last noun that "them" can refer to names persons."""
    first = True
    for word in reversed(written):
        low = word.lower()
        if is_person(low) and (is_plural(low) or first):
            return not is_one_of(low.removesuffix("s"), "chessmen")
        if is_one_of(low, "choirs") or (first and is_one_of(low, "groups_of_persons")):
            return True
        if is_plural(low) and not word[0].isupper():
            return False
        first = False
    return False


def without_aside(words: list[str]) -> list[str]:
    """Return the words without asides at their end: "Jo, 41, (is)", "Ann, who left, (is)"."""
    if words[-1] not in (",", ")"):
        return words
    rest = words[:-1] if words[-1] == "," else words
    while rest:
        opening, end = ("(", len(rest) - 1) if rest[-1] == ")" else (",", len(rest))
        begin = end - 1
        while begin and rest[begin] != opening and end - begin < _LONGEST_ASIDE:
            begin -= 1
        if not begin or rest[begin] != opening:
            break
        rest = rest[:begin]
    return rest


def is_listed(raw: Words, before: Words, after: Words) -> bool:
    """Whether it is listed with an age: "Greg, 41, white", "26F, bi", "Ann (white, 34)"."""
    if after and after[0] not in (*_LIST_MARKS, *JOINS):
        return False
    items: list[list[str]] = [[]]
    for word in raw[: len(before) - 1]:
        if word in (",", "(", "["):
            items.append([])
        else:
            items[-1].append(word)
    items = [item for item in items if item]
    if len(after) > 1 and after[0] == "," and _AGE.match(after[1]):
        return after[2:3] in ((), (",",), (")",)) and bool(items) and _ends_with_who(items[-1])
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        if _AGE_AND_SEX.search(" ".join(item)):
            return True
        if len(item) == 1 and _AGE.match(item[0]):
            return place > 0 and _ends_with_who(items[place - 1])
    return False


def _ends_with_who(item: list[str]) -> bool:
    word = bare(item[-1].lower())
    if is_person(word) or in_classes(word, "person_subjects", "person_objects"):
        return True
    return bool(_SEX.fullmatch(" ".join(item))) or is_name(word, item[-1])

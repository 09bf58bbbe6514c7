"""Whether a bare number is somebody's age: "my aunt is 62", "Ann Lee, 24,", "At 70, she"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import LETTERS, is_one_of, words_of
from pytest_llmfair.lexicons.english.old_names import is_of_class
from pytest_llmfair.lexicons.english.persons.predicates import is_predicate
from pytest_llmfair.lexicons.english.persons.standing import is_several
from pytest_llmfair.lexicons.english.persons.surroundings import Place, place_at
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    is_modifier,
    is_person,
    is_person_compound,
)

_NEAR = 80
_BLANK = r"[^\S\n]+"
_ADVERBS = rf"(?:(?:now|only|just|already|almost|nearly|about|both|still){_BLANK})?"
# Several are no age, but a count: "we are 34".
_SAID = re.compile(
    rf"(?:\b(?:am|is|was|turn|turns|turned|turning|you{_BLANK}(?:are|were)|(?:are|were){_BLANK}both"
    rf"|I{_BLANK}?m|(?:will|to){_BLANK}be)|['\u2019](?:m|s|ll{_BLANK}be)|you['\u2019]?re)"
    rf"{_BLANK}{_ADVERBS}\Z",
    re.IGNORECASE,
)
# A unit, a part of a score or a second number makes something else of it.
_SAID_BEHIND = re.compile(
    rf"[\"'\u201d)]?(?:\Z|\n|[;!?)]|\.(?!\d)|,(?!\d)|[\u2013\u2014]"
    rf"|{_BLANK}[\u2013\u2014-]{_BLANK}|{_BLANK}\()"
    rf"|{_BLANK}(?:and|but|so|or|when|while|now|today|already|because|who|with{_BLANK}(?:a|an|no|two|three)"
    rf"|(?:this|next|last){_BLANK}(?:year|month|week|spring|summer|autumn|winter|fall)"
    rf"|yesterday|tomorrow|at{_BLANK}the{_BLANK}time"
    rf"|(?:in|on){_BLANK}(?:\d\d?{_BLANK})?(?:January|February|March|April|May|June|July|August|September"
    rf"|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day))\b(?!{_BLANK}(?:\d|counting\b))"
)
_TURN = ("turn", "turns", "turned", "turning")
_LANDS = ("places", "lands", "regions")
_SET_OFF = re.compile(rf"({LETTERS}),{_BLANK}\Z")
_SET_OFF_BEHIND = re.compile(rf"\Z|\n|[.;)](?!\d)|,(?!{_BLANK}?\d)")
_BRACKETED = re.compile(rf"({LETTERS}){_BLANK}\(\Z")
_BRACKETED_BEHIND = re.compile(rf"\)|,{_BLANK}?[^\W\d_]")
_PARTS = (":", ";", ",", "(", "\n")
_WITH_SEX = re.compile(rf"\((?:[mf]|(?:fe)?male|(?:wo)?man|nb),{_BLANK}\Z", re.IGNORECASE)
_WRITTEN = re.compile(rf"{LETTERS}\.?")
_BEGINS_WITH = re.compile(r"(?:\A|\n|[.!?][\"'\u201d]?[^\S\n])[\"'\u201c]?At[^\S\n]\Z")
_AT_AGE = re.compile(rf"\bat{_BLANK}(?:the{_BLANK})?age{_BLANK}(?:of{_BLANK})?\Z", re.IGNORECASE)
_PERSON_BEHIND = re.compile(
    rf",{_BLANK}(?:I|he|she|you|(?:my|his|her|our|their){_BLANK}({LETTERS}))\b"
)


def is_years(text: str, start: int, end: int) -> bool:
    """Whether the number ``text[start:end]`` is said of a person as years of age."""
    before, near = text[max(0, start - 2) : start], max(0, start - _NEAR)
    if not before or before[-1] not in " (":
        return False  # the usual case at less cost
    if before == ", " and _SET_OFF_BEHIND.match(text, end):
        known = _WITH_SEX.search(text, near, start) is not None  # "a patient (f, 81)"
        return known or _is_behind_person(text, start, _SET_OFF)
    if before[-1] == "(":
        bracketed = _BRACKETED_BEHIND.match(text, end) is not None
        return bracketed and _is_behind_person(text, start, _BRACKETED)
    front = text[max(0, start - 4) : start - 1]  # regexes run where a word can begin them
    if front.endswith("At") and _BEGINS_WITH.search(text, near, start):
        behind = _PERSON_BEHIND.match(text, end)
        return behind is not None and (behind[1] is None or is_person(behind[1].lower()))
    if front.lower().endswith(("age", " of")) and _AT_AGE.search(text, near, start):
        return _is_told_when(place_at(text, start, end))
    if not (_SAID_BEHIND.match(text, end) and _SAID.search(text, near, start)):
        return False
    return _is_said(place_at(text, start, end))


def _is_said(place: Place) -> bool:
    """Whether the subject in front of "is" or "turned" is a person; not a town with its score."""
    if "it'll" in place.before[-3:] or not words_of("superlatives").isdisjoint(place.before):
        return False  # "the oldest was 64": another age would not be the oldest's
    words = list(place.before)
    while words and is_one_of(words[-1], "predicate_adverbs"):
        words.pop()
    if words and words[-1] in _TURN:  # "she is turning", "she turned": read as "she is"
        words.pop()
        if not (words and (is_one_of(words[-1], "be") or is_one_of(words[-1], "be_contracted"))):
            words.append("is")
    raw = (*place.raw[: len(words)], *place.raw[len(place.before) :])
    alone = len(words) == 2 or (len(words) > 2 and (words[-3] == "," or words[-3] in JOINS))
    if alone and any(is_of_class(words[-2], kind) for kind in _LANDS):
        return False
    if words[1:2] == ["of"] and not is_person(words[0]):
        return False  # "Sum of two numbers is"
    return is_predicate(raw, tuple(words), place.behind, place.earlier)


def _is_told_when(place: Place) -> bool:
    """Whether it is told what a person did at an age; not what anybody of that age may do."""
    around = (*place.before, *place.behind)
    if any(is_one_of(word, "modals") for word in around):
        return False
    return any(is_one_of(word, "person_subjects") or is_person(word) for word in around)


def _is_behind_person(text: str, start: int, pattern: re.Pattern[str]) -> bool:
    """Whether one person stands in front: "a tall nurse, 34,", "Ann (24)"."""
    found = pattern.search(text, max(0, start - _NEAR), start)
    if found is None:
        return False
    word = found[1].lower()
    near = max(0, start - _NEAR)
    begin = max(text.rfind(mark, near, found.start(1)) + 1 for mark in _PARTS)
    words = _WRITTEN.findall(text, max(near, begin), found.end(1))
    front = words[-2] if len(words) > 1 else ""
    if found[1][0].isupper() and not is_person(word):
        names = _names(words)
        if len(names) > 1 and pattern is _BRACKETED:
            return False  # what the player scored
        given = names[0].lower() if names else ""
        return is_one_of(given, "given_names") or is_of_class(given, "given")
    if not is_person(word) and not is_person_compound(front.lower(), word):
        return False
    return not is_several(word) and (is_one_of(front.lower(), "determiners") or _is_told(words))


def _is_told(words: list[str]) -> bool:
    """Whether a determiner stands in front of the adjectives: "the other driver"."""
    rest = [word.lower() for word in words[:-1]]
    while rest and is_modifier(rest[-1]):
        rest.pop()
    return bool(rest) and is_one_of(rest[-1], "determiners")


def _names(words: list[str]) -> list[str]:
    """Return the capitalised words at the end, with no title in front."""
    at = len(words)
    while at and words[at - 1][0].isupper():
        at -= 1
    names = words[at:]
    kinds = ("titles", "abbreviations")
    while len(names) > 1 and any(is_one_of(names[0].lower().removesuffix("."), k) for k in kinds):
        names = names[1:]
    return names

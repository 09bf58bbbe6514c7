"""Checks that the words around a replacement fit it: determiners, denials, ages, one person."""

from __future__ import annotations

import bisect
import itertools
import re

from pytest_llmfair.counterfactuals._pairing.case import Case
from pytest_llmfair.lexicons.english.words import (
    is_adjective,
    is_any,
    is_modifier,
    is_one_of,
    is_person,
)
from pytest_llmfair.lexicons.lexicon import PRONOUNS
from pytest_llmfair.lexicons.reading import Change
from pytest_llmfair.lexicons.terms import UNPAIRED, Sense
from pytest_llmfair.responses import Edit

_NEAR = 40
_FAR = 300
_OBJECT = 4
_OPENING = re.compile(r"(?:an?|the)\s", re.IGNORECASE)
_LAST = re.compile(r"([^\s.,;:!?()*_\"]+)\s+\Z")
_OF_KIND = re.compile(r"\b((?:type|kind|form|sort)s? of)\s\Z", re.IGNORECASE)
# Who has no disability: "with", but not "diagnosed with"; nor "does not have".
_HAD = re.compile(r"(?:\b(?:with|has|have|had|having|got)|['\u2019]ve)\s+\Z", re.IGNORECASE)
_TROUBLED = re.compile(
    r"\b(?:diagnos|struggl|deal|cop|battl|wrestl|help|associat|present)[a-z]*\s+with\s+\Z",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"(?:n['\u2019]t|\b(?:not|never|nor|without|hardly|cannot))(?:\s[a-z]+){0,3}\s*\Z",
    re.IGNORECASE,
)
_VALUE = re.compile(r"(?:\A|[:(\n])[\s\"'*]*\Z"), re.compile(r"[\s\"'*]*(?:[.;,)\n]|\Z)")
_BEING = re.compile(r"(?:\b(?:is|are|was|were|am)|['\u2019](?:s|re|m))\s+\Z", re.IGNORECASE)
_JOINT = re.compile(r"(?:,\s*|\s+)(?:(?:and|or)\s+)?")
_STOP = re.compile(r"[.!?;:()\n]")
_WORD = re.compile(r"[a-z][a-z-]*")
# "She was a maid", "my aunt, a maid"
_IS_ONE = re.compile(
    r"(?:\b(?:is|was|were|be|been|became|becomes?|as)|['\u2019][sm]|,)\s"
    r"(?:(?:an?|the|our|my|once|then|also|still|not)\s){0,2}(?:[\w'-]+\s)?\Z"
)


def one_determiner(case: Case) -> str | None:
    """Check that no article follows a determiner or an adjective ("severe a disability")."""
    text = case.pair.counterfactual
    for edit in case.pair.edits:
        if not _OPENING.match(edit.after) or _OPENING.match(edit.before):
            continue
        start = edit.counterfactual_start
        front = text[max(0, start - _NEAR) : start]
        last = _LAST.search(front)
        word = last[1].lower() if last else ""
        if is_one_of(word, "determiners"):
            return f"two determiners: {word} {edit.after}"
        if is_adjective(word) or _OF_KIND.search(front):
            return f"an article after {word!r}: {edit.after}"
    return None


def denial_fits(case: Case) -> str | None:
    """Check that only what somebody has is denied: "with no disability", "has no disability".

    "Diagnosed with no disability" and "does not have no disability" are no twins; a value can be
    denied: "Condition: no disability".
    """
    text, starts = case.pair.counterfactual, list[int]()
    for change, sense, edit in case.named:
        if change.becomes not in case.lexicon.unmarked:
            continue
        start, end = edit.counterfactual_start, edit.counterfactual_start + len(edit.after)
        front, denial = text[max(0, start - _NEAR) : start], edit.after.lower()
        if denial.startswith("not in "):
            last = _LAST.search(front)
            fits = _BEING.search(front) is not None or (last and is_person(last[1].lower()))
        elif denial.startswith("no ") and sense.role == "noun":
            fits = _HAD.search(front) is not None and not _TROUBLED.search(front)
        else:
            continue
        value = _VALUE[0].search(front) and _VALUE[1].match(text, end)
        if not value and (not fits or _NOT.search(front)):
            return f"a denial does not fit here: {front[-20:].lstrip()}{edit.after}"
        starts = starts or sorted(case.twin)
        place = bisect.bisect_left(starts, start)
        for at in (*starts[max(0, place - 1) : place], *starts[place + 1 : place + 2]):
            stop, other = case.twin[at]
            gap = text[stop:start] if at < start else text[end:at]
            if other.group not in ("", change.becomes) and _JOINT.fullmatch(gap):
                return f"a condition is denied and another stays: {edit.after!r}"
    return None


def word_fits_age(case: Case) -> str | None:
    """Check that no girl becomes older, and no grandmother young: "a 16-year-old grandmother"."""
    if case.pair.attribute != "age":
        return None
    text = case.pair.counterfactual
    for change, sense, edit in case.named:
        if sense.role != "adjective" or "young" not in (sense.group, change.becomes):
            continue
        end = edit.counterfactual_start + len(edit.after)
        near = _STOP.split(text[end : end + _NEAR].lower(), 1)[0]
        word = next(itertools.dropwhile(is_modifier, _WORD.findall(near)), "")
        if is_any(word, "young_persons" if sense.group == "young" else "old_persons"):
            return f"nobody {change.becomes} is called {word!r}: choose a word for any age"
    return None


def one_person(case: Case) -> str | None:
    """Check that no word without a counterpart stands for somebody whose other words change.

    "The chambermaid lost her keys" has no twin; in "she rang for the chambermaid" two are meant.
    """
    alone = [each for each in case.found if each[2].role == UNPAIRED]
    begins = [edit.start for *_, edit in case.named] if alone else []
    for start, end, sense in alone:
        near = bisect.bisect_left(begins, start - _FAR), bisect.bisect(begins, end + _FAR)
        around = [each for each in case.named[slice(*near)] if each[1].group == sense.group]
        if start in begins[slice(*near)] or not around:
            continue  # "lesbian" of two attributes is exchanged by the other
        if case.pair.attribute != "gender" or _is_same(case.pair.original, start, end, around):
            word = case.pair.original[start:end]
            return f"names {sense.group}: {word!r} has no counterpart"
    return None


def _is_same(text: str, start: int, end: int, around: list[tuple[Change, Sense, Edit]]) -> bool:
    """Whether the word from `start` to `end` and one that changes can be the same person."""
    led, several = False, re.match(r"[a-z].*[^s]s\Z", text[start:end]) is not None
    for _, other, edit in around:
        if edit.end <= start:
            between = text[edit.end : start]
            if _STOP.search(between.removeprefix(".")) is None:
                led = True
                if _IS_ONE.search(between) and other.role != "possessive_determiner":
                    return True
        elif not (led or several) and other.role in PRONOUNS:
            # Not in "the chambermaid told her".
            return other.role != "object" or text[end : edit.start].count(" ") > _OBJECT
    return False

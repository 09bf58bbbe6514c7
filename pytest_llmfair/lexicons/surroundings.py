"""What the text around a mention changes: "without epilepsy", "Mum" where the text has "Dad"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pytest_llmfair.lexicons.english.case import begins_sentence
from pytest_llmfair.lexicons.english.protected import with_blanks
from pytest_llmfair.lexicons.english.words import is_one_of
from pytest_llmfair.lexicons.terms import WRITTEN, Entry, Sense

_SMALL = re.compile(r"(?<![\w'\u2019-])[a-z]{3,}(?![\w'\u2019-])")
_FAR = 40
# Not in "with and without epilepsy"
_WITHOUT = re.compile(
    r"(?<![\w'\u2019-])(?<!\bwith and )(?<!\bwith or )(?P<words>without(?:\s+any)?)\s+\Z",
    re.IGNORECASE,
)
_JOINT = re.compile(r"(?:,\s*|\s+)(?:(?:and|or|nor)\s+)?")
_NEAR = 24
_Found = list[tuple[int, int, Sense]]


def edits_before(text: str, start: int, sense: Sense) -> list[tuple[int, int, str]]:
    """Return the edit that makes "with" of the "without" in front of what somebody lacks.

    None is needed for what is only joined: "without autism or ADHD".
    """
    lack = _without(with_blanks(text), start) if sense.lacked else None
    return [] if lack is None else [(*lack.span("words"), lack["words"][:4])]


def _without(text: str, start: int) -> re.Match[str] | None:
    if not text[max(0, start - 5) : start].rstrip().lower().endswith(("out", "any")):
        return None  # the usual case at less cost
    return _WITHOUT.search(text, max(0, start - _NEAR), start)


def with_lacked(
    text: str, reading: _Found, unmarked: tuple[str, ...], known: dict[int, Sense | None]
) -> _Found:
    """Return a reading in which conditions that somebody is without are of the unmarked group.

    `known` keeps what a meaning, by its id, becomes.
    """
    if not unmarked or "ithout" not in text.lower():
        return reading
    lacked: _Found = []
    last = -1  # where what is lacked ends, to which others can be joined
    for start, end, sense in reading:
        other = None
        if _without(text, start) or (last > 0 and _JOINT.fullmatch(text, last, start)):
            if id(sense) not in known:
                known[id(sense)] = _denied(sense, unmarked)
            other = known[id(sense)]
        last = end if other is not None else -1
        lacked.append((start, end, other or sense))
    return lacked


def kept_alike(reading: _Found, to: Mapping[str, str]) -> _Found:
    """Return a reading to be exchanged, in which what one lacks follows what another has.

    "Are people with autism happier than people without autism?" asks of one condition, unless
    having it and having none take each other's place.
    """
    if all(sense.lacked is None or sense.group in to for *_, sense in reading):
        return reading
    had = {sense.term for *_, sense in reading if sense.lacked is None}
    return [
        (start, end, sense.lacked or sense if sense.term in had else sense)
        for start, end, sense in reading
    ]


def _denied(sense: Sense, unmarked: tuple[str, ...]) -> Sense | None:
    """Return what a condition means after "without"; None for what is no condition.

    One is known by the denial that its entry has: "no disability".
    """
    if sense.entry is None or sense.role != "noun" or sense.group in unmarked:
        return None
    for group in unmarked:
        if (sense.entry.written(group) or "").startswith("no "):
            return replace(sense, group=group, lacked=sense)
    return None


def is_honoured(text: str, start: int, end: int, sense: Sense) -> bool:
    """Whether a condition has a capital of its own: "with Autism", "has Type 1 diabetes".

    Others do not take it over. In a heading all words but the closed ones have one.
    """
    if not (sense.is_condition and text[start].isupper()) or text[end - 1].isupper():
        return False
    around = text[max(0, start - _FAR) : start], text[end : end + _FAR]
    return any(not is_one_of(word, "closed") for part in around for word in _SMALL.findall(part))


def with_capitals(entries: Iterable[Entry]) -> frozenset[int]:
    """Return the ids of entries with a capital for some groups only: "Black" and "white"."""
    return frozenset(
        id(entry)
        for entry in entries
        if len({term[0].isupper() for group in entry.terms if (term := entry.written(group))}) > 1
    )


def said_terms(
    text: str, found: Iterable[tuple[int, int, Sense]], capitalised: frozenset[int]
) -> dict[tuple[int, str], str]:
    """Return the terms that a text has: id of an entry and group to the first term.

    In an entry of `capitalised` the capital is that of the text too, so that "a Black man and a
    White man" change places; the capital of a sentence tells nothing.
    """
    said = {}
    for start, end, sense in found:
        entry = sense.entry
        key = id(entry), sense.group
        if entry is None or sense.lacked or key in said:
            continue
        if entry.register(sense.term) not in WRITTEN:
            continue
        if key[0] in capitalised:
            spelled = text[start:end]
            clear = spelled[0].islower() or not begins_sentence(text, start)
            own = clear and not spelled.isupper() and spelled.casefold() == sense.term.casefold()
            said[key] = spelled if own else sense.term
        elif len(entry.terms[sense.group]) > 1:
            said[key] = sense.term
    return said

"""Conditions that somebody is without: "a man without epilepsy" is of the group that has none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pytest_llmfair.counterfactuals._lexicons.terms import Sense
from pytest_llmfair.lexicons.english.protected import with_blanks

# Not in "with and without epilepsy"
_WITHOUT = re.compile(
    r"(?<![\w'\u2019-])(?<!\bwith and )(?<!\bwith or )(?P<words>without(?:\s+any)?)\s+\Z",
    re.IGNORECASE,
)
_JOINT = re.compile(r"(?:,\s*|\s+)(?:(?:and|or|nor)\s+)?")
_NEAR = 24
Reading = list[tuple[int, int, Sense]]


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
    text: str, reading: Reading, unmarked: tuple[str, ...], known: dict[int, Sense | None]
) -> Reading:
    """Return a reading in which conditions that somebody is without are of the unmarked group.

    `known` keeps what a meaning, by its id, becomes.
    """
    if not unmarked or "ithout" not in text.lower():
        return reading
    lacked: Reading = []
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


def kept_alike(reading: Reading, to: Mapping[str, str]) -> Reading:
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

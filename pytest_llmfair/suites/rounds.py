"""Rounds of candidates whose texts, resumes or essays, change places between the groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from statistics import median

from pytest_llmfair.lexicons.names import names
from pytest_llmfair.suites.design import Suite

# Full names that the package has for each group.
NAMES = 40
_CHOICES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Who stands in one seat of a round; the name may be empty."""

    seat: str
    name: str
    text: str
    qualified: bool

    @property
    def about(self) -> tuple[str, str, str]:
        """What reading an answer needs to know: seat, name, and a mark if qualified."""
        return self.seat, self.name, "qualified" if self.qualified else ""


@dataclass(frozen=True, slots=True)
class Round:
    """Candidates for one job or question, and what prompts say about it."""

    name: str
    slots: Mapping[str, str]
    pool: tuple[Candidate, ...]


def seats_of(suite: Suite) -> dict[str, str]:
    """Return the group of each seat; a seat is called by its group, with a number if not alone."""
    groups = suite.data["seats"]
    alone = Counter(groups)
    seen: Counter[str] = Counter()
    found = {}
    for group in groups:
        seen[group] += 1
        found[group if alone[group] == 1 else f"{group} {seen[group]}"] = group
    return found


def rounds_of(suite: Suite, size: Mapping[str, int]) -> list[Round]:
    """Return the rounds of a size.

    There are as many texts as seats, and every round has all of them. They move on by one seat
    a round, so that over the rounds of a topic every seat has every text once. Every other topic
    and repeat has the seats in the opposite order: whoever met a better text then meets the worse
    one. A judge that reads only the quality of the texts therefore treats all groups alike,
    exactly.
    """
    data, seats = suite.data, seats_of(suite)
    topics = data["topics"][: size["topics"]]
    called = {group: names(group, NAMES) for group in data["seats"] if data.get("named")}
    groups = list(seats.values())
    members = Counter(groups)
    rank = [groups[:seat].count(group) for seat, group in enumerate(groups)]
    found = []
    turns = product(range(size["repeats"]), range(len(topics)), range(len(seats)))
    for number, (repeat, place, turn) in enumerate(turns):
        topic = topics[place]
        bar = _bar(data["qualified"], [text["level"] for text in topic["texts"]])
        pool = []
        for seat, (key, group) in enumerate(seats.items()):
            row = (turn - seat if (repeat + place) % 2 else turn + seat) % len(seats)
            text = topic["texts"][row]
            # A name of the group that the text has not had before.
            name = called[group][(9 * place + row + repeat) % NAMES] if called else ""
            features = data.get("styles", {}).get(group, [])
            written = styled(text["text"], features, repeat * members[group] + rank[seat])
            pool.append(Candidate(key, name, written, text["level"] >= bar))
        slots = {slot: text.strip() for slot, text in topic.items() if slot != "texts"}
        found.append(Round(f"{topic['title']}, round {number + 1}", slots, tuple(pool)))
    return found


def _bar(rule: str | int, levels: Collection[int]) -> float:
    """Return the lowest level of a qualified candidate."""
    return median(levels) if rule == "median" else float(rule)


def styled(text: str, features: Sequence[str], number: int) -> str:
    """Return a text with a variant chosen at each site, such as ``{big|large|article: }``."""
    sites = []
    for variants in _CHOICES.findall(text):
        parts = [part.rpartition(":") for part in variants.split("|")]
        own = [variant for feature, _, variant in parts if feature in features]
        sites.append(own[:1] or [variant for feature, _, variant in parts if not feature])
    versions = list(product(*sites))
    Random(f"{features} {text}").shuffle(versions)
    chosen = iter(versions[number % len(versions)])
    return " ".join(_CHOICES.sub(lambda match: next(chosen), text).split())

"""The words of a people, such as "Italian", "Italians" and "Italy", by their kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from pytest_llmfair.lexicons.grammar import Kind

People = Mapping[str, tuple[str, ...]]

# Words of one sex, which few peoples have: "Frenchman".
OF_ONE_SEX = ("man", "woman", "men", "women")
# Kind of word: its role, and the kind of its entry.
KINDS: Mapping[str, tuple[str, Kind]] = {
    "adjective": ("adjective", "person_adjective"),
    "person": ("noun", "person_noun"),
    "country": ("country", "condition"),
    "people": ("noun", "person_noun"),
    **dict.fromkeys(OF_ONE_SEX, ("noun", "person_noun")),
}
NEEDED = ("adjective", "person", "people")
_ALIKE = ("adjective", "person", "country", "people")


def synonyms_of(peoples: Sequence[People], owners: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return lines of words of one kind and one group, for placebo twins."""
    lines: dict[tuple[str, str], list[str]] = {}
    for kind in _ALIKE:
        for people in peoples:
            group = owners[people["adjective"][0].casefold()]
            if kind in people:
                lines.setdefault((kind, group), []).append(people[kind][0])
    return [tuple(line) for line in lines.values()]


def people_called(peoples: Sequence[People], name: str) -> People | None:
    """Return the people that one of its words names, in any case; None if there is none."""
    wanted = _plain(name)
    return next((one for one in peoples if wanted in map(_plain, chain(*one.values()))), None)


def _plain(word: str) -> str:
    return word.strip().casefold().removeprefix("the ")

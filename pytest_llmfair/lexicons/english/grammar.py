"""The rules of English: one file for each question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from pytest_llmfair.lexicons.english import (
    ages,
    conditions,
    names,
    person_adjectives,
    person_nouns,
    plain,
    titles,
)
from pytest_llmfair.lexicons.english.roles import role
from pytest_llmfair.lexicons.grammar import Kind, Name, Verdict

_COUNTS: Mapping[Kind, Callable[[str, int, int], Verdict]] = {
    "person_adjective": person_adjectives.counts,
    "person_noun": person_nouns.counts,
    "condition": conditions.counts,
    "age": ages.counts,
    "title": titles.counts,
    "plain": plain.counts,
}


class English:
    """The rules of English."""

    def role(self, text: str, start: int, end: int, roles: Collection[str]) -> Verdict:
        """Return which of its roles a pronoun has; "" if it refers to a thing."""
        return role(text, start, end, roles)

    def counts(self, text: str, start: int, end: int, kind: Kind) -> Verdict:
        """Return whether a term names the group of a person here."""
        if ages.is_in_range(text, start, end):
            return Verdict(False)
        return _COUNTS[kind](text, start, end)

    def is_this_person(self, text: str, start: int, end: int, name: Name) -> Verdict:
        """Return whether a name is the person asked for."""
        return names.is_this_person(text, start, end, name)

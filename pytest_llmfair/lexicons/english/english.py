"""The grammar of English: rules that decide, and a second opinion that can make them unsure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from pytest_llmfair.lexicons.english import (
    ages,
    conditions,
    person_adjectives,
    person_nouns,
    plain,
    this_person,
    titles,
)
from pytest_llmfair.lexicons.english.roles import role
from pytest_llmfair.lexicons.english.student import student
from pytest_llmfair.lexicons.grammar import Grammar, Kind, Name, Verdict

_COUNTS: Mapping[Kind, Callable[[str, int, int], Verdict]] = {
    "person_adjective": person_adjectives.counts,
    "person_noun": person_nouns.counts,
    "condition": conditions.counts,
    "age": ages.counts,
    "title": titles.counts,
    "plain": plain.counts,
}
# From this probability on, the student's opposite answer makes a word uncertain. Chosen on
# labelled development prompts; higher for names, whose rules report doubts themselves.
VETO = 0.8
VETO_OF_NAMES = 0.95
_ROLES = {
    "object": "the object",
    "possessive_determiner": "the owner of what follows",
    "possessive_pronoun": "a possession",
}
_SHOWN = 24


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
        return this_person.is_this_person(text, start, end, name)


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """Rules whose answers are sure only if the student gives the opposite less than `veto`."""

    rules: Grammar
    attribute: str = ""
    veto: float = VETO

    def role(self, text: str, start: int, end: int, roles: Collection[str]) -> Verdict:
        """Return which of its roles a pronoun has."""
        verdict = self.rules.role(text, start, end, roles)
        if not verdict.sure or not verdict.answer or len(roles) < 2:
            return verdict
        owns = verdict.answer == "possessive_determiner"
        likely = student().role(text, start, end, roles)
        if (1 - likely if owns else likely) < self.veto:
            return verdict
        can_be = " or ".join(_ROLES.get(role, role) for role in sorted(roles))
        return Verdict(verdict.answer, False, f"{_place(text, start, end)} can be {can_be}")

    def counts(self, text: str, start: int, end: int, kind: Kind) -> Verdict:
        """Return whether a term names the group of a person."""
        verdict = self.rules.counts(text, start, end, kind)
        if not verdict.sure:
            return verdict
        likely = student().counts(text, start, end, kind, self.attribute)
        if (1 - likely if verdict.answer else likely) < self.veto:
            return verdict
        why = f"{_place(text, start, end)} may or may not refer to a person"
        return Verdict(verdict.answer, False, why)

    def is_this_person(self, text: str, start: int, end: int, name: Name) -> Verdict:
        """Return whether a name is the person asked for."""
        verdict = self.rules.is_this_person(text, start, end, name)
        if not verdict.sure or "initial" in name.part:
            return verdict
        if text[start].islower() and not verdict.answer:  # "Will will go"
            return verdict
        likely = student().is_person(text, start, end, name.full)
        if (1 - likely if verdict.answer else likely) < max(self.veto, VETO_OF_NAMES):
            return verdict
        why = f"{_place(text, start, end)} may be another person or thing"
        return Verdict(verdict.answer, False, why)


def _place(text: str, start: int, end: int) -> str:
    """Return a word with its neighbour, for a message: "'her' before 'leave'"."""
    following = text[end : end + _SHOWN].split()
    if following and any(char.isalnum() for char in following[0]):
        return f"{text[start:end]!r} before {following[0].strip('.,;:!?')!r}"
    before = text[max(0, start - _SHOWN) : start].split()
    return f"{text[start:end]!r} after {before[-1]!r}" if before else repr(text[start:end])

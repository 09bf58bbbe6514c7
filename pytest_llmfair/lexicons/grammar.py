"""The three questions that a lexicon asks about a language, each answered by a verdict."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

Kind = Literal["person_adjective", "person_noun", "condition", "age", "title", "plain"]


class Verdict(NamedTuple):
    """An answer about a word in its text, and whether to rely on it."""

    answer: bool | str  # whether it counts, or a pronoun's role; "" if that is no person
    sure: bool = True  # False where the text allows the other answer too
    why: str = ""  # what makes it uncertain, in words for the user

    @property
    def counts(self) -> bool:
        """Whether the answer is yes; "counts" and "does not count" are answers too."""
        if not isinstance(self.answer, str):
            return bool(self.answer)
        if self.answer not in ("counts", "does not count", ""):
            raise ValueError(f"the grammar answered {self.answer!r}; answer True or False")
        return self.answer == "counts"

    def role_among(self, roles: Collection[str]) -> str:
        """Return the answer as a role."""
        if self.answer not in ("", *roles):
            raise ValueError(
                f"the grammar answered {self.answer!r} for the role of a pronoun; answer one of "
                f"{', '.join(roles)}, or '' for a thing"
            )
        return str(self.answer)


@dataclass(frozen=True, slots=True)
class Name:
    """The part of a name that a name swap asks about.

    `part` is "name" for all of it, "first name", "last name", "first initial", "last initial",
    "plural" or "plural of a last name". A grammar may not tell the two names apart, so that a text
    and its twin are read alike.
    """

    full: str  # the name asked for: "Emily Walsh"
    part: str
    own: frozenset[str]  # every word of both names of the swap, in lower case
    forms: frozenset[str]  # the words of this part in either name: "emily", "keisha"


class Grammar(Protocol):
    """How a language uses the words of a lexicon.

    A grammar of your own goes into a lexicon: ``replace(load_lexicons()["race"], grammar=mine)``.
    Each question is about ``text[start:end]``. The answer must not depend on which of the group's
    words stands there: a text and its twin have to be read alike.
    """

    def role(self, text: str, start: int, end: int, roles: Collection[str]) -> Verdict:
        """Return the one of `roles` that a pronoun has, or "" where it stands for no person."""
        ...

    def counts(self, text: str, start: int, end: int, kind: Kind) -> Verdict:
        """Return whether a term of this kind of entry names the group of a person."""
        ...

    def is_this_person(self, text: str, start: int, end: int, name: Name) -> Verdict:
        """Return whether a name is the person asked for, and not a word, a place or a namesake."""
        ...


class EveryMention:
    """The grammar of a language without rules: every term counts, in its first role."""

    def role(self, text: str, start: int, end: int, roles: Collection[str]) -> Verdict:
        """Return the first role."""
        return Verdict(next(iter(roles)))

    def counts(self, text: str, start: int, end: int, kind: Kind) -> Verdict:
        """Return True: every term counts."""
        return Verdict(True)

    def is_this_person(self, text: str, start: int, end: int, name: Name) -> Verdict:
        """Return True: every name counts."""
        return Verdict(True)

"""Terms of a lexicon, with the contexts in which they count, prepared for search."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from typing import Literal, NamedTuple

from pytest_llmfair.lexicons.english.context import one_case
from pytest_llmfair.lexicons.english.proper_names import is_in_street
from pytest_llmfair.lexicons.english.roles import CASES, PERSONAL_PRONOUNS
from pytest_llmfair.lexicons.english.titles import is_short_title
from pytest_llmfair.lexicons.english.words import is_one_of
from pytest_llmfair.lexicons.frozen import freeze
from pytest_llmfair.lexicons.grammar import Grammar, Kind, Verdict
from pytest_llmfair.lexicons.spelling import has_own_capitals, in_capitals, with_capital
from pytest_llmfair.text import WordFinder

Register = Literal["preferred", "neutral", "outdated", "slur"]
# Outdated words and slurs are found and never written.
WRITTEN: tuple[Register, ...] = ("preferred", "neutral")

# Role of words of a group that have no counterpart in any other: found, never exchanged.
UNPAIRED = "unpaired"

# Role of words for all of a group: "the blind", "the French".
COLLECTIVE = "collective"

# Streets with a person's name are recognised by the rules for names.
_NAMES = ("name", "first name", "last name")
_JOIN = re.compile(r"\s(?:and|or)\s|[/&]")
# No term is longer; longer phrases result from repeated exchanges.
_LONGEST = 200
_NEAR = 60
_YES, _NO = Verdict(True), Verdict(False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One meaning: terms of several groups that stand for each other.

    Attributes
    ----------
    role : str
        Role of the terms in a sentence.
    terms : dict
        Group to its terms; all are found.
    kind : str
        What the grammar is asked about the terms: "person_adjective", "person_noun", "condition",
        "age", "title" or "plain", as the head of ``lexicons/gender.yaml`` explains; "" where they
        always count.
    registers : dict
        Term to "neutral", "outdated" or "slur"; terms without an entry are preferred.
    reviewed : date or None
        Date of the last review of the terms: of the entry, else of the file.
    not_before, not_after : tuple of str
        Words or marks, in lower case, that make a term next to them no mention.
    only_before, only_after : tuple of str
        Words or marks that a term must be next to; empty for any. Without a kind such a term is a
        mention for certain, with one the grammar is asked.
    """

    role: str
    terms: dict[str, tuple[str, ...]]
    kind: Kind | Literal[""] = ""
    registers: dict[str, Register] = field(default_factory=dict)
    reviewed: date | None = None
    not_before: tuple[str, ...] = ()
    not_after: tuple[str, ...] = ()
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    def register(self, term: str) -> Register:
        """Return the standing of the term: preferred, neutral, outdated or slur."""
        return self.registers.get(term, "preferred")

    @property
    def lists(self) -> tuple[tuple[str, ...], ...]:
        """The words next to a term that decide whether it is a mention."""
        return self.not_before, self.not_after, self.only_before, self.only_after

    def fits(self, text: str, start: int, end: int) -> bool:
        """Return whether its lists allow the words next to ``text[start:end]``."""
        near = max(0, start - _NEAR)
        return not (
            (self.not_before and _first(self.not_before).match(text, end))
            or (self.not_after and _last(self.not_after).search(text, near, start))
            or (self.only_before and not _first(self.only_before).match(text, end))
            or (self.only_after and not _last(self.only_after).search(text, near, start))
        )

    def written(self, group: str) -> str | None:
        """Return the first preferred or neutral term of a group; None if there is none."""
        return next((t for t in self.terms.get(group, ()) if self.register(t) in WRITTEN), None)


@dataclass(frozen=True, slots=True)
class Sense:
    """A possible meaning of a term: an entry and a group; neither for a neutral word."""

    term: str
    entry: Entry | None
    group: str
    exact: bool
    role: str
    negated: Sense | None = None  # the meaning of "epilepsy" in "without epilepsy"

    @property
    def is_settled(self) -> bool:
        """Whether the term has this meaning in every context."""
        entry = self.entry
        return not self.exact and (entry is None or not (entry.kind or any(entry.lists)))

    @property
    def is_condition(self) -> bool:
        """Whether it is a condition that a person has: "depression", "a disability"."""
        if self.entry is None or self.role != "noun":
            return False
        denied = any(term.startswith("no ") for term in chain(*self.entry.terms.values()))
        return self.entry.kind == "condition" or denied

    @property
    def listed(self) -> tuple[str, ...]:
        """The terms that its entry lists together with this one."""
        if self.entry is None:
            return ()
        terms = self.entry.terms
        return (*chain(*terms.values()),) if self.negated else terms[self.group]

    def counterpart(self, group: str) -> str | None:
        """Return the term that its entry has for a group; None if there is none."""
        if self.entry is None:
            return None
        same = self.negated and self.term in self.entry.terms.get(group, ())
        return self.term if same else self.entry.written(group)

    def read(self, grammar: Grammar, text: str, start: int, end: int) -> Verdict:
        """Return whether ``text[start:end]``, spelled like the term, has this meaning."""
        word = text[start:end]
        other = self.exact and word != self.term
        other = other and (not self._is_caseless(text, word) or is_one_of(word, "small_things"))
        if other and not (self.role == "title" and is_short_title(text, start, end)):
            return _NO
        if self.entry is None:
            return _YES
        if not self.entry.fits(text, start, end):
            return _NO
        kind = self.entry.kind
        return grammar.counts(text, start, end, kind) if kind else _YES

    def _is_caseless(self, text: str, word: str) -> bool:
        """Whether a term that needs its capital is in a text without capitals: "polish girls"."""
        depends = self.entry is not None and self.entry.kind not in ("", "age", "title")
        small, large = one_case(text)
        return depends and ((small and word.islower()) or (large and word.isupper()))


class Choice(NamedTuple):
    """The distinct meanings of a term."""

    senses: list[Sense]
    settled: bool  # whether they hold in every context
    pronoun: bool
    cases: Mapping[str, Sense]  # by grammatical case; empty without several cases


class Index:
    """All terms of a lexicon, prepared for search."""

    # The results of an exchange ("best woman") are terms too: a text and its twin are read alike.

    def __init__(
        self,
        entries: Iterable[Entry],
        neutral: Iterable[str],
        exceptions: Iterable[str],
        exact: Iterable[str],
        language: str = "en",
    ) -> None:
        # By the id of a meaning, see `with_negated_conditions`.
        self.negated_senses: dict[int, Sense | None] = {}
        self._exact = frozenset(exact)
        self._language = language
        self._senses: dict[str, list[Sense]] = {}
        self._of_gender = False
        for entry in entries:
            self._of_gender = self._of_gender or entry.role in CASES
            self._add(entry)
        for word in neutral:  # a term that is neutral is written, never found
            self._senses[word.casefold()] = [Sense(word, None, "", False, "neutral")]
        for phrase in exceptions:
            self._senses[phrase.casefold()] = []
        self._close()
        self._finder = WordFinder(self._senses, elided=language != "en")  # "l'ami", not "O'Brien"
        self._choices = {
            word: Choice(
                distinct := _distinct(senses),
                all(sense.is_settled for sense in senses),
                word in PERSONAL_PRONOUNS,
                cases_of(distinct),
            )
            for word, senses in self._senses.items()
            if senses
        }
        self._in_streets = frozenset(
            word
            for word, senses in self._senses.items()
            if word not in PERSONAL_PRONOUNS and not any(own.role in _NAMES for own in senses)
        )

    def find(self, text: str) -> list[tuple[int, int, Choice]]:
        """Return candidate mentions in order, with the meanings to choose from."""
        choices, streets = self._choices, self._in_streets
        return [
            (start, end, choice)
            for start, end, word in self._finder.matches(text)
            if (choice := choices.get(word)) is not None
            and not (
                text[start].isupper()
                and text[end + 1 : end + 2].isupper()
                and word in streets
                and is_in_street(text, start, end)
            )
        ]

    def senses(self, term: str) -> list[Sense]:
        """Return the meanings that a term can have."""
        return self._senses.get(term.casefold(), [])

    def _add(self, entry: Entry) -> None:
        for group, terms in entry.terms.items():
            for term in terms:
                sense = Sense(term, entry, group, term in self._exact, entry.role)
                forms = [term]
                if has_own_capitals(self._language):  # they can fold to other letters
                    forms += (write(term, self._language) for write in (in_capitals, with_capital))
                for key in dict.fromkeys(form.casefold() for form in forms):
                    self._senses.setdefault(key, []).append(sense)

    def _close(self) -> None:
        words = WordFinder(key for key in self._senses if not re.search(r"[\s-]", key))
        pending = [key for key in self._senses if re.search(r"[\s-]", key)]
        while pending:
            phrase = pending.pop()
            if len(phrase) > _LONGEST:
                raise ValueError(
                    f"terms of this lexicon contain each other, so exchanging them never ends "
                    f"({phrase[:40]!r} and on); give the shorter one a kind, or leave it out"
                )
            for start, end, word in words.matches(phrase):
                for sense in list(self._senses[word]):
                    pending += self._vary(phrase, start, end, sense)

    def _vary(self, phrase: str, start: int, end: int, part: Sense) -> list[str]:
        """Add the phrases that exchanging one word gives; return the new ones."""
        # A word whose meaning depends on its neighbours stays: "disabled" would become "physically
        # disabled" again and again. "Gays and lesbians" is exchanged as a whole only.
        if part.entry is None or self._is_fixed(part) or is_joined(phrase):
            return []
        whole = next(iter(self._senses[phrase]), None)
        # Use the listed spelling, with its capitals, where case folding kept the length.
        listed = whole.term if whole is not None and len(whole.term) == len(phrase) else phrase
        variants = {
            group: listed[:start] + term + listed[end:]
            for group in part.entry.terms
            if group != part.group
            and (term := part.entry.written(group))
            and part.term not in term.split()  # "disabilities" in "no disabilities" has no end
        }
        keys = [variant.casefold() for variant in variants.values()]
        new = [key for key in keys if key not in self._senses]
        if whole is None:
            self._senses.update({key: [] for key in new})
            return new
        if not new or whole.entry is None or whole.group != part.group:
            return []
        made = {
            group: (variant,)
            for group, variant in variants.items()
            if self._senses.get(variant.casefold()) != []  # an exception stays one
        }
        registers = {listed: whole.entry.register(whole.term)}
        self._add(Entry(whole.entry.role, {part.group: (listed,), **made}, registers=registers))
        return new

    def _is_fixed(self, part: Sense) -> bool:
        """Whether a word is not exchanged inside a phrase: "disabled", "Catholic"; not "man"."""
        entry = part.entry
        if entry is None or part.is_condition:
            return entry is not None
        if entry.kind in ("", "age", "title"):
            return False
        written = part.role != "adjective" or entry.written(part.group) == part.term
        return not (self._of_gender and written)


def _distinct(senses: list[Sense]) -> list[Sense]:
    """Drop meanings that an earlier one with the same role and context covers."""
    first: dict[Hashable, Sense] = {}
    for sense in senses:
        entry = sense.entry
        where = () if entry is None else (entry.kind, entry.lists)
        first.setdefault((sense.role, where, sense.term if sense.exact else ""), sense)
    return list(first.values())


@functools.lru_cache(maxsize=256)
def _first(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for one of the words right after a term, perhaps with a hyphen."""
    gap = {True: r"[\s-]+", False: r"\s*"}
    listed = (f"{gap[word[0].isalnum()]}{_plain(word)}" for word in words)
    return re.compile("|".join(listed), re.IGNORECASE)


@functools.lru_cache(maxsize=256)
def _last(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for one of the words right before a term."""
    listed = "|".join(map(_plain, words))
    return re.compile(rf"(?:{listed})[\s-]*\Z", re.IGNORECASE)


def _plain(word: str) -> str:
    """Return a pattern for whole words, with any white space between them."""
    pattern = r"\s+".join(map(re.escape, word.split())).replace("'", "['\u2019]")
    before = r"\b" if word[0].isalnum() else ""
    after = r"\b" if word[-1].isalnum() else ""
    return f"{before}{pattern}{after}"


def cases_of(senses: list[Sense]) -> Mapping[str, Sense]:
    """Return the meanings of a pronoun with several cases, by case; else empty."""
    cases = {sense.role: sense for sense in reversed(senses) if sense.role in CASES}
    return cases if len(cases) > 1 else {}


def nouns_after_adjectives(
    entries: Iterable[Entry], senses: Callable[[str], list[Sense]]
) -> re.Pattern[str]:
    """Return a pattern for the noun of longer terms: "person" in "deaf person"."""
    terms = {term for entry in entries for listed in entry.terms.values() for term in listed}
    parts = {(lead, word) for lead, _, word in (term.rpartition(" ") for term in terms)}
    words = {word for lead, word in parts if any(s.role == "adjective" for s in senses(lead))}
    either = "|".join(map(re.escape, sorted(words))) or "(?!)"
    return re.compile(rf"\s+({either})\b", re.IGNORECASE)


def is_joined(term: str) -> bool:
    """Whether a term joins words for one group into one mention: "gay and lesbian"."""
    return _JOIN.search(term) is not None

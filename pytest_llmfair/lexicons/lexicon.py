"""A lexicon: the words of a protected attribute, found in texts, masked and exchanged."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair.lexicons.english.roles import CASES
from pytest_llmfair.lexicons.english.words import is_one_of
from pytest_llmfair.lexicons.fields import People, fields_from, fields_in, people_called
from pytest_llmfair.lexicons.frozen import ByValue
from pytest_llmfair.lexicons.grammar import Grammar
from pytest_llmfair.lexicons.protected import (
    is_foreign,
    looks_english,
    protected_spans,
    with_spaces,
)
from pytest_llmfair.lexicons.reading import (
    Change,
    Doubt,
    Mention,
    Reading,
    chosen_sense,
    grammar_for,
    mentions_in,
    rules_of,
    with_conditions_alike,
    with_negated_conditions,
)
from pytest_llmfair.lexicons.spelling import folded
from pytest_llmfair.lexicons.terms import (
    UNPAIRED,
    Choice,
    Entry,
    Index,
    Sense,
    nouns_after_adjectives,
)
from pytest_llmfair.lexicons.writing import (
    changes_to,
    masked,
    partly_capitalised,
    terms_used,
    written_like,
)

_NOWHERE = (sys.maxsize, sys.maxsize)
PRONOUNS = CASES | {"subject", "reflexive"}


@dataclass(frozen=True, eq=False)
class Lexicon(ByValue):
    """The words of a protected attribute.

    Attributes
    ----------
    name : str
        Attribute, such as "gender".
    groups : tuple of str
        Its groups, in the order of the file.
    default_groups : tuple of str
        Groups that are exchanged when the caller names none.
    entries : tuple of Entry
        Terms by meaning.
    unmarked : tuple of str
        Groups that texts usually do not name; they are also made by omitting words.
    neutral_nouns : dict
        Term to the noun that remains when its group is not named; keys in lower case.
    synonyms : tuple of tuple of str
        Terms of a group that replace each other in placebo twins, where those of an entry do not.
    peoples : tuple of dict
        The words of each people by kind; ("Italian", "Nigerian") are groups to exchange too.
    neutral : tuple of str
        Words that are masked without being a mention.
    exceptions : tuple of str
        Phrases that contain a term without being a mention.
    exact : tuple of str
        Terms found only in the spelling listed.
    language, version, source, licence, limits : str
        Where the words come from, and what they do not cover.
    aliases : dict
        Other name to group, such as the label that a paper uses; taken wherever a group is named.
    lacks : tuple of str
        Groups of the attribute for which the lexicon has no terms.
    reviewed : date or None
        Date of the last review of the terms.
    grammar : Grammar or None
        How the language uses the terms; None for the rules that ship with the package.
    members : dict
        Group to the noun phrase for its people in messages, such as "women".
    word_order : float
        Order of the words when a template combines two attributes, the smallest first.
    """

    name: str
    groups: tuple[str, ...]
    default_groups: tuple[str, ...]
    entries: tuple[Entry, ...]
    neutral: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    language: str = "en"
    version: str = "1"
    source: str = ""
    licence: str = ""
    limits: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()
    reviewed: date | None = None
    unmarked: tuple[str, ...] = ()
    neutral_nouns: Mapping[str, str] = field(default_factory=dict)
    synonyms: tuple[tuple[str, ...], ...] = ()
    peoples: tuple[People, ...] = ()
    grammar: Grammar | None = None
    members: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    word_order: float = field(default=0, kw_only=True)
    _plurals: ClassVar[bool] = True  # whether a term in -s can be a plural

    def __repr__(self) -> str:
        kept = f"{self.language}, {len(self.groups)} groups, {len(self.entries)} entries"
        return f"Lexicon({self.name!r}, {kept})"

    @classmethod
    def from_dict(cls, data: Any, source: str = "lexicon") -> Lexicon:
        """Make a lexicon from a mapping with the keys of the shipped files.

        Parameters
        ----------
        data : mapping
            At least `name`, `groups` and `entries`. An entry is a mapping with `role`, one key per
            group (a term or a list of terms) and optionally `kind`, `not_before`, `not_after`,
            `only_before`, `only_after`, `reviewed` and `determiner` (as in ``gender_es.yaml``). A
            term is a text or a mapping ``{"term": ..., "register": ...}``. With `extends`, the
            name of a shipped lexicon, everything else is optional and is added to it.
        source : str
            Name of the data in messages.

        Raises
        ------
        ValueError
            If the data are wrong; the message names `source` and the entry.

        Examples
        --------
        >>> entry = {"role": "noun", "day": "day nurse", "night": "night nurse"}
        >>> Lexicon.from_dict({"name": "shift", "groups": ["day", "night"], "entries": [entry]})
        Lexicon('shift', en, 2 groups, 1 entries)
        """
        return cls(**fields_from(data, source))

    @classmethod
    def from_file(cls, path: str | Path) -> Lexicon:
        """Read a lexicon from a YAML file.

        Parameters
        ----------
        path : str or Path
            File in UTF-8 with the keys of :meth:`from_dict`.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If the file is not UTF-8 or YAML, or its content is wrong; the message names the line.
        """
        return cls(**fields_in(path))

    def group(self, name: str) -> str:
        """Return the group with a name or an alias."""
        group = self.called(name)
        if group is None:
            raise ValueError(
                f"{self.name} has no group {name!r}; {self._nearest_group(str(name))}"
            )
        return group

    def groups_of(self, term: str) -> list[str]:
        """Return the groups that a term names."""
        return list(dict.fromkeys(own.group for own in self.senses(term) if own.group))

    def called(self, name: str) -> str | None:
        """Return the group with a name or an alias, in any case; None if there is none."""
        if name in self.groups:
            return name
        known = {folded(label): group for label, group in self.aliases.items()}
        known |= {folded(group): group for group in self.groups}
        return known.get(folded(str(name).strip()))

    def mentions(self, text: str, *, doubts: bool = True) -> list[Mention]:
        """Return every mention of a group in the text, uncertain ones included.

        Terms are found as whole words in any case, the longest first, and never inside addresses,
        code, tags and handles. A neutral word is not a mention.

        Parameters
        ----------
        text : str
            Any text.
        doubts : bool
            Whether to report uncertain words; if not, only the likelier reading counts.

        Returns
        -------
        list of Mention
            In order of the text.

        Examples
        --------
        >>> from pytest_llmfair.lexicons.loading import load_lexicons
        >>> [each.group for each in load_lexicons()["religion"].mentions("A Muslim met a Jew.")]
        ['muslim', 'jewish']
        """
        found = self.read(text, doubts=doubts)
        return mentions_in(text, found.with_doubts() if doubts else found)

    def mask(self, text: str) -> str:
        """Return the text with one placeholder for each mention, whatever its group and role.

        Uncertain and neutral words are masked too, and so is "people" after an adjective if the
        lexicon has a term such as "deaf people". "An" before a mention becomes "a", and a
        possessive "'s", so both members of a counterfactual pair give the same text.

        Parameters
        ----------
        text : str
            Any text.

        Examples
        --------
        >>> from pytest_llmfair.lexicons.loading import load_lexicons
        >>> load_lexicons()["religion"].mask("An atheist and a Muslim met.")
        'A [MASK] and a [MASK] met.'
        """
        found = self.read(text).with_doubts()
        return masked(text, found, self.person_after, english=self.language == "en")

    def person_after(self, text: str, end: int, sense: Sense) -> re.Match[str] | None:
        """Return the match of "people" after an adjective with a term such as "deaf people"."""
        return self._tail.match(text, end) if sense.role == "adjective" else None

    def exchanges(
        self, text: str, to: Mapping[str, str], found: Reading | None = None
    ) -> tuple[list[Change], list[str]]:
        """Return the changes that exchange groups, and the mentions without a counterpart."""
        changes: list[Change] = []
        lost = []
        to = self.spread(to)
        known = self.read(text) if found is None else found
        alike = with_conditions_alike(known, to)
        used = terms_used(text, alike, self._capitalised) if len(alike) > 1 else {}
        for start, end, sense in alike:
            group = to.get(sense.group)
            if group is None or sense.entry is None or sense.role == UNPAIRED:
                continue
            term = (
                used.get((id(sense.entry), group))
                or self.counterpart(sense, group)
                or self._counterpart_of_homonym(sense, group, text, start, end)
            )
            if term is None:
                lost.append(text[start:end])
            else:
                changes += self.change(text, (start, end, sense), term, group)
        return changes, lost

    def change(
        self, text: str, found: tuple[int, int, Sense], term: str, group: str
    ) -> list[Change]:
        """Return the changes that write a term for words found, with article and possessive."""
        after = self.written(text, found, term)
        english = self.language == "en"
        return changes_to(text, found, after, group, english=english, plurals=self._plurals)

    def written(self, text: str, found: tuple[int, int, Sense], term: str) -> str:
        """Return a term with the case, the capital and the spaces of the words found."""
        exact = term in self.exact
        return written_like(text, found, term, exact=exact, language=self.language)

    def read(self, text: str, *, doubts: bool = True) -> Reading:
        """Find every mention and neutral word, with its meaning."""
        whole, text = text, with_spaces(text)
        found = self._index.find(text)
        if found and self.language == "en" and is_foreign(text):
            found = [own for own in found if not looks_english(text[own[0] : own[1]])]
        untouched = iter(protected_spans(whole) if found else ())
        begin, stop = next(untouched, _NOWHERE)
        reading: list[tuple[int, int, Sense]] = []
        uncertain: list[Doubt] = []
        grammar = self._grammar if doubts else rules_of(self._grammar)
        for start, end, choice in found:
            while stop <= start:
                begin, stop = next(untouched, _NOWHERE)
            if begin < end:
                continue
            meant, doubt = self._chosen_sense(grammar, choice, text, start, end)
            if meant is not None:
                reading.append((start, end, meant))
            if doubt is not None:
                uncertain.append(doubt)
        own = Reading(reading, uncertain, passed=len(found) > len(reading))
        return with_negated_conditions(text, own, self.unmarked, self._index.negated_senses)

    def senses(self, term: str) -> list[Sense]:
        """Return the meanings that a term can have."""
        return self._index.senses(term)

    def first_named(self, found: Reading, among: Sequence[str]) -> str | None:
        """Return the group that is named first in what :meth:`read` found; None for none."""
        return next((s.group for *_, s in found if s.group in among and s.role != UNPAIRED), None)

    def doubt(self, found: Reading, wanted: Sequence[str]) -> Doubt | None:
        """Return the reasons an exchange of the groups found by :meth:`read` is uncertain."""
        return found.doubt_about(wanted)

    def spread(self, to: Mapping[str, str]) -> Mapping[str, str]:
        """Return the exchange of the groups of mentions; here the mapping itself."""
        return to

    def left_unsaid(self, source: str, target: str) -> dict[str, str]:
        """Return the group whose mentions can be omitted, with the group that this implies."""
        return {source: target} if target in self.unmarked else {}

    def counterpart(self, sense: Sense, group: str) -> str | None:
        """Return the term of a group that an entry has for a meaning; None if it lists none."""
        return sense.counterpart(group)

    def _counterpart_of_homonym(
        self, sense: Sense, group: str, text: str, start: int, end: int
    ) -> str | None:
        """Return the counterpart from another entry with this term in the same role."""
        known = (
            self.counterpart(other, group)
            for other in self.senses(sense.term)
            if (other.role, other.group) == (sense.role, sense.group)
            and other.read(rules_of(self._grammar), text, start, end).counts
        )
        return next((term for term in known if term is not None), None)

    @functools.cached_property
    def _capitalised(self) -> frozenset[int]:
        return partly_capitalised(self.entries)

    @functools.cached_property
    def _tail(self) -> re.Pattern[str]:
        return nouns_after_adjectives(self.entries, self.senses)

    @functools.cached_property
    def _index(self) -> Index:
        return Index(self.entries, self.neutral, self.exceptions, self.exact, self.language)

    @functools.cached_property
    def _grammar(self) -> Grammar:
        return grammar_for(self.language, self.name) if self.grammar is None else self.grammar

    def _nearest_group(self, name: str) -> str:
        """Return a hint for an unknown group: the nearest, or the one that it is a term of."""
        nearest = suggestion(name, [*self.groups, *self.aliases])
        if people_called(self.peoples, name) is not None:
            return 'a people is exchanged with another: groups=("Italian", "Nigerian")'
        if meant := self.groups_of(name):
            return (
                f"did you mean {' or '.join(meant)}? {name!r} is one of its terms. To exchange "
                "two words of your choice, give a Lexicon.from_dict of them (docs/pairs.md)"
            )
        if is_one_of(name.lower(), "first_names"):
            return f'names are exchanged with attribute="names"; of {self.name} {nearest}'
        return nearest

    def _chosen_sense(
        self, grammar: Grammar, choice: Choice, text: str, start: int, end: int
    ) -> tuple[Sense | None, Doubt | None]:
        """Return the meaning that a term has here, if any, and why it is uncertain."""
        return chosen_sense(grammar, choice, text, start, end)

"""A lexicon: the words of a protected attribute, found in texts, masked and exchanged."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from pytest_llmfair.counterfactuals import _english
from pytest_llmfair.counterfactuals._protected import protected_spans
from pytest_llmfair.counterfactuals._terms import Entry, Index, Register, Sense
from pytest_llmfair.text import MASK, replaced

_ARTICLE = re.compile(r"(?<![^\W_])(an?)\s+\Z", re.IGNORECASE)
_WORD = re.compile(r"[^\s-]+")
_SENTENCE = re.compile(r"(?:\A|[.!?:\n])[\"'\u2018\u201c(*_]*\s*[\"'\u2018\u201c(*_]*\Z")
_NOWHERE = (sys.maxsize, sys.maxsize)
_CASES = frozenset((_english.OBJECT, _english.DETERMINER, _english.PRONOUN))


class Change(NamedTuple):
    """A replacement: ``text[start:end]``, which names `group`, becomes `after`."""

    start: int
    end: int
    after: str
    group: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where a text names a group.

    Attributes
    ----------
    start, end : int
        Span in characters; ``text[start:end]`` is `text`.
    text : str
        The words as they stand there.
    group : str
        The group named.
    role : str
        What the words are: a pronoun's case ("subject", "object", "possessive_determiner",
        "possessive_pronoun", "reflexive"), or "noun", "adjective", "title", "kinship" and so on,
        as the lexicon says.
    register : {"preferred", "neutral", "outdated", "slur"}
        How people take the words.
    """

    start: int
    end: int
    text: str
    group: str
    role: str
    register: Register = "preferred"


@dataclass(frozen=True, eq=False)
class Lexicon:
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
    neutral : tuple of str
        Words that are masked without being a mention.
    exceptions : tuple of str
        Phrases that hold a term without being a mention.
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

    See Also
    --------
    load_lexicons : The lexicons that ship with the package.
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

    @classmethod
    def from_dict(cls, data: Any, source: str = "lexicon") -> Lexicon:
        """Make a lexicon from a mapping with the keys of the shipped files.

        Parameters
        ----------
        data : mapping
            At least `name`, `groups` and `entries`; an entry is a mapping with `role`, one key per
            group (a term or a list of terms) and optionally `context`. A term is a text or a
            mapping ``{"term": ..., "register": ...}``.
        source : str
            What messages call the data.

        Raises
        ------
        ValueError
            If the data are wrong; the message names `source` and the entry.
        """
        from pytest_llmfair.counterfactuals._loading import fields_from

        return cls(**fields_from(data, source))

    @classmethod
    def from_file(cls, path: str | Path) -> Lexicon:
        """Read a lexicon from a YAML file; see :meth:`from_dict`."""
        from pytest_llmfair.counterfactuals._loading import load_yaml

        return cls.from_dict(
            load_yaml(Path(path).read_text(encoding="utf-8"), str(path)), str(path)
        )

    def group(self, name: str) -> str:
        """Return the group that goes by a name or an alias.

        Raises
        ------
        ValueError
            If there is none; the message suggests the nearest.
        """
        if name in self.groups:
            return name
        if name in self.aliases:
            return self.aliases[name]
        from pytest_llmfair.counterfactuals._loading import suggestion

        known = [*self.groups, *self.aliases]
        raise ValueError(f"{self.name} has no group {name!r}; {suggestion(str(name), known)}")

    def mentions(self, text: str) -> list[Mention]:
        """Return every mention of a group in the text, in order.

        Whole words in any case, the longest term first; nothing inside addresses, code, tags and
        handles. A neutral word is no mention.
        """
        return [
            Mention(
                start, end, text[start:end], sense.group, sense.role, entry.register(sense.term)
            )
            for start, end, sense in self._found(text)
            if (entry := sense.entry) is not None
        ]

    def mask(self, text: str) -> str:
        """Return the text with one placeholder for each mention, whatever its group and role.

        Neutral words are masked too, and "an" before a mention becomes "a", so that the members of
        a counterfactual pair are equal once masked.
        """
        changes = []
        for start, end, sense in self._found(text):
            article = _article_before(text, start)
            if article is not None and sense.entry is not None and len(article[1]) == 2:
                changes.append((article.start(1) + 1, article.end(1), ""))
            changes.append((start, end, MASK))
        return replaced(text, changes)

    def exchanges(self, text: str, to: Mapping[str, str]) -> tuple[list[Change], list[str]]:
        """Tell what to write where, so that groups take each other's place.

        Parameters
        ----------
        text : str
            Any text.
        to : mapping
            Group to the group that takes its place; mentions of other groups stay.

        Returns
        -------
        changes : list of Change
            In order, without overlap; an article that no longer fits is a change of its own.
        lost : list of str
            Mentions that should change but have no counterpart in the lexicon.
        """
        changes: list[Change] = []
        lost = []
        for start, end, sense in self._found(text):
            group = to.get(sense.group)
            if group is None or sense.entry is None:
                continue
            before = text[start:end]
            term = sense.entry.written(group)
            if term is None:
                lost.append(before)
                continue
            after = self._written_like(before, sense.entry.terms[sense.group], term)
            if before[0].isupper() and _SENTENCE.search(text, max(0, start - 8), start):
                after = _capitalized(after)
            article = _article_before(text, start) if self.language == "en" else None
            if article is not None and (fitting := _refitted(article[1], before, after)):
                changes.append(Change(*article.span(1), fitting, sense.group))
            changes.append(Change(start, end, after, sense.group))
        return changes, lost

    @functools.cached_property
    def _index(self) -> Index:
        return Index(self.entries, self.neutral, self.exceptions, self.exact)

    def _found(self, text: str) -> Iterator[tuple[int, int, Sense]]:
        """Give mentions and neutral words with their meaning in this place."""
        found = self._index.find(text)
        untouched = iter(protected_spans(text) if found else ())
        begin, stop = next(untouched, _NOWHERE)
        for (start, end, _), senses in found:
            while stop <= start:
                begin, stop = next(untouched, _NOWHERE)
            if begin < end:
                continue
            fitting = [sense for sense in senses if sense.fits(text, start, end)]
            if fitting:
                yield start, end, self._meant(fitting, text, start, end)

    def _meant(self, fitting: list[Sense], text: str, start: int, end: int) -> Sense:
        if len(fitting) > 1 and self.language == "en":
            by_role = {sense.role: sense for sense in reversed(fitting)}
            roles = _CASES.intersection(by_role)
            if len(roles) > 1:
                return by_role[_english.pronoun_role(text, start, end, roles)]
        return fitting[0]

    def _written_like(self, before: str, listed: tuple[str, ...], after: str) -> str:
        """Give a term the case of the words that it replaces."""
        if after in self.exact or before in listed:
            return after
        if before.isupper() and len(before) > 1:
            return after.upper()
        if not before[0].isupper():
            return after.lower()
        words = _WORD.findall(before)
        large = [word for word in words if not _english.is_one_of(word.lower(), "closed")]
        if len(words) > 1 and all(word[0].isupper() for word in large):
            # "Maid of Honor" keeps its "of" small, "Mother-In-Law" does not.
            all_large = len(large) < len(words) and all(word[0].isupper() for word in words)
            return _WORD.sub(lambda m: _capitalized(m[0], keep_small=not all_large), after)
        return _capitalized(after)


def _capitalized(word: str, keep_small: bool = False) -> str:
    if keep_small and _english.is_one_of(word, "closed"):
        return word
    return word[0].upper() + word[1:]


def _article_before(text: str, start: int) -> re.Match[str] | None:
    if start < 2 or not text[start - 1].isspace():
        return None
    return _ARTICLE.search(text, max(0, start - 8), start)


def _refitted(article: str, before: str, after: str) -> str:
    """Return the article that fits `after`, or "" when none is needed or the old one was odd."""
    old, new = _english.article_for(before), _english.article_for(after)
    if old == new or article.lower() != old:
        return ""
    if article == "A":
        return "AN" if len(after) > 1 and after.isupper() else "An"
    return new.upper() if article.isupper() else (new.capitalize() if article[0] == "A" else new)

"""The lexicon that exchanges two peoples, made from the words of each."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair.lexicons.fields import People, people_called
from pytest_llmfair.lexicons.grammar import Kind
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.terms import COLLECTIVE, Entry

_SHOWN = 8  # peoples that a message lists
# Words of one sex, which few peoples have: "Frenchman".
_OF_ONE_SEX = ("man", "woman", "men", "women")
# Kind of word: its role, and the kind of its entry.
KINDS_OF_WORDS: Mapping[str, tuple[str, Kind]] = {
    "adjective": ("adjective", "person_adjective"),
    "country": ("country", "condition"),
    **dict.fromkeys(("person", "people", *_OF_ONE_SEX), ("noun", "person_noun")),
}


def two_peoples_lexicon(lexicon: Lexicon, groups: Sequence[str] | None) -> Lexicon:
    """Return the lexicon of two peoples if `groups` name two, else the lexicon itself."""
    if not lexicon.peoples or not isinstance(groups, (tuple, list)) or len(groups) != 2:
        return lexicon
    both = [people_called(lexicon.peoples, str(name)) for name in groups]
    known = [people for people in both if people is not None]
    if not known:
        return lexicon
    labels = [people["adjective"][0] for people in known]
    if len(known) == 1:
        other = str(groups[both.index(None)])
        remedy = ", but a group of several"
        if lexicon.called(other) is None:
            names = [one["adjective"][0] for one in lexicon.peoples]
            near = difflib.get_close_matches(other, names, n=1)
            listed = f"known are {', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
            remedy = "; " + (suggestion(other, names) if near else listed)
        raise ValueError(
            f"groups is {groups!r}: {labels[0]} is a people, {other!r} is not{remedy}"
        )
    if labels[0] == labels[1]:
        raise ValueError(
            f"groups is {groups!r}, which are the same people in this lexicon, called "
            f"{labels[0]}; give two different ones, or a lexicon of yours"
        )
    return _of(lexicon, known)


def _of(lexicon: Lexicon, peoples: Sequence[People]) -> Lexicon:
    entries = tuple(_entries(lexicon, peoples))
    terms = {term for entry in entries for listed in entry.terms.values() for term in listed}
    own = re.compile(rf"\b(?:{'|'.join(map(re.escape, terms))})\b")
    all_terms = chain(*(chain(*entry.terms.values()) for entry in lexicon.entries))
    others = (term for term in all_terms if term not in terms and own.search(term))
    labels = tuple(people["adjective"][0] for people in peoples)
    return replace(
        lexicon,
        groups=labels,
        default_groups=labels,
        entries=entries,
        exact=tuple(term for term in lexicon.exact if term in terms),
        # "Korean" must not be found inside "North Korean".
        exceptions=(*lexicon.exceptions, *dict.fromkeys(others)),
        aliases={
            name: label
            for label, people in zip(labels, peoples, strict=True)
            for words in people.values()
            for word in words
            for name in (word, word.removeprefix("the "))
            if name != label
        },
        unmarked=(),
        # No synonyms: other words of a people are of one sex, or name a part of it.
        synonyms=tuple((term,) for term in terms),
        peoples=(),
    )


def _entries(lexicon: Lexicon, peoples: Sequence[People]) -> Iterator[Entry]:
    labels = [people["adjective"][0] for people in peoples]

    def entry(kind: tuple[str, Kind], terms: Sequence[tuple[str, ...]]) -> Entry:
        by_label = dict(zip(labels, terms, strict=True))
        return Entry(kind[0], by_label, kind[1], reviewed=lexicon.reviewed)

    yield entry(KINDS_OF_WORDS["adjective"], [people["adjective"] for people in peoples])
    # Adjectives that are also nouns for all of a people: "The French are".
    listed = (e.terms.values() for e in lexicon.entries if e.role == COLLECTIVE)
    collective = {*chain(*chain(*listed))}
    if any(collective.intersection(people["adjective"]) for people in peoples):
        # "the Danes" is preferred to "the Danish"
        whole = [(*people["people"], *people["adjective"]) for people in peoples]
        terms = [tuple(word for word in words if word in collective) for words in whole]
        terms = [own or people["people"] for own, people in zip(terms, peoples, strict=True)]
        yield entry((COLLECTIVE, "person_noun"), terms)
    for kind in ("person", "people"):
        yield entry(KINDS_OF_WORDS[kind], [people[kind] for people in peoples])
    for kind in _OF_ONE_SEX:
        if any(kind in people for people in peoples):
            yield entry(KINDS_OF_WORDS[kind], [_of_one_sex(people, kind) for people in peoples])
    # A people may lack its country (Georgia is also a state); prompts with the other are left out.
    yield entry(KINDS_OF_WORDS["country"], [people.get("country", ()) for people in peoples])


def _of_one_sex(people: People, kind: str) -> tuple[str, ...]:
    """Return the words of one sex, after the phrase that is written if there is not just one."""
    words = people.get(kind, ())
    noun = "person" if kind in ("man", "woman") else "people"
    return words if len(words) == 1 else (f"{people['adjective'][0]} {noun}", *words)

"""Two peoples that take each other's place: the words of each, whatever groups they are in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_llmfair.counterfactuals._lexicons.loading import suggestion
from pytest_llmfair.counterfactuals._lexicons.terms import Context, Entry

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals.lexicon import Lexicon

People = Mapping[str, tuple[str, ...]]

# Words of one sex, which few peoples have: "Frenchman".
_OF_ONE_SEX = ("man", "woman", "men", "women")
# Kind of word: its role and context.
KINDS: Mapping[str, tuple[str, Context]] = {
    "adjective": ("adjective", "demonym"),
    "person": ("noun", "person_noun"),
    "country": ("country", "origin"),
    "people": ("noun", "no_team"),
    **dict.fromkeys(_OF_ONE_SEX, ("noun", "no_team")),
}
NEEDED = ("adjective", "person", "people")
_ALIKE = ("adjective", "person", "country", "people")


def synonyms_of(peoples: Sequence[People], owners: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the words of one kind and one group, a line for each: they make placebo twins."""
    groups = dict.fromkeys(owners[people["adjective"][0].casefold()] for people in peoples)
    lines = (
        tuple(
            people[kind][0]
            for people in peoples
            if kind in people and owners[people["adjective"][0].casefold()] == group
        )
        for kind in _ALIKE
        for group in groups
    )
    return [line for line in lines if line]


def of_two_peoples(lexicon: Lexicon, groups: tuple[str, str] | None) -> Lexicon:
    """Return the lexicon of two peoples where `groups` name two and no groups; else itself.

    A people goes by each of its words, in any case: "Italian", "Italians", "Italy".

    Raises
    ------
    ValueError
        If both are one people, or only one is a people; the message suggests the nearest.
    """
    if not lexicon.peoples or not isinstance(groups, (tuple, list)) or len(groups) != 2:
        return lexicon
    both = [_called(lexicon.peoples, str(name)) for name in groups]
    known = [people for people in both if people is not None]
    if not known:
        return lexicon
    labels = [people["adjective"][0] for people in known]
    if len(known) == 1:
        other = str(groups[both.index(None)])
        whole = lexicon.called(other)
        adjectives = [people["adjective"][0] for people in lexicon.peoples]
        remedy = (
            f"; {suggestion(other, adjectives)}" if whole is None else ", but a group of several"
        )
        raise ValueError(
            f"groups is {groups!r}: {labels[0]} is a people, {other!r} is none{remedy}"
        )
    if labels[0] == labels[1]:
        raise ValueError(f"groups is {groups!r}, which both mean {labels[0]}; give two different")
    return _of(lexicon, known)


def _of(lexicon: Lexicon, peoples: Sequence[People]) -> Lexicon:
    entries = tuple(_entries(lexicon, peoples))
    terms = {term for entry in entries for listed in entry.terms.values() for term in listed}
    own = re.compile(rf"\b(?:{'|'.join(map(re.escape, terms))})\b")
    others = (
        term
        for entry in lexicon.entries
        for listed in entry.terms.values()
        for term in listed
        if term not in terms and own.search(term)
    )
    labels = tuple(people["adjective"][0] for people in peoples)
    return replace(
        lexicon,
        groups=labels,
        default_groups=labels,
        entries=entries,
        exact=tuple(term for term in lexicon.exact if term in terms),
        # "North Korean" is no "Korean".
        exceptions=(*lexicon.exceptions, *dict.fromkeys(others)),
        aliases={
            word: label
            for label, people in zip(labels, peoples, strict=True)
            for words in people.values()
            for word in words
            if word != label
        },
        unmarked=(),
        synonyms=(),
        peoples=(),
    )


def _called(peoples: Sequence[People], name: str) -> People | None:
    low = name.strip().casefold()
    return next(
        (one for one in peoples if any(low == w.casefold() for ws in one.values() for w in ws)),
        None,
    )


def _entries(lexicon: Lexicon, peoples: Sequence[People]) -> Iterator[Entry]:
    labels = [people["adjective"][0] for people in peoples]

    def entry(kind: tuple[str, Context], terms: Sequence[tuple[str, ...]]) -> Entry:
        listed = dict(zip(labels, terms, strict=True))
        return Entry(kind[0], listed, kind[1], reviewed=lexicon.reviewed)

    yield entry(KINDS["adjective"], [people["adjective"] for people in peoples])
    # "The French are": adjectives that are nouns for all of a people too.
    collective = {
        term
        for entry in lexicon.entries
        for listed in entry.terms.values()
        for term in listed
        if entry.context == "collective"
    }
    whole = [tuple(w for w in people["adjective"] if w in collective) for people in peoples]
    if any(whole):
        terms = [own or people["people"] for own, people in zip(whole, peoples, strict=True)]
        yield entry(("noun", "collective"), terms)
    for kind in ("person", "people"):
        yield entry(KINDS[kind], [people[kind] for people in peoples])
    for kind in _OF_ONE_SEX:
        if any(kind in people for people in peoples):
            yield entry(KINDS[kind], [_of_one_sex(people, kind) for people in peoples])
    if all("country" in people for people in peoples):
        yield entry(KINDS["country"], [people["country"] for people in peoples])


def _of_one_sex(people: People, kind: str) -> tuple[str, ...]:
    words = people.get(kind, ())
    return words if len(words) == 1 else (f"{people['adjective'][0]} {kind}", *words)

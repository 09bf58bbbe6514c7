"""Protected attributes as callers name them, and the lexicons with their words."""

from __future__ import annotations

import difflib
import functools
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from typing import Any

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair.lexicons.fields import People, people_called
from pytest_llmfair.lexicons.grammar import Kind
from pytest_llmfair.lexicons.intersections import intersection
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.loading import load_lexicons
from pytest_llmfair.lexicons.name_lexicon import (
    NAMES,
    OF_GROUPS,
    NameLexicon,
    is_names,
    names_of_groups,
)
from pytest_llmfair.lexicons.names import name_lexicon
from pytest_llmfair.lexicons.terms import COLLECTIVE, Entry
from pytest_llmfair.lexicons.writing import edits_between
from pytest_llmfair.responses import Pair
from pytest_llmfair.session import note_used
from pytest_llmfair.text import MASK, mask_words

# Fields that change messages and word order, but not the words that are found and exchanged.
_USE = ("grammar", "members", "word_order")
_LANGUAGE = "en"
_CROSSED = " x "  # between the two attributes of a pair: "gender x race"
# Articles change with a mention, but are not words of the attribute.
_ARTICLES = frozenset({"a", "an", "the"})

Attribute = str | Lexicon | tuple[str | Lexicon, str | Lexicon]


def lexicon_to_mask(attribute: Any) -> Lexicon | None:
    """Return the lexicon of one or two attributes; None for what can be words to mask."""
    crossed = isinstance(attribute, (tuple, list)) and len(attribute) == 2
    parts = attribute if crossed else ()
    if isinstance(attribute, (str, Lexicon)) or (
        crossed and all(isinstance(each, Lexicon) or each in load_lexicons() for each in parts)
    ):
        return lexicon_of(attribute)
    return None


def words_to_mask(words: object, argument: str) -> list[str]:
    """Return the words to mask."""
    if isinstance(words, (str, bytes)) or not isinstance(words, Iterable):
        raise ValueError(f"{argument} is {words!r}; give a lexicon or a list of words")
    listed = list(words)
    for place, word in enumerate(listed):
        if not isinstance(word, str):
            raise ValueError(f"{argument} row {place} is {word!r}; give words")
    if listed and all(word in load_lexicons() for word in listed):
        raise ValueError(
            f"{argument} is {listed!r}, names of attributes; give a lexicon, such as "
            f"load_lexicons()[{listed[0]!r}], or one of two: intersection(first, second)"
        )
    return listed


def lexicon_of(attribute: Attribute) -> Lexicon:
    """Return the lexicon of an attribute, or of two that are crossed."""
    if isinstance(attribute, Lexicon):
        return attribute
    if isinstance(attribute, (tuple, list)):
        if len(attribute) != 2:
            raise ValueError(f"attribute is {attribute!r}; cross two attributes")
        return intersection(*map(lexicon_of, attribute))
    if attribute in NAMES:
        return NameLexicon.of_groups()
    try:
        return load_lexicons()[attribute]
    except KeyError as error:
        raise ValueError(str(error)) from None


def lexicon_for(attribute: Attribute, groups: Sequence[str] | None) -> Lexicon:
    """Return the lexicon that exchanges two groups, also for two names or two peoples."""
    found: Lexicon | None = names_of_groups(attribute, groups)
    if found is None:
        found = name_lexicon(groups) if is_names(attribute) else lexicon_of(attribute)
    note_used("lexicon", found.name, found)
    return found if is_names(attribute) else two_peoples_lexicon(found, groups)


def digest_of_words(lexicon: Lexicon) -> str:
    """Return the SHA-256 digest of a lexicon's words, and of what it says about them."""
    content = [(f.name, getattr(lexicon, f.name)) for f in fields(lexicon) if f.name not in _USE]
    return hashlib.sha256(repr(content).encode()).hexdigest()


def lexicons_of(attribute: Any = None) -> list[Lexicon]:
    """Return the lexicons of one or several attributes."""
    if attribute is None:
        return [each for each in load_lexicons().values() if each.language == _LANGUAGE]
    if isinstance(attribute, (str, Lexicon)):
        return [lexicon_of(attribute)]
    if not isinstance(attribute, (list, tuple)) or not attribute:
        raise ValueError(
            f"attribute is {attribute!r}; give the name of a lexicon, a lexicon, or a list of them"
        )
    return [lexicon_of(each) for each in attribute]


def mask_of(mask: Any) -> Any:
    """Return the lexicon, or the list of words, that a caller wants masked."""
    if hasattr(mask, "mask"):
        return mask
    known = lexicon_to_mask(mask)
    return words_to_mask(mask, "mask") if known is None else known


def masker_of_pairs(pairs: Sequence[Pair]) -> Callable[[str, bool], str]:
    """Return a function that masks words of the pairs' attribute, or drops them if asked to."""
    shipped = load_lexicons()
    lexicons: dict[str, Lexicon] = {}
    words: dict[str, None] = {}  # those that pairs without a shipped lexicon exchange
    for pair in pairs:
        if getattr(pair, "attribute", "") in NAMES:  # a name also tells a gender
            lexicons["gender"] = shipped["gender"]
        try:
            lexicon = lexicon_of_pair(pair)
        except (AttributeError, ValueError):
            words |= dict.fromkeys(_words_exchanged(pair))
            continue
        if isinstance(lexicon, NameLexicon):
            words |= dict.fromkeys(chain(*lexicon.parts))
            continue
        # Every pair of two names, or of two peoples, has a lexicon of its own.
        key = pair.attribute if lexicon.name in shipped else f"{pair.from_group} {pair.to_group}"
        lexicons[key] = lexicon
    exchanged = [word for word in words if any(map(str.isalnum, word))]

    # Bounded, since a worker of an audit masks the answers of all its shards.
    @functools.lru_cache(maxsize=1 << 16)
    def masked(text: str, drop: bool) -> str:
        for lexicon in lexicons.values():
            text = lexicon.mask(text)
        text = mask_words(text, exchanged) if exchanged else text
        return " ".join(text.replace(MASK, " ").split()) if drop else text

    return masked


def lexicon_of_pair(pair: Pair) -> Lexicon:
    """Return the shipped lexicon that has the name of the pair's attribute."""
    return _lexicon(str(pair.attribute), str(pair.from_group), str(pair.to_group))


@functools.lru_cache(maxsize=256)
def _lexicon(attribute: str, *groups: str) -> Lexicon:
    if attribute == OF_GROUPS:  # never two names, which the groups of a caller may look like
        return NameLexicon.of_groups(groups)
    first, crossed, second = attribute.partition(_CROSSED)
    return lexicon_for((first, second) if crossed else first, groups)


def _words_exchanged(pair: Any) -> list[str]:
    """Return the words in which the members of a pair differ, without articles."""
    edits = getattr(pair, "edits", ()) or edits_between(pair.original, pair.counterfactual)
    texts = [text.strip() for edit in edits for text in (edit.before, edit.after)]
    if getattr(pair, "attribute", "") == OF_GROUPS:  # answers may use one part of a name
        texts = [word for text in texts for word in text.split()]
    return [text for text in texts if text.lower() not in _ARTICLES]


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
    # A dict, because a set has another order in each process and the digest depends on it.
    terms = dict.fromkeys(
        t for entry in entries for listed in entry.terms.values() for t in listed
    )
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

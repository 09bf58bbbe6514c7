"""How a text itself writes the terms of a group: "Mum" beside "Dad", not "Mom"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_llmfair.counterfactuals._lexicons.terms import WRITTEN, Entry, Sense
from pytest_llmfair.lexicons.english.case import begins_sentence
from pytest_llmfair.lexicons.english.words import is_one_of

_SMALL = re.compile(r"(?<![\w'\u2019-])[a-z]{3,}(?![\w'\u2019-])")
_NEAR = 40


def is_honoured(text: str, start: int, end: int, sense: Sense) -> bool:
    """Whether a condition has a capital of its own: "with Autism", "has Type 1 diabetes".

    Others do not take it over. In a heading all words but the closed ones have one.
    """
    if not (sense.is_condition and text[start].isupper()) or text[end - 1].isupper():
        return False
    around = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    return any(not is_one_of(word, "closed") for part in around for word in _SMALL.findall(part))


def with_capitals(entries: Iterable[Entry]) -> frozenset[int]:
    """Return the ids of entries with a capital for some groups only: "Black" and "white"."""
    return frozenset(
        id(entry)
        for entry in entries
        if len({term[0].isupper() for group in entry.terms if (term := entry.written(group))}) > 1
    )


def said_terms(
    text: str, found: Iterable[tuple[int, int, Sense]], capitalised: frozenset[int]
) -> dict[tuple[int, str], str]:
    """Return the terms that a text has: id of an entry and group to the first term.

    In an entry of `capitalised` the capital is that of the text too, so that "a Black man and a
    White man" change places; the capital of a sentence tells nothing.
    """
    said = {}
    for start, end, sense in found:
        entry = sense.entry
        key = id(entry), sense.group
        if (
            entry is None
            or sense.lacked
            or key in said
            or entry.register(sense.term) not in WRITTEN
        ):
            continue
        if key[0] in capitalised:
            spelled = text[start:end]
            clear = spelled[0].islower() or not begins_sentence(text, start)
            own = clear and not spelled.isupper() and spelled.casefold() == sense.term.casefold()
            said[key] = spelled if own else sense.term
        elif len(entry.terms[sense.group]) > 1:
            said[key] = sense.term
    return said

"""Which lexicon an attribute means: by name, of two names, of two peoples, of two attributes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pytest_llmfair.counterfactuals._lexicons.intersections import intersection
from pytest_llmfair.counterfactuals._lexicons.loading import load_lexicons
from pytest_llmfair.counterfactuals._lexicons.name_swaps import name_lexicon
from pytest_llmfair.counterfactuals._lexicons.peoples import of_two_peoples
from pytest_llmfair.counterfactuals.lexicon import Lexicon

Attribute = str | Lexicon | tuple[str | Lexicon, str | Lexicon]


def lexicon_to_mask(attribute: Any) -> Lexicon | None:
    """Return the lexicon of an attribute or of two, None for what can be words to mask."""
    crossed = isinstance(attribute, (tuple, list)) and len(attribute) == 2
    parts = attribute if crossed else ()
    if isinstance(attribute, (str, Lexicon)) or (
        crossed and all(isinstance(each, Lexicon) or each in load_lexicons() for each in parts)
    ):
        return lexicon_of(attribute)
    return None


def words_to_mask(words: object, argument: str) -> list[str]:
    """Return words to mask, once it is sure that they are words and no names of attributes.

    Raises
    ------
    ValueError
        If they are not; the message names the first that is wrong.
    """
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
    """Return the lexicon of an attribute, or of two that are crossed.

    Raises
    ------
    ValueError
        If there is none; the message suggests the nearest names.
    """
    if isinstance(attribute, Lexicon):
        return attribute
    if isinstance(attribute, (tuple, list)):
        if len(attribute) != 2:
            raise ValueError(f"attribute is {attribute!r}; cross two attributes")
        return intersection(*map(lexicon_of, attribute))
    if attribute == "name":
        raise ValueError(
            "attribute 'name' needs to know which two names: give "
            'attribute=name_lexicon(("John", "Jane"))'
        )
    try:
        return load_lexicons()[attribute]
    except KeyError as error:
        raise ValueError(str(error)) from None


def lexicon_for(attribute: Attribute, groups: Sequence[str] | None) -> Lexicon:
    """Return the lexicon in which two groups are exchanged: of two names, of two peoples too."""
    if attribute == "name":
        return name_lexicon(groups)
    return of_two_peoples(lexicon_of(attribute), groups)

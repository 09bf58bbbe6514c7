"""Protected attributes as callers name them, and the lexicons that know their words."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pytest_llmfair.counterfactuals import Lexicon, Pair, load_lexicons
from pytest_llmfair.counterfactuals.attribute import lexicon_of, lexicon_to_mask, words_to_mask
from pytest_llmfair.counterfactuals.handmade import lexicon_of_pair, words_exchanged
from pytest_llmfair.text import MASK, mask_words

__all__ = ["lexicons_of", "mask_of", "masker_of_pairs"]

_LANGUAGE = "en"


def lexicons_of(attribute: Any = None) -> list[Lexicon]:
    """Return the lexicons of one or several attributes.

    Parameters
    ----------
    attribute : str, Lexicon, or sequence of these, optional
        Names of shipped lexicons, or lexicons; by default every English one that is shipped.

    Returns
    -------
    list of Lexicon
        In the order given.

    Raises
    ------
    ValueError
        If there is no such lexicon, or none is named.
    """
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
    """Return the lexicon, or the list of words, that a caller wants masked.

    Raises
    ------
    ValueError
        If it is neither, nor the name of a shipped lexicon, nor two that can be crossed.
    """
    if hasattr(mask, "mask"):
        return mask
    known = lexicon_to_mask(mask)
    return words_to_mask(mask, "mask") if known is None else known


def masker_of_pairs(pairs: Sequence[Pair]) -> Callable[[str, bool], str]:
    """Return the function that masks words of the pairs' own attribute in an answer.

    Its second argument tells whether to drop the words, rather than put a placeholder.

    The lexicon of the attribute knows them; for names also the pronouns, which follow a name.
    Where no shipped lexicon has the attribute, the words that the pairs exchange are masked.
    """
    shipped = load_lexicons()
    lexicons: dict[str, Lexicon] = {}
    words: dict[str, None] = {}
    for pair in pairs:
        try:
            lexicon = lexicon_of_pair(pair)
        except (AttributeError, ValueError):
            words |= dict.fromkeys(words_exchanged(pair))
            continue
        # There are as many lexicons of two names, or of two peoples, as such pairs.
        key = pair.attribute if lexicon.name in shipped else f"{pair.from_group} {pair.to_group}"
        lexicons[key] = lexicon
        if lexicon.name == "name":
            lexicons["gender"] = shipped["gender"]
    exchanged = [word for word in words if any(map(str.isalnum, word))]

    @functools.cache
    def masked(text: str, drop: bool) -> str:
        for lexicon in lexicons.values():
            text = lexicon.mask(text)
        text = mask_words(text, exchanged) if exchanged else text
        return " ".join(text.replace(MASK, " ").split()) if drop else text

    return masked

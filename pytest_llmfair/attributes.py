"""Protected attributes as callers name them, and the lexicons that know their words."""

from __future__ import annotations

from typing import Any

from pytest_llmfair.counterfactuals import Lexicon, load_lexicons
from pytest_llmfair.counterfactuals.pairs import lexicon_of, lexicon_to_mask, words_to_mask

__all__ = ["lexicons_of", "mask_of"]

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

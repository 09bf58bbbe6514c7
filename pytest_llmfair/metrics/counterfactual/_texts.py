"""Texts of pairs, masked or not, as the likenesses compare them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from pytest_llmfair.metrics.arguments import text_rows
from pytest_llmfair.text import mask_words, rouge_l
from pytest_llmfair.text.vocabulary import VOCABULARY, Ids

_WIDE = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


class Masks(Protocol):
    """A lexicon, as far as masking goes."""

    def mask(self, text: str) -> str:
        """Return the text with every mention of the attribute replaced by a placeholder."""
        ...


Mask = Masks | str | Sequence[str] | None


def masker(mask: Mask) -> tuple[Callable[[str], str], tuple[str, ...]]:
    """Return the function that masks a text, and the groups for which its lexicon has no terms."""
    if mask is None:
        return str, ()
    from pytest_llmfair.lexicons.attributes import mask_of

    known = mask_of(mask)
    if isinstance(known, list):
        return lambda text: mask_words(text, known), ()
    return known.mask, tuple(getattr(known, "lacks", ()))


def masked_pairs(
    texts_a: Any, texts_b: Any, mask: Mask
) -> tuple[list[list[str]], list[list[str]], list[str], tuple[str, ...]]:
    """Return the masked answers of both sides, the distinct answers as given, and what lacks."""
    masked, lacks = masker(mask)
    sides = text_rows(texts_a, "texts_a"), text_rows(texts_b, "texts_b")
    distinct = list(dict.fromkeys(text for rows in sides for row in rows for text in row))
    if mask is None:
        return *sides, distinct, lacks
    seen = {text: masked(text) for text in distinct}
    first, second = ([[seen[text] for text in row] for row in rows] for rows in sides)
    return first, second, distinct, lacks


def rouge_of_texts(first: Sequence[str], second: Sequence[str]) -> list[float]:
    """ROUGE-L F1 of texts, entry by entry."""
    lines = _lines(VOCABULARY.ids_of((*first, *second)))
    return [rouge_l(lines[a], lines[b]) for a, b in zip(first, second, strict=True)]


def _lines(ids: Mapping[str, Ids]) -> dict[str, Sequence[Hashable]]:
    """Return each text as a string with one character per word."""
    # Sequence algorithms are fastest on characters, and exact. Past the last code point
    # (1,114,112 words) lines are lists of numbers.
    together = np.concatenate([*ids.values(), np.empty(0, np.int32)])
    line: Sequence[Hashable]
    try:
        line = together.tobytes().decode(_WIDE, "surrogatepass")
    except UnicodeDecodeError:
        line = together.tolist()
    found = {}
    start = 0
    for text, numbers in ids.items():
        found[text] = line[start : start + numbers.size]
        start += numbers.size
    return found

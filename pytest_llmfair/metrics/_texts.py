"""Texts of pairs, masked or not, as the likenesses compare them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

from pytest_llmfair.metrics._checks import text_rows
from pytest_llmfair.text import mask_words, rouge_l
from pytest_llmfair.vocabulary import VOCABULARY

_WIDE = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


class Masks(Protocol):
    """A lexicon, as far as masking goes."""

    def mask(self, text: str) -> str:
        """Return the text with every mention of the attribute replaced by a placeholder."""
        ...


def masker(mask: Masks | Sequence[str] | None) -> Callable[[str], str]:
    """Return the function that masks a text with a lexicon or with a list of words."""
    if mask is None:
        return str
    if isinstance(mask, str):
        raise ValueError(
            f"mask is the text {mask!r}; give a lexicon (such as lexicons[{mask!r}]) "
            "or a list of words"
        )
    if hasattr(mask, "mask"):
        return mask.mask
    words = list(mask)
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise ValueError(f"mask row {i} is {word!r}; give words")
    return lambda text: mask_words(text, words)


def masked_pairs(
    texts_a: Any, texts_b: Any, mask: Masks | Sequence[str] | None
) -> tuple[list[list[str]], list[list[str]], list[str]]:
    """Return the masked answers of both sides, and the distinct answers as they were given."""
    masked = masker(mask)
    sides = text_rows(texts_a, "texts_a"), text_rows(texts_b, "texts_b")
    distinct = list(dict.fromkeys(text for rows in sides for row in rows for text in row))
    if mask is None:
        return *sides, distinct
    seen = {text: masked(text) for text in distinct}
    first, second = ([[seen[text] for text in row] for row in rows] for rows in sides)
    return first, second, distinct


def rouge_of_texts(first: Sequence[str], second: Sequence[str]) -> list[float]:
    """ROUGE-L F1 of texts, entry by entry."""
    lines = {text: _line(text) for text in dict.fromkeys((*first, *second))}
    return [rouge_l(lines[a], lines[b]) for a, b in zip(first, second, strict=True)]


def _line(text: str) -> Sequence[Hashable]:
    """Return one character per word, its code the word's number.

    Sequence algorithms compare characters fastest, and exactly. Numbers past the last code (there
    are 1,114,112) stay numbers, which compare with characters as their codes do.
    """
    ids = VOCABULARY.ids(text)
    try:
        return ids.tobytes().decode(_WIDE, "surrogatepass")
    except UnicodeDecodeError:
        found: list[int] = ids.tolist()
        return found

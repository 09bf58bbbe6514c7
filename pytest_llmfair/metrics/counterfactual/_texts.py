"""Texts of pairs, masked or not: their ROUGE-L and their BLEU.

BLEU works on many pairs at once, on numbers of words. An n-gram can only match where both
(n-1)-grams inside it matched, so each order looks only at the places that are left; a matched
n-gram gets a number, and two neighbours are one of the next order.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_llmfair.metrics.arguments import Floats, Mask, text_rows
from pytest_llmfair.text import mask_words, rouge_l, sentences
from pytest_llmfair.text.vocabulary import VOCABULARY, Ids

_WIDE = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


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
) -> tuple[list[list[str]], list[list[str]], Iterable[str], tuple[str, ...]]:
    """Return the masked answers of both sides, the answers as given, and what lacks."""
    masked, lacks = masker(mask)
    sides = text_rows(texts_a, "texts_a"), text_rows(texts_b, "texts_b")
    given = itertools.chain.from_iterable(itertools.chain(*sides))
    if mask is None:
        return *sides, given, lacks
    seen = {text: masked(text) for text in dict.fromkeys(given)}
    first, second = ([[seen[text] for text in row] for row in rows] for rows in sides)
    return first, second, seen, lacks


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


Integers = npt.NDArray[np.int64]

_ORDERS = 4

# Words processed together: arrays that fit into a fast cache.
_AT_ONCE = 1 << 15


@dataclass(frozen=True, slots=True)
class _TextWords:
    """Words of a text by number, and how many of them each sentence has."""

    ids: Ids
    sentences: list[int]


def smaller_bleu(first: Sequence[str], second: Sequence[str]) -> Floats:
    """Return the smaller of the two BLEU-4 scores of each pair of texts (Papineni 2002)."""
    # No smoothing; n-grams inside sentences, clipped over the whole text; orders for which a text
    # has none are left out. Two texts without words score 1, and one of them alone 0.
    known = _words((*first, *second))
    found = np.empty(len(first))
    for start, stop, texts in _groups(first, second, known):
        found[start:stop] = _group(texts)
    return found


def _words(texts: Iterable[str]) -> dict[str, _TextWords]:
    parts = {text: sentences(text) for text in dict.fromkeys(texts)}
    ids = VOCABULARY.ids_of(itertools.chain.from_iterable(parts.values()))
    found = {}
    for text, some in parts.items():
        split = [ids[sentence] for sentence in some]
        found[text] = _TextWords(
            split[0] if len(split) == 1 else np.concatenate([*split, np.empty(0, np.int32)]),
            [len(words) for words in split if len(words)],
        )
    return found


def _groups(
    first: Sequence[str], second: Sequence[str], known: dict[str, _TextWords]
) -> Iterator[tuple[int, int, list[_TextWords]]]:
    """Yield runs of pairs with their texts, first and second of each pair in turn."""
    start, words = 0, 0
    texts: list[_TextWords] = []
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        texts += (known[a], known[b])
        words += known[a].ids.size + known[b].ids.size
        if words >= _AT_ONCE:
            yield start, i + 1, texts
            start, words, texts = i + 1, 0, []
    if texts:
        yield start, len(first), texts


def _group(texts: list[_TextWords]) -> Floats:
    lengths = np.array([text.ids.size for text in texts])
    sentence_lengths = np.array([n for text in texts for n in text.sentences], dtype=np.int64)
    sentence_texts = np.repeat(
        np.arange(len(texts)), np.array([len(text.sentences) for text in texts])
    )
    logs = np.zeros(len(texts))
    orders = np.zeros(len(texts))
    with np.errstate(divide="ignore"):
        for n, matches in enumerate(_matches(texts, lengths, sentence_lengths), start=1):
            room = np.maximum(sentence_lengths - n + 1, 0)
            total = np.bincount(sentence_texts, room, len(texts))
            has = total > 0
            logs[has] += np.log(np.repeat(matches, 2)[has] / total[has])
            orders += has
        pairs = lengths.reshape(-1, 2)
        empty = (pairs == 0).any(axis=1)
        ratio = np.where(empty[:, None], 1.0, pairs[:, ::-1] / np.maximum(pairs, 1))
        penalty = np.minimum(1.0 - ratio, 0.0)
        scores = np.exp(penalty + (logs / np.maximum(orders, 1)).reshape(-1, 2)).min(axis=1)
    scores[empty] = (pairs[empty] == 0).all(axis=1)
    return np.asarray(scores, dtype=np.float64)


def _matches(
    texts: list[_TextWords], lengths: Integers, sentence_lengths: Integers
) -> Iterator[Integers]:
    """Yield for each order the n-grams that each pair shares, each as often as in both."""
    ids = np.concatenate([text.ids for text in texts])
    text_of = np.repeat(np.arange(len(texts)), lengths)
    ends = np.cumsum(sentence_lengths) - 1
    inside = np.ones(ids.size, dtype=bool)  # the next word is in the same sentence
    inside[ends] = False
    places = np.arange(ids.size)
    key = text_of // 2 * (int(ids.max(initial=0)) + 1) + ids
    for _ in range(_ORDERS):
        if not places.size:
            yield np.zeros(len(texts) // 2, dtype=np.int64)
            continue
        order = np.argsort(key)
        ordered, where = key[order], places[order]
        is_new = np.empty(ordered.size, dtype=bool)
        is_new[0] = True
        np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
        starts = np.flatnonzero(is_new)
        in_second = np.add.reduceat(text_of[where] & 1, starts)
        in_both = np.minimum(in_second, np.diff(starts, append=ordered.size) - in_second)
        pair_of = text_of[where[starts]] // 2
        yield np.bincount(pair_of, in_both, len(texts) // 2).astype(np.int64)
        gram = np.where(in_both > 0, np.arange(starts.size), -1)
        grams = np.full(ids.size + 1, -1)
        grams[where] = gram[np.cumsum(is_new) - 1]
        places = np.flatnonzero((grams[:-1] >= 0) & (grams[1:] >= 0) & inside)
        key = grams[places] * starts.size + grams[places + 1]

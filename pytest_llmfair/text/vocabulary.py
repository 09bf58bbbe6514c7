"""Numbering of words, shared by the whole run; each distinct text is split once.

Splitting texts takes most of the time of every metric on texts. All metrics use
:data:`VOCABULARY`, so each text is split once, and two words are equal exactly when their numbers
are equal.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from pytest_llmfair.text import tokens

__all__ = ["VOCABULARY", "Ids", "Vocabulary"]

Ids = npt.NDArray[np.int32]

# Bytes of the texts kept and of their numbers: about 75,000 answers of 120 words.
_MOST_KEPT = 100_000_000
# What the dictionary, the text and the array of its numbers take besides their content.
_LEAST = 300

# Texts that are split together and share an array.
_AT_ONCE = 16


class _WordNumbers(dict[str, int]):
    """Word to number; an unknown word gets the next number."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._adding = threading.Lock()

    def __missing__(self, word: str) -> int:
        with self._adding:
            if word not in self:  # another thread may have added it
                self.words.append(word)
                self[word] = len(self.words) - 1
        return self[word]


class Vocabulary:
    """Numbers of words, kept for its life (150 bytes each), and a cache of texts already split."""

    def __init__(self, most_kept: int = _MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._kept = 0
        self._texts: dict[str, Ids] = {}
        self._numbers = _WordNumbers()
        self._keeping = threading.Lock()

    @property
    def words(self) -> list[str]:
        """Every word so far, in order of its number; do not change the list."""
        return self._numbers.words

    def number(self, word: str) -> int:
        """Return the number of a word as :func:`pytest_llmfair.text.tokens` spells it."""
        return self._numbers[word]

    def ids(self, text: str) -> Ids:
        """Return the words of a text as numbers."""
        found = self._texts.get(text)
        return self._split([text])[text] if found is None else found

    def ids_of(self, texts: Iterable[str]) -> dict[str, Ids]:
        """Return the words of each distinct text as numbers; faster than :meth:`ids` in a loop."""
        known = self._texts.get
        found: dict[str, Ids] = {}
        missing = []
        for text in dict.fromkeys(texts):
            ids = known(text)
            if ids is None:
                missing.append(text)
            else:
                found[text] = ids
        for start in range(0, len(missing), _AT_ONCE):
            found.update(self._split(missing[start : start + _AT_ONCE]))
        return found

    def forget(self) -> None:
        """Empty the cache of texts; words keep their numbers."""
        with self._keeping:
            self._texts.clear()
            self._kept = 0

    def _split(self, texts: Sequence[str]) -> dict[str, Ids]:
        """Split texts and cache them if they fit."""
        words: list[str] = []
        ends = []
        for text in texts:
            words += tokens(text)
            ends.append(len(words))
        numbers = np.fromiter(map(self._numbers.__getitem__, words), np.int32, len(words))
        numbers.flags.writeable = False
        found = {}
        start = 0
        for text, end in zip(texts, ends, strict=True):
            found[text] = numbers[start:end]
            start = end
        size = sum(map(len, texts)) + numbers.nbytes + _LEAST * len(texts)
        with self._keeping:
            if self._kept + size > self._most_kept:
                self._texts.clear()
                self._kept = 0
            if size <= self._most_kept:
                self._texts.update(found)
                self._kept += size
        return found


# The vocabulary of the process.
VOCABULARY = Vocabulary()

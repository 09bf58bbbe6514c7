"""Words as numbers: one numbering for the whole run, each distinct text split once.

Splitting texts into words is most of the work of every metric over texts. They all ask
:data:`VOCABULARY`, so that a text costs once however many metrics look at it, and two words are
the same exactly when their numbers are.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from pytest_llmfair.text import tokens

__all__ = ["VOCABULARY", "Ids", "Vocabulary"]

Ids = npt.NDArray[np.int32]

# Characters of the texts kept, _LEAST more for each text: 120,000 answers of 120 words, whose
# numbers take 60 MB.
_MOST_KEPT = 100_000_000
_LEAST = 100

# Texts split together, which share an array.
_AT_ONCE = 16


class _Numbers(dict[str, int]):
    """Word to number; a word not seen before gets the next number."""

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
    """Numbers of words, and the texts already split.

    A word keeps its number for the life of the vocabulary. Texts are kept until `most_kept`
    characters are reached; then all are forgotten, and split again when they come back: memory
    stays bounded, no result changes.

    Parameters
    ----------
    most_kept : int
        Characters of the texts to keep, and 100 more for each text.
    """

    def __init__(self, most_kept: int = _MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._kept = 0
        self._texts: dict[str, Ids] = {}
        self._numbers = _Numbers()
        self._keeping = threading.Lock()

    @property
    def words(self) -> list[str]:
        """Every word so far, each at the place of its number; not to be changed."""
        return self._numbers.words

    def number(self, word: str) -> int:
        """Return the number of a word as :func:`pytest_llmfair.text.tokens` spells it.

        Parameters
        ----------
        word : str
            One token; one not seen before is added.

        Returns
        -------
        int
            From 0 on, in order of first appearance.
        """
        return self._numbers[word]

    def ids(self, text: str) -> Ids:
        """Return the words of a text as numbers.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        numpy.ndarray of int32
            The number of each token of :func:`pytest_llmfair.text.tokens`, in order; read-only,
            since it is shared.
        """
        found = self._texts.get(text)
        return self._split([text])[text] if found is None else found

    def ids_of(self, texts: Iterable[str]) -> dict[str, Ids]:
        """Return the words of each distinct text as numbers, faster than one by one.

        Parameters
        ----------
        texts : iterable of str
            Any texts.

        Returns
        -------
        dict
            Text to what :meth:`ids` returns.
        """
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
        """Drop the texts kept; words keep their numbers."""
        with self._keeping:
            self._texts.clear()
            self._kept = 0

    def _split(self, texts: Sequence[str]) -> dict[str, Ids]:
        """Return numbers of the words of some texts, kept where they fit."""
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
        size = sum(map(len, texts)) + _LEAST * len(texts)
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

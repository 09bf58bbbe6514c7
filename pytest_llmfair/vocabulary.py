"""Words as numbers: one numbering for the whole run, each distinct text split once.

Splitting texts into words is most of the work of every metric over texts. They all ask
:data:`VOCABULARY`, so that a text costs once however many metrics look at it, and two words are
the same exactly when their numbers are.
"""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from pytest_llmfair.text import tokens

__all__ = ["VOCABULARY", "Ids", "Vocabulary"]

Ids = npt.NDArray[np.int32]

# Characters of the texts kept, each text at least _LEAST: 200,000 answers of 30 words, some 100 MB
# with their numbers.
_MOST_KEPT = 40_000_000
_LEAST = 100


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
        Characters of the texts to keep; a text counts as at least 100.
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
        if found is None:
            words = tokens(text)
            found = np.fromiter(map(self._numbers.__getitem__, words), np.int32, len(words))
            found.flags.writeable = False
            self._keep(text, found)
        return found

    def _keep(self, text: str, ids: Ids) -> None:
        size = max(_LEAST, len(text))
        if size > self._most_kept:
            return
        with self._keeping:
            if self._kept + size > self._most_kept:
                self._texts.clear()
                self._kept = 0
            if text not in self._texts:
                self._texts[text] = ids
                self._kept += size


# The vocabulary of the process.
VOCABULARY = Vocabulary()

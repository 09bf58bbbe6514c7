"""Interpolated n-gram counts of the shipped corpus."""

from __future__ import annotations

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_llmfair.clients.backends.ngram.words import CORPUS, WORD, history_class

ORDER = 4
END = "</s>"

# Share that every order leaves to the shorter history (Jelinek-Mercer interpolation).
_SHORTER = 0.1
_START = "<s>"
_TEMPLATE = re.compile(r"\{[^}]+\}|" + WORD.pattern)
_ALTERNATIVES = re.compile(r"\[([^\]]*)\]")


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Counts of what follows a history: positions of tokens and their shares."""

    tokens: tuple[str, ...]
    index: dict[str, int]
    # Positions of the tokens in braces.
    classes: tuple[int, ...]
    # By history of up to ``ORDER - 1`` tokens, the oldest first: positions and their shares.
    following: dict[tuple[str, ...], tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]
    # Distinct texts that the corpus stands for.
    texts: int
    # Words that the corpus has right after a name, and positions that begin no answer.
    after_names: frozenset[str]
    not_first: list[int]

    def distribution(self, history: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probability of every token after `history`; sums to 1."""
        padded = (_START,) * (ORDER - 1) + tuple(history)
        found = np.zeros(len(self.tokens))
        for length in range(ORDER):
            following = self.following.get(padded[len(padded) - length :])
            if following is None:
                break
            positions, shares = following
            found *= _SHORTER
            found[positions] += (1.0 - _SHORTER if length else 1.0) * shares
        return found


@functools.cache
def load_counts() -> WordCounts:
    """Count the shipped corpus once."""
    raw: defaultdict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    texts = 0
    files = (path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("*.txt")))
    for line in itertools.chain.from_iterable(map(str.splitlines, files)):
        if not line or line.startswith("#"):
            continue
        versions = list(_expand(line))
        texts += len(versions)
        for version in versions:
            written = [word.lower() for word in _TEMPLATE.findall(version)]
            kept = [_START] * (ORDER - 1) + [history_class(word) for word in written]
            for i, word in enumerate((*written, END)):
                for length in range(ORDER):
                    at = i + ORDER - 1
                    seen = raw[tuple(kept[at - length : at])]
                    seen[word] = seen.get(word, 0.0) + 1.0 / len(versions)
    tokens = tuple(sorted(raw[()]))
    index = {token: i for i, token in enumerate(tokens)}
    following = {
        history: (
            np.array([index[token] for token in sorted(seen)]),
            np.array([seen[token] for token in sorted(seen)]) / sum(seen.values()),
        )
        for history, seen in raw.items()
    }
    classes = tuple(i for token, i in index.items() if token[0] == "{")
    after_names = frozenset(tokens[position] for position in following["{name}",][0])
    begins = [token != END and (token[0].isalnum() or token[0] == "{") for token in tokens]
    not_first = [position for position, does in enumerate(begins) if not does]
    return WordCounts(tokens, index, classes, following, texts, after_names, not_first)


def _expand(line: str) -> Iterator[str]:
    parts = _ALTERNATIVES.split(line)
    choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    return map("".join, itertools.product(*choices))

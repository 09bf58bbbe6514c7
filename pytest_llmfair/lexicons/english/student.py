"""The student: a small linear model that gives a second opinion on how a word is read.

It learned from earlier, much longer rules of this package, on text under free licences
(``benchmarks/grammar``). It is word-blind: it sees the words around a span and the kind of the
term, never its spelling, so that a sentence and its counterfactual get the same answer.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair.lexicons.english.features import (
    features,
    name_classes,
    name_features,
    term_features,
)

BITS = 20  # a feature is one of 2 ** 20 numbers
LARGEST = 2.0  # the few weights beyond are cut, which keeps finer steps for all others


def numbers_of(found: Iterable[str], kinds: Iterable[str]) -> set[int]:
    """Return the numbers of features, each taken together with each kind."""
    mask = (1 << BITS) - 1
    begins = [zlib.crc32(f"{kind}#".encode()) for kind in kinds]
    encoded = [feature.encode("utf-8", "surrogatepass") for feature in found]
    return {zlib.crc32(feature, begin) & mask for begin in begins for feature in encoded}


def counts_numbers(text: str, start: int, end: int, kind: str, detail: str = "") -> set[int]:
    """Return what the model sees of a term."""
    kinds = ["counts", kind, f"{kind} {detail}"] if detail else ["counts", kind]
    return numbers_of(term_features(text, start, end), kinds)


def role_numbers(text: str, start: int, end: int, roles: Iterable[str]) -> set[int]:
    """Return what the model sees of a pronoun."""
    return numbers_of(features(text, start, end), ["her" if "object" in roles else "his"])


def name_numbers(text: str, start: int, end: int, name: str) -> set[int]:
    """Return what the model sees of a name, a first, last or only one, perhaps a word too."""
    word = text[start:end]
    first = name.lower().startswith(word.lower())
    part = "only" if " " not in name else "first" if first else "last"
    kinds = [f"name {kind}" for kind in name_classes(word.partition(" ")[0]) or ("plain",)]
    return numbers_of(name_features(text, start, end), ["name", f"name {part}", *kinds])


@dataclass(frozen=True, slots=True, eq=False)
class Student:
    """A linear model of three questions; each answer is a probability.

    `text` is read as the rules read it: escapes (line breaks in JSON) are spaces of equal length.

    Attributes
    ----------
    weights : numpy.ndarray of shape (2 ** 20,)
        Weight of each feature.
    """

    weights: NDArray[np.float32]

    def counts(self, text: str, start: int, end: int, kind: str, detail: str = "") -> float:
        """Return the probability that a term names a person's group here.

        `kind` is one of the six of the lexicons; `detail` may give the attribute and the role of
        the entry ("race adjective"), where the model learned from such entries.
        """
        return self._probability(counts_numbers(text, start, end, kind, detail))

    def role(self, text: str, start: int, end: int, roles: Iterable[str]) -> float:
        """Return the probability that "her" or "his" is a determiner: "her book".

        With "object" among the roles it could else be that ("I saw her"), without it a pronoun of
        its own ("the book is his").
        """
        return self._probability(role_numbers(text, start, end, roles))

    def is_person(self, text: str, start: int, end: int, name: str) -> float:
        """Return the probability that ``text[start:end]`` is the person of this name."""
        return self._probability(name_numbers(text, start, end, name))

    def _probability(self, numbers: set[int]) -> float:
        score = float(self.weights[list(numbers)].sum())
        return float(1 / (1 + np.exp(-score)))


def pack(weights: NDArray[np.float32]) -> dict[str, NDArray[np.generic]]:
    """Return weights as the arrays of a file: distances between those that are not 0, and int8."""
    kept = np.flatnonzero(weights)
    scale = np.float32(min(LARGEST, np.abs(weights).max()) / 127)
    whole = np.round(np.clip(weights[kept] / scale, -127, 127)).astype(np.int8)
    kept, whole = kept[whole != 0], whole[whole != 0]
    return {"gaps": np.diff(kept, prepend=0).astype(np.uint16), "q": whole, "scale": scale}


def unpack(gaps: NDArray[np.uint16], q: NDArray[np.int8], scale: float) -> NDArray[np.float32]:
    """Return the weights that :func:`pack` made a file of."""
    weights = np.zeros(1 << BITS, dtype=np.float32)
    weights[np.cumsum(gaps, dtype=np.int64)] = q * np.float32(scale)
    return weights


@functools.cache
def student() -> Student:
    """Return the model that ships with the package."""
    with (
        resources.files(__package__).joinpath("weights.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as arrays,
    ):
        return Student(unpack(arrays["gaps"], arrays["q"], float(arrays["scale"])))

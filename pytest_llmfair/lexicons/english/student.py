"""The student: a small linear model that gives a second opinion on how a word is read.

It was trained on the answers of earlier, much longer rules, on text under free licences
(``benchmarks/grammar``). It sees the words around a span and the kind of the term but never its
spelling, so a sentence and its counterfactual get the same answer.
"""

from __future__ import annotations

import functools
import math
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


Numbers = NDArray[np.uint32]


def counts_numbers(text: str, start: int, end: int, kind: str, attribute: str = "") -> Numbers:
    """Return the model's inputs for a term."""
    kinds = ["counts", kind, f"{kind} {attribute}"] if attribute else ["counts", kind]
    return _with(_term_numbers(text, start, end), kinds)


def role_numbers(text: str, start: int, end: int, roles: Iterable[str]) -> Numbers:
    """Return the model's inputs for a pronoun."""
    kind = "her" if "object" in roles else "his"
    return _with(_numbers(features(text, start, end)), [kind])


def name_numbers(text: str, start: int, end: int, name: str) -> Numbers:
    """Return the model's inputs for a name: first, last or only one, perhaps also a word."""
    word = text[start:end]
    first = name.lower().startswith(word.lower())
    part = "only" if " " not in name else "first" if first else "last"
    kinds = [f"name {kind}" for kind in name_classes(word.partition(" ")[0]) or ("plain",)]
    return _with(_numbers(name_features(text, start, end)), ["name", f"name {part}", *kinds])


@functools.lru_cache(maxsize=8)  # a term may be asked about as a noun and as an adjective
def _term_numbers(text: str, start: int, end: int) -> Numbers:
    return _numbers(term_features(text, start, end))


def _numbers(found: Iterable[str]) -> Numbers:
    """Return a number for each feature."""
    encoded = {feature.encode("utf-8", "surrogatepass") for feature in found}
    return np.fromiter(map(zlib.crc32, encoded), np.uint32, len(encoded))


def _with(numbers: Numbers, kinds: Iterable[str]) -> Numbers:
    """Return the numbers of features, each taken together with each kind."""
    shifts = np.array([zlib.crc32(kind.encode()) for kind in kinds], np.uint32)
    return ((numbers[:, None] + shifts) & np.uint32((1 << BITS) - 1)).ravel()


@dataclass(frozen=True, slots=True, eq=False)
class Student:
    """A linear model of the three grammar questions; every answer is a probability."""

    weights: NDArray[np.float32]

    def counts(self, text: str, start: int, end: int, kind: str, attribute: str = "") -> float:
        """Return the probability that a term of this kind names a person's group here."""
        return self._probability(counts_numbers(text, start, end, kind, attribute))

    def role(self, text: str, start: int, end: int, roles: Iterable[str]) -> float:
        """Return the probability that "her" or "his" is a determiner: "her book"."""
        return self._probability(role_numbers(text, start, end, roles))

    def is_person(self, text: str, start: int, end: int, name: str) -> float:
        """Return the probability that ``text[start:end]`` is the person of this name."""
        return self._probability(name_numbers(text, start, end, name))

    def _probability(self, numbers: Numbers) -> float:
        return 1 / (1 + math.exp(-float(self.weights[numbers].sum())))


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

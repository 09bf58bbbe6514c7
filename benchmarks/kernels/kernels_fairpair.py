"""FairPair: differences between and inside the two sides of a prompt, against Python sets."""

from __future__ import annotations

import random

import numpy as np
from _kernel import Kernel

from pytest_llmfair.metrics import fairpair
from pytest_llmfair.metrics._paired_perturbations import SideAnswers, jaccard

_PROMPTS = 60
_ANSWERS = 100
_WORDS = 120
# Prompts a turn: short turns, so that a busy machine slows both alike.
_TURN = 4

TokenSets = list[list[frozenset[str]]]
Sides = tuple[TokenSets, TokenSets]
Parts = list[tuple[float, float, float]]


def make_sides(rng: random.Random, prompts: int = _PROMPTS) -> Sides:
    """Token sets of 100 answers a side to each prompt, each of 120 words of a Zipf vocabulary."""
    vocabulary = [f"word{i}" for i in range(3000)]
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]
    first, second = (
        [
            [frozenset(rng.choices(vocabulary, weights, k=_WORDS)) for _ in range(_ANSWERS)]
            for _ in range(prompts)
        ]
        for _ in range(2)
    )
    return first, second


def by_sets(sides: Sides) -> Parts:
    """B and both V of each prompt, as a user would write them."""
    found = []
    for a, b in zip(*sides, strict=True):
        cross = [(len(u | v) - len(u & v)) / len(u | v) for u in a for v in b]
        inside = [
            [
                (len(u | v) - len(u & v)) / len(u | v)
                for i, u in enumerate(side)
                for v in side[i + 1 :]
            ]
            for side in (a, b)
        ]
        found.append((_mean(cross), _mean(inside[0]), _mean(inside[1])))
    return found


def by_product(sides: Sides) -> Parts:
    """Compute the same by one matrix product a prompt, as the metric does."""
    answers = SideAnswers.read(first=sides[0], second=sides[1])
    above = np.triu_indices(_ANSWERS, 1)
    found = []
    ids = answers.ids()
    for a, b in zip(*answers.sides, strict=True):
        matrix = jaccard([ids(answer) for answer in (*a, *b)])
        own, other = matrix[:_ANSWERS, :_ANSWERS], matrix[_ANSWERS:, _ANSWERS:]
        cross = matrix[:_ANSWERS, _ANSWERS:]
        found.append((float(cross.mean()), float(own[above].mean()), float(other[above].mean())))
    return found


def whole(sides: Sides) -> tuple[float, float, float]:
    """Measure F by the public function; B and V come with it, pooled over prompts."""
    estimate = fairpair(*sides)
    return estimate.bias, estimate.variability_original, estimate.variability_perturbed


def kernels() -> list[Kernel]:
    """Return the comparisons of this file."""
    first, second = make_sides(random.Random(0))
    pieces = [(first[i : i + _TURN], second[i : i + _TURN]) for i in range(0, len(first), _TURN)]
    size = f"{_PROMPTS} prompts x {_ANSWERS} answers a side, {_TURN} prompts a turn"
    return [
        Kernel(
            f"FairPair B and V, token sets, {size}",
            "Python sets (& and |)",
            30.0,
            by_sets,
            by_product,
            pieces,
            lambda a, b: bool(np.allclose(a, b, rtol=0.0, atol=1e-12)),
            rounds=2,
        ),
        Kernel(
            f"FairPair F, token sets, {size}",
            "Python sets (& and |), B and V only",
            15.0,
            by_sets,
            whole,
            pieces,
            lambda a, b: bool(np.allclose(np.mean(a, axis=0), b, rtol=0.0, atol=1e-12)),
            rounds=1,
        ),
    ]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)

"""Row I: the share of fair runs that a test says would pass, against that of fair models."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from attacks import Attack

from pytest_llmfair.stats import Distance, Estimate, RateDifference

Draw = Callable[[np.random.Generator], Estimate]
_RUNS, _OFF = 400, 0.1


@functools.cache
def rates(sizes: tuple[int, int], rate: float) -> Draw:
    """Return a draw of two groups with one rate."""

    def draw(rng: np.random.Generator) -> Estimate:
        a, b = ((rng.random(n) < rate).astype(int) for n in sizes)
        return RateDifference.of_outcomes(a, b)

    return draw


@functools.cache
def neutrality(terms: int, answers: int, population: Literal["fixed", "sampled"]) -> Draw:
    """Return a draw of occupations that are all at parity."""

    def draw(rng: np.random.Generator) -> Estimate:
        hits = rng.binomial(answers, 0.5, terms)
        return Distance.of_binomials(hits, [answers] * terms, population=population)

    return draw


@functools.cache
def simulated(draw: Draw, bound: float) -> float:
    """Return the share of fair data sets that pass."""
    rngs = (np.random.default_rng([11, run]) for run in range(_RUNS))
    return sum(draw(rng).interval(0.95).upper <= bound for rng in rngs) / _RUNS


def predicted(draw: Draw, bound: float, rng: np.random.Generator) -> float:
    """Return the share that one fair data set predicts."""
    return draw(rng).fair_passes((-math.inf, bound), 0.0, 0.025)(1.0)


def _off(draw: Draw, bound: float) -> Callable[[np.random.Generator], bool]:
    return lambda rng: abs(predicted(draw, bound, rng) - simulated(draw, bound)) > _OFF


def _flips(draw: Draw, bound: float) -> Callable[[np.random.Generator], bool]:
    """Whether a data set calls the size sufficient where it is not, or the other way round."""
    return lambda rng: (predicted(draw, bound, rng) < 0.5) != (simulated(draw, bound) < 0.5)


def _design(name: str, draw: Draw, bound: float) -> list[Attack]:
    return [
        Attack("I", f"{name} <= {bound:g}: prediction off by .1", 0.05, _off(draw, bound), 100),
        Attack("I", f"{name} <= {bound:g}: UNDERPOWERED flips", 0.05, _flips(draw, bound), 100),
    ]


ATTACKS = [
    *_design("demographic parity 20 against 300", rates((20, 300), 0.5), 0.25),
    # At the edge of UNDERPOWERED, so that only the prediction is promised.
    _design("FPR difference 25 against 400", rates((25, 400), 0.1), 0.17)[0],
    *_design("rates 60 against 500", rates((60, 500), 0.3), 0.18),
    *_design("equal groups of 100", rates((100, 100), 0.4), 0.2),
    *_design("neutrality 9 x 13", neutrality(9, 13, "fixed"), 0.3),
    *_design("neutrality of 30 sampled occupations x 30", neutrality(30, 30, "sampled"), 0.2),
]

"""Search with proof: a single pair with a gap, and models that have none."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from attacks import Attack

from pytest_llmfair import BoundExceeded, assert_no_pair_exceeds
from pytest_llmfair.counterfactuals import Pairs, generate_pairs

PROMPTS = 30
BOUND = 0.1
# Refusals of everybody; the gap is added to those of one group in one prompt.
RATE = 0.05


@functools.cache
def pairs() -> Pairs:
    return generate_pairs([f"She asks about form {i}." for i in range(PROMPTS)], "gender")


def refusals(texts: list[str]) -> list[float]:
    return [float(text == "No.") for text in texts]


def found(rng: np.random.Generator, gap: float, budget: int, rate: float, **keywords: Any) -> bool:
    """Whether a pair is named, of a model with a gap in the pair in the middle."""

    def model(prompt: str) -> str:
        planted = gap if prompt == "She asks about form 15." else 0.0
        return "No." if rng.random() < rate + planted else f"Yes, form {rng.integers(9)}."

    given = {"metric": "rouge_l"} if "metric" in keywords else {"scorer": refusals}
    try:
        assert_no_pair_exceeds(pairs(), BOUND, client=model, budget=budget, **given)
    except BoundExceeded:
        return True
    return False


def _happens(*given: Any, **keywords: Any) -> Callable[[np.random.Generator], bool]:
    return lambda rng: found(rng, *given, **keywords)


ATTACKS = [
    *(
        Attack(
            "S",
            f"one pair of 30 with a gap of .5, {budget} draws: found",
            promise,
            _happens(0.5, budget, RATE),
            300,
            at_least=True,
        )
        for budget, promise in ((100, 0.54), (200, 0.74), (400, 0.85))
    ),
    *(
        Attack(
            "S",
            f"refusals {rate:g} of all, {budget} draws: FAIL",
            0.025,
            _happens(0.0, budget, rate),
        )
        for rate in (0.05, 0.5)
        for budget in (100, 400)
    ),
    Attack("S", "a gap exactly at the bound, 400 draws: FAIL", 0.025, _happens(BOUND, 400, RATE)),
    Attack(
        "S",
        "texts of a fair model, 200 draws: FAIL",
        0.025,
        _happens(0.0, 200, 0.3, metric="rouge_l"),
        200,
    ),
]

"""Search with proof: a single pair with a gap, and models that have none."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from attacks import Attack

from pytest_llmfair.counterfactuals import Pairs, generate_pairs
from pytest_llmfair.judging.invariance import measure_of
from pytest_llmfair.metrics.counterfactual.invariance import score_measure
from pytest_llmfair.probing.proof import Draws, search
from pytest_llmfair.probing.searching import BudgetedClient

PROMPTS = 30
BOUND = 0.1
# Refusals of everybody; the gap is added to those of one group in one prompt.
RATE = 0.05


@functools.cache
def pairs() -> Pairs:
    return generate_pairs([f"She asks about form {i}." for i in range(PROMPTS)], "gender")


def refusals(texts: list[str]) -> list[float]:
    return [float(text == "No.") for text in texts]


def found(rng: np.random.Generator, gap: float, budget: int, rate: float, texts: bool) -> bool:
    """Whether a pair is proven, of a model with a gap in one pair, as the assertion does it."""

    def model(prompt: str) -> str:
        planted = gap if prompt == "She asks about form 15." else 0.0
        return "No." if rng.random() < rate + planted else f"Yes, form {rng.integers(9)}."

    measure = (
        measure_of("rouge_l", "gender", None) if texts else score_measure("refusal", refusals)
    )
    asker = BudgetedClient(model, measure, 2 * budget, 0)
    asker.only_asks = True
    tested = search(Draws(asker, measure, pairs()), budget, int(rng.integers(2**31)))
    return any(each.gap.lower_bound(0.025 / len(tested)) > BOUND for each in tested)


def _happens(
    gap: float, budget: int, rate: float, *, texts: bool = False
) -> Callable[[np.random.Generator], bool]:
    return lambda rng: found(rng, gap, budget, rate, texts)


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
        for budget, promise in ((100, 0.5), (200, 0.65), (400, 0.85))
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
        _happens(0.0, 200, 0.3, texts=True),
        200,
    ),
]

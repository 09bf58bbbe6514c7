"""Row G: what a scorer makes of neutral sentences, with noise of its own and with a bias."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from attacks import Attack

from pytest_llmfair import assert_counterfactual_invariance, assert_metric
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.judging.result import FairnessAssertionError, Result

PROMPTS = [f"Write what she did on day {i}." for i in range(12)]
FEMALE = {"she", "her", "hers", "herself", "woman", "women", "female", "lady", "ladies"}


class Noisy:
    """Adds noise to every text, by its words alone, and a bias against texts about women."""

    name = "noisy"
    range = (0.0, 1.0)

    def __init__(self, seed: int, noise: float, bias: float) -> None:
        self.seed, self.noise, self.bias = seed, noise, bias

    def __call__(self, texts: Sequence[str]) -> list[float]:
        """Score texts, each by its words alone."""
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> float:
        digest = hashlib.blake2b(f"{self.seed} {text}".encode(), digest_size=8).digest()
        noise = np.random.default_rng(int.from_bytes(digest, "big")).normal(0.0, self.noise)
        words = text.lower().replace(".", "").split()
        return float(np.clip(0.5 + noise - self.bias * bool(FEMALE & {*words}), 0.0, 1.0))


def _invalid(
    rng: np.random.Generator, metric: str, bound: float, noise: float, bias: float
) -> bool:
    """Whether the scorer is refused where the model answers all prompts alike."""
    scorer = Noisy(int(rng.integers(1 << 30)), noise, bias)
    pairs = generate_pairs(PROMPTS, "gender")
    judge: Callable[..., Result] = partial(assert_metric, metric)
    if metric == "sentiment":
        judge = partial(assert_counterfactual_invariance, metric=metric)
    try:
        found = judge(pairs, bound, client=lambda _: "Fine.", scorer=scorer, mode="point")
    except FairnessAssertionError as error:
        found = error.result
    return "scorer_gap" in found.reasons


def _design(*design: object) -> Callable[[np.random.Generator], bool]:
    return lambda rng: _invalid(rng, *design)  # type: ignore[arg-type]


ATTACKS = [
    Attack(
        "G",
        "a scorer with noise .1, weak <= .1: INVALID",
        0.025,
        _design("weak_sentiment_parity", 0.1, 0.1, 0.0),
        200,
    ),
    Attack(
        "G",
        "noise .1, strict <= .05: INVALID",
        0.025,
        _design("strict_sentiment_parity", 0.05, 0.1, 0.0),
        200,
    ),
    Attack(
        "G",
        "noise .1, |difference| <= .1: INVALID",
        0.025,
        _design("sentiment", 0.1, 0.1, 0.0),
        200,
    ),
    Attack(
        "G",
        "bias .1 = bound, noise .1, strict: INVALID",
        0.025,
        _design("strict_sentiment_parity", 0.1, 0.1, 0.1),
        200,
    ),
    Attack(
        "G",
        "bias .2, noise .1, strict <= .1: INVALID",
        0.9,
        _design("strict_sentiment_parity", 0.1, 0.1, 0.2),
        100,
        True,
    ),
    Attack(
        "G",
        "bias .2, noise .1, |difference| <= .1: INVALID",
        0.9,
        _design("sentiment", 0.1, 0.1, 0.2),
        100,
        True,
    ),
    Attack(
        "G",
        "bias .2, noise .1, weak <= .1: INVALID",
        0.9,
        _design("weak_sentiment_parity", 0.1, 0.1, 0.2),
        100,
        True,
    ),
]

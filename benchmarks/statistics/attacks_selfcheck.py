"""Row H: what a self-check says of flips and false alarms, against the truth of its model."""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from attacks import Attack

from pytest_llmfair.gate.self_check import measured
from pytest_llmfair.gate.shares import Shares, flips
from pytest_llmfair.judging.assertion import Assertion
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.recorded import to_record
from pytest_llmfair.judging.result import Result, Verdict
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.settings import Settings

REPEATS = 30
_TRUTH_RUNS = 100
Draw = Callable[[np.random.Generator], dict[str, object]]


def selection(rates: tuple[float, float], sizes: tuple[int, int]) -> Draw:
    """Return a draw of people who are selected at two rates."""

    def draw(rng: np.random.Generator) -> dict[str, object]:
        chosen = [rng.random(n) < rate for rate, n in zip(rates, sizes, strict=True)]
        groups = ["a"] * sizes[0] + ["b"] * sizes[1]
        return {"y_pred": np.concatenate(chosen).astype(int).tolist(), "groups": groups}

    return draw


def scores(shift: float, pairs: int, answers: int = 4) -> Draw:
    """Return a draw of scores of both sides of pairs; one side is shifted."""

    def draw(rng: np.random.Generator) -> dict[str, object]:
        level = rng.beta(8, 8, (pairs, 1))
        sides = [np.clip(level + rng.normal(x, 0.12, (pairs, answers)), 0, 1) for x in (0, shift)]
        return {"scores_a": sides[0].tolist(), "scores_b": sides[1].tolist()}

    return draw


def judged(metric: str, bound: float, draw: Draw, rng: np.random.Generator) -> Result:
    """Judge one draw."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rules = Rules(mode="point")
        return evaluate(Assertion.of(get_metric(metric), (), bound, rules, keywords=draw(rng)))


def checked(metric: str, bound: float, draw: Draw, rng: np.random.Generator) -> Shares:
    """Return what a self-check of one draw measures."""
    result = judged(metric, bound, draw, rng)
    data = json.loads(json.dumps(to_record(result, Settings(), texts=True)))
    return measured(Shares("", metric, 0.025), data, REPEATS, int(rng.integers(1 << 30)))


@functools.cache
def truth(metric: str, bound: float, draw: Draw) -> tuple[float, float]:
    """Return how often two samples of the model get two verdicts, all and PASS with FAIL."""
    found = [
        judged(metric, bound, draw, np.random.default_rng([7, run])).verdict
        for run in range(_TRUTH_RUNS)
    ]
    passes, fails = (found.count(x) / len(found) for x in (Verdict.PASS, Verdict.FAIL))
    rest = 1.0 - passes - fails
    return 1.0 - passes**2 - fails**2 - rest**2, 2.0 * passes * fails


def _misses(metric: str, bound: float, draw: Draw) -> Callable[[np.random.Generator], bool]:
    def happens(rng: np.random.Generator) -> bool:
        found = checked(metric, bound, draw, rng)
        _, lower, upper = flips(found)
        return not lower - 0.02 <= truth(metric, bound, draw)[0] <= upper + 0.02

    return happens


def _alarms(metric: str, bound: float, draw: Draw) -> Callable[[np.random.Generator], bool]:
    """Whether more FAIL at the bound are found than chance explains."""

    def happens(rng: np.random.Generator) -> bool:
        found = checked(metric, bound, draw, rng)
        limit = NormalDist().inv_cdf(0.99) * (0.025 * 0.975 / REPEATS) ** 0.5
        return not found.at_bound or found.bound_fail / found.at_bound > 0.025 + limit

    return happens


PARITY = "demographic_parity_difference"
STRICT = "strict_sentiment_parity"
EDGE = selection((0.7, 0.5), (300, 300))
FAIR = selection((0.5, 0.5), (400, 400))
ATTACKS = [
    Attack(
        "H",
        "parity at the edge of FAIL: flips outside limits",
        0.1,
        _misses(PARITY, 0.1, EDGE),
        12,
    ),
    Attack("H", "more false alarms at the bound than chance", 0.1, _alarms(PARITY, 0.1, EDGE), 12),
    Attack("H", "fair groups: flips outside limits", 0.1, _misses(PARITY, 0.1, FAIR), 6),
    Attack(
        "H", "strict parity: flips outside limits", 0.1, _misses(STRICT, 0.08, scores(0.06, 60)), 6
    ),
]

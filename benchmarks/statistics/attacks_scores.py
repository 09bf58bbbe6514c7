"""Designs against differences of scores in their own unit: skew, spikes, clusters, many groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attacks import Attack

from pytest_llmfair.metrics import score_difference

_ALPHA = 0.025
Draw = Callable[[np.random.Generator], tuple[tuple[Any, ...], dict[str, Any]]]


def _words(rng: np.random.Generator, pairs: int, answers: int, gap: float) -> Any:
    """Lengths of answers about the same prompts: log-normal, one group `gap` words longer."""
    prompts = rng.lognormal(3.6, 0.3, (pairs, 1))
    first, second = (prompts * rng.lognormal(-0.08, 0.4, (pairs, answers)) for _ in "ab")
    return (first + gap, second), {}


def _apart(rng: np.random.Generator, n: int, m: int, gap: float, skew: float = 0.6) -> Any:
    """Log-normal scores of independent groups of different size."""
    return (rng.lognormal(3.0, skew, n) + gap, rng.lognormal(3.0, skew, m)), {}


def _spikes(rng: np.random.Generator, pairs: int, declared: bool) -> Any:
    """Scores from 0 to 100, of which 3 % of one group jump by 60: a difference of 1.8."""
    first, second = rng.normal(20.0, 0.2, (2, pairs))
    first = first + np.where(rng.random(pairs) < 0.03, 60.0, 0.0)
    return (first, second), {"score_range": (0.0, 100.0)} if declared else {}


def _clusters(rng: np.random.Generator, templates: int, gap: float) -> Any:
    """Six fills of every template, whose groups differ by template more than by fill."""
    own = rng.normal(gap, 6.0, templates).repeat(6)
    common = rng.normal(50.0, 5.0, templates).repeat(6)
    first, second = (common + rng.normal(0.0, 3.0, 6 * templates) for _ in "ab")
    return (first + own, second), {"units": np.arange(templates).repeat(6).tolist()}


def _outcomes(rng: np.random.Generator, pairs: int, gap: float) -> Any:
    """Scores of 0 or 1."""
    return tuple((rng.random(pairs) < p).astype(float) for p in (0.2 + gap, 0.2)), {}


def _mostly_zero(rng: np.random.Generator, pairs: int, gap: float) -> Any:
    """Scores that are 0 in 85 % of answers."""
    rows = [np.where(rng.random(pairs) < 0.85, 0.0, rng.lognormal(2.0, 0.7, pairs)) for _ in "ab"]
    return (rows[0] + gap, rows[1]), {}


def _groups(rng: np.random.Generator, groups: int, gap: float) -> Any:
    """Log-normal scores of several groups, one of which is longer."""
    scores = rng.lognormal(3.0, 0.5, (groups, 60))
    scores[0] += gap
    return (scores.ravel(),), {"groups": np.repeat(np.arange(groups), 60).astype(str).tolist()}


def _attack(name: str, bound: float, draw: Draw, count: str, promise: float = _ALPHA) -> Attack:
    """Count the FAIL ("beyond") or the PASS ("within") of a bound."""

    def happens(rng: np.random.Generator) -> bool:
        data, keywords = draw(rng)
        estimate = score_difference(*data, **keywords)
        low, high = estimate.lower_bound(_ALPHA), estimate.upper_bound(_ALPHA)
        return (
            (low > bound or high < -bound) if count == "beyond" else -bound <= low <= high <= bound
        )

    what = f"{name}: {'FAIL' if count == 'beyond' else 'PASS'} of a difference of {bound:g}"
    runs = 80 if "groups" in name else 400
    return Attack("S", what, promise, happens, runs, at_least=promise > 0.5)


ATTACKS = [
    attack
    for name, bound, draw in (
        ("60 x 3 log-normal lengths, gap 6", 6.0, lambda rng: _words(rng, 60, 3, 6.0)),
        ("20 x 1 log-normal lengths, gap 6", 6.0, lambda rng: _words(rng, 20, 1, 6.0)),
        ("40 against 90 skewed scores, gap 5", 5.0, lambda rng: _apart(rng, 40, 90, 5.0)),
        ("20 against 200 skewed scores, gap 5", 5.0, lambda rng: _apart(rng, 20, 200, 5.0)),
        ("20 templates x 6, gap 3", 3.0, lambda rng: _clusters(rng, 20, 3.0)),
        ("80 pairs of 0 and 1, gap .1", 0.1, lambda rng: _outcomes(rng, 80, 0.1)),
        ("60 pairs mostly 0, gap 1", 1.0, lambda rng: _mostly_zero(rng, 60, 1.0)),
        ("4 groups of 60, gap 6", 6.0, lambda rng: _groups(rng, 4, 6.0)),
    )
    for attack in (
        # The truth is at the bound, so either verdict is an error.
        _attack(name, bound, draw, "beyond"),
        _attack(name, bound, draw, "within"),
    )
] + [
    _attack(
        "40 pairs, 3 % spikes, declared range", 1.0, lambda rng: _spikes(rng, 40, True), "within"
    ),
    _attack("60 x 3 equal lengths", 10.0, lambda rng: _words(rng, 60, 3, 0.0), "within", 0.9),
    _attack("60 x 3 lengths, gap 10", 3.0, lambda rng: _words(rng, 60, 3, 10.0), "beyond", 0.8),
    _attack("60 x 1 lengths, gap 12", 3.0, lambda rng: _words(rng, 60, 1, 12.0), "beyond", 0.6),
]

"""Checks 21 to 26: situations that the twenty leave open, for the smooth kinds of estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import _peers as peers
import numpy as np
from _harness import Cell, Check, Ends, Limits, Line, Plan, Tally, tally_line
from checks_smooth import MEAN_PEERS, Draw, Floats, cells, ends, rounds, score_mean, toxic
from checks_smooth import two_groups as independent
from scipy import special

from pytest_llmfair.stats import Estimate, Mean, MeanLogRatio, RankBiserial, RateDifference

Rng = np.random.Generator


def skewed(pairs: int, spread: float) -> tuple[Draw, float]:
    """Draw scores whose logarithm is normal, cut at 1: most near 0, few large."""

    def draw(rng: Rng) -> Floats:
        scores: Floats = np.minimum(np.exp(rng.normal(-4.0, spread, (pairs, 1))), 1.0)
        return scores

    below = special.ndtr(4.0 / spread - spread)
    return draw, float(np.exp(0.5 * spread**2 - 4.0) * below + special.ndtr(-4.0 / spread))


def fixed_prompts(prompts: int, generations: int, low: float) -> tuple[Draw, float]:
    """Draw 0/1 outcomes of prompts that are all there is, with rates from `low` to .4."""
    rates = np.linspace(low, 0.4, prompts)[:, None]
    return lambda rng: (rng.random((prompts, generations)) < rates).astype(float), float(
        rates.mean()
    )


def _fixed_mean(rows: Floats, _: Rng) -> Ends:
    return ends(Mean.of_rows(rows, population="fixed", outcomes=True))


def twins(prompts: int, generations: int, rate: float) -> Draw:
    """Draw 0/1 outcomes of two groups on the same prompts, whose rates they share."""

    def draw(rng: Rng) -> tuple[Floats, Floats]:
        common = rng.beta(rate * 7 / 3, (1 - rate) * 7 / 3, (prompts, 1))
        return tuple((rng.random((prompts, generations)) < common).astype(float) for _ in "ab")  # type: ignore[return-value]

    return draw


def top_three(pools: int) -> Draw:
    """Draw who of ten candidates of two groups is among the best three, pool by pool."""

    def draw(rng: Rng) -> tuple[Floats, Floats]:
        scores = rng.standard_normal((pools, 10))
        chosen = (scores >= np.sort(scores, axis=1)[:, [7]]).astype(float)
        return chosen[:, :5], chosen[:, 5:]

    return draw


def _paired_gap(data: tuple[Floats, Floats], _: Rng) -> Ends:
    labels = [np.repeat(np.arange(len(group)), group.shape[1]) for group in data]
    return ends(
        RateDifference.of_outcomes(
            data[0].ravel(),
            data[1].ravel(),
            units_a=labels[0],
            units_b=labels[1],
            absolute=False,
        )
    )


def _wald(data: tuple[Floats, Floats], _: Rng) -> Ends:
    a, b = (group.ravel() for group in data)
    d = float(a.mean() - b.mean())
    reach = peers.Z * float(np.sqrt(a.var() / a.size + b.var() / b.size))
    return d - reach, d + reach


def uneven(prompts: int, rate: float) -> Draw:
    """Draw 0/1 outcomes of prompts that occur once, twice or (one in ten) eight times."""

    def draw(rng: Rng) -> tuple[Floats, Any]:
        sizes = np.where(rng.random(prompts) < 0.1, 8, rng.integers(1, 3, prompts))
        units = np.repeat(np.arange(prompts), sizes)
        rates = rng.beta(rate * 7 / 3, (1 - rate) * 7 / 3, prompts)[units]
        return (rng.random(len(units)) < rates).astype(float), units

    return draw


def _uneven_mean(data: tuple[Floats, Any], _: Rng) -> Ends:
    return ends(Mean.of_indicators(data[0], units=data[1]))


def words(texts: int) -> tuple[Draw, float]:
    """Draw counts of eight words beside two groups, more unequal than Poisson counts."""
    usual = np.array([4, 3, 2, 2, 1, 1, 0.6, 0.4]) * 0.4
    expected = np.concatenate([usual * np.exp(np.linspace(-0.6, 0.6, 8)), usual])

    def draw(rng: Rng) -> Floats:
        first = rng.random((texts, 1)) < 0.5
        side = np.where(first, np.arange(16) < 8, np.arange(16) >= 8)
        uneven_texts = np.tile(rng.gamma(1.0, 1.0, (texts, 8)), 2)
        return rng.poisson(expected * side * uneven_texts).astype(np.float64)

    return draw, float(log_shares(expected[None, :]).mean())


def log_shares(sums: Floats) -> Floats:
    """Log ratio of each word's share beside either group."""
    a, b = sums[:, :8], sums[:, 8:]
    ratios: Floats = np.log(a / a.sum(axis=1, keepdims=True)) - np.log(
        b / b.sum(axis=1, keepdims=True)
    )
    return ratios


def _log_ratio(rows: Floats, _: Rng) -> Ends:
    return ends(MeanLogRatio.of_sums(rows, log_shares))


def levels(plan: Plan) -> Iterable[Line]:
    """Check 25: other levels than 95 %, at most 3 points below them."""
    ranks, truth = rounds(60, 0.8, 0.6)
    situations: dict[str, tuple[float, Draw, Callable[[Any], Estimate]]] = {
        "toxic .1, 100 x 5": (0.1, toxic(0.1, 100, 5), lambda x: Mean.of_rows(x, outcomes=True)),
        "uniform scores, 50": (0.5, lambda rng: rng.random((50, 1)), Mean.of_rows),
        "difference .15, n 100": (
            0.15,
            independent(0.35, 0.2, 100),
            lambda x: RateDifference.of_outcomes(*x, absolute=False),
        ),
        "R, 60 rounds": (
            truth,
            ranks,
            lambda x: RankBiserial.of_scores(*x, units_a=range(60), units_b=range(60)),
        ),
    }
    for number, (name, (target, draw, make)) in enumerate(situations.items()):
        rng = np.random.default_rng([25, number])
        tallies = {level: Tally(target) for level in (0.5, 0.8, 0.9, 0.99)}
        for _ in range(plan.repeats()):
            estimate = make(draw(rng))
            for level, tally in tallies.items():
                tally.add(ends(estimate, level))
        for level, tally in tallies.items():
            limits = Limits((100.0 * level - 3.0, 100.0))
            yield tally_line(f"{name}, {100 * level:.0f} %", tally, limits, plan)


def _skewed_cells() -> Iterable[Cell]:
    for pairs, least in ((50, 90.0), (300, 93.0)):
        draw, truth = skewed(pairs, 1.5)
        name = f"log-normal scores, {pairs} prompts"
        yield Cell(name, truth, draw, score_mean, Limits((least, 100.0)), MEAN_PEERS)


def _fixed_cells() -> Iterable[Cell]:
    for generations in (2, 10):
        draw, truth = fixed_prompts(40, generations, 0.0)
        name = f"40 x {generations}"
        limits = Limits((93.5, 100.0), 3.5, 3.5)
        yield Cell(name, truth, draw, _fixed_mean, limits, {"pooled t": peers.pooled_t})


def _word_cells() -> Iterable[Cell]:
    for texts in (200, 1000):
        draw, truth = words(texts)
        yield Cell(f"{texts} texts", truth, draw, _log_ratio, Limits((93.5, 98.5)))


CHECKS = [
    Check(21, "very skewed scores", cells(21, *_skewed_cells())),
    Check(22, "a fixed list of prompts: only generations vary", cells(22, *_fixed_cells())),
    Check(
        23,
        "paired differences, several rows a unit",
        cells(
            23,
            *(
                Cell(
                    f"{rate} v {rate}, 50 x 5, same prompts",
                    0.0,
                    twins(50, 5, rate),
                    _paired_gap,
                    Limits((93.5, 100.0), 3.5, 3.5),
                    {"rows as independent": _wald},
                )
                for rate in (0.02, 0.3)
            ),
            Cell(
                "top 3 of 10, 30 pools",
                0.0,
                top_three(30),
                _paired_gap,
                Limits((93.5, 98.0), 3.5, 3.5),
                {"rows as independent": _wald},
            ),
        ),
    ),
    Check(
        24,
        "units of very different size",
        cells(
            24,
            *(
                Cell(
                    f"rate {rate}, {prompts} prompts with 1, 2 or 8 rows",
                    rate,
                    uneven(prompts, rate),
                    _uneven_mean,
                    Limits((93.0, 100.0), 4.5),
                )
                for prompts, rate in ((40, 0.2), (200, 0.05))
            ),
        ),
    ),
    Check(25, "other levels", levels),
    Check(26, "mean log ratio of eight words", cells(26, *_word_cells())),
]

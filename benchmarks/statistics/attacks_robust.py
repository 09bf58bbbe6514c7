"""Verdicts over items and wordings: both are draws from more, and wordings are few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from attacks import Attack

from pytest_llmfair import FairnessAssertionError, Result, assert_metric, assert_within
from pytest_llmfair.stats import Estimate, Mean
from pytest_llmfair.stats.crossed_mean import over_levels

ITEMS = 50


@dataclass(frozen=True)
class Design:
    """Items, wordings, and what holds how much of the variance of one answer."""

    wordings: int
    kind: str = "twins"
    wording_share: float = 0.05
    item_share: float = 0.05
    # Share of cells without an answer; "uneven" takes them from the later wordings.
    missing: float = 0.0
    uneven: bool = False
    mean: float = 0.0


def _uniform(rng: np.random.Generator, variance: float, n: int) -> np.ndarray:
    reach = np.sqrt(3.0 * variance)
    return rng.uniform(-reach, reach, n)


def draw(rng: np.random.Generator, design: Design) -> tuple[np.ndarray, list[int], list[int]]:
    """Draw one value per cell: twins in {-1, 0, 1}, or scores around 0.5."""
    items, wordings = (
        np.repeat(np.arange(ITEMS), design.wordings),
        np.tile(np.arange(design.wordings), ITEMS),
    )
    # Twins differ in 7 of 10 cells; scores have a standard deviation of 0.16.
    variance = 0.7 if design.kind == "twins" else 0.16**2
    means = (
        design.mean
        + _uniform(rng, design.item_share * variance, ITEMS)[items]
        + _uniform(rng, design.wording_share * variance, design.wordings)[wordings]
    )
    if design.kind == "twins":
        more = rng.random(len(means)) < 0.5 * (1.0 + means / 0.7)
        values = np.where(rng.random(len(means)) < 0.7, np.where(more, 1.0, -1.0), 0.0)
    else:
        left = 1.0 - design.item_share - design.wording_share
        values = 0.5 + means + _uniform(rng, left * variance, len(means))
    share = np.full(len(values), design.missing)
    if design.uneven:
        share = 2.0 * design.missing * wordings / design.wordings
    kept = rng.random(len(values)) >= share
    return values[kept], items[kept].tolist(), wordings[kept].tolist()


def estimate(rng: np.random.Generator, design: Design) -> Estimate:
    """Measure one data set over items and wordings."""
    values, items, wordings = draw(rng, design)
    bounds = (-1.0, 1.0) if design.kind == "twins" else (0.0, 1.0)
    mean = Mean.of_values(values, units=list(range(len(values))), bounds=bounds)
    return over_levels(mean, {"item": items, "wording": wordings})


def _truth(design: Design) -> float:
    return design.mean if design.kind == "twins" else 0.5 + design.mean


def _misses(design: Design) -> Callable[[np.random.Generator], bool]:
    return lambda rng: _truth(design) not in estimate(rng, design).interval()


def _ends_in(verdict: str, judge: Callable[[], Result]) -> bool:
    try:
        found = judge()
    except FairnessAssertionError as error:
        found = error.result
    return found.verdict.value == verdict


def _verdict(design: Design, bound: float, verdict: str) -> Callable[[np.random.Generator], bool]:
    return lambda rng: _ends_in(verdict, lambda: assert_within(estimate(rng, design), bound))


def _by_assertion(rng: np.random.Generator, wordings: int, verdict: str) -> bool:
    """Judge shares of toxic answers by the assertion, at a bound that is the truth."""
    of_wording = rng.uniform(0.1, 0.5, wordings)
    items, wording = zip(*product(range(ITEMS), range(wordings)), strict=True)
    scores = (rng.random(len(items)) < of_wording[list(wording)]).astype(float)
    over = {"robust_over": ("wording",), "factors": {"item": items, "wording": wording}}
    return _ends_in(
        verdict, lambda: assert_metric("toxic_fraction", scores[:, None], bound=0.3, **over)
    )


def _score_misses(
    wordings: int, score_range: tuple[float, float] | None
) -> Callable[[np.random.Generator], bool]:
    """Judge differences of scores in their own unit, whose truth is 0."""

    def misses(rng: np.random.Generator) -> bool:
        values, items, wording = draw(rng, Design(wordings, "scores"))
        lengths = 100.0 * values[:, None], rng.normal(50.0, 5.0, (len(values), 1))
        found = assert_metric(
            "score_difference",
            *lengths,
            250.0,
            score_range=score_range,
            robust_over=("wording",),
            factors={"item": items, "wording": wording},
            mode="point",
        )
        return not found.lower <= 0.0 <= found.upper

    return misses


SIZES = (4, 6, 10, 20)
ATTACKS = [
    *(
        Attack("W", f"{n} wordings, {kind}, wording 5 %: misses", 0.05, _misses(Design(n, kind)))
        for n in SIZES
        for kind in ("twins", "scores")
    ),
    *(
        Attack(
            "W",
            f"{n} wordings, wording 0 %: misses",
            0.05,
            _misses(Design(n, wording_share=0.0)),
        )
        for n in SIZES
    ),
    *(
        Attack(
            "W",
            f"{n} wordings, {'uneven ' if uneven else ''}20 % of cells missing: misses",
            0.05,
            _misses(Design(n, missing=0.2, uneven=uneven)),
        )
        for n in SIZES
        for uneven in (False, True)
    ),
    *(
        Attack(
            "W",
            f"{n} wordings, at the bound: {verdict}",
            0.025,
            _verdict(Design(n, mean=0.05), 0.05, verdict),
            runs=1000,
        )
        for n in SIZES
        for verdict in ("PASS", "FAIL")
    ),
    *(
        Attack(
            "W",
            f"{n} wordings, toxic shares at the bound, by the assertion: {verdict}",
            0.025,
            lambda rng, n=n, verdict=verdict: _by_assertion(rng, n, verdict),
            runs=200,
        )
        for n in SIZES
        for verdict in ("PASS", "FAIL")
    ),
    *(
        Attack(
            "W",
            f"{n} wordings, score difference, range {'known' if known else 'unknown'}: misses",
            0.05,
            _score_misses(n, known),
            runs=200,
        )
        for n in SIZES
        for known in (None, (-100.0, 200.0))
    ),
    *(
        Attack(
            "W",
            f"{n} wordings, no difference, bound {bound}: PASS",
            0.8,
            _verdict(Design(n), bound, "PASS"),
            runs=100,
            at_least=True,
        )
        for n, bound in zip(SIZES, (0.6, 0.35, 0.25, 0.18), strict=True)
    ),
]

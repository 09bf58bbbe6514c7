"""Checks 1 to 10: means, rate differences, rate ratios and rank-biserial correlation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import _peers as peers
import numpy as np
from _harness import Cell, Check, Ends, Limits, Line, Plan
from numpy.typing import NDArray
from scipy import special

from pytest_llmfair.stats import Estimate, Mean, RankBiserial, RateDifference, RateRatio

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Any]

MEAN_PEERS = {
    "percentile bootstrap": peers.percentile,
    "pooled t": peers.pooled_t,
    "cluster t": peers.cluster_t,
}
GAP_PEERS = {"percentile bootstrap": peers.percentile_gap, "folded Wald": peers.wald_gap}
CUTS = np.array([-1.2, -0.4, 0.4, 1.2])


def ends(estimate: Estimate, level: float = 0.95) -> Ends:
    """Both ends of the interval."""
    interval = estimate.interval(level)
    return interval.lower, interval.upper


def toxic(rate: float, prompts: int, generations: int, icc: float = 0.3) -> Draw:
    """0/1 outcomes of prompts whose rates follow a beta distribution."""
    a, b = rate * (1.0 / icc - 1.0), (1.0 - rate) * (1.0 / icc - 1.0)

    def draw(rng: np.random.Generator) -> Floats:
        rates = rng.beta(a, b, (prompts, 1))
        return (rng.random((prompts, generations)) < rates).astype(float)

    return draw


def hot(prompts: int, generations: int) -> Draw:
    """Most prompts nearly clean, one in twenty toxic in most answers."""

    def draw(rng: np.random.Generator) -> Floats:
        rates = np.where(rng.random((prompts, 1)) < 0.05, 0.6, 0.005)
        return (rng.random((prompts, generations)) < rates).astype(float)

    return draw


def similar(pairs: int) -> Draw:
    """Draw similarities near 1."""
    return lambda rng: rng.beta(8, 1, (pairs, 1))


def outcome_mean(rows: Floats, _: np.random.Generator) -> Ends:
    """Our interval of a mean of 0/1 outcomes."""
    return ends(Mean.of_rows(rows, outcomes=True))


def score_mean(rows: Floats, _: np.random.Generator) -> Ends:
    """Our interval of a mean of scores."""
    return ends(Mean.of_rows(rows))


def two_groups(rate_a: float, rate_b: float, n: int) -> Draw:
    """Independent 0/1 outcomes of two groups of `n`."""
    return lambda rng: (
        (rng.random(n) < rate_a).astype(float),
        (rng.random(n) < rate_b).astype(float),
    )


def gap(data: tuple[Floats, Floats], _: np.random.Generator) -> Ends:
    """Our folded interval of a difference; rows of a matrix are prompts."""
    labels = [
        np.repeat(np.arange(len(group)), group.size // len(group)) + offset
        for group, offset in zip(data, (0, 10**6), strict=True)
    ]
    return ends(
        RateDifference.of_outcomes(
            data[0].ravel(), data[1].ravel(), units_a=labels[0], units_b=labels[1]
        )
    )


def rounds(n: int, shift: float, correlation: float) -> tuple[Draw, float]:
    """One candidate of each group a round, five-level scores that share the round's difficulty."""

    def scores(rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        common = rng.standard_normal(size) * np.sqrt(correlation)
        own = rng.standard_normal((2, size)) * np.sqrt(1.0 - correlation)
        levels = np.searchsorted(CUTS, common + own + np.array([[shift], [0.0]])).astype(float)
        return levels[0], levels[1]

    a = np.diff(special.ndtr(np.concatenate([[-np.inf], CUTS - shift, [np.inf]])))
    b = np.diff(special.ndtr(np.concatenate([[-np.inf], CUTS, [np.inf]])))
    across = float(sum(p * q * np.sign(i - j) for i, p in enumerate(a) for j, q in enumerate(b)))
    first, second = scores(np.random.default_rng(0), 10**6)
    # One in n pairs meets in its round.
    truth = across + (float(np.sign(first - second).mean()) - across) / n
    return lambda rng: scores(rng, n), truth


def ranks(data: tuple[Floats, Floats], _: np.random.Generator) -> Ends:
    """Our interval of the rank-biserial correlation, rounds as units."""
    units = range(len(data[0]))
    return ends(RankBiserial.of_scores(*data, units_a=units, units_b=units))


def cells(number: int, *group: Cell) -> Callable[[Plan], Iterable[Line]]:
    """Run cells one after the other, each with its own seed."""
    return lambda plan: (cell.run(plan, 1000 * number + 10 * i) for i, cell in enumerate(group))


def zero_events(plan: Plan) -> Iterable[Line]:
    """Check 5: hits added one by one, in one prompt or spread, never narrow the bound."""
    for spread in (False, True):
        rows = np.zeros((60, 25))
        uppers = [Mean.of_rows(rows, outcomes=True).interval().upper]
        for hit in range(25):
            rows[hit if spread else 0, 0 if spread else hit] = 1.0
            uppers.append(Mean.of_rows(rows, outcomes=True).interval().upper)
        yield Line(
            f"{'spread' if spread else 'one prompt'}: upper {uppers[0]:.4f} without a hit "
            f"(.0596), lowest {min(uppers[1:]):.4f} with 1 to 25",
            abs(uppers[0] - 0.0596) < 5e-5 and min(uppers[1:]) >= uppers[0],
        )


def contains_zero(plan: Plan) -> Iterable[Line]:
    """Check 7: a fair model is compatible with a difference of 0, and gaps are covered."""
    yield from cells(
        7,
        Cell("0.5 v 0.5, n 100", 0.0, two_groups(0.5, 0.5, 100), gap, Limits((93, 98)), GAP_PEERS),
        Cell(
            "0.53 v 0.5, n 1000",
            0.03,
            two_groups(0.53, 0.5, 1000),
            gap,
            Limits((93, 98)),
            GAP_PEERS,
        ),
    )(plan)
    rng = np.random.default_rng(7)
    draw = two_groups(0.5, 0.5, 100)
    runs = plan.repeats()
    share = 100.0 * sum(gap(draw(rng), rng)[0] == 0.0 for _ in range(runs)) / runs
    yield Line(
        f"0.5 v 0.5, n 100: interval holds 0 in {share:.1f} (>= 93)", share >= 93 - plan.slack
    )


RABBI, RABBI_TRUTH = rounds(20, 2.07, 0.6)

CHECKS = [
    Check(
        1,
        "toxic fraction .05, correlated generations",
        cells(
            1,
            Cell(
                "100 x 5, icc .3",
                0.05,
                toxic(0.05, 100, 5),
                outcome_mean,
                # Wider than it need be: rare prompts that no sample shows are allowed for.
                Limits((93.5, 99.5), 3.5, 3.5),
                MEAN_PEERS,
            ),
        ),
    ),
    Check(
        2,
        "rare toxicity in few prompts",
        cells(
            2,
            Cell(
                "0.01, 100 x 25, icc .3",
                0.01,
                toxic(0.01, 100, 25),
                outcome_mean,
                Limits((95.5, 100), 1.5),
                MEAN_PEERS,
            ),
            Cell(
                "5 % hot prompts, 30 x 10",
                0.05 * 0.6 + 0.95 * 0.005,
                hot(30, 10),
                outcome_mean,
                Limits((95.5, 100), 1.5),
                MEAN_PEERS,
            ),
        ),
    ),
    Check(
        3,
        "toxicity probability .02, one outcome per prompt",
        cells(
            3,
            Cell(
                "100 x 1",
                0.02,
                lambda rng: (rng.random((100, 1)) < 0.02).astype(float),
                outcome_mean,
                Limits((95, 100), 3.0),
                MEAN_PEERS,
            ),
        ),
    ),
    Check(
        4,
        "similarity, beta(8, 1)",
        cells(
            4,
            *(
                Cell(
                    f"{n} pairs",
                    8.0 / 9.0,
                    similar(n),
                    score_mean,
                    # As for the toxic fraction above.
                    Limits((93.5, 99.5)),
                    MEAN_PEERS,
                )
                for n in (30, 300)
            ),
        ),
    ),
    Check(5, "no event, then one, two, three ... in 60 x 25", zero_events),
    Check(
        6,
        "many generations of few prompts are no many prompts",
        cells(
            6,
            *(
                Cell(
                    f"{rate}, 50 x 25, icc .3",
                    rate,
                    toxic(rate, 50, 25),
                    outcome_mean,
                    Limits((92.5, 100)),
                    MEAN_PEERS,
                )
                for rate in (0.01, 0.1)
            ),
        ),
    ),
    Check(7, "demographic parity difference", contains_zero),
    Check(
        8,
        "demographic parity difference, several answers a person",
        cells(
            8,
            Cell(
                "0.1 v 0.1, 60 x 5 a group, icc .3",
                0.0,
                lambda rng: (toxic(0.1, 60, 5)(rng), toxic(0.1, 60, 5)(rng)),
                gap,
                Limits((93.5, 98)),
                GAP_PEERS,
            ),
        ),
    ),
    Check(
        9,
        "impact ratio .8",
        cells(
            9,
            Cell(
                "0.24 v 0.30, n 100",
                0.8,
                two_groups(0.24, 0.30, 100),
                lambda data, _: ends(RateRatio.of_outcomes(*data)),
                Limits((93.5, 96.5), 3.5, 3.5),
                {"log Wald": peers.log_wald},
            ),
        ),
    ),
    Check(
        10,
        "RABBI, five levels, rounds",
        cells(
            10,
            Cell(
                f"R {RABBI_TRUTH:.3f}, 20 rounds, rho .6",
                RABBI_TRUTH,
                RABBI,
                ranks,
                Limits((93.5, 98), 100.0, 4.0),
                {"DeLong": peers.delong, "percentile bootstrap": peers.percentile_ranks},
            ),
        ),
    ),
]

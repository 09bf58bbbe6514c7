"""Does a perfectly fair model pass as often as UNDERPOWERED assumes? Every metric, simulated.

    python benchmarks/power.py            # 200 fair data sets per cell
    python benchmarks/power.py --smoke    # seconds: one metric of each kind, looser limits
    python benchmarks/power.py --only rabbi fairpair

For each metric three sizes at which a pilot sample predicts 20, 50 and 80 % of fair runs to pass.
A line shows the predicted share (median over data sets), the simulated share of PASS, and how
often the verdict UNDERPOWERED flips between data sets. Limits: predictions are off by at most 15
points, and, where the predicted share is not between 20 and 80 %, at most 5 % of verdicts flip.
The exit code is 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from _harness import Line, Plan

from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.power import power_of
from pytest_llmfair.metrics import MetricInfo, all_metrics, get_metric
from pytest_llmfair.stats import Estimate

Rng = np.random.Generator
Arguments = dict[str, Any]

LEVEL = 0.95
# Away from the edge of UNDERPOWERED, in shares.
EDGE = (0.2, 0.8)
TARGETS = (0.2, 0.5, 0.8)
# Units of the sample from which sizes are planned, and the most that are simulated.
PILOT, MOST = 100, 1500
BOUNDS = {"two-sided": 0.2, "lower": 0.2, "higher": 0.8}
# Where these bounds would take many thousand units, or none at all.
OTHER = {
    **dict.fromkeys(
        (
            "average_score_difference",
            "average_score_gap",
            "disparity_score",
            "earth_movers_distance",
            "fned_star",
            "fped_star",
            "multigroup_comparison",
            "pairwise_comparison",
            "ruted_skew",
            "ruted_stereotype",
            "stereotypical_associations",
            "strict_sentiment_parity",
        ),
        0.1,
    ),
    "avg_gf": 0.05,
    "background_comparison": 0.05,
    "avg_gf_tc": 0.1,
    "cooccurrence_bias_score": 0.5,
    "f1_ratio": 0.2,
    "fairpair": 0.05,
    "jensen_shannon_divergence": 0.03,
    "trick_stereotype": 0.15,
}
for kind in ("false_discovery", "false_negative", "false_omission", "false_positive"):
    OTHER[f"{kind}_rate_ratio"] = 0.4
OTHER["fnr_ratio"] = OTHER["fpr_ratio"] = 0.4
WORDS = ["kind", "brave", "calm", "loud", "proud", "shy"]


def sides(n: int) -> list[str]:
    return ["a", "b"] * n


def predictions(rng: Rng, n: int) -> Arguments:
    return {"y_pred": (rng.random(2 * n) < 0.4).astype(int), "groups": sides(n)}


def people(rng: Rng, n: int) -> Arguments:
    y_true = rng.integers(0, 2, 2 * n)
    y_pred = (rng.random(2 * n) < np.where(y_true == 1, 0.7, 0.25)).astype(int)
    return {"y_true": y_true, "y_pred": y_pred, "groups": sides(n)}


def candidates(rng: Rng, n: int) -> Arguments:
    return {"scores": rng.beta(2, 3, 2 * n), "groups": sides(n), "reference": "b"}


def pools(rng: Rng, n: int) -> Arguments:
    rounds = np.repeat(np.arange(n), 2)
    return {**candidates(rng, n), "rounds": rounds.tolist(), "k": 1}


def qualified(rng: Rng, n: int) -> Arguments:
    return {**pools(rng, n), "qualified": (rng.random(2 * n) < 0.8).tolist()}


def comparisons(rng: Rng, n: int) -> Arguments:
    rows = [
        {"pool": pool, "first": a, "second": b, "winner": str(rng.choice(["first", "second"]))}
        for pool in range(n)
        for a, b in (("Ada", "Bea"), ("Bea", "Ada"))
    ]
    return {"comparisons": rows, "groups": {"Ada": "a", "Bea": "b"}, "reference": "b"}


def counts(rng: Rng, n: int) -> Arguments:
    return {"male_counts": rng.binomial(n, 0.5, 30), "kept_counts": [n] * 30}


def occupations(rng: Rng, n: int) -> Arguments:
    return {**counts(rng, n), "majority": ["male", "female"] * 15}


def sentence_pairs(rng: Rng, n: int) -> Arguments:
    return {f"p_{side}": rng.beta(1, 1, n) for side in ("stereotypical", "antistereotypical")}


def continuations(rng: Rng, n: int) -> Arguments:
    def said() -> list[list[str]]:
        return [[" ".join(rng.choice(WORDS, 4)) for _ in range(6)] for _ in range(n)]

    return {"perturbed_continuations": said(), "continuations_of_perturbed": said()}


def probabilities(rng: Rng, n: int) -> Arguments:
    y_true = rng.integers(0, 2, 2 * n)
    return {"y_true": y_true, "y_prob": rng.beta(1 + y_true, 2 - y_true), "groups": sides(n)}


def counterfactuals(rng: Rng, n: int) -> Arguments:
    p = rng.beta(2, 2, (n, 2))
    return {
        "y_true": rng.integers(0, 2, n),
        "y_prob": np.stack([1.0 - p, p], axis=2).tolist(),
        "groups": ["a", "b"],
    }


def scored(rng: Rng, n: int) -> Arguments:
    return {"y_prob": rng.beta(2, 3, 2 * n), "groups": sides(n)}


def compared(rng: Rng, n: int) -> Arguments:
    return {**scored(rng, n), "phi": lambda rows: rows.mean(), "d": lambda x, y: abs(x - y)}


def compared_at_once(rng: Rng, n: int) -> Arguments:
    return {**scored(rng, n), "phi": lambda rows: rows.mean(), "d": lambda *x: max(x) - min(x)}


def texts(rng: Rng, n: int) -> Arguments:
    said = zip(rng.integers(0, 2, 2 * n), rng.choice(WORDS, 2 * n), strict=True)
    return {
        "responses": [f"{('She', 'He')[who]} is {word}." for who, word in said],
        "group_words": {"female": ["she"], "male": ["he"]},
        "target_words": WORDS,
    }


def score_pairs(rng: Rng, n: int) -> Arguments:
    return {f"scores_{side}": rng.beta(2, 3, (n, 1)) for side in "ab"}


# Fair data with natural variation, by the name of what makes the metric's own fair example. A fair
# model has none where the fair value is the end of the range: those keep their own example.
DRAWS: dict[str, Callable[[Rng, int], Arguments]] = {
    "predictions": predictions,
    "people": people,
    "candidates": candidates,
    "pools": pools,
    "qualified_pools": qualified,
    "comparisons": comparisons,
    "pronoun_counts": counts,
    "occupations": occupations,
    "sentence_pairs": sentence_pairs,
    "continuations": continuations,
    "probabilities": probabilities,
    "compared": compared,
    "compared_at_once": compared_at_once,
    "texts": texts,
}
BY_METRIC = {"average_score_difference": counterfactuals, "strict_sentiment_parity": score_pairs}
# One of each kind, in the test suite.
SMOKE = ("demographic_parity_difference", "rabbi", "pairwise_preference_gap", "toxic_fraction")
# Each resamples.
SLOW = {
    "avg_gf",
    "cooccurrence_bias_score",
    "earth_movers_distance",
    "jensen_shannon_divergence",
    "stereotypical_associations",
    "strict_sentiment_parity",
}


class Case:
    """A metric, a bound and random fair data of any size."""

    def __init__(self, info: MetricInfo) -> None:
        self.info = info
        value = OTHER.get(info.name, BOUNDS[info.direction])
        if info.direction == "lower":
            value += info.fair_value
        self.bound = Bound.checked(
            value, info.direction, info.fair_value, info.bounds, info.name, info.scale
        )

    def measure(self, rng: Rng, n: int) -> Estimate:
        """Return the metric of fair data."""
        example = getattr(self.info.example, "__name__", "")
        draw = BY_METRIC.get(self.info.name) or DRAWS.get(example)
        given = self.info.fair_arguments(n, 2) if draw is None else draw(rng, n)
        return self.info.function(**{**self.info.judged_with, **given})

    def sizes(self, rng: Rng) -> list[int]:
        """Return sizes at which a pilot sample predicts the shares looked for."""
        pilot = self.measure(rng, PILOT)
        shares = [
            (n, power_of(self.bound, pilot, LEVEL, n / PILOT).share)
            for n in np.unique(np.geomspace(5, MOST, 60).astype(int)).tolist()
        ]
        found = [next((n for n, share in shares if share >= t), MOST) for t in TARGETS]
        return sorted(set(found))

    def lines(self, plan: Plan) -> Iterator[Line]:
        """Simulate; one line per size."""
        runs = plan.repeats(60 if self.info.name in SLOW else None, smoke=40)
        rng = np.random.default_rng(3)
        for n in self.sizes(rng):
            estimates = [self.measure(rng, n) for _ in range(runs)]
            inside = [self._passes(estimate) for estimate in estimates]
            known = estimates[: max(40, runs // 2)]
            shares = np.array([power_of(self.bound, e, LEVEL).share for e in known])
            predicted, simulated = float(np.median(shares)), float(np.mean(inside))
            short = float(np.mean(shares < 0.5))
            flips = min(short, 1.0 - short)
            off = 0.15 + plan.slack / 25.0
            apart = not EDGE[0] < predicted < EDGE[1]
            ok = abs(predicted - simulated) <= off and (not apart or flips <= 0.05)
            yield Line(
                f"{self.info.name:<32} bound {self.bound.value:<5g} n {n:>5}: predicted "
                f"{100 * predicted:3.0f} %, simulated {100 * simulated:3.0f} %, "
                f"flips {100 * flips:2.0f} %",
                ok and not math.isnan(predicted),
            )

    def _passes(self, estimate: Estimate) -> bool:
        ends = estimate.interval(LEVEL)
        return self.bound.sides(ends.lower, ends.upper)[0]


def main(arguments: list[str] | None = None) -> int:
    """Run and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200, help="fair data sets per cell")
    parser.add_argument("--smoke", action="store_true", help="few metrics and runs, loose limits")
    parser.add_argument("--only", nargs="+", help="names of metrics")
    options = parser.parse_args(arguments)
    plan = Plan(runs=options.runs, smoke=options.smoke)
    names = options.only or (SMOKE if options.smoke else list(all_metrics()))
    missed = 0
    for name in names:
        started = time.perf_counter()
        for line in Case(get_metric(name)).lines(plan):
            missed += not line.ok
            print(f"{'ok  ' if line.ok else 'MISS'} {line.text}", flush=True)
        print(f"     [{time.perf_counter() - started:.1f} s]", flush=True)
    print("every limit is kept" if not missed else f"{missed} limits are missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

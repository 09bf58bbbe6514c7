"""Check 19: verdict, interval and p-values agree, and order and names change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from _harness import Check, Line, Plan

from pytest_llmfair import Verdict
from pytest_llmfair.judging.rules import Rules, Unregistered
from pytest_llmfair.judging.verdict import judge
from pytest_llmfair.stats import (
    Distance,
    Estimate,
    FairPairRatio,
    MaxPairwiseDifference,
    Mean,
    MeanLogRatio,
    PairedDifference,
    RankBiserial,
    RateDifference,
    RateRatio,
)

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
PER_KIND = 1000
PER_SLOW_KIND = 200
SMOKE_PER_KIND = 40

Rng = np.random.Generator
# Random data, and the estimate of the same data with rows in another order and other unit names.
Case = tuple[Estimate, Estimate]


def _mean(rng: Rng) -> Case:
    n, m = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    outcomes = bool(rng.random() < 0.5)
    rows = rng.random((n, m)) ** rng.integers(1, 6)
    rows = (rows < rng.random()).astype(float) if outcomes else rows.round(rng.integers(0, 9))
    units = rng.integers(0, n, n)
    order = rng.permutation(n)
    return (
        Mean.of_rows(rows, units=units, outcomes=outcomes),
        Mean.of_rows(
            rng.permuted(rows[order], axis=1),
            units=[f"u{u}" for u in units[order]],
            outcomes=outcomes,
        ),
    )


def _two(make: Callable[..., Estimate], draw: Callable[[Rng, int], Any]) -> Callable[[Rng], Case]:
    def case(rng: Rng) -> Case:
        a, b = (draw(rng, int(n)) for n in rng.integers(1, 40, 2))
        labels: list[Any] = [None, None]
        if rng.random() < 0.6:
            pool = int(rng.integers(1, 40))
            labels = [rng.integers(0, pool, len(x)) + int(rng.integers(0, 2)) * 99 for x in (a, b)]
        orders = [rng.permutation(len(x)) for x in (a, b)]
        renamed = [
            None if own is None else [("unit", -u) for u in own[order].tolist()]
            for own, order in zip(labels, orders, strict=True)
        ]
        return (
            make(a, b, units_a=labels[0], units_b=labels[1]),
            make(a[orders[0]], b[orders[1]], units_a=renamed[0], units_b=renamed[1]),
        )

    return case


def _outcomes(rng: Rng, n: int) -> Any:
    return (rng.random(n) < rng.random() ** 2).astype(float)


def _scores(rng: Rng, n: int) -> Any:
    return (rng.standard_normal(n) + rng.standard_normal()).round(int(rng.integers(0, 4)))


def _log_ratio(rng: Rng) -> Case:
    n = int(rng.integers(1, 40))
    rows = rng.poisson(rng.random(6) * 2.0, (n, 6)).astype(float)
    order = rng.permutation(n)

    def ratios(sums: Any) -> Any:
        return np.log(sums[:, :3]) - np.log(sums[:, 3:])

    return MeanLogRatio.of_sums(rows, ratios), MeanLogRatio.of_sums(rows[order], ratios)


def _distance(rng: Rng) -> Case:
    n, m = int(rng.integers(2, 30)), int(rng.integers(1, 4))
    a, b = (rng.random((n, m)).round(int(rng.integers(1, 5))) for _ in range(2))
    orders = [rng.permutation(n)] * 2
    paired = bool(rng.random() < 0.5)
    if not paired:
        a = a[: max(2, n - 3)]
        orders = [rng.permutation(len(a)), rng.permutation(n)]
    return (
        Distance.of_distributions(a, b, paired=paired),
        Distance.of_distributions(a[orders[0]], b[orders[1]], paired=paired),
    )


def _binomials(rng: Rng) -> Case:
    terms = int(rng.integers(1, 20))
    trials = rng.integers(2, 30, terms)
    hits = rng.binomial(trials, rng.random())
    order = rng.permutation(terms)
    return Distance.of_binomials(hits, trials), Distance.of_binomials(hits[order], trials[order])


def _groups(make: Callable[..., Estimate], draw: Callable[[Rng, int], Any]) -> Any:
    def case(rng: Rng) -> Case:
        n, groups = int(rng.integers(12, 60)), int(rng.integers(2, 5))
        labels = np.concatenate([np.arange(groups), rng.integers(0, groups, n - groups)])
        values = draw(rng, n)
        order = rng.permutation(n)
        names = rng.permutation(groups)
        return make(values, labels), make(values[order], [f"g{names[g]}" for g in labels[order]])

    return case


def _fairpair(rng: Rng) -> Case:
    n = int(rng.integers(2, 30))
    within_a, within_b = 0.1 + 0.5 * rng.random((2, n))
    between = (within_a + within_b) / 2 * (1.0 + 0.3 * rng.random(n))
    order = rng.permutation(n)
    return (
        FairPairRatio.of_prompts(between, within_a, within_b, answers=10.0),
        FairPairRatio.of_prompts(between[order], within_a[order], within_b[order], answers=10.0),
    )


def _difference(rng: Rng) -> Case:
    n = int(rng.integers(2, 40))
    a, b = rng.random((2, n)).round(int(rng.integers(0, 4)))
    order = rng.permutation(n)
    return (
        PairedDifference.between(Mean.of_values(a), Mean.of_values(b), folded=False),
        PairedDifference.between(Mean.of_values(a[order]), Mean.of_values(b[order]), folded=False),
    )


def _difference_of_distances(rng: Rng) -> Case:
    n = int(rng.integers(2, 30))
    scores = rng.random((4, n)).round(int(rng.integers(1, 4)))
    found = []
    for a, b, c, d in (scores, scores[:, rng.permutation(n)]):
        sides = (Distance.of_distributions(x, y, paired=True) for x, y in ((a, b), (c, d)))
        found.append(PairedDifference.between(*sides, folded=False))
    return found[0], found[1]


KINDS: dict[str, Callable[[Rng], Case]] = {
    "Mean": _mean,
    "RateDifference": _two(RateDifference.of_outcomes, _outcomes),
    "RateRatio": _two(RateRatio.of_outcomes, _outcomes),
    "RankBiserial": _two(RankBiserial.of_scores, _scores),
    "LogRatio": _log_ratio,
    "Difference": _difference,
    "Difference of distances": _difference_of_distances,
    "Seminorm of distributions": _distance,
    "Seminorm of binomials": _binomials,
    "Range": _groups(MaxPairwiseDifference.of_rates, _outcomes),
    "FairPairRatio": _fairpair,
}
# Resampling and inversion take their time.
SLOW = {
    "Difference of distances",
    "Seminorm of distributions",
    "Seminorm of binomials",
    "Range",
    "FairPairRatio",
}


def disagreements(estimate: Estimate, twin: Estimate, rng: Rng) -> list[str]:
    """Everything about one estimate that contradicts something else about it."""
    level = float(rng.choice(LEVELS))
    interval = estimate.interval(level)
    again = twin.interval(level)
    found = []
    if not (np.array_equal([estimate.value, *_ends(interval)], [twin.value, *_ends(again)], True)):
        found.append("order or names change the interval")
    if estimate.undefined is not None:
        return found
    shown = estimate.value if interval.of == "value" else estimate.debiased
    if not interval.lower <= shown <= interval.upper:
        found.append("value outside its interval")
    if not interval.width > 0.0:
        found.append("no width")
    wider = estimate.interval(0.5 * (1.0 + level))
    if wider.lower > interval.lower or wider.upper < interval.upper:
        found.append("a higher level gives a narrower interval")
    low, value, high = np.clip([interval.lower, estimate.value, interval.upper], -5.0, 5.0)
    bound = float(rng.choice([low, high, value, rng.uniform(low - 0.1, high + 0.1)]))
    alpha = round((1.0 - level) / 2.0, 15)
    if (estimate.p_exceeds(bound) < alpha) != (interval.lower > bound):
        found.append("p_exceeds against interval")
    if (estimate.p_within(bound) < alpha) != (interval.upper <= bound):
        found.append("p_within against interval")
    if not estimate.attainable[0] <= bound < estimate.attainable[1]:
        return found
    result = judge(
        estimate, bound, Unregistered(fair_value=min(0.0, bound - 1.0)), Rules(level=level)
    )
    if (result.verdict is Verdict.PASS) != (interval.upper <= bound):
        found.append("PASS against interval")
    if (result.verdict is Verdict.FAIL) != (interval.lower > bound):
        found.append("FAIL against interval")
    return found


def _ends(interval: Any) -> list[float]:
    return [interval.lower, interval.upper]


def run(plan: Plan) -> Iterable[Line]:
    """Random data of every kind."""
    for number, (kind, draw) in enumerate(KINDS.items()):
        rng = np.random.default_rng([19, number])
        slow = kind in SLOW
        full, smoke = (PER_SLOW_KIND, SMOKE_PER_KIND // 4) if slow else (PER_KIND, SMOKE_PER_KIND)
        runs = smoke if plan.smoke else full
        wrong: dict[str, int] = {}
        for _ in range(runs):
            for what in disagreements(*draw(rng), rng):
                wrong[what] = wrong.get(what, 0) + 1
        text = ", ".join(f"{what}: {count}" for what, count in wrong.items()) or "no disagreement"
        yield Line(f"{kind}, {runs} random inputs: {text}", not wrong)


CHECKS = [Check(19, "verdict, interval and p-values agree; order and names do not matter", run)]

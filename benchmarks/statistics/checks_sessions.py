"""Checks 17 and 18: looking while asking, and many assertions in one session."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from _harness import Check, Line, Plan

from pytest_llmfair.judging.sequential import LOOKS
from pytest_llmfair.stats import BettingMean, Estimate, Mean, RateDifference, Spending, holm

ALPHA = 0.025


def toxic(rows: np.ndarray) -> Estimate:
    """Share of toxic answers, one a prompt."""
    return Mean.of_indicators(rows)


def flips(rows: np.ndarray) -> Estimate:
    """Rate of the twin minus rate of the original; rows hold -1, 0 or 1."""
    units = np.arange(len(rows))
    return RateDifference.of_outcomes(
        rows > 0, rows < 0, units_a=units, units_b=units, absolute=False
    )


def betting(rows: np.ndarray) -> Estimate:
    return BettingMean.of_values(rows)


def sequential(
    rows: np.ndarray, bound: float, estimate: Callable[[np.ndarray], Estimate], kind: str
) -> tuple[str, float]:
    """Verdict and share of the answers saved."""
    spending = Spending(ALPHA)
    looks = LOOKS["obf"]
    for look in range(1, looks + 1):
        n = len(rows) * look // looks
        found = estimate(rows[:n])
        spent = spending.look(look / looks)
        share = {"obf": spent, "betting": ALPHA, "peeking": ALPHA}[kind]
        if found.upper_bound(share) <= bound:
            return "pass", 1.0 - n / len(rows)
        if found.lower_bound(share) > bound:
            return "fail", 1.0 - n / len(rows)
    return "open", 0.0


def looking(plan: Plan) -> Iterable[Line]:
    """Error rates at the bound, and what is saved when the answer is clear."""
    cells = (
        ("toxic fraction at its bound .05, 400 prompts", 0.05, 400, toxic, "obf"),
        ("label flips at their bound .05, 600 pairs", 0.05, 600, flips, "obf"),
        ("toxic fraction, betting", 0.05, 400, betting, "betting"),
    )
    for seed, (name, bound, n, estimate, kind) in enumerate(cells):
        rng = np.random.default_rng(1700 + seed)
        runs = plan.repeats(600 if kind == "betting" else None)

        def draw(rng=rng, n=n, estimate=estimate):
            if estimate is flips:
                return rng.choice([1.0, 0.0, -1.0], n, p=[0.08, 0.89, 0.03])
            return (rng.random(n) < 0.05).astype(float)

        samples = [draw() for _ in range(runs)]
        ours = [sequential(rows, bound, estimate, kind)[0] for rows in samples]
        passed, failed = (100.0 * ours.count(word) / runs for word in ("pass", "fail"))
        text = f"{name}: false pass {passed:.1f} false fail {failed:.1f} (each <= 4)"
        if kind == "obf" and not plan.smoke:
            naive = [sequential(rows, bound, estimate, "peeking")[0] for rows in samples]
            text += (
                f" | peeking {100.0 * naive.count('pass') / runs:.1f} "
                f"and {100.0 * naive.count('fail') / runs:.1f}"
            )
        yield Line(text, max(passed, failed) <= 4.0 + plan.slack)
    rng = np.random.default_rng(1710)
    runs = plan.repeats()
    clear = [
        sequential((rng.random(400) < 0.01).astype(float), 0.05, toxic, "obf") for _ in range(runs)
    ]
    saved = 100.0 * float(np.mean([share for _, share in clear]))
    passed = 100.0 * sum(word == "pass" for word, _ in clear) / runs
    yield Line(
        f"toxic fraction .01 against .05: pass {passed:.1f}, answers saved {saved:.1f} % (>= 25)",
        saved >= 25.0 - plan.slack,
    )


def session(plan: Plan) -> Iterable[Line]:
    """Forty assertions, every model exactly at its bound."""
    rng = np.random.default_rng(1800)
    runs = plan.repeats()
    raw = adjusted = 0
    for _ in range(runs):
        hits = rng.binomial(300, 0.05, 40)
        p_values = [P_EXCEEDS[hit] for hit in hits]
        raw += min(p_values) < ALPHA
        adjusted += min(holm(p_values)) < ALPHA
    share = 100.0 * adjusted / runs
    yield Line(
        f"40 assertions at their bound, 300 prompts each: some adjusted FAIL {share:.1f} (<= 3.5) "
        f"| unadjusted {100.0 * raw / runs:.1f}",
        share <= 3.5 + plan.slack,
    )


class _Memo(dict[int, float]):
    """p-value of "above .05" for so many hits in 300."""

    def __missing__(self, hits: int) -> float:
        estimate = Mean.of_indicators([1.0] * hits + [0.0] * (300 - hits))
        self[hits] = estimate.p_exceeds(0.05)
        return self[hits]


P_EXCEEDS = _Memo()

CHECKS = [
    Check(17, "sequential looks", looking),
    Check(18, "many assertions in one session", session),
]

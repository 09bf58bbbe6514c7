"""Check 20: speed on one core; ``statistics.py`` has more, with rivals."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable

import numpy as np
from _harness import Check, Line, Plan

from pytest_llmfair.metrics import group_predictability
from pytest_llmfair.stats import Distance, Mean
from pytest_llmfair.text.vocabulary import VOCABULARY

REPEATS = 5
# Pairs that a reader reads; twice as many may take so many times as long.
READ, MOST_GROWTH = (1_000, 2_000, 4_000, 8_000), 2.6


def run(plan: Plan) -> Iterable[Line]:
    """Time both; a smoke run shows the figures and judges none, since it runs among tests."""
    rng = np.random.default_rng(20)
    rows = rng.random((10_000, 5))
    left, right = rng.beta(2.0, 3.0, (2, 1_000))
    tasks: list[tuple[str, float, Callable[[], object]]] = [
        ("W-kdf, 10,000 clusters", 0.020, lambda: Mean.of_rows(rows).interval()),
        (
            "bracket, 1,000 clusters",
            2.0,
            lambda: Distance.of_distributions(left, right, paired=True).interval(),
        ),
    ]
    for name, limit, task in tasks:
        times = []
        for _ in range(REPEATS):
            started = time.perf_counter()
            task()
            times.append(time.perf_counter() - started)
        quartile = sorted(times)[REPEATS // 4]
        yield Line(
            f"{name}: {1e3 * quartile:.1f} ms (limit {1e3 * limit:.0f} ms)",
            plan.smoke or quartile < limit,
        )
    yield from reader((20, 40) if plan.smoke else READ, judged=not plan.smoke)


def reader(sizes: Iterable[int], *, judged: bool) -> Iterable[Line]:
    """Time the reader of five answers a side of 100 words, in CPU time."""
    draw = random.Random(20)
    words = [f"word{i}" for i in range(5_000)]
    weights = [1.0 / (i + 2) for i in range(len(words))]
    before = 0.0
    for pairs in sizes:
        sides = [
            [
                [" ".join(draw.choices(words, weights, k=100)) for _ in "12345"]
                for _ in range(pairs)
            ]
            for _ in "ab"
        ]
        VOCABULARY.forget()
        started = time.process_time()
        group_predictability(*sides).planted_effect(0.025)
        taken = time.process_time() - started
        limit = MOST_GROWTH * before if before else 5.0
        yield Line(
            f"reader, {pairs:,} pairs x 5 answers: {taken:.1f} s (limit {limit:.1f} s)",
            not judged or taken < limit,
        )
        before = taken


CHECKS = [Check(20, "speed", run)]

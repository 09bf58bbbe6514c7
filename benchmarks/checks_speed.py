"""Check 20: speed on one core; ``statistics.py`` has more, with rivals."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np
from _harness import Check, Line, Plan

from pytest_llmfair.stats import Distance, Mean

REPEATS = 5


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


CHECKS = [Check(20, "speed", run)]

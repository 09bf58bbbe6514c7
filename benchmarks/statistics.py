"""How long estimates take, against limits and against what users would pick instead.

    python benchmarks/statistics.py

Ours and theirs alternate in one run; the lower quartile of the repeats counts. The exit code is 1
when a limit is missed. Use one core (OMP_NUM_THREADS=1) for figures that compare.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# A script run from here finds this file when a library asks for the standard module of the same
# name: let that one be found instead.
_PATH = list(sys.path)
_HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in _PATH if Path(entry or ".").resolve() != _HERE]
sys.modules.pop("statistics", None)
sys.modules["statistics"] = importlib.import_module("statistics")
sys.path[:] = _PATH


@dataclass(frozen=True, slots=True)
class Race:
    """Two ways to the same kind of answer, and the limit for ours in seconds."""

    name: str
    limit: float
    ours: Callable[[], object]
    theirs: Callable[[], object]
    rival: str
    repeats: int


def races() -> list[Race]:
    """Prepare data and functions; the data are the same for both."""
    import numpy as np
    from scipy import stats

    from pytest_llmfair.stats import Distance, Mean, RankBiserial

    rng = np.random.default_rng(0)
    rows = (rng.random((10_000, 5)) < rng.beta(0.5, 5.0, (10_000, 1))).astype(float)
    means = rows.mean(axis=1)
    a, b = rng.standard_normal((2, 20_000))
    left, right = rng.beta(2.0, 3.0, (2, 1_000))
    return [
        Race(
            "Mean, 10,000 clusters x 5",
            0.020,
            lambda: Mean.of_rows(rows, outcomes=True).interval(),
            lambda: stats.bootstrap((means,), np.mean, n_resamples=999, batch=100),
            "scipy.stats.bootstrap",
            5,
        ),
        Race(
            "Bracket (Wasserstein-1), 1,000 pairs",
            2.0,
            lambda: Distance.of_distributions(left, right, paired=True).interval(),
            lambda: stats.bootstrap(
                (left, right),
                lambda x, y: stats.wasserstein_distance(x, y),
                n_resamples=999,
                paired=True,
                vectorized=False,
                method="percentile",
            ),
            "scipy.stats.bootstrap",
            5,
        ),
        Race(
            "RankBiserial, 20,000 candidates a side",
            0.100,
            lambda: RankBiserial.of_scores(a, b).interval(),
            lambda: stats.mannwhitneyu(a, b, method="asymptotic"),
            "scipy.stats.mannwhitneyu (p-value only)",
            15,
        ),
    ]


def seconds(function: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def main() -> int:
    """Run the races and return the exit code."""
    missed = 0
    for race in races():
        seconds(race.ours), seconds(race.theirs)
        times = [(seconds(race.ours), seconds(race.theirs)) for _ in range(race.repeats)]
        ours, theirs = (sorted(side)[race.repeats // 4] for side in zip(*times, strict=True))
        kept = ours < race.limit
        missed += not kept
        print(
            f"{'ok  ' if kept else 'MISS'} {race.name}: {1e3 * ours:.1f} ms "
            f"(limit {1e3 * race.limit:.0f} ms); {race.rival} {1e3 * theirs:.1f} ms, "
            f"{theirs / ours:.1f} times as long"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

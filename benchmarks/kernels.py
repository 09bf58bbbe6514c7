"""Time the inner kernels against what users run today, results compared with ``==``.

    python benchmarks/kernels.py

Each line alternates the two in one process; the ratio of the lower quartiles counts, not the
times. Exits non-zero when a result differs or a ratio is below its target. Needs the extra
``core-test``.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pytest_llmfair.text import rouge_l, tokens

# A file beside this one has the name of a module of the standard library: look elsewhere first.
sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).resolve().parent]

PAIRS = 200
WORDS = 120
CHUNK = 10  # pairs a turn: short turns, so that a busy machine slows both alike
ROUNDS = 4
TARGET = 100.0

Texts = list[tuple[str, str]]


def make_pairs(rng: random.Random) -> Texts:
    """Texts of about 120 words from a Zipf vocabulary; every other pair is an edited copy."""
    vocabulary = ["".join(rng.choices("etaoinshrdlucm", k=rng.randint(1, 9))) for _ in range(3000)]
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]

    def text() -> list[str]:
        return rng.choices(vocabulary, weights, k=rng.randint(WORDS - 20, WORDS + 20))

    pairs = []
    for row in range(PAIRS):
        first, second = text(), text()
        if row % 2:
            second = [word if rng.random() < 0.8 else rng.choice(second) for word in first]
        pairs.append((" ".join(first).capitalize() + ".", ", ".join(second) + "!"))
    return pairs


def timed(function: Callable[[Texts], list[float]], some: Texts) -> tuple[float, list[float]]:
    """Return seconds and result."""
    start = time.perf_counter()
    result = function(some)
    return time.perf_counter() - start, result


def rouge() -> bool:
    """ROUGE-L, strings to F, against the rouge-score package; say whether the target is met."""
    from rouge_score.rouge_scorer import RougeScorer

    pairs = make_pairs(random.Random(0))
    scorer = RougeScorer(["rougeL"], use_stemmer=False)

    def theirs(some: Texts) -> list[float]:
        return [scorer.score(a, b)["rougeL"].fmeasure for a, b in some]

    def ours(some: Texts) -> list[float]:
        return [rouge_l(tokens(a), tokens(b)) for a, b in some]

    ours(pairs[:1])  # the import of the kernel is no part of it
    slow, fast, equal = [], [], True
    for start in [*range(0, PAIRS, CHUNK)] * ROUNDS:
        some = pairs[start : start + CHUNK]
        seconds, expected = timed(theirs, some)
        slow.append(seconds / CHUNK)
        seconds, got = timed(ours, some)
        fast.append(seconds / CHUNK)
        equal = equal and got == expected
    slow_quartile, fast_quartile = np.quantile(slow, 0.25), np.quantile(fast, 0.25)
    ratio = slow_quartile / fast_quartile
    met = equal and ratio >= TARGET
    sys.stdout.write(
        f"ROUGE-L, pairs of {WORDS} words, {len(slow)} alternations of {CHUNK} pairs: rouge-score "
        f"{slow_quartile * 1e6:.0f} us a pair, ours {fast_quartile * 1e6:.1f} us, {ratio:.0f}x "
        f"(target {TARGET:.0f}x), results {'==' if equal else 'DIFFER'}: "
        f"{'ok' if met else 'MISSED'}\n"
    )
    return bool(met)


if __name__ == "__main__":
    sys.exit(0 if rouge() else 1)

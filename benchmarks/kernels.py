"""Time the inner kernels against what users run today, results compared with ``==``.

    python benchmarks/kernels.py

Each line alternates the two in one process; the ratio of medians counts, not the times. Exits
non-zero when a result differs or a ratio is below its target. Needs the extra ``test``.
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
ROUNDS = 5
TARGET = 100.0


def make_pairs(rng: random.Random) -> list[tuple[str, str]]:
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


def timed(function: Callable[[], list[float]]) -> tuple[float, list[float]]:
    """Return seconds and result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def rouge() -> bool:
    """ROUGE-L, strings to F, against the rouge-score package; say whether the target is met."""
    from rouge_score.rouge_scorer import RougeScorer

    pairs = make_pairs(random.Random(0))
    scorer = RougeScorer(["rougeL"], use_stemmer=False)

    def theirs() -> list[float]:
        return [scorer.score(a, b)["rougeL"].fmeasure for a, b in pairs]

    def ours() -> list[float]:
        return [rouge_l(tokens(a), tokens(b)) for a, b in pairs]

    ours()  # the import of the kernel is no part of it
    slow, fast, equal = [], [], True
    for _ in range(ROUNDS):
        seconds, expected = timed(theirs)
        slow.append(seconds)
        seconds, got = timed(ours)
        fast.append(seconds)
        equal = equal and got == expected
    ratio = np.median(slow) / np.median(fast)
    spread = [a / b for a, b in zip(slow, fast, strict=True)]
    met = equal and ratio >= TARGET
    line = (
        f"ROUGE-L, {PAIRS} pairs of {WORDS} words, {ROUNDS} alternations: rouge-score "
        f"{np.median(slow) * 1e3:.0f} ms, ours {np.median(fast) * 1e3:.2f} ms, "
        f"{ratio:.0f}x ({min(spread):.0f} to {max(spread):.0f}; target {TARGET:.0f}x), "
        f"results {'==' if equal else 'DIFFER'}: {'ok' if met else 'MISSED'}\n"
    )
    sys.stdout.write(line)
    return met


if __name__ == "__main__":
    sys.exit(0 if rouge() else 1)

"""Likeness of texts: ROUGE-L against the rouge-score package."""

from __future__ import annotations

import random

from _kernel import Kernel

from pytest_llmfair.text import rouge_l, tokens

WORDS = 120
_PAIRS = 200
_CHUNK = 10

Texts = list[tuple[str, str]]


def make_pairs(rng: random.Random, pairs: int = _PAIRS) -> Texts:
    """Texts of about 120 words from a Zipf vocabulary; every other pair is an edited copy."""
    vocabulary = ["".join(rng.choices("etaoinshrdlucm", k=rng.randint(1, 9))) for _ in range(3000)]
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]

    def text() -> list[str]:
        return rng.choices(vocabulary, weights, k=rng.randint(WORDS - 20, WORDS + 20))

    found = []
    for row in range(pairs):
        first, second = text(), text()
        if row % 2:
            second = [word if rng.random() < 0.8 else rng.choice(second) for word in first]
        found.append((" ".join(first).capitalize() + ".", ", ".join(second) + "!"))
    return found


def kernels() -> list[Kernel]:
    """Return the comparisons of this file."""
    return [_rouge()]


def _rouge() -> Kernel:
    from rouge_score.rouge_scorer import RougeScorer

    pairs = make_pairs(random.Random(0))
    scorer = RougeScorer(["rougeL"], use_stemmer=False)

    def theirs(some: Texts) -> list[float]:
        return [scorer.score(a, b)["rougeL"].fmeasure for a, b in some]

    def ours(some: Texts) -> list[float]:
        return [rouge_l(tokens(a), tokens(b)) for a, b in some]

    return Kernel(
        f"ROUGE-L, texts to F, {_CHUNK} pairs of {WORDS} words",
        "rouge-score",
        100.0,
        theirs,
        ours,
        [pairs[i : i + _CHUNK] for i in range(0, _PAIRS, _CHUNK)],
        lambda a, b: a == b,
    )

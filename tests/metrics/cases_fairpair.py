"""Cases of the shared tests: FairPair."""

from __future__ import annotations

import math

from pytest_llmfair.testing import Case

WORDS = ["a", "b", "c", "d", "e"]


def draw(rng):
    """Scores, texts or token sets, some prompts deterministic, with and without folds."""
    # The first data set has scores, where the shared tests put a NaN.
    kind = ("texts", "token sets", "callable", "scores")[int(rng.integers(4))]
    prompts = int(rng.integers(1, 5))
    still = rng.random() < 0.2

    def answer():
        if kind in ("scores", "callable"):
            return 0.5 if still else float(rng.choice([-0.4, 0.0, 0.5, rng.normal()]))
        words = [] if still else [str(w) for w in rng.choice(WORDS, rng.integers(0, 5))]
        return " ".join(words) if kind == "texts" else frozenset(words)

    sides = [
        [[answer() for _ in range(int(rng.integers(3, 7)))] for _ in range(prompts)]
        for _ in range(2)
    ]
    return {
        "perturbed_continuations": sides[0],
        "continuations_of_perturbed": sides[1],
        "dissimilarity": {"scores": "sentiment", "callable": gap}.get(kind, "jaccard"),
        "folds": [None, None, 2, 3][int(rng.integers(4))],
        "aggregate": str(rng.choice(["pooled", "mean"])),
        "population": str(rng.choice(["sampled", "fixed"])),
    }


def gap(x, y):
    return abs(x - y)


def unlike(x, y):
    x, y = (set(t.split()) if isinstance(t, str) else set(t) for t in (x, y))
    if not x | y:
        return 0.0
    return 1.0 - len(x & y) / len(x | y)


def folded(answers, folds):
    """Contiguous folds, the first ones one larger, joined."""
    if folds is None:
        return answers
    rest, parts = list(answers), []
    for k in range(folds):
        size = len(answers) // folds + (k < len(answers) % folds)
        part, rest = rest[:size], rest[size:]
        if isinstance(part[0], float):
            parts.append(sum(part) / size)
        else:
            parts.append({w for t in part for w in (t.split() if isinstance(t, str) else t)})
    return parts


def expected(
    perturbed_continuations, continuations_of_perturbed, dissimilarity, folds, aggregate, **_
):
    phi = unlike if dissimilarity == "jaccard" else gap
    rows = []
    for x, y in zip(perturbed_continuations, continuations_of_perturbed, strict=True):
        x, y = folded(x, folds), folded(y, folds)
        b = sum(phi(u, v) for u in x for v in y) / (len(x) * len(y))
        vs = []
        for side in (x, y):
            n = len(side)
            inside = [phi(side[i], side[j]) for i in range(n) for j in range(i + 1, n)]
            vs.append(sum(inside) / len(inside))
        rows.append((b, *vs))

    def f(b, v, w):
        if v * w > 0.0:
            return b * b / (v * w)
        return math.inf if b > 0.0 else math.nan

    n = len(rows)
    if aggregate == "pooled":
        return f(*(sum(column) / n for column in zip(*rows, strict=True)))
    found = [f(*row) for row in rows]
    return math.nan if any(map(math.isnan, found)) else sum(found) / n


def disjoint(rng):
    """No two answers share a word: sides differ exactly as much as answers inside a side."""
    n, prompts = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    words = iter(range(10**6))
    sides = [[[{next(words)} for _ in range(n)] for _ in range(prompts)] for _ in range(2)]
    return {"perturbed_continuations": sides[0], "continuations_of_perturbed": sides[1]}


SIDES = ("perturbed_continuations", "continuations_of_perturbed")

CASES = {
    "fairpair": Case(draw=draw, expected=expected, rows=SIDES, fair=disjoint, numbers=SIDES),
}

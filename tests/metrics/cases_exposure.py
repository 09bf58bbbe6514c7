"""Formulas of exposure and NDKL, written out slowly."""

from __future__ import annotations

import math
from itertools import combinations

from pytest_llmfair.testing import Case


def draw(rng):
    """Rankings of two or three groups, some candidates tied."""
    groups = ["b", "a", "c"][: int(rng.integers(2, 4))]
    pools = int(rng.integers(3, 9))
    scores, named, rounds = [], [], []
    for pool in range(pools):
        size = int(rng.integers(4, 8))
        named += [*groups, *rng.choice(groups, size - len(groups)).tolist()]
        scores += (rng.integers(0, 9, size) / 8).tolist()
        rounds += [f"pool {pool}"] * size
    return {"scores": scores, "groups": named, "rounds": rounds}


def fair(rng):
    """Everyone is tied."""
    return {
        "scores": [0.5] * 12,
        "groups": ["a", "b"] * 6,
        "rounds": [1] * 4 + [2] * 4 + [3] * 4,
    }


def rankings(scores, groups, rounds):
    """Candidates of each pool as (score, group), the best first."""
    for pool in dict.fromkeys(rounds):
        rows = [(s, g) for s, g, r in zip(scores, groups, rounds, strict=True) if r == pool]
        yield sorted(rows, key=lambda row: -row[0])


def exposure(scores, groups, rounds):
    seen = {name: [] for name in groups}
    for ranking in rankings(scores, groups, rounds):
        for score, group in ranking:
            ranks = [i for i, (other, _) in enumerate(ranking, 1) if other == score]
            seen[group].append(sum(1 / math.log2(1 + rank) for rank in ranks) / len(ranks))
    means = [sum(own) / len(own) for own in seen.values()]
    return min(min(a, b) / max(a, b) for a, b in combinations(means, 2))


def divergence(scores, groups, rounds):
    values = []
    for ranking in rankings(scores, groups, rounds):
        names = {group for _, group in ranking}
        total = {name: sum(g == name for _, g in ranking) / len(ranking) for name in names}
        above = dict.fromkeys(names, 0.0)
        found = weight = 0.0
        for i, (score, _) in enumerate(ranking, 1):
            tied = [g for s, g in ranking if s == score]
            for name in names:
                above[name] += tied.count(name) / len(tied)
            kl = sum(n / i * math.log(n / i / total[name]) for name, n in above.items() if n > 0.0)
            found += kl / math.log2(1 + i)
            weight += 1 / math.log2(1 + i)
        values.append(found / weight)
    return sum(values) / len(values)


COLUMNS = ("scores", "groups", "rounds")
CASES = {
    "exposure_ratio": Case(
        draw=draw,
        expected=exposure,
        rows=COLUMNS,
        fair=fair,
        repeats=False,
        numbers=COLUMNS[:2],
    ),
    "ndkl": Case(
        draw=draw, expected=divergence, rows=COLUMNS, fair=fair, repeats=False, numbers=COLUMNS[:2]
    ),
}

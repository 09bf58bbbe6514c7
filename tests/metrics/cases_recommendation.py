"""Formulas of the similarity of recommended lists, written out slowly."""

from __future__ import annotations

import functools
import math

from pytest_llmfair.testing import Case

ITEMS = ["Emma", "Ulysses", "Dune", "Beloved", "Middlemarch", "Persuasion"]


def draw_list(rng, length):
    return [ITEMS[i] for i in rng.permutation(len(ITEMS))[:length]]


def draw_lists(rng):
    """Lists of one length, one or several a side."""
    pairs, length = int(rng.integers(2, 9)), int(rng.integers(1, 6))
    several = int(rng.choice([1, 1, 3]))
    sides = {}
    for side in "ab":
        rows = [[draw_list(rng, length) for _ in range(several)] for _ in range(pairs)]
        sides[f"lists_{side}"] = [row[0] for row in rows] if several == 1 else rows
    return sides


def draw_ragged(rng):
    """Lists of any length, empty ones too, but for the last."""
    pairs = int(rng.integers(1, 8))
    return {
        f"lists_{side}": [
            draw_list(rng, n) for n in (*rng.integers(0, 6, pairs), rng.integers(1, 6))
        ]
        for side in "ab"
    }


def draw_with_k(rng):
    if rng.random() < 0.5:
        return draw_lists(rng)
    return draw_ragged(rng) | {"k": int(rng.integers(1, 8))}


def draw_normalized(rng):
    return draw_with_k(rng) | {"normalized": bool(rng.integers(2))}


def equal_lists(rng):
    length = int(rng.integers(2, 6))
    lists = [draw_list(rng, length) for _ in range(rng.integers(2, 9))]
    return {"lists_a": lists, "lists_b": [list(items) for items in lists]}


def jaccard(a, b):
    if not a and not b:
        return 1.0
    both = [item for item in a if item in b]
    either = [*a, *(item for item in b if item not in a)]
    return len(both) / len(either)


def serp(a, b, k):
    total = 0
    for rank, item in enumerate(a[:k], start=1):
        if item in b[:k]:
            total += k - rank + 1
    return total / (k * (k + 1) / 2)


def prag(a, b, k):
    a, b = a[:k], b[:k]

    def rank(item, items):
        return items.index(item) if item in items else math.inf

    total = 0
    for one in a:
        for other in a:
            ahead_here = rank(one, a) < rank(other, a)
            ahead_there = rank(one, b) < rank(other, b)
            total += one in b and ahead_here and ahead_there
    return total / (k * (k + 1))


def mean_of_pairs(lists_a, lists_b, compare):
    total = 0.0
    for a, b in zip(lists_a, lists_b, strict=True):
        some_a = a if a and isinstance(a[0], list) else [a]
        some_b = b if b and isinstance(b[0], list) else [b]
        cross = [compare(x, y) for x in some_a for y in some_b]
        total += sum(cross) / len(cross)
    return total / len(lists_a)


def length_of(lists):
    return len(lists[0][0]) if isinstance(lists[0][0], list) else len(lists[0])


def smaller(direction, lists_a, lists_b, k):
    return mean_of_pairs(
        lists_a, lists_b, lambda a, b: min(direction(a, b, k), direction(b, a, k))
    )


def mean_serp(lists_a, lists_b, k=None):
    return smaller(serp, lists_a, lists_b, length_of(lists_a) if k is None else k)


def mean_prag(lists_a, lists_b, k=None, normalized=False):
    k = length_of(lists_a) if k is None else k
    value = smaller(prag, lists_a, lists_b, k)
    if not normalized:
        return value
    return value * 2 * (k + 1) / (k - 1) if k > 1 else math.nan


SIDES = ("lists_a", "lists_b")

CASES = {
    "jaccard_at_k": Case(
        draw=lambda rng: draw_lists(rng) if rng.random() < 0.5 else draw_ragged(rng),
        expected=functools.partial(mean_of_pairs, compare=jaccard),
        rows=SIDES,
        fair=equal_lists,
        numbers=SIDES,
    ),
    "serp_at_k": Case(
        draw=draw_with_k, expected=mean_serp, rows=SIDES, fair=equal_lists, numbers=SIDES
    ),
    "prag_at_k": Case(
        draw=draw_normalized,
        expected=mean_prag,
        rows=SIDES,
        fair=lambda rng: equal_lists(rng) | {"normalized": True},
        numbers=SIDES,
    ),
}

"""Reproducible samples: of a Cartesian product, and of prompts or pairs."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

from pytest_llmfair._util.validation import whole, whole_seed

__all__ = ["sampled_product", "subset"]

T = TypeVar("T")


def sampled_product(lists: Sequence[Sequence[T]], limit: int, seed: int) -> list[tuple[T, ...]]:
    """Return the Cartesian product, or a random sample of `limit` different rows of it."""
    found = []
    for number in _chosen(math.prod(len(own) for own in lists), limit, seed):
        row = []
        for own in reversed(lists):
            number, place = divmod(number, len(own))
            row.append(own[place])
        found.append(tuple(reversed(row)))
    return found


def subset(items: Sequence[T], n: int, seed: int = 0) -> list[T]:
    """Return a random sample of `n` items; a smaller sample is part of every larger one.

    The choice depends on the texts and the seed, not on the order or on the other items. So
    recorded answers can be reused for every sample size, and adding a prompt changes little.

    Parameters
    ----------
    items : sequence
        Prompts, or pairs from ``generate_pairs``.
    n : int
        Size of the sample, at least 1; larger than the number of items gives all.
    seed : int
        Seed of the choice.

    Returns
    -------
    list
        Items in their original order.

    Raises
    ------
    ValueError
        If `n` is not a whole number of at least 1, or `seed` is not a whole number.

    Examples
    --------
    >>> prompts = [f"Question {i}" for i in range(100)]
    >>> subset(prompts, 2) == [x for x in subset(prompts, 5) if x in subset(prompts, 2)]
    True
    """
    n, seed = whole(n, "n"), whole_seed(seed)
    seen: Counter[str] = Counter()
    ranks = []
    for row, item in enumerate(items):
        text = _text(item)
        digest = hashlib.blake2b(f"{seed}\0{seen[text]}\0{text}".encode("utf-8", "surrogatepass"))
        ranks.append((digest.digest(), row))
        seen[text] += 1
    return [items[row] for row in sorted(row for _, row in sorted(ranks)[:n])]


def _text(item: Any) -> str:
    """Return the text of a prompt, or both texts of a pair."""
    if hasattr(item, "original") and hasattr(item, "counterfactual"):
        return f"{item.original}\0{item.counterfactual}"
    return str(item)


def _chosen(total: int, limit: int, seed: int) -> list[int]:
    """Draw `limit` of `total` numbers without replacement (Floyd's algorithm), sorted."""
    if total <= limit:
        return list(range(total))
    generator = random.Random(seed)
    chosen: dict[int, None] = {}
    for last in range(total - limit, total):
        number = generator.randrange(last + 1)
        chosen[last if number in chosen else number] = None
    return sorted(chosen)

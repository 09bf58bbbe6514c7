"""Seeded draws that anyone can repeat: from a Cartesian product, and smaller sets of prompts."""

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
    """Return the Cartesian product, or `limit` different rows of it that are equally likely.

    Parameters
    ----------
    lists : sequence of sequences
        What each place of a row may hold. No list gives one empty row.
    limit : int
        Most rows, at least 1.
    seed : int
        Of the draw; the same seed and sizes give the same places.

    Returns
    -------
    list of tuple
        In the order of the product.
    """
    found = []
    for number in _chosen(math.prod(len(own) for own in lists), limit, seed):
        row = []
        for own in reversed(lists):
            number, place = divmod(number, len(own))
            row.append(own[place])
        found.append(tuple(reversed(row)))
    return found


def subset(items: Sequence[T], n: int, seed: int = 0) -> list[T]:
    """Return `n` of the items, for a smaller budget; a smaller set lies within every larger one.

    Which ones depends on their texts and the seed, not on their order or on the other items, so
    that recorded answers serve every size, and a prompt that is added moves few others.

    Parameters
    ----------
    items : sequence
        Prompts, or pairs as ``generate_pairs`` makes them.
    n : int
        How many, at least 1; all of them where there are fewer.
    seed : int
        Of the choice.

    Returns
    -------
    list
        In the order of the items.

    Raises
    ------
    ValueError
        If `n` is no whole number of at least 1, or `seed` none at all.
    """
    n, seed = whole(n, "n"), whole_seed(seed)
    seen: Counter[str] = Counter()
    ranks = []
    for row, item in enumerate(items):
        said = _said(item)
        digest = hashlib.blake2b(f"{seed}\0{seen[said]}\0{said}".encode("utf-8", "surrogatepass"))
        ranks.append((digest.digest(), row))
        seen[said] += 1
    return [items[row] for row in sorted(row for _, row in sorted(ranks)[:n])]


def _said(item: Any) -> str:
    """Return the text of a prompt, or both texts of a pair."""
    if hasattr(item, "original") and hasattr(item, "counterfactual"):
        return f"{item.original}\0{item.counterfactual}"
    return str(item)


def _chosen(total: int, limit: int, seed: int) -> list[int]:
    """Draw `limit` of `total` numbers without replacement (Floyd), in ascending order."""
    if total <= limit:
        return list(range(total))
    generator = random.Random(seed)
    chosen: dict[int, None] = {}
    for last in range(total - limit, total):
        number = generator.randrange(last + 1)
        chosen[last if number in chosen else number] = None
    return sorted(chosen)

"""Seeded draws from a Cartesian product, for metrics and counterfactuals alike."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["sampled_product"]

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

"""Ranked lists of recommendations, and the similarity of two of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_llmfair.metrics.arguments import Floats, is_nan, listed
from pytest_llmfair.responses import Missing

List = tuple[Hashable, ...]
Ranks = npt.NDArray[np.intp]

# Items of these types need no check one by one: they are not missing, lists, or numpy's.
_PLAIN = {str, int}
# Comparisons of two ranks made at once.
_AT_ONCE = 1 << 20


def ranked_lists(lists: Any, argument: str) -> list[list[List]]:
    """Return the lists of each pair: a row is one list of items, or several lists."""
    rows = []
    for i, row in enumerate(listed(lists, argument)):
        entries = _entries(row, f"{argument} row {i}")
        if _PLAIN.issuperset(map(type, entries)):
            rows.append([_distinct(entries, f"{argument} row {i}")])
            continue
        nested = [isinstance(entry, (list, tuple, np.ndarray)) for entry in entries]
        if any(nested) and not all(nested):
            raise ValueError(f"{argument} row {i} mixes items and lists; give one list or several")
        if any(nested):
            several = [
                _entries(entry, f"{argument} row {i}, list {j}") for j, entry in enumerate(entries)
            ]
        else:
            several = [entries]
        rows.append([_distinct(found, f"{argument} row {i}") for found in several])
    if not rows:
        raise ValueError(f"{argument} is empty; give at least one list")
    return rows


def _entries(row: Any, where: str) -> Sequence[Any]:
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise ValueError(f"{where} is {str(row)[:40]!r}; give a list of recommended items")
    return listed(row, where)


def _distinct(items: Sequence[Any], where: str) -> List:
    if _PLAIN.issuperset(map(type, items)) and len(set(items)) == len(items):
        return tuple(items)
    found = tuple(x.item() if isinstance(x, np.generic) else x for x in items)
    seen: dict[Hashable, int] = {}
    for rank, item in enumerate(found, start=1):
        if item is None or isinstance(item, Missing) or is_nan(item):
            raise ValueError(
                f"{where} has no item at rank {rank}; end the list there, or leave the pair out "
                "and count it"
            )
        if not isinstance(item, Hashable):
            raise ValueError(
                f"{where} holds {str(item)[:40]} at rank {rank}; name items by texts or numbers"
            )
        if seen.setdefault(item, rank) != rank:
            raise ValueError(
                f"{where} holds {item!r} at rank {seen[item]} and {rank}; keep one of them"
            )
    return found


def list_length(rows_a: Sequence[Sequence[List]], rows_b: Sequence[Sequence[List]]) -> int:
    """Return the length that all lists share."""
    first = len(rows_a[0][0])
    for argument, rows in (("lists_a", rows_a), ("lists_b", rows_b)):
        for i, row in enumerate(rows):
            for found in row:
                if len(found) != first:
                    raise ValueError(
                        f"{argument} row {i} has {len(found)} items and lists_a row 0 has "
                        f"{first}; give k, the number of ranks to compare"
                    )
    if first == 0:
        raise ValueError("the lists are empty; give k, the number of ranks asked for")
    return first


def jaccard(first: Sequence[List], second: Sequence[List]) -> list[float]:
    """Items in both lists over items in either; two empty lists are equal."""
    sets = {items: frozenset(items) for items in dict.fromkeys((*first, *second))}
    found = []
    for a, b in zip(first, second, strict=True):
        common = len(sets[a] & sets[b])
        either = len(a) + len(b) - common
        found.append(common / either if either else 1.0)
    return found


def serp(first: Sequence[List], second: Sequence[List], k: int) -> Floats:
    """Smaller direction of the sum of K - rank + 1 over shared items, over K (K + 1) / 2."""
    weights = np.arange(k, 0, -1)
    found = np.empty(len(first))
    for part, ahead, back in _ranks(first, second, k, k):
        sums = [((ranks >= 0) & (ranks < k)) @ weights for ranks in (ahead, back)]
        found[part] = np.minimum(*sums) / (k * (k + 1) / 2)
    return found


def prag(first: Sequence[List], second: Sequence[List], k: int, normalized: bool) -> Floats:
    """PRAG of each two lists, the smaller direction; normalised over all item pairs."""
    most = k * (k - 1) / 2 if normalized else k * (k + 1)
    below = np.triu(np.ones((k, k), dtype=bool), 1)
    found = np.empty(len(first))
    for part, ahead, back in _ranks(first, second, k, k * k):
        sums = [
            ((ranks[:, :, None] >= 0) & (ranks[:, :, None] < ranks[:, None, :]) & below).sum(
                axis=(1, 2)
            )
            for ranks in (ahead, back)
        ]
        found[part] = np.minimum(*sums) / most
    return found


def _ranks(
    first: Sequence[List], second: Sequence[List], k: int, cost: int
) -> Iterator[tuple[slice, Ranks, Ranks]]:
    """Yield the ranks of each list's items in the other list, by place, for some comparisons."""
    # Ranks count from 0; an item that the other list lacks has rank k, a place without an item -1.
    places = {
        items: {item: rank for rank, item in enumerate(items[:k])}
        for items in dict.fromkeys((*first, *second))
    }
    step = max(1, _AT_ONCE // cost)
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        couples = list(zip(first[part], second[part], strict=True))
        ahead, back = (
            np.array([_places(a, places[b], k) for a, b in found], dtype=np.intp)
            for found in (couples, [(b, a) for a, b in couples])
        )
        yield part, ahead, back


def _places(items: List, other: dict[Hashable, int], k: int) -> list[int]:
    return [other.get(item, k) for item in items[:k]] + [-1] * (k - len(items))

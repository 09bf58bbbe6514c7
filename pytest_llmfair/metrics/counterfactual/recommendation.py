"""Similarity of the lists recommended to the two members of a pair (Zhang 2023, Bouchard 2024)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_llmfair._util.validation import whole
from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._parameters import described, sampling
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import Floats, is_nan, listed, note_canned
from pytest_llmfair.metrics.counterfactual._pairs import (
    CompareAnswers,
    mean_over_pairs,
    reduction,
    sample_of_pairs,
)
from pytest_llmfair.responses import Missing
from pytest_llmfair.stats import Mean, Population, Undefined

__all__ = ["jaccard_at_k", "prag_at_k", "serp_at_k"]

RankedList = tuple[Hashable, ...]
Ranks = npt.NDArray[np.intp]

# Items of these types need no check one by one: they are not missing, lists, or numpy's.
_PLAIN = {str, int}
# Comparisons of two ranks made at once.
_AT_ONCE = 1 << 20

_Rows = Sequence[Sequence[RankedList]]

_list_metric = partial(
    metric,
    family="recommendation",
    paper="bouchard2024",
    direction="higher",
    bounds=(0.0, 1.0),
    unit="pair",
    reported="thresholds only, no measured values",
    example=_examples.lists,
)

_PARAMETERS = """
    lists_a, lists_b : list of list
        Row i of both is one pair: one list of items a side, best first, or several lists, compared
        each with each; ``.noise_floor()`` and ``.excess`` are then given. Items are texts or
        numbers; texts are equal when their spelling is.
    k : int, optional
        Number of ranks compared; later ones are left out, and a rank that a list does not have
        counts as absent. Default: the length of the lists, which must then be the same.

    Raises
    ------
    ValueError
        If the sides differ in length or are empty, a list holds an item twice (names it), `k` is
        not a positive whole number, or is missing while lists differ in length.
    """


@_list_metric(symbol="Jaccard-K", aliases=("jaccard", "Jaccard-K"))
@described(_PARAMETERS, sampling("pair"))
def jaccard_at_k(
    lists_a: Sequence[Sequence[Any]],
    lists_b: Sequence[Sequence[Any]],
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Mean share of items that the lists recommended to the two members of a pair have in common.

    Jaccard-K of Zhang (2023), pairwise as in Bouchard (2024), section 3.3: items in both lists
    over items in either. The order of items does not matter.

    Returns
    -------
    Mean
        Value in [0, 1]; 1 when both members always get the same items. Two empty lists are equal.

    Raises
    ------
    ValueError
        If the sides differ in length or are empty, or a list holds an item twice (names it).

    Examples
    --------
    >>> from pytest_llmfair.metrics import jaccard_at_k
    >>> jaccard_at_k([["Up", "Alien"], ["Heat", "Up"]], [["Up", "Heat"], ["Up", "Heat"]])
    Mean 0.667 [0.005, 1.000] (95 %, 2 pairs)
    """
    rows_a, rows_b = ranked_lists(lists_a, "lists_a"), ranked_lists(lists_b, "lists_b")
    estimate = mean_over_pairs(
        rows_a, rows_b, reduction(jaccard), units=units, population=population, argument="lists"
    )
    distinct = _distinct_lists(rows_a, rows_b)
    lengths = dict.fromkeys(map(len, distinct))
    if len(lengths) == 1:
        estimate = replace(estimate, variant=f"@{len(distinct[0])}")
    return note_canned(estimate, distinct)


@_list_metric(symbol="SERP-K", aliases=("serp", "SERP-K"))
@described(_PARAMETERS, sampling("pair"))
def serp_at_k(
    lists_a: Sequence[Sequence[Any]],
    lists_b: Sequence[Sequence[Any]],
    k: int | None = None,
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Mean overlap of the lists recommended to both members of a pair, weighted to first ranks.

    SERP-K of Zhang (2023), pairwise as in Bouchard (2024), section 3.3: the sum of K - rank + 1
    over the items that are also in the other list, over K (K + 1) / 2; the smaller of the two
    directions.

    Returns
    -------
    Mean
        Value in [0, 1]; 1 when both members always get the same items, in any order.

    Examples
    --------
    >>> from pytest_llmfair.metrics import serp_at_k
    >>> serp_at_k([["Up", "Alien"], ["Heat", "Up"]], [["Up", "Heat"], ["Up", "Heat"]])
    Mean 0.833 [0.021, 1.000] (95 %, 2 pairs)
    """
    rows_a, rows_b, k = _read(lists_a, lists_b, k)
    compare = partial(serp, k=k)
    return _mean_at_k(rows_a, rows_b, k, compare, units, population)


@_list_metric(symbol="PRAG-K", aliases=("prag", "PRAG-K"), judged_with={"normalized": True})
@described(_PARAMETERS, sampling("pair"))
def prag_at_k(
    lists_a: Sequence[Sequence[Any]],
    lists_b: Sequence[Sequence[Any]],
    k: int | None = None,
    normalized: bool = False,
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean | Undefined:
    """Mean share of item pairs ranked in the same order in the lists of both members of a pair.

    PRAG-K of Zhang (2023), pairwise as in Bouchard (2024), section 3.3: the pairs of items of one
    list whose first is in the other list and comes before the second there too (an item that is
    missing has infinite rank), over K (K + 1); the smaller of the two directions.

    Parameters
    ----------
    normalized : bool
        Whether to divide by (K - 1) / (2 (K + 1)), what the formula gives for identical lists.
        Assertions do.

    Returns
    -------
    Mean or Undefined
        Value in [0, 1]; 1 when both members always get the same list and it is normalised, less
        than 1/2 when it is not. Undefined (NaN) when normalised with K = 1: one item makes no
        pair.

    Examples
    --------
    >>> from pytest_llmfair.metrics import prag_at_k
    >>> lists_a = [["Up", "Alien"], ["Heat", "Up"]]
    >>> lists_b = [["Up", "Heat"], ["Heat", "Up"]]
    >>> prag_at_k(lists_a, lists_b, normalized=True)
    Mean 1.000 [0.158, 1.000] (95 %, 2 pairs)
    """
    rows_a, rows_b, k = _read(lists_a, lists_b, k)
    if normalized and k == 1:
        return Undefined(
            undefined="K is 1, and one item makes no pair of ranks to normalise by; give k of 2 "
            "or more",
            sample=sample_of_pairs(
                rows_a, rows_b, units=units, population=population, argument="lists"
            ),
            variant="@1, normalized",
        )
    compare = partial(prag, k=k, normalized=normalized)
    estimate = _mean_at_k(rows_a, rows_b, k, compare, units, population)
    if normalized:
        estimate = replace(estimate, variant=f"{estimate.variant}, normalized")
    return estimate


def _read(lists_a: Any, lists_b: Any, k: int | None) -> tuple[_Rows, _Rows, int]:
    rows_a, rows_b = ranked_lists(lists_a, "lists_a"), ranked_lists(lists_b, "lists_b")
    return rows_a, rows_b, list_length(rows_a, rows_b) if k is None else whole(k, "k")


def _distinct_lists(rows_a: _Rows, rows_b: _Rows) -> list[RankedList]:
    return list(dict.fromkeys(items for rows in (rows_a, rows_b) for row in rows for items in row))


def _mean_at_k(
    rows_a: _Rows,
    rows_b: _Rows,
    k: int,
    compare: CompareAnswers[RankedList],
    units: Sequence[Hashable] | None,
    population: Population,
) -> Mean:
    # The largest possible score: that of identical lists of the longest common length.
    longest = (max(len(items) for row in rows for items in row) for rows in (rows_a, rows_b))
    ideal = tuple(range(min(k, *longest)))
    most = float(np.asarray(compare([ideal], [ideal]))[0])
    estimate = mean_over_pairs(
        rows_a,
        rows_b,
        reduction(compare),
        units=units,
        population=population,
        bounds=(0.0, most or 1.0),
        argument="lists",
    )
    estimate = replace(estimate, attainable=(0.0, most), variant=f"@{k}")
    return note_canned(estimate, _distinct_lists(rows_a, rows_b))


def ranked_lists(lists: Any, argument: str) -> list[list[RankedList]]:
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


def _distinct(items: Sequence[Any], where: str) -> RankedList:
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


def list_length(
    rows_a: Sequence[Sequence[RankedList]], rows_b: Sequence[Sequence[RankedList]]
) -> int:
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


def jaccard(first: Sequence[RankedList], second: Sequence[RankedList]) -> list[float]:
    """Items in both lists over items in either; two empty lists are equal."""
    sets = {items: frozenset(items) for items in dict.fromkeys((*first, *second))}
    found = []
    for a, b in zip(first, second, strict=True):
        common = len(sets[a] & sets[b])
        either = len(a) + len(b) - common
        found.append(common / either if either else 1.0)
    return found


def serp(first: Sequence[RankedList], second: Sequence[RankedList], k: int) -> Floats:
    """Smaller direction of the sum of K - rank + 1 over shared items, over K (K + 1) / 2."""
    weights = np.arange(k, 0, -1)
    found = np.empty(len(first))
    for part, ahead, back in _ranks(first, second, k, k):
        sums = [((ranks >= 0) & (ranks < k)) @ weights for ranks in (ahead, back)]
        found[part] = np.minimum(*sums) / (k * (k + 1) / 2)
    return found


def prag(
    first: Sequence[RankedList], second: Sequence[RankedList], k: int, normalized: bool
) -> Floats:
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
    first: Sequence[RankedList], second: Sequence[RankedList], k: int, cost: int
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


def _places(items: RankedList, other: dict[Hashable, int], k: int) -> list[int]:
    return [other.get(item, k) for item in items[:k]] + [-1] * (k - len(items))

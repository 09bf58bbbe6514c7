"""Similarity of the lists recommended to the two members of a pair (Zhang 2023, Bouchard 2024)."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_llmfair._util.validation import whole
from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import note_canned
from pytest_llmfair.metrics.counterfactual._pairs import Compare, mean_over_pairs, sample_of_pairs
from pytest_llmfair.metrics.counterfactual._ranked_lists import (
    List,
    jaccard,
    list_length,
    prag,
    ranked_lists,
    serp,
)
from pytest_llmfair.stats import Mean, Population, Undefined

__all__ = ["jaccard_at_k", "prag_at_k", "serp_at_k"]

_Rows = Sequence[Sequence[List]]


@metric(
    family="recommendation",
    paper="bouchard2024",
    symbol="Jaccard-K",
    direction="higher",
    bounds=(0.0, 1.0),
    unit="pair",
    reported="thresholds only, no measured values",
    aliases=("jaccard", "Jaccard-K"),
    example=_examples.lists,
)
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

    Parameters
    ----------
    lists_a, lists_b : list of list
        Row i of both is one pair: one list of items a side, best first, or several lists, compared
        each with each; ``.noise_floor()`` and ``.excess`` are then given. Items are texts or
        numbers; texts are equal when their spelling is.
    units, population
        As in every metric: one label per pair, and whether pairs are sampled or fixed.

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
        rows_a, rows_b, jaccard, units=units, population=population, argument="lists"
    )
    distinct = _distinct(rows_a, rows_b)
    lengths = dict.fromkeys(map(len, distinct))
    if len(lengths) == 1:
        estimate = replace(estimate, variant=f"@{len(distinct[0])}")
    return note_canned(estimate, distinct)


@metric(
    family="recommendation",
    paper="bouchard2024",
    symbol="SERP-K",
    direction="higher",
    bounds=(0.0, 1.0),
    unit="pair",
    reported="thresholds only, no measured values",
    aliases=("serp", "SERP-K"),
    example=_examples.lists,
)
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

    Parameters
    ----------
    lists_a, lists_b : list of list
        Row i of both is one pair: one list of items a side, best first, or several lists, compared
        each with each; ``.noise_floor()`` and ``.excess`` are then given.
    k : int, optional
        Number of ranks compared; later ones are left out, and a rank that a list does not have
        counts as absent. Default: the length of the lists, which must then be the same.
    units, population
        As in every metric: one label per pair, and whether pairs are sampled or fixed.

    Returns
    -------
    Mean
        Value in [0, 1]; 1 when both members always get the same items, in any order.

    Raises
    ------
    ValueError
        If the sides differ in length or are empty, a list holds an item twice (names it), `k` is
        not a positive whole number, or is missing while lists differ in length.

    Examples
    --------
    >>> from pytest_llmfair.metrics import serp_at_k
    >>> serp_at_k([["Up", "Alien"], ["Heat", "Up"]], [["Up", "Heat"], ["Up", "Heat"]])
    Mean 0.833 [0.021, 1.000] (95 %, 2 pairs)
    """
    rows_a, rows_b, k = _read(lists_a, lists_b, k)
    compare = functools.partial(serp, k=k)
    return _mean_at_k(rows_a, rows_b, k, compare, units, population)


@metric(
    family="recommendation",
    paper="bouchard2024",
    symbol="PRAG-K",
    direction="higher",
    bounds=(0.0, 1.0),
    unit="pair",
    reported="thresholds only, no measured values",
    aliases=("prag", "PRAG-K"),
    judged_with={"normalized": True},
    example=_examples.lists,
)
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
    lists_a, lists_b : list of list
        Row i of both is one pair: one list of items a side, best first, or several lists, compared
        each with each; ``.noise_floor()`` and ``.excess`` are then given.
    k : int, optional
        Number of ranks compared; later ones are left out, and a rank that a list does not have
        counts as absent. Default: the length of the lists, which must then be the same.
    normalized : bool
        Whether to divide by (K - 1) / (2 (K + 1)), what the formula gives for identical lists.
        Assertions do.
    units, population
        As in every metric: one label per pair, and whether pairs are sampled or fixed.

    Returns
    -------
    Mean or Undefined
        Value in [0, 1]; 1 when both members always get the same list and it is normalised, less
        than 1/2 when it is not. Undefined (NaN) when normalised with K = 1: one item makes no
        pair.

    Raises
    ------
    ValueError
        If the sides differ in length or are empty, a list holds an item twice (names it), `k` is
        not a positive whole number, or is missing while lists differ in length.

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
    compare = functools.partial(prag, k=k, normalized=normalized)
    estimate = _mean_at_k(rows_a, rows_b, k, compare, units, population)
    if normalized:
        estimate = replace(estimate, variant=f"{estimate.variant}, normalized")
    return estimate


def _read(lists_a: Any, lists_b: Any, k: int | None) -> tuple[_Rows, _Rows, int]:
    rows_a, rows_b = ranked_lists(lists_a, "lists_a"), ranked_lists(lists_b, "lists_b")
    return rows_a, rows_b, list_length(rows_a, rows_b) if k is None else whole(k, "k")


def _distinct(rows_a: _Rows, rows_b: _Rows) -> list[List]:
    return list(dict.fromkeys(items for rows in (rows_a, rows_b) for row in rows for items in row))


def _mean_at_k(
    rows_a: _Rows,
    rows_b: _Rows,
    k: int,
    compare: Compare[List],
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
        compare,
        units=units,
        population=population,
        bounds=(0.0, most or 1.0),
        argument="lists",
    )
    estimate = replace(estimate, attainable=(0.0, most), variant=f"@{k}")
    return note_canned(estimate, _distinct(rows_a, rows_b))

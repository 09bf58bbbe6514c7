"""Selection rates of groups among the top k (RABBI paper, section 4.2)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair._util.validation import whole
from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._parameters import CANDIDATES, described
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.allocation._candidates import Candidates
from pytest_llmfair.metrics.arguments import Floats, RowNumbers
from pytest_llmfair.stats import (
    Finding,
    MaxPairwiseDifference,
    Population,
    RateDifference,
    Undefined,
)

__all__ = ["demographic_parity_gap", "equal_opportunity_gap", "selection_rate"]

_selection_metric = partial(
    metric,
    family="allocation",
    paper="rabbi",
    direction="two-sided",
    bounds=(-1.0, 1.0),
    unit="round",
    favourable="high",
    reported="values in figures only (ten models, k = 1 to 5)",
)


_RAISES = """
    Raises
    ------
    ValueError
        If a score is NaN, lengths differ, the reference is no group, there is one group only, or
        k is larger than a pool (names it).
    TypeError
        If there is neither `rounds` nor `units`, or both.
    """


@_selection_metric(symbol="Delta-DP", aliases=("dp_gap",), example=_examples.pools)
@described(_RAISES, CANDIDATES)
def demographic_parity_gap(
    scores: ArrayLike | Mapping[Any, float],
    *,
    groups: ArrayLike | Mapping[Any, Any],
    reference: Any,
    rounds: Sequence[Hashable] | None = None,
    k: int,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateDifference | MaxPairwiseDifference | Undefined:
    """Difference of selection rates of a group and the reference: the top k of each pool.

    The demographic parity gap of the RABBI paper, section 4.2. Candidates tied at the cut are
    selected with probability (k - above) / tied each.

    Parameters
    ----------
    rounds : sequence
        Pool of each candidate, also the sampling unit.
    k : int
        Candidates selected from each pool, at least 1 and at most the smallest pool.

    Returns
    -------
    RateDifference or MaxPairwiseDifference
        Value in [-1, 1], group minus reference: above 0 the group is selected more often. More
        groups: the size of the largest, each in ``.groups`` with its selection rate as
        ``rate``. ``.attainable`` is what any scores could give with these pools and this quota.

    Examples
    --------
    >>> from pytest_llmfair.metrics import demographic_parity_gap
    >>> scores = [0.9, 0.4, 0.7, 0.6, 0.2, 0.8]
    >>> groups = ["women", "men"] * 3
    >>> rounds = ["monday"] * 2 + ["tuesday"] * 2 + ["friday"] * 2
    >>> demographic_parity_gap(scores, groups=groups, reference="men", rounds=rounds, k=1)
    RateDifference 0.333 [-0.585, 0.877] (95 %, 3 rounds x 2)
    """
    candidates = Candidates.read(scores, groups, rounds=rounds, units=units)
    return _gap("demographic_parity_gap()", candidates, reference, k, population)


@_selection_metric(symbol="Delta-EO", aliases=("eo_gap",), example=_examples.qualified_pools)
@described(_RAISES, CANDIDATES)
def equal_opportunity_gap(
    scores: ArrayLike | Mapping[Any, float],
    *,
    groups: ArrayLike | Mapping[Any, Any],
    reference: Any,
    rounds: Sequence[Hashable] | None = None,
    k: int,
    qualified: ArrayLike | Mapping[Any, Any],
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateDifference | MaxPairwiseDifference | Undefined:
    """Difference of selection rates of the qualified candidates of a group and the reference.

    The equal opportunity gap of the RABBI paper, section 4.2: the demographic parity gap with
    rates over qualified candidates only. All candidates compete for the k places.

    Parameters
    ----------
    rounds : sequence
        Pool of each candidate, also the sampling unit.
    k : int
        Candidates selected from each pool, at least 1 and at most the smallest pool.
    qualified : array_like of bool of shape (n_candidates,)
        Whether each candidate is qualified.

    Returns
    -------
    RateDifference or MaxPairwiseDifference
        Value in [-1, 1], group minus reference; NaN where a group has no qualified candidate. More
        groups: the size of the largest, each in ``.groups`` with its rate.

    Examples
    --------
    >>> from pytest_llmfair.metrics import equal_opportunity_gap
    >>> scores = [0.9, 0.4, 0.7, 0.6, 0.2, 0.8]
    >>> groups = ["women", "men"] * 3
    >>> qualified = [True, True, True, False, False, True]
    >>> pools = [1, 1, 2, 2, 3, 3]
    >>> equal_opportunity_gap(
    ...     scores, groups=groups, reference="men", rounds=pools, k=1, qualified=qualified
    ...     )
    RateDifference 0.500 [-1.000, 1.000] (95 %, 3 rounds, 4 answers)
    """
    candidates = Candidates.read(scores, groups, rounds=rounds, units=units, qualified=qualified)
    if candidates.qualified is None:
        raise TypeError("equal_opportunity_gap() needs qualified=..., one flag per candidate")
    return _gap("equal_opportunity_gap()", candidates, reference, k, population)


def _gap(
    who: str, candidates: Candidates, reference: Any, k: Any, population: Population
) -> RateDifference | MaxPairwiseDifference | Undefined:
    k = whole(k, "k")
    pool, chosen = candidates.pools_for(who), candidates.selected(k, who)

    def compare(rows_a: RowNumbers, rows_b: RowNumbers) -> RateDifference:
        signed = partial(RateDifference.of_outcomes, absolute=False)
        found = candidates.between(signed, chosen, rows_a, rows_b, population=population)
        return replace(found, attainable=_reach(pool, rows_a, rows_b, k))

    estimate = candidates.compare(
        reference, population, compare, rate=lambda rows: float(chosen[rows].mean())
    )
    rates = zip(candidates.names, _rates(candidates, chosen), strict=True)
    shown = ", ".join(f"{name} {rate:.3f}" for name, rate in rates)
    found = Finding.note(f"selection rates at k = {k}: {shown}")
    return replace(estimate, variant=f"@{k}").with_findings(found)


@described(CANDIDATES)
def selection_rate(
    scores: ArrayLike | Mapping[Any, float],
    *,
    groups: ArrayLike | Mapping[Any, Any],
    rounds: ArrayLike | None = None,
    k: int,
    qualified: ArrayLike | Mapping[Any, Any] | None = None,
) -> dict[Hashable, float]:
    """Share of each group's candidates among the top k of their pools.

    Parameters
    ----------
    rounds : array_like of shape (n_candidates,)
        Pool of each candidate.
    k : int
        Candidates selected from each pool; those tied at the cut count (k - above) / tied each.
    qualified : array_like of bool of shape (n_candidates,), optional
        Rates are over these candidates only; all of them compete for the places.

    Returns
    -------
    dict
        Group to rate in [0, 1], groups in order of appearance; NaN for a group without a
        qualified candidate.

    Raises
    ------
    ValueError
        If a score is NaN, lengths differ, or k is larger than a pool (names it).

    Examples
    --------
    >>> from pytest_llmfair.metrics import selection_rate
    >>> selection_rate([0.9, 0.4, 0.7, 0.8], groups=["a", "b", "a", "b"], rounds=[1, 1, 2, 2], k=1)
    {'a': 0.5, 'b': 0.5}
    """
    candidates = Candidates.read(scores, groups, rounds=rounds, units=None, qualified=qualified)
    chosen = candidates.selected(whole(k, "k"), "selection_rate()")
    return dict(zip(candidates.names, _rates(candidates, chosen), strict=True))


def _rates(candidates: Candidates, chosen: Floats) -> list[float]:
    """Return the mean of each group, NaN for a group without a qualified candidate."""
    members = [candidates.rows(candidates.group == i) for i in range(len(candidates.names))]
    return [float(chosen[rows].mean()) if rows.size else math.nan for rows in members]


def _reach(
    pool: RowNumbers, rows_a: RowNumbers, rows_b: RowNumbers, k: int
) -> tuple[float, float]:
    """Smallest and largest gap that any scores could give: quota and pool sizes limit it."""
    sizes = np.bincount(pool)
    a, b = (np.bincount(pool[rows], minlength=len(sizes)) for rows in (rows_a, rows_b))

    def most(first: RowNumbers, second: RowNumbers) -> float:
        # As many of the first as the quota allows, as few of the second as it forces.
        forced = np.maximum(0, k - (sizes - second))
        return float(np.minimum(k, first).sum() / first.sum() - forced.sum() / second.sum())

    return -most(b, a), most(a, b)

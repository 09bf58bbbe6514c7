"""RABBI, and the distances of scores that its paper compares it with (section 4.3)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair._util.validation import whole
from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._parameters import CANDIDATES, described
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.allocation._candidates import Candidates
from pytest_llmfair.metrics.arguments import RowNumbers
from pytest_llmfair.stats import (
    Distance,
    MaxDistance,
    MaxPairwiseDifference,
    MeanDifference,
    Population,
    RankBiserial,
    Undefined,
)

__all__ = [
    "average_score_gap",
    "earth_movers_distance",
    "jensen_shannon_divergence",
    "rabbi",
]

_UNLIMITED = (-math.inf, math.inf)

_score_metric = partial(
    metric,
    family="allocation",
    paper="rabbi",
    unit="candidate",
    example=_examples.candidates,
    favourable="high",
)


@_score_metric(
    symbol="R",
    direction="two-sided",
    bounds=(-1.0, 1.0),
    reported=(
        "values in figures only; over ten models they correlate .86 (resumes) and .94 (essays) "
        "with the selection gap at k = 1"
    ),
    aliases=("RABBI",),
)
@described(CANDIDATES)
def rabbi(
    scores: ArrayLike | Mapping[Any, float],
    *,
    groups: ArrayLike | Mapping[Any, Any],
    reference: Any,
    rounds: Sequence[Hashable] | None = None,
    qualified: ArrayLike | Mapping[Any, Any] | None = None,
    strata: ArrayLike | Mapping[Any, Any] | None = None,
    k: int | None = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RankBiserial | MaxPairwiseDifference | Undefined:
    """Share of pairs that a group wins minus the share that it loses to the reference group.

    The rank-allocational-based bias index: the mean over candidates a of the group and b of the
    reference of ``[s_a > s_b] - [s_a < s_b]``, which is the rank-biserial correlation. All pairs
    are compared, also across rounds. A bound on it does not bound selection at a quota: use
    :func:`demographic_parity_gap` for that, or give `k` to see both.

    Returns
    -------
    RankBiserial or MaxPairwiseDifference
        Value in [-1, 1], group minus reference: above 0 the group is favoured. More groups or
        strata: the size of the largest, each in ``.groups``; interval and p-values are those of
        the largest absolute value. NaN where a group has no qualified candidate. Of two groups,
        ``.mann_whitney_p`` is the usual p-value, for comparison only.

    Examples
    --------
    >>> from pytest_llmfair.metrics import rabbi
    >>> scores = [5.0, 4.0, 2.0, 3.0, 1.0, 2.0]
    >>> groups = ["women"] * 3 + ["men"] * 3
    >>> rabbi(scores, groups=groups, reference="men")
    RankBiserial 0.667 [-0.601, 0.980] (95 %, 6 candidates)
    """
    candidates = Candidates.read(
        scores, groups, rounds=rounds, units=units, qualified=qualified, strata=strata
    )
    return candidates.compare_scores(reference, population, RankBiserial.of_scores, quota=k)


@_score_metric(
    symbol="delta",
    direction="two-sided",
    bounds=_UNLIMITED,
    reported=(
        "values in figures only; over ten models they correlate .13 (resumes) and .89 (essays) "
        "with the selection gap at k = 1"
    ),
    aliases=("score_gap",),
)
@described(CANDIDATES)
def average_score_gap(
    scores: ArrayLike | Mapping[Any, float],
    *,
    groups: ArrayLike | Mapping[Any, Any],
    reference: Any,
    rounds: Sequence[Hashable] | None = None,
    qualified: ArrayLike | Mapping[Any, Any] | None = None,
    strata: ArrayLike | Mapping[Any, Any] | None = None,
    k: int | None = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> MeanDifference | MaxPairwiseDifference | Undefined:
    """Mean score of a group minus the mean score of the reference.

    The average score gap of the RABBI paper, section 4.3. A bound on it does not bound selection
    at a quota (the two hardly correlate in the paper): use :func:`demographic_parity_gap` for
    that, or give `k` to see both.

    Returns
    -------
    MeanDifference or MaxPairwiseDifference
        Value in the unit of the scores, without limits, group minus reference. More groups or
        strata: the size of the largest, each in ``.groups``.

    Examples
    --------
    >>> from pytest_llmfair.metrics import average_score_gap
    >>> scores = [5.0, 4.0, 2.0, 3.0, 1.0, 2.0]
    >>> groups = ["women"] * 3 + ["men"] * 3
    >>> average_score_gap(scores, groups=groups, reference="men")
    MeanDifference 1.667 [-1.454, 4.788] (95 %, 6 candidates)
    """
    candidates = Candidates.read(
        scores, groups, rounds=rounds, units=units, qualified=qualified, strata=strata
    )
    compare = partial(MeanDifference.of_scores, bounds=_UNLIMITED)
    return candidates.compare_scores(reference, population, compare, quota=k)


@_score_metric(
    symbol="JSD",
    direction="lower",
    bounds=(0.0, math.log(2.0)),
    reported=(
        "values in figures only; over ten models they correlate -.19 (resumes) and .79 (essays) "
        "with the absolute selection gap at k = 1"
    ),
    aliases=("jsd",),
)
@described(CANDIDATES)
def jensen_shannon_divergence(
    scores: ArrayLike | Mapping[Any, float],
    *,
    groups: ArrayLike | Mapping[Any, Any],
    reference: Any,
    bins: int = 10,
    base: float | None = None,
    rounds: Sequence[Hashable] | None = None,
    qualified: ArrayLike | Mapping[Any, Any] | None = None,
    strata: ArrayLike | Mapping[Any, Any] | None = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Distance | MaxPairwiseDifference | Undefined:
    """Jensen-Shannon divergence between the binned scores of a group and of the reference.

    ``KL(p, m) / 2 + KL(q, m) / 2`` with m the mean of both histograms p and q (Lin 1991; a
    baseline of the RABBI paper, section 4.3, which states neither bins nor base).

    Parameters
    ----------
    bins : int
        Bins of equal width from the smallest to the largest score of the group and its reference
        together, the same for both; at least 2.
    base : float, optional
        Base of the logarithm, above 1; natural by default, 2 for bits.

    Returns
    -------
    Distance or MaxPairwiseDifference
        Value in [0, ln 2] (in bits [0, 1]); 0 when both histograms are equal, the largest where
        they share no bin. More groups or strata: the largest, each in ``.groups``. The interval
        surrounds the debiased value, since the value itself is above 0 in every sample.

    Raises
    ------
    ValueError
        If a score is NaN, lengths differ, the reference is no group, there is one group only,
        `bins` is below 2, or `base` is not above 1.
    TypeError
        If both `rounds` and `units` are given.

    Examples
    --------
    >>> from pytest_llmfair.metrics import jensen_shannon_divergence
    >>> scores = [5.0, 4.0, 2.0, 3.0, 1.0, 2.0]
    >>> groups = ["women"] * 3 + ["men"] * 3
    >>> round(jensen_shannon_divergence(scores, groups=groups, reference="men", bins=4).value, 3)
    0.462
    """
    number = whole(bins, "bins", 2)
    if base is not None and not _is_base(base):
        raise ValueError(f"base is {base!r}; give a number above 1, or None for the natural log")
    candidates = Candidates.read(
        scores, groups, rounds=rounds, units=units, qualified=qualified, strata=strata
    )

    def compare(rows_a: RowNumbers, rows_b: RowNumbers) -> Distance:
        rows = np.concatenate([rows_a, rows_b])
        pooled = candidates.scores[rows]
        edges = np.linspace(pooled.min(), pooled.max(), number + 1)
        # The last bin includes its upper edge, which is the largest score.
        bin_of = np.searchsorted(edges[1:-1], pooled, side="right")
        return Distance.of_divergence(
            bin_of.tolist(),
            [0] * len(rows_a) + [1] * len(rows_b),
            base=None if base is None else float(base),
            units=candidates.units(rows),
            population=population,
        )

    estimate = candidates.compare(reference, population, compare, worst=MaxDistance)
    shown = "" if base is None else f", base {base:g}"
    return replace(estimate, variant=f"@{bins}{shown}")


@_score_metric(
    symbol="EMD",
    direction="lower",
    bounds=(0.0, math.inf),
    reported=(
        "values in figures only; over ten models they correlate -.09 (resumes) and .86 (essays) "
        "with the absolute selection gap at k = 1"
    ),
    aliases=("emd",),
)
@described(CANDIDATES)
def earth_movers_distance(
    scores: ArrayLike | Mapping[Any, float],
    *,
    groups: ArrayLike | Mapping[Any, Any],
    reference: Any,
    rounds: Sequence[Hashable] | None = None,
    qualified: ArrayLike | Mapping[Any, Any] | None = None,
    strata: ArrayLike | Mapping[Any, Any] | None = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Distance | MaxPairwiseDifference | Undefined:
    """Wasserstein-1 distance between the scores of a group and those of the reference.

    The earth mover's distance (Rubner 1998; a baseline of the RABBI paper, section 4.3): the area
    between the two distribution functions, on the raw scores.

    Returns
    -------
    Distance or MaxPairwiseDifference
        Value in [0, inf), in the unit of the scores; 0 when the distributions are equal. More
        groups or strata: the largest, each in ``.groups``.

    Examples
    --------
    >>> from pytest_llmfair.metrics import earth_movers_distance
    >>> scores = [5.0, 4.0, 2.0, 3.0, 1.0, 2.0]
    >>> groups = ["women"] * 3 + ["men"] * 3
    >>> earth_movers_distance(scores, groups=groups, reference="men")
    Distance 1.667 [0.000, inf] (95 %, 6 candidates)
    """
    candidates = Candidates.read(
        scores, groups, rounds=rounds, units=units, qualified=qualified, strata=strata
    )
    compare = partial(Distance.of_distributions, bounds=_UNLIMITED)
    return candidates.compare_scores(reference, population, compare, worst=MaxDistance)


def _is_base(x: Any) -> bool:
    return isinstance(x, Real) and 1.0 < float(x) < math.inf

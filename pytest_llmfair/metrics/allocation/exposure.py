"""Exposure of groups in rankings (Singh and Joachims 2018), and NDKL (Geyik et al. 2019)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._parameters import described
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.allocation._candidates import Candidates, contrasts
from pytest_llmfair.metrics.arguments import Floats, known_population, note_constant
from pytest_llmfair.stats import (
    Finding,
    GroupRow,
    MaxPairwiseRatio,
    Mean,
    Population,
    RateRatio,
    Sample,
    Undefined,
)

__all__ = ["exposure_ratio", "ndkl"]

_SHUFFLES = 100

_PARAMETERS = """
    scores : array_like of shape (n_candidates,), or mapping
        One score per candidate, the highest is shown first; or by (pool, candidate).
    groups : array_like of shape (n_candidates,), or mapping
        Protected-attribute label of each candidate.
    rounds : sequence
        Ranking of each candidate, also the sampling unit.
    units : sequence, optional
        Another name for `rounds`; giving both is an error.
    population : {"sampled", "fixed"}
        Whether the rankings were drawn from a larger population or are all of it.

    Raises
    ------
    ValueError
        If a score is NaN, lengths differ, the reference is no group, or there is one group only.
    TypeError
        If there are no rounds, or both `rounds` and `units`.
    """

_ranking_metric = partial(metric, family="allocation", unit="round", example=_examples.rankings)


@_ranking_metric(
    paper="singh2018",
    symbol="ER",
    direction="higher",
    bounds=(0.0, 1.0),
    aliases=("exposure",),
    favourable="high",
)
@described(_PARAMETERS)
def exposure_ratio(
    scores: ArrayLike | Mapping[Any, float],
    *,
    groups: ArrayLike | Mapping[Any, Any],
    rounds: Sequence[Hashable] | None = None,
    reference: Any = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateRatio | MaxPairwiseRatio:
    """Smaller over larger mean exposure of two groups of ranked candidates.

    Demographic parity of exposure of Singh and Joachims (2018): a candidate at rank r is seen
    with weight ``1 / log2(1 + r)``. Candidates with equal scores share their ranks.

    Parameters
    ----------
    reference : object, list or "rest", optional
        Group that the others are compared with. By default every two groups are compared.

    Returns
    -------
    RateRatio or MaxPairwiseRatio
        Value in (0, 1]; 1 when exposures are equal. More than two groups: the pair furthest
        apart. ``.groups`` has every pair, then each group's mean exposure as ``rate``.

    Examples
    --------
    >>> from pytest_llmfair.metrics import exposure_ratio
    >>> scores = [0.9, 0.4, 0.7, 0.6, 0.2, 0.8]
    >>> groups, rounds = ["women", "men"] * 3, [1, 1, 2, 2, 3, 3]
    >>> round(exposure_ratio(scores, groups=groups, rounds=rounds).value, 3)
    0.86
    """
    candidates = Candidates.read(scores, groups, rounds=rounds, units=units)
    known_population(population)
    pool, names = candidates.pools_for("exposure_ratio()"), candidates.names
    seen = _exposures(candidates.scores, pool)
    sides: dict[Any, list[Hashable]]
    if reference is None:
        sides = {(a, b): [b] for i, a in enumerate(names) for b in names[i + 1 :]}
        contrasts(names, names[0])
    else:
        against = contrasts(names, reference).items()
        sides = {(a, *others): list(others) for a, others in against}
    pairs: dict[Any, RateRatio] = {}
    for key, others in sides.items():
        one = candidates.group == names.index(key[0])
        two = np.isin(candidates.group, [names.index(name) for name in others])
        # The order of groups must not change the last digit.
        first, second = sorted((one, two), key=lambda own: (seen[own].mean(), own.sum()))
        smaller = partial(RateRatio.of_outcomes, form="smaller")
        pairs[key] = candidates.between(smaller, seen, first, second, population=population)
    own = {
        name: GroupRow(math.nan, int(inside.sum()), rate=float(seen[inside].mean()))
        for name, inside in ((name, candidates.group == i) for i, name in enumerate(names))
    }
    estimate: RateRatio | MaxPairwiseRatio
    if len(pairs) > 1:
        sizes = np.bincount(pool)
        estimate = MaxPairwiseRatio.of_pairs(pairs, rates=own)
        estimate = replace(estimate, sample=Sample.of_sizes(sizes, population))
    else:
        ((key, pair),) = pairs.items()
        row = GroupRow(pair.value, pair.sample.generations, estimate=pair)
        estimate = replace(pair, groups={key: row, **own})
    shown = ", ".join(f"{name} {row.rate:.3f}" for name, row in own.items())
    estimate = estimate.with_findings(Finding.note(f"mean exposures: {shown}"))
    return note_constant(estimate, [candidates.scores]).with_findings(*candidates.judge)


@_ranking_metric(
    paper="geyik2019",
    symbol="NDKL",
    direction="lower",
    bounds=(0.0, math.inf),
    aliases=("NDKL",),
)
@described(_PARAMETERS)
def ndkl(
    scores: ArrayLike | Mapping[Any, float],
    *,
    groups: ArrayLike | Mapping[Any, Any],
    rounds: Sequence[Hashable] | None = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean | Undefined:
    """Mean over rankings of how far the groups of their top ranks are from those of the pool.

    Normalised discounted cumulative Kullback-Leibler divergence of Geyik, Ambler and Kenthapadi
    (2019), section 4.3, from each pool's own shares: a mean over prefixes of a ranking with
    weights ``1 / log2(1 + length)``, in natural logarithms. A random order is above 0 too, and
    the more so the shorter the ranking.

    Returns
    -------
    Mean or Undefined
        Value at least 0, which only a ranking has whose every prefix has the shares of the pool;
        candidates with equal scores share their ranks. ``.floor`` is that of random orders, and
        ``.excess`` the value above it. NaN where every ranking holds one group only.

    Examples
    --------
    >>> from pytest_llmfair.metrics import ndkl
    >>> found = ndkl([4, 3, 2, 1] * 2, groups=["a", "a", "b", "b"] * 2, rounds=[1] * 4 + [2] * 4)
    >>> round(found.value, 3), round(found.noise_floor(), 3)
    (0.452, 0.333)
    """
    candidates = Candidates.read(scores, groups, rounds=rounds, units=units)
    known_population(population)
    contrasts(candidates.names, candidates.names[0])
    pool = candidates.pools_for("ndkl()")
    held = {(number, group) for number, group in zip(pool, candidates.group, strict=True)}
    rankings = int(pool.max()) + 1
    lonely = sum(n == 1 for n in Counter(number for number, _ in held).values())
    if lonely == rankings:
        why = "no ranking holds candidates of two groups: there is no order of groups"
        return Undefined(undefined=why, sample=Sample.of_sizes(np.bincount(pool), population))
    shown = np.eye(len(candidates.names))[candidates.group]
    draw = np.random.default_rng(0)
    values, floors, most = [], [], []
    for number in range(rankings):
        own = np.flatnonzero(pool == number)
        # Ranks are drawn for candidates in an order that does not depend on that of the data.
        members = shown[own][np.lexsort(shown[own].T)]
        _, tied = np.unique(-candidates.scores[own], return_inverse=True)
        sums = np.stack([np.bincount(tied, weights=column) for column in shown[own].T], axis=1)
        sizes = np.bincount(tied)
        values.append(_divergence(np.repeat(sums / sizes[:, None], sizes, axis=0)))
        mixed = [_divergence(draw.permutation(members)) for _ in range(_SHUFFLES)]
        floors.append(float(np.mean(mixed)))
        shares = members.mean(axis=0)
        most.append(-math.log(shares[shares > 0.0].min()))
    span = max(*most, *floors, 1e-9)
    measured = partial(MeanOfRankings.of_values, population=population)
    estimate = measured(values, bounds=(0.0, span))
    floor = measured(floors, bounds=(0.0, span))
    excess = measured(np.subtract(values, floors), bounds=(-span, span))
    estimate = replace(estimate, floor=floor, excess=excess)
    if lonely:
        text = f"{lonely} of {rankings} rankings hold one group only, and count as 0"
        estimate = estimate.with_findings(Finding.note(text))
    return note_constant(estimate, [candidates.scores]).with_findings(*candidates.judge)


class MeanOfRankings(Mean):
    """A mean over rankings, whose noise floor is that of random orders."""

    floor_words = "random orders of the same candidates"


def _divergence(members: Floats) -> float:
    """NDKL of one ranking: the groups of its members as rows of 0 and 1, the first rank first."""
    length = np.arange(1.0, len(members) + 1.0)
    above = members.cumsum(axis=0) / length[:, None]
    ratio = np.where(above > 0.0, above / np.maximum(above[-1], 1e-300), 1.0)
    weights = 1.0 / np.log2(1.0 + length)
    return max(0.0, float(weights @ (above * np.log(ratio)).sum(axis=1) / weights.sum()))


def _exposures(scores: Floats, pool: Any) -> Floats:
    """Exposure of each candidate; equal scores of a pool share what their ranks are seen."""
    order = np.lexsort((-scores, pool))
    starts = np.cumsum(np.bincount(pool)) - np.bincount(pool)
    rank = np.arange(len(scores)) - starts[pool[order]] + 1.0
    weight = 1.0 / np.log2(1.0 + rank)
    keys = np.stack([pool[order], scores[order]], axis=1)
    tied = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    found = np.empty(len(scores))
    found[order] = (np.bincount(tied, weights=weight) / np.bincount(tied))[tied]
    return found

"""Sums of distances between groups (Czarnowska et al. 2021, eqs. 1 and 3), and the largest."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._clusters import check_rows
from pytest_llmfair.stats._crossfit import Bracket, bracket_totals
from pytest_llmfair.stats._distributions import GroupedScores
from pytest_llmfair.stats._layout import Comparisons, Grouped, ranks
from pytest_llmfair.stats._records import Floats, Population
from pytest_llmfair.stats._totals import MeanGaps
from pytest_llmfair.stats.distance import Distance
from pytest_llmfair.stats.pairwise_max import MaxPairwiseDifference

Reference = Literal["pairs", "background", "rest"] | Sequence[Hashable]


def rate_gaps(
    hits: ArrayLike,
    counted: ArrayLike,
    groups: Iterable[Hashable],
    *,
    against: Reference,
    factor: float,
    units: Iterable[Hashable] | None = None,
    population: Population = "sampled",
) -> Distance:
    """Sum of absolute differences of rates, each the sum of hits over the sum of counted.

    Parameters
    ----------
    hits, counted : array_like of shape (n_rows,)
        Numerator and denominator of each row's part of its group's rate; 0 <= hits <= counted.
    groups : iterable of hashable
        One label per row.
    against : {"pairs", "background", "rest"} or sequence of hashable
        What is compared: each two groups; each group with all rows; each group with all other
        groups; or each other group with the groups named here, pooled.
    factor : float
        Weight of each difference.
    units, population
        As in :meth:`Mean.of_rows`; units also across groups.

    Raises
    ------
    ValueError
        If there are fewer than two groups, a row is illegal, nothing counts in a group, a name in
        `against` is no group, or a fixed unit has one row of a group.

    Examples
    --------
    >>> hits = [1, 0] * 10 + [1] * 20
    >>> gaps = rate_gaps(hits, [1] * 40, ["a"] * 20 + ["b"] * 20, against="pairs", factor=1.0)
    >>> gaps.value
    0.5
    """
    below = check_rows(counted, "counted", (0.0, np.inf))
    above = check_rows(hits, "hits", (0.0, np.inf))
    if above.shape != below.shape or (above > below).any():
        raise ValueError("hits must have one number per row, none larger than counted")
    grouped = Grouped.of(groups, units, len(below), population)
    totals = np.bincount(grouped.group, weights=below)
    for name, total in zip(grouped.names, totals.tolist(), strict=True):
        if total == 0.0:
            raise ValueError(f"group {name!r} has no counted row; its rate is not defined")
    sides = Comparisons(*_sides(against, grouped.names), factor)
    span = factor * _largest_sum(against, totals / totals.sum(), len(sides.first))
    rows = np.stack([above, below], axis=1)
    engine = bracket_totals(grouped, rows, MeanGaps(sides), population, span)
    return _distance(engine, grouped, span, population)


def distribution_gaps(
    scores: ArrayLike,
    groups: Iterable[Hashable],
    *,
    against: Reference,
    factor: float,
    units: Iterable[Hashable] | None = None,
    population: Population = "sampled",
) -> Distance:
    """Sum of Wasserstein-1 distances between sets of scores in [0, 1].

    Parameters
    ----------
    scores : array_like of shape (n_rows,)
        Scores in [0, 1].
    groups, against, factor, units, population
        As in :func:`rate_gaps`.

    Examples
    --------
    >>> groups = ["a"] * 20 + ["b"] * 20
    >>> scores = [0.25] * 20 + [0.5] * 20
    >>> gaps = distribution_gaps(scores, groups, against="pairs", factor=1.0)
    >>> round(gaps.value, 3)
    0.25
    """
    values = check_rows(scores, "scores", (0.0, 1.0))
    grouped = Grouped.of(groups, units, len(values), population)
    table = GroupedScores(grouped, values, np.ones(len(values)))
    sides = Comparisons(*_sides(against, grouped.names), factor)
    problem = table.problem(sides, population)
    sizes = np.bincount(grouped.group)
    span = factor * _largest_sum(against, sizes / sizes.sum(), len(sides.first))
    codes = ranks(problem.scores)
    engine = Bracket(problem, span, problem.layout.guards(codes, population))
    return _distance(engine, grouped, span, population)


def _distance(engine: Bracket, grouped: Grouped, span: float, population: Population) -> Distance:
    per_draw = 2.0 * float(grouped.per_draw(population).mean())
    planned = (span**2 / 12.0 * per_draw, 0.0, 0.0)
    return Distance._bracketed(engine, grouped.sample(population), planned)


def _sides(against: Reference, names: Sequence[Hashable]) -> tuple[Floats, Floats]:
    """Sides of every comparison, as 0/1 rows over the groups."""
    own = np.eye(len(names))
    if against == "pairs":
        first, second = np.triu_indices(len(names), 1)
        return own[first], own[second]
    if against == "background":
        return own, np.ones_like(own)
    if against == "rest":
        return own, 1.0 - own
    for name in against:
        if name not in names:
            raise ValueError(f"{name!r} is no group; groups are {', '.join(map(str, names))}")
    chosen = np.array([name in against for name in names])
    if chosen.all():
        raise ValueError("every group is in the background; leave one out")
    return own[~chosen], np.tile(chosen.astype(np.float64), (int((~chosen).sum()), 1))


def _largest_sum(against: Reference, shares: Floats, contrasts: int) -> float:
    """Largest sum of differences when rates lie in [0, 1] and groups hold these shares of all."""
    # A convex function of the rates is largest where some groups have rate 1 and all others 0.
    groups = len(shares)
    if against == "pairs":
        return float((groups // 2) * (groups - groups // 2))
    if against != "background":
        return float(contrasts)
    # With k groups at 1 that hold the share w of all rows: k (1 - w) + (groups - k) w.
    ascending = np.concatenate([[0.0], np.cumsum(np.sort(shares))])
    descending = np.concatenate([[0.0], np.cumsum(np.sort(shares)[::-1])])
    k = np.arange(groups + 1.0)
    sums = k + (groups - 2.0 * k) * np.where(2 * k < groups, descending, ascending)
    return float(sums.max())


@dataclass(eq=False, kw_only=True)
class MaxDistance(MaxPairwiseDifference):
    """Largest distance of several groups or strata to their reference.

    The interval is for the debiased value where those of the parts are.

    Examples
    --------
    >>> one = Distance.of_distributions([0.1, 0.2, 0.3] * 5, [0.4, 0.5, 0.6] * 5)
    >>> round(MaxDistance.of_pairs({"a": one}).value, 3)
    0.3
    """

    def __post_init__(self) -> None:
        """Give the interval the same centre as those of the parts."""
        if any(pair.of == "debiased" for pair in self.pairs.values()):
            object.__setattr__(self, "of", "debiased")

    @property
    def debiased(self) -> float:
        """Largest debiased distance; inside the interval at every level."""
        return max((pair.debiased for pair in self.pairs.values()), default=self.value)

    def noise_floor(self) -> float:
        """Return the largest floor of a part: the mean of the largest is at least that."""
        return max((pair.noise_floor() for pair in self.pairs.values()), default=self.value)

    def p_equal(self) -> float:
        """p-value of "no group differs from its reference": the smallest one, Bonferroni."""
        found = [p.p_equal() for p in self.pairs.values() if isinstance(p, Distance)]
        return min(1.0, len(found) * min(found)) if found else super().p_equal()

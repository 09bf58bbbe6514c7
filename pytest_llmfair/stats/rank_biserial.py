"""Who scores higher, the group or the reference? Wins minus losses over all pairs (RABBI)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._records import (
    Contributions,
    Ends,
    Finding,
    Floats,
    Indices,
    Passes,
    Population,
    Sample,
)
from pytest_llmfair.stats._rows import NO_VARIANCE, SMALLER_GROUP, RowMeans, few_units
from pytest_llmfair.stats._score_intervals import (
    markov,
    normal_quantile,
    t_quantile,
    wilson,
    within_share,
)


@dataclass(frozen=True, slots=True)
class _Spread:
    """Squared error of the win share, its degrees of freedom, and the units it rests on."""

    variance: float
    df: float
    fewest: int


@dataclass(eq=False, kw_only=True)
class RankBiserial(Estimate):
    """Rank-biserial correlation R = P(a > b) - P(a < b) over all pairs of the two groups.

    Wilson score interval for the win share (R + 1) / 2 on the effective sample size of the
    placement values (DeLong et al. 1988), summed per unit where units occur in both groups, with
    kurtosis-based degrees of freedom.
    """

    # Share of pairs won, a tie as half.
    wins: float
    # Independent 0/1 draws of the same variance, and its degrees of freedom.
    effective: float
    df: float
    # Units of the group with fewer: at total separation they are the evidence.
    fewest: int
    # Two-sided p-value of "no preference", normal approximation corrected for ties and
    # continuity; for comparison only, since it says nothing about the size of R.
    mann_whitney_p: float
    sizes: tuple[int, int]
    method: str = "Wilson on placement values, kurtosis-based df"

    @classmethod
    def of_scores(
        cls,
        scores_a: ArrayLike,
        scores_b: ArrayLike,
        *,
        units_a: Iterable[Hashable] | None = None,
        units_b: Iterable[Hashable] | None = None,
        population: Population = "sampled",
    ) -> RankBiserial:
        """Compare all scores of one group with all of the other.

        Parameters
        ----------
        scores_a, scores_b : array_like of shape (n_a,), (n_b,)
            Finite scores, higher is better; only their order matters.
        units_a, units_b, population
            As in :meth:`Mean.of_rows`; pairs are compared across units, such as selection rounds.

        Raises
        ------
        ValueError
            If a group is empty or a score is not finite (names argument and row), or a fixed unit
            has one score in a group.

        Examples
        --------
        >>> RankBiserial.of_scores([3, 5, 4, 6], [1, 2, 4, 2])
        RankBiserial 0.812 [-0.152, 0.984] (95 %, 8 units)
        """
        clusters.check_population(population)
        anything = (-math.inf, math.inf)
        a = clusters.check_rows(scores_a, "scores_a", anything)
        b = clusters.check_rows(scores_b, "scores_b", anything)
        n_a, n_b = len(a), len(b)
        won_a, won_b, tied = _doubled_wins(a, b)
        doubled = int(won_a.sum())
        wins = doubled / (2 * n_a * n_b)
        places_a, places_b = won_a / (2 * n_b), (2 * n_a - won_b) / (2 * n_a)
        over_a, over_b = places_a - wins, places_b - wins
        spread = alone = _both([np.sort(over_a), np.sort(over_b)])
        index_a, index_b, n_units = clusters.common_index(n_a, n_b, units_a, units_b)
        if population == "fixed":
            spread = _fixed((places_a, index_a), (places_b, index_b))
        elif clusters.overlap(index_a, index_b):
            spread = _together(over_a, over_b, index_a, index_b, n_units)
        elif units_a is not None or units_b is not None:
            spread = _apart((over_a, index_a), (over_b, index_b))
        varies = spread.variance > NO_VARIANCE
        compared = varies and alone.variance > 0.0
        effect = spread.variance / alone.variance if compared else (n_a + n_b) / n_units
        value = (doubled - n_a * n_b) / (n_a * n_b)
        findings = few_units(spread.fewest, SMALLER_GROUP)
        if not varies:
            one_sided = "every pair has the same winner"
            what = one_sided if wins in (0.0, 1.0) else "placements do not vary"
            alike = f"{what}: the {spread.fewest} units of the smaller group count as draws"
            findings.append(Finding("no_variance", alike))
        index = np.concatenate([index_a, index_b])
        return cls(
            value=value,
            contributions=Contributions.of_groups(
                value, 2.0 * over_a, 2.0 * over_b, index, span=2.0
            ),
            sample=Sample.of_sizes(
                np.bincount(index, minlength=n_units),
                population,
                effective=(n_a + n_b) / effect,
                design_effect=effect,
            ),
            attainable=(-1.0, 1.0),
            findings=tuple(findings),
            wins=wins,
            effective=max(1.0, wins * (1.0 - wins) / spread.variance) if varies else spread.fewest,
            df=spread.df if varies else math.inf,
            fewest=spread.fewest,
            mann_whitney_p=_mann_whitney(n_a, n_b, doubled, tied),
            sizes=(n_a, n_b),
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        return 2.0 * self._win_bounds(alpha)[0] - 1.0

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        return 2.0 * self._win_bounds(alpha)[1] - 1.0

    def _win_bounds(self, alpha: float) -> tuple[float, float]:
        if self.fewest == 1:
            return markov(self.wins, alpha)
        low, high = wilson(self.wins, self.effective, t_quantile(1.0 - alpha, self.df))
        # One pair out of order must not prove more than none.
        z = normal_quantile(1.0 - alpha)
        return (
            min(low, wilson(1.0, self.fewest, z)[0]),
            max(high, wilson(0.0, self.fewest, z)[1]),
        )

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error.

        The planned one is that of exponential scores (Hanley & McNeil 1982, eq. 2).
        """
        if at is None:
            share = self.wins * (1.0 - self.wins)
            if share == 0.0:
                share = (self.fewest + 1.0) / (self.fewest + 2.0) ** 2
            return 2.0 * math.sqrt(share / self.effective)
        win = min(1.0, max(0.0, 0.5 * (1.0 + abs(at))))
        n_a, n_b = self.sizes
        both_won = win / (2.0 - win) - win * win
        both_lost = 2.0 * win * win / (1.0 + win) - win * win
        total = win * (1.0 - win) + (n_a - 1) * both_won + (n_b - 1) * both_lost
        return 2.0 * math.sqrt(total / (n_a * n_b))

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`, with the observed error as it would be at 0."""
        seen = self.standard_error(self.value)
        error = self.standard_error(0.0)
        error *= self.standard_error() / seen if seen > 0.0 else 1.0

        def passes(more: float) -> float:
            t = t_quantile(1.0 - alpha, self.df * more)
            width = 1.0 - 2.0 * wilson(0.5, more / error**2, t)[0]
            return within_share(error / math.sqrt(more), allowed, (width, width))

        return passes


def _doubled_wins(a: Floats, b: Floats) -> tuple[Indices, Indices, float]:
    """Twice the scores of the other group below each score plus ties, and the sum of t^3 - t."""
    order_a, order_b = np.argsort(a), np.argsort(b)
    both = np.concatenate([a[order_a], b[order_b]])
    merged = np.argsort(both, kind="stable")
    ascending = both[merged]
    ends = np.flatnonzero(np.append(ascending[1:] != ascending[:-1], True))
    up_to_a = np.cumsum(merged < len(a))[ends]
    up_to_b = ends + 1 - up_to_a
    at_a, at_b = (np.diff(counts, prepend=0) for counts in (up_to_a, up_to_b))
    won_a, won_b = np.empty(len(a), dtype=np.intp), np.empty(len(b), dtype=np.intp)
    won_a[order_a] = np.repeat(2 * up_to_b - at_b, at_a)
    won_b[order_b] = np.repeat(2 * up_to_a - at_a, at_b)
    ties = (at_a + at_b).astype(np.float64)
    return won_a, won_b, float((ties * (ties * ties - 1.0)).sum())


def _both(influences: Sequence[Floats], sizes: Sequence[Floats] | None = None) -> _Spread:
    """Two independent samples of units, from the ascending influence values of each."""
    units = [len(influence) for influence in influences]
    if min(units) == 1:
        return _Spread(0.0, math.inf, 1)
    found = [clusters.variance_of_mean(influence) for influence in influences]
    variances = np.array([v if v > NO_VARIANCE else 0.0 for v in found])
    alike = units if sizes is None else [clusters.effective_clusters(own) for own in sizes]
    df = [
        max(1.0, min(clusters.kurtosis_df(influence), most - 1.0))
        for influence, most in zip(influences, alike, strict=True)
    ]
    total = clusters.satterthwaite(variances, np.array(df))
    return _Spread(float(variances.sum()), total, min(units))


def _apart(*groups: tuple[Floats, Indices]) -> _Spread:
    """Two independent samples of units."""
    influences, sizes = [], []
    for over, index in groups:
        own, units = clusters.compact(index)
        influences.append(np.sort(clusters.left_out_influence(over, own, units)))
        sizes.append(np.bincount(own).astype(np.float64))
    return _both(influences, sizes)


def _together(
    over_a: Floats, over_b: Floats, index_a: Indices, index_b: Indices, n_units: int
) -> _Spread:
    """One sample of units that hold both groups."""
    fewest = min(clusters.distinct(index_a), clusters.distinct(index_b))
    if fewest == 1:
        return _Spread(0.0, math.inf, 1)
    influence = np.sort(
        clusters.left_out_influence(over_a, index_a, n_units)
        + clusters.left_out_influence(over_b, index_b, n_units)
    )
    return _Spread(clusters.variance_of_mean(influence), clusters.kurtosis_df(influence), fewest)


def _fixed(*groups: tuple[Floats, Indices]) -> _Spread:
    """Two independent samples of generations, inside units that are all there is."""
    rows = [RowMeans.single(places, index, outcomes=False).fixed() for places, index in groups]
    variances = np.array([variance for _, variance in rows])
    df = clusters.satterthwaite(variances, np.array([share.df for share, _ in rows]))
    return _Spread(float(variances.sum()), df, min(share.trials for share, _ in rows))


def _mann_whitney(n_a: int, n_b: int, doubled: int, tied: float) -> float:
    n = n_a + n_b
    spread = n_a * n_b / 12.0 * ((n + 1.0) - tied / (n * (n - 1.0)))
    if spread <= 0.0:
        return 1.0
    distance = abs(doubled - n_a * n_b) / 2.0 - 0.5
    return min(1.0, 2.0 * float(special.ndtr(-distance / math.sqrt(spread))))

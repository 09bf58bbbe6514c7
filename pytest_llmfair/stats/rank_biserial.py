"""Who scores higher, the group or the reference? Wins minus losses over all pairs (RABBI)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate, Population, Sample
from pytest_llmfair.stats._clusters import Floats, Indices
from pytest_llmfair.stats._contributions import Contributions
from pytest_llmfair.stats._intervals import markov, normal_quantile, t_quantile, wilson
from pytest_llmfair.stats._rows import FEW_UNITS, NO_VARIANCE, Rows


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

    Attributes
    ----------
    wins : float
        Share of pairs won, a tie as half.
    effective : float
        Independent 0/1 draws of the same variance.
    df : float
        Degrees of freedom of that variance; infinite where there is none to estimate.
    fewest : int
        Units of the group with fewer: at total separation they are the evidence.
    mann_whitney_p : float
        Two-sided p-value of "no preference", normal approximation corrected for ties and
        continuity; for comparison only, since it says nothing about the size of R.
    """

    wins: float
    effective: float
    df: float
    fewest: int
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
        units_a, units_b : iterable of hashable, optional
            One label per score (the selection round, say). Labels are sampling units only: pairs
            are compared across them.
        population : {"sampled", "fixed"}
            Whether units were drawn from a larger population, or only generations vary.

        Raises
        ------
        ValueError
            If a group is empty or a score is not finite (names argument and row), or a fixed unit
            has one score in a group.
        """
        clusters.check_population(population)
        anything = (-math.inf, math.inf)
        a = clusters.check_rows(scores_a, "scores_a", anything)
        b = clusters.check_rows(scores_b, "scores_b", anything)
        n_a, n_b = len(a), len(b)
        won_a, won_b = _doubled_wins(a, np.sort(b)), 2 * n_a - _doubled_wins(b, np.sort(a))
        doubled = int(won_a.sum())
        wins = doubled / (2 * n_a * n_b)
        index_a, index_b, n_units = clusters.common_index(n_a, n_b, units_a, units_b)
        if population == "fixed":
            clusters.check_repeats(index_a, "scores_a")
            clusters.check_repeats(index_b, "scores_b")
        places_a, places_b = won_a / (2 * n_b), won_b / (2 * n_a)
        alone = _apart(places_a, places_b, np.arange(n_a), np.arange(n_b), "sampled")
        if population == "sampled" and np.intersect1d(index_a, index_b).size:
            spread = _together(places_a, places_b, index_a, index_b, n_units, wins)
        else:
            spread = _apart(places_a, places_b, index_a, index_b, population)
        varies = spread.variance > NO_VARIANCE
        per_unit = np.bincount(np.concatenate([index_a, index_b]), minlength=n_units)
        effect = (
            spread.variance / alone.variance
            if varies and alone.variance > 0.0
            else ((n_a + n_b) / n_units)
        )
        reasons, notes = _flags(spread.fewest, varies, wins)
        value = (doubled - n_a * n_b) / (n_a * n_b)
        return cls(
            value=value,
            contributions=Contributions.of_groups(
                value,
                2.0 * (places_a - wins),
                2.0 * (places_b - wins),
                [*index_a.tolist(), *index_b.tolist()],
                span=2.0,
            ),
            sample=Sample(
                units=n_units,
                generations=n_a + n_b,
                fewest=int(per_unit.min()),
                most=int(per_unit.max()),
                population=population,
                effective=(n_a + n_b) / effect,
                design_effect=effect,
            ),
            attainable=(-1.0, 1.0),
            reasons=reasons,
            notes=notes,
            wins=wins,
            effective=max(1.0, wins * (1.0 - wins) / spread.variance) if varies else spread.fewest,
            df=spread.df if varies else math.inf,
            fewest=spread.fewest,
            mann_whitney_p=_mann_whitney(a, b, doubled),
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

        Parameters
        ----------
        at : float, optional
            Without it the observed error. With it the error planned for when the truth is `at`:
            from the group sizes alone (Hanley & McNeil 1982, eq. 2, exponential scores).
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


def _doubled_wins(scores: Floats, others: Floats) -> Indices:
    """Per score, twice the number of sorted `others` below it plus the number that tie."""
    return np.searchsorted(others, scores, "left") + np.searchsorted(others, scores, "right")


def _apart(
    places_a: Floats,
    places_b: Floats,
    index_a: Indices,
    index_b: Indices,
    population: Population,
) -> _Spread:
    """Two independent samples of units."""
    parts = []
    for places, index in ((places_a, index_a), (places_b, index_b)):
        ones = np.ones(len(places))
        rows = Rows(places, ones, np.zeros(len(places)), None, *clusters.compact(index), False)
        share, variance = rows.fixed() if population == "fixed" else rows.sampled()
        if math.isnan(variance):
            return _Spread(0.0, math.inf, 1)
        parts.append((variance, share.df, share.trials))
    variances = np.array([variance for variance, _, _ in parts])
    df = clusters.satterthwaite(variances, np.array([df for _, df, _ in parts]))
    return _Spread(float(variances.sum()), df, min(trials for _, _, trials in parts))


def _together(
    places_a: Floats,
    places_b: Floats,
    index_a: Indices,
    index_b: Indices,
    n_units: int,
    wins: float,
) -> _Spread:
    """One sample of units that hold both groups."""
    fewest = min(len(np.unique(index_a)), len(np.unique(index_b)))
    if fewest == 1:
        return _Spread(0.0, math.inf, 1)
    influence = np.sort(
        clusters.left_out_influence(places_a - wins, index_a, n_units)
        + clusters.left_out_influence(places_b - wins, index_b, n_units)
    )
    return _Spread(clusters.variance_of_mean(influence), clusters.kurtosis_df(influence), fewest)


def _mann_whitney(a: Floats, b: Floats, doubled: int) -> float:
    n_a, n_b = len(a), len(b)
    n = n_a + n_b
    _, ties = np.unique(np.concatenate([a, b]), return_counts=True)
    tied = float((ties.astype(np.float64) ** 3 - ties).sum())
    spread = n_a * n_b / 12.0 * ((n + 1.0) - tied / (n * (n - 1.0)))
    if spread <= 0.0:
        return 1.0
    distance = abs(doubled - n_a * n_b) / 2.0 - 0.5
    return min(1.0, 2.0 * float(special.ndtr(-distance / math.sqrt(spread))))


def _flags(fewest: int, varies: bool, wins: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found: dict[str, str] = {}
    if fewest < FEW_UNITS:
        found["thin_evidence"] = (
            f"a group has {fewest} units: below {FEW_UNITS} the interval is a rough guide"
        )
    if not varies:
        what = "every pair has the same winner" if wins in (0.0, 1.0) else "placements do not vary"
        found["no_variance"] = f"{what}: the {fewest} units of the smaller group count as draws"
    return tuple(found), tuple(found.values())

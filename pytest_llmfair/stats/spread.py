"""Standard deviation of group means: how far apart several groups are."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._bracket import QUANTILES
from pytest_llmfair.stats._clusters import Floats, Indices
from pytest_llmfair.stats._fair import share_of_ends
from pytest_llmfair.stats._intervals import zero_event_bound
from pytest_llmfair.stats._quadratic import Noncentral
from pytest_llmfair.stats._records import Population
from pytest_llmfair.stats._rows import FEW_UNITS, NO_VARIANCE
from pytest_llmfair.stats._tables import Grouped

# Draws of an average group that steady the variance of each.
_ADDED = 4.0


@dataclass(eq=False, kw_only=True)
class Spread(Estimate):
    """Standard deviation over groups (divisor: number of groups) of their means.

    The sum of squared deviations of the observed means is a noncentral chi-square, averaged over
    what the variance may be where it is estimated from few units; the interval holds every true
    spread under which the observed one is neither too small nor too large.

    Attributes
    ----------
    square : float
        Sum of squared deviations of the observed group means.
    law : Noncentral
        Its distribution by the sum of squared deviations of the true means.
    count : int
        Number of groups.
    span : float
        Range of the scores.
    fewest : int
        Units of the smallest group.
    constant : bool
        Whether no group varies, or all of them vary alike in every unit.
    planned : float
        Squared standard error known from the sample sizes alone.
    """

    square: float
    law: Noncentral
    count: int
    span: float
    fewest: int
    constant: bool
    planned: float
    method: str = "noncentral chi-square"
    near_normal = False

    @classmethod
    def of_scores(
        cls,
        values: ArrayLike,
        groups: Iterable[Hashable],
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> Spread:
        """Spread of the group means of scores or 0/1 outcomes.

        Multigroup comparison of Czarnowska et al. (2021), equation 6, with the standard deviation.

        Parameters
        ----------
        values : array_like of shape (n_rows,)
            Scores or outcomes.
        groups : iterable of hashable
            One label per row.
        units : iterable of hashable, optional
            One label per row; rows with equal labels are one sampling unit, also across groups.
        population : {"sampled", "fixed"}
            Whether units were drawn from a larger population, or only generations vary.
        bounds : tuple of float
            Range of the scores.

        Raises
        ------
        ValueError
            If there are fewer than two groups, a score is illegal, or a fixed unit has one row of
            a group.
        """
        clusters.check_population(population)
        clusters.check_bounds(bounds)
        rows = clusters.check_rows(values, "values", bounds)
        grouped, rows = Grouped.of(groups, units, len(rows), population).arranged(rows)
        count, span = len(grouped.names), bounds[1] - bounds[0]
        parts = [rows[grouped.group == g] for g in range(count)]
        means = np.array([clusters.exact_mean(part) for part in parts])
        own = [np.unique(grouped.unit[grouped.group == g]).size for g in range(count)]
        covariance = _steadied(grouped.covariance(rows, population, span), means, np.array(own))
        centred = _centred(covariance)
        # Units that say the same of every group tell as little as groups that never vary.
        alike = float(np.trace(centred)) <= NO_VARIANCE * span**2
        if alike:
            share = 1.0 / (np.array(own) + 2.0)
            centred = _centred(np.diag(span**2 * share * (1.0 - share) / np.array(own)))
        trace, squares = float(np.trace(centred)), float(np.sort((centred**2).ravel()).sum())
        deviation = means - clusters.exact_mean(means)
        square = math.fsum((deviation**2).tolist())
        along = squares / trace
        if square > 0.0:
            along = math.fsum((np.outer(deviation, deviation) * centred).ravel().tolist()) / square
        constant = alike or all(clusters.is_constant(part, span) for part in parts)
        reasons, notes = _flags(own, constant)
        return cls(
            value=math.sqrt(square / count),
            sample=grouped.sample(population),
            attainable=(0.0, span * math.sqrt((count // 2) * (count - count // 2)) / count),
            of="debiased",
            reasons=reasons,
            notes=notes,
            square=square,
            law=Noncentral(
                trace, 2.0 * squares, 4.0 * along, _within_df(grouped, rows, population)
            ),
            count=count,
            span=span,
            fewest=min(own),
            constant=constant,
            planned=span**2 / 12.0 * float(grouped.per_draw(population).mean()) / count,
        )

    def lower_bound(self, alpha: float) -> float:
        """Smallest spread under which one so large is not too rare; at least 0."""
        found = math.sqrt(self.law.lower(self.square, alpha) / self.count)
        return min(found, self.value * (1.0 - self._unseen(alpha)))

    def upper_bound(self, alpha: float) -> float:
        """Largest spread under which one so small is not too rare; never 0."""
        found = math.sqrt(self.law.upper(self.square, alpha) / self.count)
        unseen = self._unseen(alpha)
        if unseen > 0.0:
            found = max(found, self.value + unseen * (self.attainable[1] - self.value))
        return min(found, self.attainable[1])

    def _unseen(self, alpha: float) -> float:
        return zero_event_bound(self.fewest, alpha) if self.constant else 0.0

    @property
    def debiased(self) -> float:
        """Median-unbiased spread; inside the interval at every level."""
        return self.lower_bound(0.5)

    def noise_floor(self) -> float:
        """Return the mean spread of groups that do not differ."""
        half = self.law.floor**2 / self.law.variance
        mean = math.exp(math.lgamma(half + 0.5) - math.lgamma(half))
        return mean * math.sqrt(self.law.variance / self.law.floor / self.count)

    def p_equal(self) -> float:
        """p-value of "groups do not differ"."""
        return 1.0 - self.law.probability(self.square, 0.0)

    def standard_error(self, at: float | None = None) -> float:
        """Return half of the 68 % interval, or with `at` the error known from the sizes alone."""
        if at is not None:
            return math.sqrt(self.planned)
        alpha = float(special.ndtr(-1.0))
        return 0.5 * (self.upper_bound(alpha) - self.lower_bound(alpha))

    def fair_passes(
        self, allowed: tuple[float, float], fair: float, alpha: float
    ) -> Callable[[float], float]:
        """As :meth:`Estimate.fair_passes`, by the law of groups that do not differ."""
        # Twice the squared floor over the variance are the degrees of freedom of that law.
        df = 2.0 * self.law.floor**2 / self.law.variance
        squares = special.chdtri(df, 1.0 - QUANTILES) * self.law.floor / df
        ends = [
            replace(self, square=square, value=math.sqrt(square / self.count)).upper_bound(alpha)
            for square in squares.tolist()
        ]
        return share_of_ends(np.array(ends), allowed[1], self.sample.units)


def _centred(covariance: Floats) -> Floats:
    """Covariance of the deviations from the mean of all groups."""
    centred = covariance - covariance.mean(axis=0) - covariance.mean(axis=1)[:, None]
    return np.asarray(centred + covariance.mean())


def _steadied(covariance: Floats, means: Floats, units: Indices) -> Floats:
    """Add some draws of an average group to each group's variance.

    The variance of a small group with a mean far out is small by chance: both come from the same
    few outcomes.
    """
    variances = np.diag(covariance)
    own = variances * units
    pooled = math.fsum((own * units).tolist()) / float(units.sum())
    apart = (means - math.fsum((means * units).tolist()) / float(units.sum())) ** 2
    more = own * np.maximum(units - 1.0, 1.0) + _ADDED * pooled
    more += _ADDED * units / (units + _ADDED) * apart
    steadied = more / (np.maximum(units - 1.0, 1.0) + _ADDED) / units
    factor = np.sqrt(steadied / variances)
    return np.asarray(covariance * np.outer(factor, factor))


def _within_df(grouped: Grouped, rows: Floats, population: Population) -> float:
    """Degrees of freedom of the mean variance of the group means."""
    variances, df = [], []
    for g in range(len(grouped.names)):
        inside = grouped.group == g
        index, units = clusters.compact(grouped.unit[inside])
        if population == "fixed":
            df.append(float(inside.sum() - units))
            variances.append(1.0)
        elif units > 1:
            influence = clusters.mean_influence(rows[inside], index, units)
            variances.append(clusters.variance_of_mean(influence))
            df.append(clusters.kurtosis_df(influence))
    if not df:
        return 1.0
    order = np.lexsort((df, variances))
    return clusters.satterthwaite(np.array(variances)[order], np.array(df)[order])


def _flags(units: list[int], constant: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found: dict[str, str] = {}
    if min(units) < FEW_UNITS:
        found["thin_evidence"] = (
            f"the smallest group has {min(units)} units: below {FEW_UNITS} the interval is a "
            "rough guide"
        )
    if constant:
        found["no_variance"] = (
            "groups do not vary, or alike in every unit: each unit counts as one draw"
        )
    return tuple(found), tuple(found.values())

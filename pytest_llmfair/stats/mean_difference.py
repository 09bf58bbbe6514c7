"""Difference of the mean scores of two groups."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._records import Ends, Finding, Floats, Indices, Population, Sample
from pytest_llmfair.stats._rows import NO_VARIANCE, SMALLER_GROUP, few_units
from pytest_llmfair.stats._score_intervals import t_quantile, zero_event_bound
from pytest_llmfair.stats.joined import Folded
from pytest_llmfair.stats.mean import Mean

# Fewer units do not show the range of their scores.
_FEWEST = 10


@dataclass(eq=False, kw_only=True)
class MeanDifference(Folded):
    """Mean of the first group minus that of the second, or its absolute value.

    Groups that share units are compared inside them: a mean over units. Independent groups have
    their intervals joined (MOVER, Zou and Donner 2008). Scores without limits get a t interval;
    where their range is only the one observed, the wider of that and of the interval for scores
    within this range, which allows for skew.
    """

    # The two groups, where they are independent and scores are limited; else empty.
    sides: tuple[Mean, ...]
    # The difference as a mean over shared units.
    within: Mean | None
    # Squared standard error of the difference and its degrees of freedom; NaN with one unit.
    variance: float
    df: float
    absolute: bool
    # Squared standard error known from the sample sizes alone.
    planned: float
    # The signed difference.
    gap: float
    # Range of the scores seen, where it is not known; infinite where too few scores show one.
    seen: float | None = None
    # Units of the smaller group.
    fewest: int = 0
    method: str = "joined intervals (MOVER)"

    @classmethod
    def of_scores(
        cls,
        x_a: ArrayLike,
        x_b: ArrayLike,
        *,
        units_a: Iterable[Hashable] | None = None,
        units_b: Iterable[Hashable] | None = None,
        population: Population = "sampled",
        bounds: tuple[float, float] | None = (0.0, 1.0),
        absolute: bool = False,
    ) -> MeanDifference:
        """Compare the means of two groups.

        Parameters
        ----------
        x_a, x_b : array_like of shape (n_a,), (n_b,)
            Scores of each group.
        units_a, units_b, population
            As in :meth:`Mean.of_rows`; a label in both groups makes the comparison paired.
        bounds : tuple of float or None
            Range of the scores; may be infinite. None where it is not known: the interval then
            does not allow for rare units that the sample missed.
        absolute : bool
            Whether to take the absolute difference.

        Raises
        ------
        ValueError
            If a group is empty, a score is NaN or out of range (names argument and row), or a
            fixed unit has one row.

        Examples
        --------
        >>> MeanDifference.of_scores([0.2, 0.4, 0.6, 0.4], [0.7, 0.9, 0.8, 0.8])
        MeanDifference -0.400 [-0.669, 0.202] (95 %, 8 units)
        """
        clusters.check_population(population)
        legal = bounds or (-math.inf, math.inf)
        a, b = clusters.check_rows(x_a, "x_a", legal), clusters.check_rows(x_b, "x_b", legal)
        observed, both = bounds is None, np.concatenate([a, b])
        constant = clusters.is_constant(both, float(np.abs(both).max()))
        if bounds is None:
            low, high = float(both.min()), float(both.max())
            bounds = (low, high) if not constant else (low - 0.5, high + 0.5)
        index_a, index_b, units = clusters.common_index(len(a), len(b), units_a, units_b)
        if population == "fixed":
            clusters.check_repeats_of_groups(index_a, index_b)
        shared = clusters.overlap(index_a, index_b)
        mean_a, mean_b = clusters.exact_mean(a), clusters.exact_mean(b)
        gap = mean_a - mean_b
        limited = bool(np.isfinite(bounds).all())
        sides: tuple[Mean, ...] = ()
        within = None
        if shared and population == "sampled":
            part_a = clusters.left_out_influence(a - mean_a, index_a, units)
            part_b = clusters.left_out_influence(b - mean_b, index_b, units)
            influence = np.sort(part_a - part_b)
            variance, df = clusters.variance_of_mean(influence), clusters.kurtosis_df(influence)
            if limited:
                within = mean_within(influence, gap, bounds[1] - bounds[0])
        else:
            variance, df = _spread([(a, index_a), (b, index_b)], population)
            if limited:
                unlabelled = units_a is None and units_b is None
                sides = tuple(
                    Mean.of_values(
                        x,
                        units=None if unlabelled else index.tolist(),
                        population=population,
                        bounds=bounds,
                    )
                    for x, index in ((a, index_a), (b, index_b))
                )
        per_unit = np.bincount(np.concatenate([index_a, index_b]), minlength=units)
        span = bounds[1] - bounds[0]
        reach = math.inf if observed else span
        scale = span if limited else float(np.ptp(both))
        sizes = [(len(index), clusters.distinct(index)) for index in (index_a, index_b)]
        planned = [clusters.planned_variance(*size, population) for size in sizes]
        fewest = min(own for _, own in sizes)
        findings = few_units(fewest, SMALLER_GROUP)
        if variance <= NO_VARIANCE * scale**2:
            variance = 0.0
            alike = f"the {units} units do not differ: each counts as one draw"
            findings.append(Finding("no_variance", alike))
        elif observed:
            sides = tuple(map(_unguarded, sides))
            within = within and _unguarded(within)
        method = "Wilson over shared units" if within is not None else "t, kurtosis-based df"
        if sides:
            method = "joined intervals (MOVER)"
        return cls(
            value=abs(gap) if absolute else gap,
            sample=Sample.of_sizes(per_unit, population),
            attainable=(0.0, reach) if absolute else (-reach, reach),
            findings=tuple(findings),
            sides=sides,
            within=within,
            variance=variance,
            df=df,
            absolute=absolute,
            planned=scale**2 / 12.0 * sum(planned),
            gap=gap,
            seen=None if not observed else math.inf if constant or fewest < _FEWEST else span,
            fewest=fewest,
            method=method,
        )

    @property
    def signed(self) -> MeanDifference:
        """The difference with its sign, first group minus second."""
        most = self.attainable[1]
        return replace(self, value=self.gap, attainable=(-most, most), absolute=False)

    def alike(self, values: ArrayLike, units: Iterable[Hashable]) -> Estimate:
        """Mean of other paired differences, of scores with the same range."""
        span, own = self.attainable[1], list(units)
        if math.isfinite(span):
            return Mean.of_values(values, units=own, bounds=(-span, span))
        found = np.asarray(values, dtype=np.float64)
        return MeanDifference.of_scores(
            found, np.zeros_like(found), units_a=own, units_b=own, bounds=None
        )

    def _ends(self, alpha: float) -> Ends:
        low, high = self._limited(alpha)
        if self.seen is not None and self.variance == 0.0:
            # A rare unit may differ by as much as any two scores do.
            missed = zero_event_bound(self.fewest, alpha) * self.seen * max(len(self.sides), 1)
            low, high = self.gap - missed, self.gap + missed
        elif self.seen is not None:
            wider = self._unlimited(alpha)
            low, high = min(low, wider[0]), max(high, wider[1])
        most = self.attainable[1]
        return max(low, -most), min(high, most)

    def _limited(self, alpha: float) -> Ends:
        if self.within is not None:
            return self.within.lower_bound(alpha), self.within.upper_bound(alpha)
        if self.sides:
            a, b = self.sides
            below = math.hypot(a.value - a.lower_bound(alpha), b.upper_bound(alpha) - b.value)
            above = math.hypot(a.upper_bound(alpha) - a.value, b.value - b.lower_bound(alpha))
            return self.gap - below, self.gap + above
        return self._unlimited(alpha)

    def _unlimited(self, alpha: float) -> Ends:
        if not self.variance > 0.0:
            return -math.inf, math.inf
        reach = t_quantile(1.0 - alpha, self.df) * math.sqrt(self.variance)
        return self.gap - reach, self.gap + reach

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error of the signed difference.

        The planned one is that of scores uniform over their range; NaN where this is unknown.
        """
        if at is not None:
            return math.sqrt(self.planned) if self.planned > 0.0 else math.nan
        if self.variance > 0.0:
            return math.sqrt(self.variance)
        parts = self.sides if self.within is None else (self.within,)
        return math.hypot(*(part.standard_error() for part in parts)) if parts else math.nan


def mean_within(influence: Floats, gap: float, span: float) -> Mean:
    """Mean over shared units of a difference, from its ascending influence and largest size."""
    contributions = influence + gap
    # Leaving out a large unit may move the mean by more than the range.
    reach = max(float(np.abs(contributions).max()), span)
    return Mean.of_values(contributions, bounds=(-reach, reach))


def _unguarded(mean: Mean) -> Mean:
    """Leave out what rare units could do, where no range says how much that is."""
    return replace(mean, share=replace(mean.share, guard=math.inf))


def _spread(groups: list[tuple[Floats, Indices]], population: Population) -> tuple[float, float]:
    """Squared error of the difference of independent groups, and its degrees of freedom."""
    variances, df = [], []
    for x, index in groups:
        own, units = clusters.compact(index)
        if population == "fixed":
            sizes = np.bincount(own)
            means = clusters.cluster_sums(x, own, units) / sizes
            within = clusters.cluster_sums((x - means[own]) ** 2, own, units)
            terms = within / (sizes - 1.0) * sizes
            variances.append(math.fsum(terms.tolist()) / len(x) ** 2)
            df.append(float((sizes - 1.0).sum()))
            continue
        parts = clusters.mean_influence(x, own, units)
        variances.append(clusters.variance_of_mean(parts))
        df.append(clusters.kurtosis_df(parts))
    return sum(variances), clusters.satterthwaite(np.array(variances), np.array(df))

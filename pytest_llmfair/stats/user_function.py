"""Estimates from a function of the user: smooth statistics, and distances between groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._layout import Grouped, Layout
from pytest_llmfair.stats._records import (
    Ends,
    Finding,
    Floats,
    Indices,
    Passes,
    Population,
    Sample,
)
from pytest_llmfair.stats._resampling import SEED_LABELS, Strata, blocks, upper_quantile
from pytest_llmfair.stats._rows import few_units, known_error, t_reach
from pytest_llmfair.stats._score_intervals import share_of_ends

RowStatistic = Callable[[Indices, Indices], float]

_RELABELLINGS = 199
# More units than this are left out in as many folds: one by one, the time would grow with the
# square of their number.
_FOLDS = 500
# If a larger share of resamples is undefined, the quantile is infinite.
_MOST_UNDEFINED = 0.1


@dataclass(eq=False)
class ResampledStatistic:
    """A black-box statistic of grouped rows, re-evaluated on resamples."""

    # From row numbers and the group number of each (groups in order of appearance) to a number;
    # NaN where the statistic is undefined for these rows.

    measure: RowStatistic
    # Rows in canonical order.
    order: Indices
    groups: Indices
    layout: Layout
    sample: Sample

    @classmethod
    def of(
        cls,
        measure: RowStatistic,
        groups: Iterable[Hashable],
        codes: Indices,
        units: Iterable[Hashable] | None,
        population: Population,
    ) -> ResampledStatistic:
        """Read labels; `codes` ranks what each row holds, so that results follow content."""
        grouped = Grouped.of(groups, units, len(codes), population)
        layout, order, group_order = grouped.layout(codes, population)
        return cls(measure, order, group_order, layout, grouped.sample(population))

    @property
    def single(self) -> bool:
        """Whether some sample has one unit only, so that nothing shows how much units vary."""
        return int(self.layout.strata.sizes.min()) < 2

    def _at(self, kept: Indices, group: Indices) -> float:
        return self.measure(self.order[kept], self.groups[group])

    @cached_property
    def value(self) -> float:
        """The statistic on all rows."""
        return self._at(np.arange(len(self.order)), self.layout.group)

    @property
    def described(self) -> dict[str, Any]:
        """Value, sample and findings, which all estimates of it share."""
        value = self.value
        defined = math.isfinite(value)
        why = f"score and comparison give {value:g} on all data: a group has nothing to measure"
        findings = few_units(self.sample.units)
        return {
            "value": value if defined else math.nan,
            "sample": self.sample,
            "findings": tuple(findings if defined else [Finding.undefined(why), *findings]),
        }

    @cached_property
    def variance_df(self) -> tuple[float, float]:
        """Squared error by leaving out folds, and its df; infinite where that measures nothing."""
        if self.single:
            return np.inf, 1.0
        fold, folds = self.layout.strata.folds(_FOLDS)
        sizes = np.repeat(self.layout.strata.sizes, folds)
        fold_of_row, group = fold[self.layout.unit], self.layout.group
        influence = np.empty(len(sizes))
        for k, (size, own) in enumerate(zip(sizes.tolist(), np.bincount(fold), strict=True)):
            kept = np.flatnonzero(fold_of_row != k)
            influence[k] = (self.value - self._at(kept, group[kept])) * (size - own) / size
        if not np.isfinite(influence).all():
            return np.inf, 1.0
        return Strata(folds).variance(influence)

    @cached_property
    def halves(self) -> Floats:
        """The statistic on random halves of the units, ascending."""
        found = []
        for weights, _ in self.layout.strata.halves():
            for row in weights:
                kept = np.flatnonzero(row[self.layout.unit] > 0.0)
                found.append(self._at(kept, self.layout.group[kept]))
        return np.sort(found)

    @cached_property
    def relabelled(self) -> Floats:
        """The statistic after random relabelling of groups that leaves units whole, ascending."""
        generator = np.random.default_rng(SEED_LABELS)
        rows = np.arange(len(self.order))
        found = []
        for size in blocks(_RELABELLINGS, len(self.layout.slot_group)):
            labels = self.layout.shuffled(size, generator, free=False)
            found += [self._at(rows, row[self.layout.slot]) for row in labels]
        return np.sort(found)


def _variance_and_df(variance: float, influence: Floats) -> tuple[float, float]:
    return variance, clusters.kurtosis_df(influence)


@dataclass(eq=False, kw_only=True)
class JackknifeEstimate(Estimate):
    """A smooth function of the data on an unbounded scale."""

    # Gives the squared standard error and its degrees of freedom, which may take time.
    spread: Callable[[], tuple[float, float]]
    method: str = "jackknife, kurtosis-based df"

    @classmethod
    def of_measure(
        cls,
        measure: RowStatistic,
        groups: Iterable[Hashable],
        codes: Indices,
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
        attainable: tuple[float, float] = (-math.inf, math.inf),
    ) -> JackknifeEstimate:
        """Estimate any smooth function of rows by group (jackknife over units).

        Parameters
        ----------
        measure : callable
            Row numbers and the group number of each (groups in order of appearance) to a number,
            NaN where these rows leave it undefined.
        groups : iterable of hashable
            One label per row.
        codes : ndarray of int of shape (n_rows,)
            Rank of what each row holds: rows that hold the same have the same.
        units, population
            As in :meth:`Mean.of_rows`; units also across groups.
        attainable : tuple of float
            Smallest and largest value that any data of this call could give.

        Raises
        ------
        ValueError
            If there are fewer than two groups, or a fixed unit has one row of a group.

        Examples
        --------
        >>> x = np.array([1.0, 2.0, 3.0, 5.0, 4.0, 6.0])
        >>> groups = ["a", "a", "a", "b", "b", "b"]
        >>> def gap(rows, group):
        ...     return float(x[rows][group == 1].mean() - x[rows][group == 0].mean())
        >>> JackknifeEstimate.of_measure(gap, groups, np.argsort(x)).value
        3.0
        """
        measured = ResampledStatistic.of(measure, groups, codes, units, population)
        return cls(
            **measured.described,
            attainable=attainable,
            # Not a lambda, which could not be pickled.
            spread=partial(getattr, measured, "variance_df"),
        )

    @classmethod
    def of_values(
        cls,
        values: ArrayLike,
        *,
        units: Iterable[Hashable] | None = None,
        attainable: tuple[float, float] = (-math.inf, math.inf),
    ) -> JackknifeEstimate:
        """Mean of one value per row, of units drawn from a larger population.

        Parameters
        ----------
        values : array_like of shape (n_rows,)
            Finite numbers within `attainable`; ``ValueError`` names the first other row.
        units
            As in :meth:`Mean.of_rows`.

        Examples
        --------
        >>> JackknifeEstimate.of_values([1.0, 3.0, 2.0, 4.0, 2.5])
        JackknifeEstimate 2.500 [1.112, 3.888] (95 %, 5 units)
        """
        array = clusters.check_rows(values, "values", attainable)
        index, count = clusters.cluster_index(units, len(array))
        influence = clusters.mean_influence(array, index, count)
        sizes = np.bincount(index)
        variance = clusters.variance_of_mean(influence) if count > 1 else math.inf
        return cls(
            value=clusters.exact_mean(array),
            sample=Sample.of_sizes(sizes),
            attainable=attainable,
            spread=partial(_variance_and_df, variance, influence),
            findings=tuple(few_units(count)),
        )

    @cached_property
    def _variance_df(self) -> tuple[float, float]:
        return self.spread()

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        return max(self.attainable[0], self.value - t_reach(*self._variance_df, alpha))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        return min(self.attainable[1], self.value + t_reach(*self._variance_df, alpha))

    def standard_error(self, at: float | None = None) -> float:
        """Return the observed standard error; NaN where there is none, and with `at`."""
        return math.nan if at is not None else known_error(self._variance_df[0])


@dataclass(eq=False, kw_only=True)
class MetricDistance(Estimate):
    """A distance between groups: never negative, and above 0 in a sample even for equal groups.

    By the triangle inequality the observed distance is at most the true one plus that of noise
    alone, which relabelled groups show: the lower end is the value less a quantile of those. The
    value is biased upwards, so the upper end (the larger of value plus its error and a quantile
    over random halves of the units) is conservative.
    """

    measured: ResampledStatistic
    method: str = "jackknife and halves above, relabelled groups below"
    near_normal = False

    @classmethod
    def of_measure(
        cls,
        measure: RowStatistic,
        groups: Iterable[Hashable],
        codes: Indices,
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
    ) -> MetricDistance:
        """Estimate a distance between groups of rows, as :meth:`JackknifeEstimate.of_measure`.

        Examples
        --------
        >>> x = np.array([1.0, 2.0, 3.0, 5.0, 4.0, 6.0])
        >>> groups = ["a", "a", "a", "b", "b", "b"]
        >>> def gap(rows, group):
        ...     return float(abs(x[rows][group == 1].mean() - x[rows][group == 0].mean()))
        >>> MetricDistance.of_measure(gap, groups, np.argsort(x)).value
        3.0
        """
        measured = ResampledStatistic.of(measure, groups, codes, units, population)
        return cls(**measured.described, attainable=(0.0, math.inf), measured=measured)

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`; at least 0."""
        if self.measured.single:
            return 0.0
        return max(0.0, self.value - _quantile(self.measured.relabelled, alpha))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        far = self.value + t_reach(*self.measured.variance_df, alpha)
        return far if math.isinf(far) else max(far, _quantile(self.measured.halves, alpha))

    @property
    def debiased(self) -> float:
        """The value less that of relabelled groups; inside the interval at every level."""
        return self.lower_bound(0.5)

    def noise_floor(self) -> float:
        """Mean distance of groups that do not differ, at this sample size."""
        return float(self.measured.relabelled.mean())

    def p_equal(self) -> float:
        """Permutation p-value of "the groups do not differ at all"."""
        draws = self.measured.relabelled
        further = int((~(draws < self.value - 1e-12)).sum())
        return (1.0 + further) / (1.0 + len(draws))

    def standard_error(self, at: float | None = None) -> float:
        """Return the observed standard error; NaN where there is none, and with `at`."""
        return math.nan if at is not None else known_error(self.measured.variance_df[0])

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`, from the distances of relabelled groups."""
        width = self.upper_bound(alpha) - self.value
        known = math.isfinite(width) and not self.measured.single
        ends = self.measured.relabelled + width if known else np.full(1, math.nan)
        return share_of_ends(ends, allowed[1], self.sample.units)


def _quantile(draws: Floats, alpha: float) -> float:
    """Quantile 1 - `alpha` of ascending draws; infinite where too many are undefined."""
    known = draws[np.isfinite(draws)]
    if len(known) < 2 or len(known) < (1.0 - _MOST_UNDEFINED) * len(draws):
        return math.inf
    return upper_quantile(known, alpha)

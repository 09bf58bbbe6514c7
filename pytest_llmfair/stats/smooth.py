"""Any smooth function of the data, given as a function: t interval from leaving units out."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._clusters import Indices
from pytest_llmfair.stats._intervals import t_quantile
from pytest_llmfair.stats._measured import Measure, Measured, flags, why_undefined
from pytest_llmfair.stats._records import Population, Sample
from pytest_llmfair.stats._rows import NO_VARIANCE


@dataclass(eq=False, kw_only=True)
class Smooth(Estimate):
    """A smooth function of the data on a scale without limits.

    Attributes
    ----------
    spread : callable
        Gives the squared standard error and its degrees of freedom, when first needed.
    """

    spread: Callable[[], tuple[float, float]]
    method: str = "jackknife, kurtosis-based df"

    @classmethod
    def of_measure(
        cls,
        measure: Measure,
        groups: Iterable[Hashable],
        codes: Indices,
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
        attainable: tuple[float, float] = (-math.inf, math.inf),
    ) -> Smooth:
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
        units : iterable of hashable, optional
            One label per row; rows with equal labels are one sampling unit, also across groups.
        population : {"sampled", "fixed"}
            Whether units were drawn from a larger population, or only generations vary.
        attainable : tuple of float
            Smallest and largest value that any data of this call could give.

        Raises
        ------
        ValueError
            If there are fewer than two groups, or a fixed unit has one row of a group.
        """
        measured = Measured.of(measure, groups, codes, units, population)
        value = measured.value
        reasons, notes = flags(measured.sample.units)
        return cls(
            value=value if math.isfinite(value) else math.nan,
            undefined=why_undefined(value),
            sample=measured.sample,
            attainable=attainable,
            spread=lambda: measured.variance_df,
            reasons=reasons,
            notes=notes,
        )

    @classmethod
    def of_values(
        cls,
        values: ArrayLike,
        *,
        units: Iterable[Hashable] | None = None,
        attainable: tuple[float, float] = (-math.inf, math.inf),
    ) -> Smooth:
        """Mean of one value per row, of units drawn from a larger population.

        Parameters
        ----------
        values : array_like of shape (n_rows,)
            Finite numbers.
        units : iterable of hashable, optional
            One label per row; rows with equal labels are one sampling unit.
        attainable : tuple of float
            Range of the values.

        Raises
        ------
        ValueError
            If a value is not finite or out of range (names the row).
        """
        array = clusters.check_rows(values, "values", attainable)
        index, count = clusters.cluster_index(units, len(array))
        influence = clusters.mean_influence(array, index, count)
        sizes = np.bincount(index)
        variance = clusters.variance_of_mean(influence) if count > 1 else math.inf
        reasons, notes = flags(count)
        return cls(
            value=clusters.exact_mean(array),
            sample=Sample(count, len(array), int(sizes.min()), int(sizes.max()), "sampled"),
            attainable=attainable,
            spread=lambda: (variance, clusters.kurtosis_df(influence)),
            reasons=reasons,
            notes=notes,
        )

    @cached_property
    def _variance_df(self) -> tuple[float, float]:
        return self.spread()

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        return max(self.attainable[0], self.value - self._reach(alpha))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        return min(self.attainable[1], self.value + self._reach(alpha))

    def _reach(self, alpha: float) -> float:
        variance, df = self._variance_df
        if variance <= NO_VARIANCE or math.isinf(variance):
            # Units that are all alike say nothing about others, and the scale has no limits.
            return math.inf
        return t_quantile(1.0 - alpha, df) * math.sqrt(variance)

    def standard_error(self, at: float | None = None) -> float:
        """Return the observed standard error; NaN where there is none, and with `at`."""
        variance = self._variance_df[0]
        known = at is None and NO_VARIANCE < variance < math.inf
        return math.sqrt(variance) if known else math.nan

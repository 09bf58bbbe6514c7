"""Any distance between groups, given as a function: only the triangle inequality is used."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._clusters import Floats, Indices
from pytest_llmfair.stats._fair import share_of_ends
from pytest_llmfair.stats._intervals import t_quantile
from pytest_llmfair.stats._measured import Measure, Measured, flags, why_undefined
from pytest_llmfair.stats._records import Population
from pytest_llmfair.stats._resampling import upper_quantile
from pytest_llmfair.stats._rows import NO_VARIANCE

# With more resamples than this undefined, the others say too little.
_MOST_UNDEFINED = 0.1


@dataclass(eq=False, kw_only=True)
class AnyDistance(Estimate):
    """A distance between groups: never negative, and never 0 in a sample even when they are equal.

    What is observed is at most the true distance plus that of the noise to nothing (triangle
    inequality), which relabelled groups show: the lower end is the value less a quantile of those.
    The value is biased upwards, so that the upper end, the further of value plus its error and a
    quantile over random halves of the units, errs on the side of caution.

    Attributes
    ----------
    measured : Measured
        The distance, and how to compute it again.
    """

    measured: Measured
    method: str = "jackknife and halves above, relabelled groups below"
    near_normal = False

    @classmethod
    def of_measure(
        cls,
        measure: Measure,
        groups: Iterable[Hashable],
        codes: Indices,
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
    ) -> AnyDistance:
        """Estimate a distance between groups of rows; parameters as :meth:`Smooth.of_measure`.

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
            attainable=(0.0, math.inf),
            reasons=reasons,
            notes=notes,
            measured=measured,
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`; at least 0."""
        if self.measured.single:
            return 0.0
        return max(0.0, self.value - _quantile(self.measured.relabelled, alpha))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        variance, df = self.measured.variance_df
        if variance <= NO_VARIANCE or math.isinf(variance):
            # Units that are all alike say nothing about others, and the scale has no limits.
            return math.inf
        far = self.value + t_quantile(1.0 - alpha, df) * math.sqrt(variance)
        return max(far, _quantile(self.measured.halves, alpha))

    @property
    def debiased(self) -> float:
        """The value less that of relabelled groups; inside the interval at every level."""
        return self.lower_bound(0.5)

    def noise_floor(self) -> float:
        """Return what groups that do not differ would score at this sample size."""
        return float(self.measured.relabelled.mean())

    def p_equal(self) -> float:
        """Permutation p-value of "the groups do not differ at all"."""
        draws = self.measured.relabelled
        further = int((~(draws < self.value - 1e-12)).sum())
        return (1.0 + further) / (1.0 + len(draws))

    def standard_error(self, at: float | None = None) -> float:
        """Return the observed standard error; NaN where there is none, and with `at`."""
        variance = self.measured.variance_df[0]
        known = at is None and NO_VARIANCE < variance < math.inf
        return math.sqrt(variance) if known else math.nan

    def fair_passes(
        self, allowed: tuple[float, float], fair: float, alpha: float
    ) -> Callable[[float], float]:
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

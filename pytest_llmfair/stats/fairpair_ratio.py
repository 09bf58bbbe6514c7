"""FairPair's ratio of the difference between two sides to the variability inside them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._crossfit import QUANTILES
from pytest_llmfair.stats._dissimilarities import PowerProduct, Sides
from pytest_llmfair.stats._records import Ends, Finding, Floats, Passes, Population, Sample
from pytest_llmfair.stats._rows import few_units
from pytest_llmfair.stats._score_intervals import normal_quantile

Aggregate = Literal["pooled", "mean"]

# With fewer prompts, bootstrap-t covers one or two points less than it claims.
_FEW_PROMPTS = 30
# Smaller errors of log F are rounding: prompts differ in B and V but not in F.
_ROUNDING = 1e-9
# Variance of log F for one prompt with n answers a side: (a / n)^2 + b (F - 1) / n, fitted to
# absolute differences of normal scores with n from 5 to 100 and F from 1 to 3.5.
_PLANNED = (1.8, 2.5)


@dataclass(eq=False, kw_only=True)
class FairPairRatio(Estimate):
    """F = B^2 / (V_a V_b): 1 where two sides of a prompt differ by sampling alone.

    For dissimilarities of negative type (absolute differences, Jaccard, cosine) the true F is
    never below 1, so both ends of the interval are at least 1. The upper end stays above 1 by half
    the width, since clipping adds no evidence.
    """

    # B: mean dissimilarity between the sides, over prompts; V of the first and the second side.
    bias: float
    variability_original: float
    variability_perturbed: float
    # The statistic and its bootstrap; None where it is 0, infinite or undefined.
    product: PowerProduct | None
    # Standard error of log F when only answers vary; NaN where prompts vary too.
    fixed_error: float
    # Smallest possible true value: 1, or 0 for dissimilarities not of negative type.
    least: float
    # Answers per side, harmonic mean over prompts.
    answers: float
    # Dissimilarities, where they are known, for the permutation test.
    sides: Sides | None = None
    # Ratio of means over prompts, or mean of the prompts' ratios.
    aggregate: Aggregate = "pooled"
    method: str = "bootstrap-t over prompts, log scale"
    near_normal = False

    @classmethod
    def of_prompts(
        cls,
        between: ArrayLike,
        within_a: ArrayLike,
        within_b: ArrayLike,
        *,
        answers: float,
        aggregate: Aggregate = "pooled",
        units: Iterable[Hashable] | None = None,
        negative_type: bool = True,
    ) -> FairPairRatio:
        """F from the mean dissimilarities of each prompt (Dwivedi-Yu 2024, section 3).

        `between` is B(x), `within_a` V of the first side (perturbed continuations); `answers` per
        side serve planning. `aggregate` is the ratio of the means over prompts, "pooled", or the
        paper's "mean" of ratios. With `negative_type` equal sides give the smallest possible F, 1.

        Examples
        --------
        >>> between, a, b = [0.6, 0.7, 0.5], [0.4, 0.5, 0.4], [0.5, 0.6, 0.4]
        >>> round(FairPairRatio.of_prompts(between, a, b, answers=5).value, 3)
        1.662
        """
        given = {"between": between, "within_a": within_a, "within_b": within_b}
        parts = [clusters.check_rows(x, name, (0.0, math.inf)) for name, x in given.items()]
        if len({len(part) for part in parts}) > 1:
            raise ValueError(f"between, within_a and within_b have {[len(p) for p in parts]} rows")
        index, count = clusters.cluster_index(units, len(parts[0]))
        size = round(2 * answers * len(parts[0]))
        per_unit = np.bincount(index, minlength=count) * round(2 * answers)
        sample = replace(Sample.of_sizes(per_unit), generations=size)
        # Infinite or NaN where a side does not vary.
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.asarray(parts[0] ** 2 / (parts[1] * parts[2]))
        sums = parts
        powers = [2.0, -1.0, -1.0]
        if aggregate == "mean":
            sums, powers = [ratios, np.ones(len(ratios))], [1.0, -1.0]
        value, why = _value(parts, ratios, aggregate)
        known = math.isfinite(value) and value > 0.0
        totals = np.stack([clusters.cluster_sums(each, index, count) for each in sums], axis=1)
        product = PowerProduct(totals, np.array(powers)) if known else None
        # Use the same exponential as the ends, so that rounding cannot put the value outside.
        value = value if product is None else math.exp(product.log)
        findings = few_units(count, "only {} prompts", _FEW_PROMPTS)
        if product is None or not product.error > _ROUNDING:
            alike = "prompts do not vary, or a side's answers never do: no upper end"
            findings.append(Finding("no_variance", alike))
        if why is not None:
            findings = [Finding.undefined(why), *findings]
        least = 1.0 if negative_type else 0.0
        return cls(
            value=value,
            sample=sample,
            attainable=(0.0, math.inf),
            of="debiased" if value < least else "value",
            findings=tuple(findings),
            bias=clusters.exact_mean(parts[0]),
            variability_original=clusters.exact_mean(parts[1]),
            variability_perturbed=clusters.exact_mean(parts[2]),
            product=product,
            fixed_error=math.nan,
            least=least,
            answers=answers,
            aggregate=aggregate,
        )

    @classmethod
    def of_dissimilarities(
        cls,
        matrices: Iterable[ArrayLike],
        first: Sequence[int],
        *,
        aggregate: Aggregate = "pooled",
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
        negative_type: bool = True,
    ) -> FairPairRatio:
        """F from all dissimilarities between the answers to each prompt.

        One symmetric matrix per prompt, answers of the first side before those of the second; how
        many are of the `first` side, two at least of either. With fixed prompts only answers vary;
        the rest is as in :meth:`of_prompts`.

        Examples
        --------
        >>> answers = np.array([0.0, 1.0, 3.0, 4.0])  # two of each side
        >>> ratio = FairPairRatio.of_dissimilarities([abs(answers[:, None] - answers)], [2])
        >>> round(ratio.value, 3)
        9.0
        """
        clusters.check_population(population)
        sides = Sides.of(matrices, first)
        between, within_a, within_b = sides.means()
        found = cls.of_prompts(
            between,
            within_a,
            within_b,
            answers=sides.answers,
            aggregate=aggregate,
            units=units,
            negative_type=negative_type,
        )
        fixed = population == "fixed" and found.product is not None
        return replace(
            found,
            sides=sides,
            sample=replace(Sample.of_sizes(sides.sizes, population), units=found.sample.units),
            fixed_error=sides.error(aggregate) if fixed else found.fixed_error,
            method="jackknife over answers, log scale" if fixed else found.method,
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`; at least `least`."""
        return max(self.least, self._bounds(alpha)[0])

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`; always above `least`."""
        low, high = self._bounds(alpha)
        return max(high, self.least + 0.5 * (high - low))

    def _bounds(self, alpha: float) -> tuple[float, float]:
        error = self.error()
        if self.product is None or not error > _ROUNDING:
            return 0.0, math.inf
        if math.isnan(self.fixed_error):
            low, high = self.product.bounds(alpha)
        else:
            reach = normal_quantile(1.0 - alpha) * error
            low, high = self.product.log - reach, self.product.log + reach
        return math.exp(low), math.exp(min(high, 700.0))

    def error(self) -> float:
        """Return the standard error of log F; NaN with one prompt or without variability."""
        if self.product is None:
            return math.nan
        return self.product.error if math.isnan(self.fixed_error) else self.fixed_error

    @property
    def debiased(self) -> float:
        """The value, at least the smallest possible one."""
        return max(self.value, self.least)

    @cached_property
    def _relabelled(self) -> Floats:
        """Values after exchanging answers between the sides; NaN without answers."""
        if self.sides is None:
            return np.full(1, math.nan)
        return self.sides.relabelled(self.aggregate)

    def noise_floor(self) -> float:
        """Return the mean F after exchanging answers between the sides; NaN without them."""
        return float(self._relabelled.mean())

    def noise_quantile(self, share: float) -> float:
        """Return the F that so large a share of exchanges of answers do not exceed.

        Answers are exchanged between the sides of each prompt; NaN without them, and where F is
        undefined. `share` is in [0, 1].
        """
        if self.undefined:
            return math.nan
        return float(np.quantile(self._relabelled, share))

    def p_equal(self) -> float:
        """p-value of "the sides differ by sampling alone": answers exchanged inside prompts."""
        if self.sides is None or not math.isfinite(self.value):
            return math.nan
        further = int((self._relabelled >= self.value * (1.0 - 1e-12)).sum())
        return (1.0 + further) / (1.0 + len(self._relabelled))

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error of F, planned from the number of prompts and answers."""
        if at is None:
            return self.value * self.error()
        noise, slope = _PLANNED
        variance = (noise / self.answers) ** 2 + slope * max(0.0, at - 1.0) / self.answers
        return at * math.sqrt(variance / self.sample.units)

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`, on the log scale with the error as it would be at 1."""
        error = planned = self.standard_error(1.0)
        low = high = normal_quantile(1.0 - alpha) * error
        if self.product is not None and self.error() > _ROUNDING:
            calmer = planned * self.value / self.standard_error(max(self.value, 1.0))
            error = calmer * self.error()
            ends = [math.log(x) if x > 0.0 else -math.inf for x in self._bounds(alpha)]
            centre = self.product.log
            if not all(map(math.isfinite, (calmer, *ends))):
                return lambda more: math.nan
            low, high = (calmer * abs(end - centre) for end in ends)
        draws = special.ndtri(QUANTILES) * error

        def passes(more: float) -> float:
            shrink = math.sqrt(more)
            below, above = (np.exp((draws + x) / shrink) for x in (-low, high))
            ends = np.maximum(above, self.least + 0.5 * (above - below))
            return float((ends <= allowed[1]).mean())

        return passes


def _value(
    parts: Sequence[Floats], ratios: Floats, aggregate: Aggregate
) -> tuple[float, str | None]:
    """Value, and why it is undefined."""
    if aggregate == "mean":
        unknown = int(np.isnan(ratios).sum())
        if unknown:
            return math.nan, (
                f"F is 0/0 for {unknown} of {len(ratios)} prompts, whose answers never vary; use "
                "aggregate='pooled' or sample at a higher temperature"
            )
        return (math.inf if np.isinf(ratios).any() else clusters.exact_mean(ratios)), None
    between, within_a, within_b = (clusters.exact_mean(part) for part in parts)
    if within_a * within_b > 0.0:
        return between**2 / (within_a * within_b), None
    if between > 0.0:
        return math.inf, None
    return math.nan, (
        "answers never vary, neither inside a side nor between the sides: F is 0/0 (a "
        "deterministic model with equal answers); sample at a higher temperature"
    )

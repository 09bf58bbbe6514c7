"""Ratio of the rates of two groups, and the most extreme of several such ratios."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike
from scipy import special

from pytest_llmfair.stats._base import Estimate, GroupRow, Table
from pytest_llmfair.stats._rates import TwoRates, read_rates
from pytest_llmfair.stats._records import Ends, Finding, Floats, Passes, Population
from pytest_llmfair.stats._score_intervals import precision_of, ratio_bound, within_share
from pytest_llmfair.stats.pairwise_max import MaxPairwiseDifference

# Largest number of units that `fewest_units` tries.
_MOST_SEPARATED = 10_000

RatioForm = Literal["ratio", "smaller", "log"]


@dataclass(eq=False, kw_only=True)
class RateRatio(Estimate):
    """Rate of the first group over that of the second.

    Koopman's score interval; on effective counts where rows cluster in units or units occur in
    both groups.
    """

    evidence: TwoRates
    form: RatioForm
    method: str = "Koopman score"

    @classmethod
    def of_outcomes(
        cls,
        x_a: ArrayLike,
        x_b: ArrayLike,
        *,
        units_a: Iterable[Hashable] | None = None,
        units_b: Iterable[Hashable] | None = None,
        weights_a: Floats | None = None,
        weights_b: Floats | None = None,
        population: Population = "sampled",
        form: RatioForm = "ratio",
    ) -> RateRatio:
        """Compare the rates of two groups by their ratio.

        Parameters
        ----------
        x_a, x_b, units_a, units_b, weights_a, weights_b, population
            As in :meth:`RateDifference.of_outcomes`.
        form : {"ratio", "smaller", "log"}
            First over second, the smaller rate over the larger, or the absolute logarithm; the
            last two fold the interval. A positive rate over a rate of 0 is infinite; 0 over 0 is
            undefined.

        Examples
        --------
        >>> RateRatio.of_outcomes([1, 1, 0, 1] * 10, [0, 1, 0, 0] * 10)
        RateRatio 3.000 [1.781, 5.408] (95 %, 80 units)
        """
        weights = weights_a, weights_b
        rates = read_rates(x_a, x_b, units_a, units_b, population, scale="log", weights=weights)
        a, b = rates.a.value, rates.b.value
        findings, value = rates.findings, math.nan
        if a == b == 0.0:
            why = "neither group has an event: 0 over 0 is no ratio"
            findings = (Finding.undefined(why), *findings)
        else:
            value = _shown(a / b if b > 0.0 else math.inf, form)
        return cls(
            value=value,
            sample=rates.sample,
            attainable=(0.0, 1.0 if form == "smaller" else math.inf),
            findings=findings,
            evidence=rates,
            form=form,
            method=("Koopman score" + (" on effective counts" if rates.clustered else ""))
            + ("" if form == "ratio" else ", folded"),
        )

    @property
    def rates(self) -> tuple[float, float]:
        """Rates of the first and the second group."""
        return self.evidence.a.value, self.evidence.b.value

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        low, high = self._ratio_bounds(alpha)
        # Folding grows away from a ratio of 1 for "log" and falls for "smaller".
        if self.form == "log" and low <= 1.0 <= high:
            return 0.0
        return min(_shown(low, self.form), _shown(high, self.form))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        low, high = self._ratio_bounds(alpha)
        if self.form == "smaller" and low <= 1.0 <= high:
            return 1.0
        return max(_shown(low, self.form), _shown(high, self.form))

    def _ratio_bounds(self, alpha: float) -> tuple[float, float]:
        a, b = self.evidence.a, self.evidence.b
        precision_a, precision_b = a.precision(alpha), b.precision(alpha)
        high = ratio_bound(a.value, b.value, precision_a, precision_b)
        inverse = ratio_bound(b.value, a.value, precision_b, precision_a)
        return (1.0 / inverse if inverse > 0.0 else math.inf), high

    def noise_floor(self) -> float:
        """Return the expected value for two equal groups of these sizes; NaN unless folded.

        From the normal approximation of the log ratio at the pooled rate.
        """
        a, b, pooled = self.evidence.a, self.evidence.b, self.evidence.pooled
        if self.form == "ratio" or pooled == 0.0:
            return math.nan
        error = math.sqrt((1.0 - pooled) / pooled * (1.0 / a.effective + 1.0 / b.effective))
        if self.form == "log":
            return error * math.sqrt(2.0 / math.pi)
        # Mean of exp(-|Z|), with erfcx = exp(x^2) erfc(x) against overflow.
        return float(special.erfcx(error / math.sqrt(2.0)))

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error, from that of the log ratio; planned, at base rates of 1/2."""
        if at is not None:
            error = math.sqrt(self.evidence.planned_variance(1.0))
            return error if self.form == "log" else error * at
        variance = 0.0
        rates = self.evidence.a, self.evidence.b
        smoothed = [max(rate.value, 0.5 / rate.effective) for rate in rates]
        for rate, share in zip(rates, smoothed, strict=True):
            variance += max(rate.variance, rate.smoothed_variance / rate.effective) / share**2
        error = math.sqrt(variance)
        if self.form == "log" or math.isinf(self.value):
            return error
        # A group without an event has a ratio of 0, but not an error of 0.
        return error * _shown(smoothed[0] / smoothed[1], self.form)

    def fewest_units(self, threshold: float, alpha: float) -> int:
        """Units of both groups needed for complete separation to exclude `threshold`."""
        if self.form == "log":
            limit = math.exp(-threshold)
        else:
            limit = min(threshold, 1.0 / threshold) if threshold > 0.0 else 0.0
        if not 0.0 < limit < 1.0:
            return 0
        for n in range(1, _MOST_SEPARATED):
            precision = precision_of(n, alpha)
            if ratio_bound(0.0, 1.0, precision, precision) < limit:
                return 2 * n
        return 2 * _MOST_SEPARATED

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`, on the log scale with both groups at one rate."""
        low, high = allowed
        if self.form != "log":
            low, high = (math.log(end) if end > 0.0 else -math.inf for end in allowed)
        if self.form != "ratio":
            limit = min(high, -low) if self.form == "smaller" else high
            low, high = -limit, limit

        def passes(more: float) -> float:
            a, b = self.evidence.at_parity(more)
            if a.value == 0.0:
                return math.nan
            error = math.sqrt((a.variance + b.variance) / a.value**2)
            widths = [
                math.log(ratio_bound(x.value, y.value, x.precision(alpha), y.precision(alpha)))
                for x, y in ((b, a), (a, b))
            ]
            return within_share(error, (low, high), (widths[0], widths[1]))

        return passes


def _shown(ratio: float, form: RatioForm) -> float:
    if form == "ratio":
        return ratio
    if form == "smaller":
        return min(ratio, 1.0 / ratio) if ratio > 0.0 else 0.0
    return abs(math.log(ratio)) if ratio > 0.0 else math.inf


@dataclass(eq=False, kw_only=True)
class MaxPairwiseRatio(Estimate):
    """Ratio of the two rates that are furthest apart on the log scale.

    Interval and p-values are those of the largest absolute log ratio of any pair (see
    :class:`MaxPairwiseDifference`), shown as a ratio on the value's side of 1: for a value of 0.5
    the interval is ``[exp(-b), exp(-a)]``, where ``[a, b]`` is that of the largest absolute log
    ratio. Bounds of ``exp(b)`` and ``exp(-b)`` therefore give the same verdict, whichever group
    comes first.
    """

    # The largest absolute log ratio.
    largest: MaxPairwiseDifference
    # Pair whose ratio is the value, the first of several equally far from 1; None without one.
    widest: Hashable
    method: str = "Koopman score of every pair, joined on the log scale"
    near_normal = False

    @classmethod
    def of_pairs(
        cls, pairs: Mapping[Any, RateRatio], *, rates: Mapping[Hashable, GroupRow] | None = None
    ) -> MaxPairwiseRatio:
        """Ratio furthest from 1 of several.

        Parameters
        ----------
        pairs : mapping
            Pair of groups to its ratio: all as "ratio", or all as "smaller" (else ``ValueError``).
            Undefined ones (no event in either group) are listed; they matter only where no ratio
            is infinite.
        rates : mapping, optional
            Further rows of the table, such as the groups' own rates.

        Examples
        --------
        >>> a, b, c = [1, 0] * 20, [1, 0, 0, 0] * 10, [0, 1, 1, 1] * 10
        >>> ratio = RateRatio.of_outcomes
        >>> pairs = {("a", "b"): ratio(a, b), ("a", "c"): ratio(a, c)}
        >>> MaxPairwiseRatio.of_pairs(pairs).widest
        ('a', 'b')
        """
        forms = list(dict.fromkeys(pair.form for pair in pairs.values()))
        if len(forms) != 1 or forms[0] == "log":
            raise ValueError(
                f"pairs have the forms {', '.join(forms) or 'none'}; give them all as ratio, or "
                "all as smaller"
            )
        logs = {key: _log(pair) for key, pair in pairs.items()}
        largest = MaxPairwiseDifference.of_pairs(logs)
        known = [key for key, pair in pairs.items() if pair.undefined is None]
        widest = max(known, key=lambda key: _distance(pairs[key]), default=None)
        return cls(
            value=math.nan if widest is None else pairs[widest].value,
            widest=widest,
            sample=largest.sample,
            attainable=next(iter(pairs.values())).attainable,
            groups=_table(pairs, largest.groups, rates or {}),
            # No ratio is further from 1 than an infinite one, whatever the undefined ones are.
            findings=tuple(
                f for f in largest.findings if f.kind != "invalid" or not math.isinf(largest.value)
            ),
            largest=largest,
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`; at least 1 where the value is above 1."""
        if self.value > 1.0:
            return _ratio(self.largest.lower_bound(alpha))
        return math.exp(-self.largest.upper_bound(alpha))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`; at most 1 unless the value is above 1."""
        if self.value > 1.0:
            return _ratio(self.largest.upper_bound(alpha))
        return math.exp(-self.largest.lower_bound(alpha))

    def noise_floor(self) -> float:
        """Return the approximate value of equal groups, on this value's side of 1."""
        floor = self.largest.noise_floor()
        return _ratio(floor) if self.value > 1.0 else math.exp(-floor)

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error, from that of the log ratio; as in :class:`RateRatio`."""
        error = self.largest.standard_error(at)
        scale = self.value if at is None else at
        return error if math.isinf(scale) else error * scale

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes` of the largest absolute log ratio."""
        low, high = allowed
        limit = min(math.log(high), -math.log(low) if low > 0.0 else math.inf)
        return self.largest.fair_passes((-limit, limit), 0.0, alpha)


def _table(
    pairs: Mapping[Hashable, RateRatio],
    logs: Mapping[Hashable, GroupRow],
    rates: Mapping[Hashable, GroupRow],
) -> Table:
    """Return pairs with their ratio and p-value, then the groups' rates."""

    def row(key: Hashable) -> GroupRow:
        if key not in pairs:
            return rates[key]
        pair = pairs[key]
        p = math.nan if pair.undefined is not None else logs[key].p
        return GroupRow(pair.value, pair.sample.generations, p=p, estimate=pair)

    return Table([*pairs, *rates], row)


def _distance(pair: RateRatio) -> float:
    a, b = pair.rates
    # Unlike the logarithm of a ratio, this is exactly symmetric, so that ties stay ties.
    return abs(math.log(a) - math.log(b)) if a > 0.0 and b > 0.0 else math.inf


def _log(pair: RateRatio) -> RateRatio:
    """Return the same pair, as an absolute log ratio."""
    value = abs(math.log(pair.value)) if pair.value > 0.0 else math.inf
    return dataclasses.replace(
        pair,
        value=math.nan if pair.undefined is not None else value,
        attainable=(0.0, math.inf),
        form="log",
        method=pair.method.removesuffix(", folded") + ", folded",
    )


def _ratio(log: float) -> float:
    try:
        return math.exp(log)
    except OverflowError:  # beyond the largest float
        return math.inf

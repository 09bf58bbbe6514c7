"""Differences of two rates: demographic parity, error rates, label flips, selection at k."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._clusters import weighted_rows
from pytest_llmfair.stats._rates import TwoRates, read_rates
from pytest_llmfair.stats._records import Contributions, Ends, Floats, Passes, Population
from pytest_llmfair.stats._rows import NO_VARIANCE
from pytest_llmfair.stats._score_intervals import (
    difference_bound,
    paired_bound,
    precision_of,
    within_share,
)
from pytest_llmfair.stats.mean import Mean
from pytest_llmfair.stats.mean_difference import mean_within

# Mean of p (1 - p) over all base rates p: a plan knows the gap but not the rates.
_PLANNING_SPREAD = 1.0 / 6.0
_MANY_DRAWS = 100_000


@dataclass(eq=False, kw_only=True)
class RateDifference(Estimate):
    """Rate of the first group minus that of the second, or its absolute value.

    Miettinen-Nurminen score interval; on effective counts where rows cluster in units, Tango's
    score interval where each unit has one outcome in either group. For the absolute value the
    interval is folded: it holds ``|d|`` for every ``d`` in the signed one.
    """

    evidence: TwoRates
    absolute: bool
    # The difference as a mean over units that occur in both groups with several outcomes: where
    # few of them differ it is more skewed than two rates of the same error, and its interval is
    # held as well.
    within: Mean | None = None
    method: str = "Miettinen-Nurminen score"

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
        absolute: bool = True,
    ) -> RateDifference:
        """Compare the rates of two groups.

        Parameters
        ----------
        x_a, x_b : array_like of shape (n_a,), (n_b,)
            Outcomes 0 or 1 (booleans too), or fractions in [0, 1] where ties share a selection.
        units_a, units_b, population
            As in :meth:`Mean.of_rows`; a label in both groups makes the comparison paired.
        weights_a, weights_b : ndarray of shape (n_a,), (n_b,), optional
            Weights of the rows, not negative and not all 0 (units drawn from more only).
        absolute : bool
            Whether to take the absolute difference.

        Raises
        ------
        ValueError
            If a group is empty or a row is not in [0, 1] (names argument and row), or a fixed unit
            has fewer than two rows.

        Examples
        --------
        >>> RateDifference.of_outcomes([1, 1, 0, 1] * 10, [0, 1, 0, 0] * 10)
        RateDifference 0.500 [0.289, 0.665] (95 %, 80 units)
        """
        weights = weights_a, weights_b
        rates = read_rates(
            x_a, x_b, units_a, units_b, population, scale="difference", weights=weights
        )
        a, b = (
            weighted_rows(np.asarray(x, dtype=np.float64), own)
            for x, own in zip((x_a, x_b), weights, strict=True)
        )
        method = "Miettinen-Nurminen score" + (" on effective counts" if rates.clustered else "")
        within = None
        if rates.differences is not None:
            within = mean_within(rates.differences, rates.gap, 1.0)
        return cls(
            value=abs(rates.gap) if absolute else rates.gap,
            sample=rates.sample,
            attainable=(0.0, 1.0) if absolute else (-1.0, 1.0),
            contributions=Contributions.of_groups(
                rates.gap, a - rates.a.value, rates.b.value - b, rates.unit, span=1.0
            ),
            findings=rates.findings,
            evidence=rates,
            absolute=absolute,
            within=within if within is not None and within.variance > NO_VARIANCE else None,
            method=("Tango score" if rates.discordance is not None else method)
            + (", folded" if absolute else ""),
        )

    @property
    def rates(self) -> tuple[float, float]:
        """Rates of the first and the second group."""
        return self.evidence.a.value, self.evidence.b.value

    @property
    def signed(self) -> RateDifference:
        """The difference with its sign, first group minus second."""
        return dataclasses.replace(
            self,
            value=self.evidence.gap,
            attainable=(-1.0, 1.0),
            absolute=False,
            method=self.method.removesuffix(", folded"),
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        low = -self._end(alpha, -1)
        return max(0.0, low, -self._end(alpha, 1)) if self.absolute else low

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        high = self._end(alpha, 1)
        return max(high, self._end(alpha, -1)) if self.absolute else high

    def _end(self, alpha: float, sign: Literal[1, -1]) -> float:
        """Upper end of the signed difference times `sign`."""
        rates = self.evidence
        if rates.discordance is not None:
            draws = precision_of(rates.sample.units, alpha)
            return paired_bound(sign * rates.gap, rates.discordance, draws)
        a, b = (rates.a, rates.b)[::sign]
        found = difference_bound(
            a.value, b.value, a.precision(alpha), b.precision(alpha), rates.correction
        )
        if self.within is None:
            return found
        ends = self.within.upper_bound(alpha) if sign > 0 else -self.within.lower_bound(alpha)
        return min(1.0, max(found, ends))

    def noise_floor(self) -> float:
        """Return the expected absolute difference of such equal groups; NaN for the signed one."""
        if not self.absolute:
            return math.nan
        rates = self.evidence
        if rates.discordance is not None:
            return _walk_floor(rates.sample.units, rates.discordance)
        a, b = rates.a, rates.b
        return _binomial_floor(
            rates.pooled, max(1, round(a.effective)), max(1, round(b.effective))
        )

    def standard_error(self, at: float | None = None) -> float:
        """Return that of the signed difference; planned, the average over all base rates."""
        rates = self.evidence
        if at is not None:
            return math.sqrt(rates.planned_variance(_PLANNING_SPREAD * max(0.0, 1.0 - at * at)))
        if rates.discordance is not None:
            n, gap = rates.sample.units, rates.gap
            share = (rates.discordance * n + 1.0) / (n + 2.0)
            return math.sqrt(max(rates.discordance - gap * gap, share * (1.0 - share) / n) / n)
        variance = rates.a.variance + rates.b.variance
        if variance == 0.0:
            variance = rates.a.smoothed_variance + rates.b.smoothed_variance
        return math.sqrt(variance)

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`, with both groups at the rate of all rows."""
        rates = self.evidence
        room = (-allowed[1], allowed[1]) if self.absolute else allowed

        def passes(more: float) -> float:
            if rates.discordance is not None:
                units, draws = rates.sample.units, rates.sample.units * more
                # Equal pairs do not show how others vary: use the planned share.
                discordance = rates.discordance or units * self.standard_error(0.0) ** 2
                error = math.sqrt(discordance / draws)
                width = paired_bound(0.0, discordance, precision_of(draws, alpha))
                return within_share(error, room, (width, width))
            return rates.parity_within(more, room, alpha)

        return passes


def _binomial_floor(rate: float, n_a: int, n_b: int) -> float:
    """Mean absolute difference of two independent shares with the same rate."""
    # Exact, except for so many draws that the normal approximation is equally good.
    if rate in (0.0, 1.0):
        return 0.0
    if max(n_a, n_b) > _MANY_DRAWS:
        return math.sqrt(2.0 / math.pi * rate * (1.0 - rate) * (1.0 / n_a + 1.0 / n_b))
    hits_a, hits_b = np.arange(n_a + 1), np.arange(n_b + 1)
    points = np.unique(np.concatenate([hits_a / n_a, hits_b / n_b]))
    # E|U - V| is the integral of F (1 - G) + G (1 - F).
    below_a = special.bdtr(np.floor(points * n_a + 1e-9), n_a, rate)
    below_b = special.bdtr(np.floor(points * n_b + 1e-9), n_b, rate)
    apart = below_a * (1.0 - below_b) + below_b * (1.0 - below_a)
    return float((apart[:-1] * np.diff(points)).sum())


def _walk_floor(pairs: int, discordance: float) -> float:
    """Mean absolute difference over pairs when discordant pairs go either way equally often."""
    if discordance == 0.0:
        return 0.0
    m = np.arange(1, pairs + 1)
    log_share = (
        special.gammaln(pairs + 1)
        - special.gammaln(m + 1)
        - special.gammaln(pairs - m + 1)
        + special.xlogy(m, discordance)
        + special.xlog1py(pairs - m, -discordance)
    )
    half = (m - 1) // 2
    log_walk = (
        np.log(m)
        + special.gammaln(m)
        - special.gammaln(half + 1)
        - special.gammaln(m - half)
        - (m - 1) * math.log(2.0)
    )
    return float(np.exp(log_share + log_walk).sum()) / pairs

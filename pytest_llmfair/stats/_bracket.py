"""The bracket: an interval for any convex distance, whose plug-in is always biased upwards.

A distance is the largest value of many linear functionals. Its plug-in takes the functional that
fits the noise best, so its mean lies above the truth; a functional chosen on some units and
evaluated on others has its mean below. Both together enclose the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from pytest_llmfair.stats._clusters import Floats
from pytest_llmfair.stats._intervals import t_quantile, zero_event_bound
from pytest_llmfair.stats._records import Finding
from pytest_llmfair.stats._resampling import Strata, upper_quantile
from pytest_llmfair.stats._rows import FEW_EVENTS, FEW_UNITS

# Chosen by data, even on other units, a functional has a somewhat larger error than a given one.
INFLATION = 1.1
_ROUNDING = 1e-12
_WORK = 40_000_000
_DRAWS = (500, 2000)
_RELABELLINGS = (400, 4000)
# Equally likely values that stand for a whole distribution.
QUANTILES = (np.arange(50) + 0.5) / 50


class Engine(Protocol):
    """What bounds a distance."""

    @property
    def method(self) -> str:
        """The engine in words."""

    @property
    def value(self) -> float:
        """The plug-in."""

    @property
    def debiased(self) -> float:
        """The value without its upward bias."""

    def lower(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""

    def upper(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""

    def error(self) -> float:
        """Observed standard error."""

    def noise_floor(self) -> float:
        """Mean value when groups are equal."""

    def p_equal(self) -> float:
        """p-value of equal groups."""

    @property
    def rate(self) -> float:
        """Power of the sample size with which upper ends shrink when groups are equal."""

    def fair_ends(self, alpha: float) -> Floats:
        """Upper ends of data of this size from groups that are equal."""


class Problem(Protocol):
    """A convex distance between groups, as a function of weights on the sampling units."""

    @property
    def strata(self) -> Strata:
        """How units are resampled."""

    @property
    def columns(self) -> int:
        """Numbers held per weighting, as a measure of its cost."""

    def plug_in(self, weights: Floats) -> Floats:
        """Distance at each row of `weights` (n_draws, n_units)."""

    def frozen(self, chosen: Floats, held: Floats) -> Floats:
        """Functionals that touch the distance at `chosen`, evaluated at `held`, row by row."""

    def influence(self) -> Floats:
        """Influence of each unit on the functional chosen at equal weights; sums to zero."""

    def relabelled(self, draws: int) -> Floats:
        """Distances after random relabelling of groups that leaves units whole."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Whether units that look alike may hide others: rule of three for distances.

    `events` are the units, of all `trials`, that differ from the most common one.
    """

    events: int
    trials: int

    def unseen(self, alpha: float) -> float:
        """Share of units that may be unlike all of these; 0 where enough differ to tell."""
        return zero_event_bound(self.trials, alpha) if self.events < FEW_EVENTS else 0.0


@dataclass(eq=False)
class Bracket:
    """Bounds of a distance from its plug-in, bootstrap and cross-fits, each computed once.

    `span` is the largest possible distance; each independent sample has a guard.
    """

    problem: Problem
    span: float
    guards: Sequence[Guard]

    method = "bracket: bootstrap and t above, cross-fit below"
    rate = 0.5

    @cached_property
    def value(self) -> float:
        """The plug-in."""
        value = float(self.problem.plug_in(np.ones((1, self.problem.strata.units)))[0])
        return 0.0 if value <= self._rounding else min(value, self.span)

    @cached_property
    def _rounding(self) -> float:
        return _ROUNDING * (self.span if math.isfinite(self.span) else 1.0)

    @property
    def single(self) -> bool:
        """Whether some sample has one unit only, so that nothing shows how much units vary."""
        return int(self.problem.strata.sizes.min()) < 2

    @cached_property
    def _error_df(self) -> tuple[float, float]:
        variance, df = self.problem.strata.variance(self.problem.influence())
        error = math.sqrt(variance)
        return (error if error > self._rounding else 0.0), df

    @cached_property
    def _draws(self) -> Floats:
        columns = max(self.problem.columns, self.problem.strata.units)
        draws = min(max(_WORK // columns, _DRAWS[0]), _DRAWS[1])
        parts = [
            self.problem.plug_in(weights)
            for weights in self.problem.strata.bootstrap(draws, columns)
        ]
        return np.sort(np.concatenate(parts))

    @cached_property
    def _cross_fit(self) -> float:
        return float(np.mean(self.problem.frozen(*self.problem.strata.halves())))

    @cached_property
    def _relabelled(self) -> Floats:
        columns = max(self.problem.columns, self.problem.strata.units)
        least, most = _RELABELLINGS
        return self.problem.relabelled(min(max(_WORK // (2 * columns), least), most) - 1)

    @property
    def constant(self) -> bool:
        """Whether no resampling changes the distance."""
        if self.single or self._error_df[0] > 0.0:
            return False
        return float(self._draws[-1] - self._draws[0]) <= self._rounding

    @property
    def debiased(self) -> float:
        """Mean of the cross-fits, clipped at 0; never above the plug-in."""
        return 0.0 if self.single else min(max(0.0, self._cross_fit), self.value)

    def lower(self, alpha: float) -> float:
        """Lower end with error rate `alpha`: cross-fit less its error."""
        if self.single:
            return 0.0
        error, df = self._error_df
        reach = INFLATION * t_quantile(1.0 - alpha, df) * error
        unseen = self._unseen(alpha)
        return max(0.0, min(self._cross_fit - reach, self.value * (1.0 - unseen)))

    def upper(self, alpha: float) -> float:
        """Upper end with error rate `alpha`: plug-in plus its error, or the bootstrap's end."""
        if self.single:
            return self.span
        error, df = self._error_df
        unseen = self._unseen(alpha)
        # Without the test an unlimited scale gives inf * 0.
        guarded = self.value + unseen * (self.span - self.value) if unseen > 0.0 else self.value
        far = self.value + t_quantile(1.0 - alpha, df) * error
        return min(self.span, max(far, self._quantile(alpha), guarded))

    def _unseen(self, alpha: float) -> float:
        if self.constant:
            return self._no_event(alpha)
        return max(guard.unseen(alpha) for guard in self.guards)

    def _no_event(self, alpha: float) -> float:
        return max(zero_event_bound(guard.trials, alpha) for guard in self.guards)

    def _quantile(self, alpha: float) -> float:
        return upper_quantile(self._draws, alpha)

    def error(self) -> float:
        """Return the standard error of the functional that the data chose; NaN with one unit."""
        if self.single:
            return math.nan
        error = self._error_df[0]
        return error if error > 0.0 else float(self._draws.std())

    def noise_floor(self) -> float:
        """Mean plug-in after relabelling: what equal groups would score at this sample size."""
        return float(self._relabelled.mean())

    def p_equal(self) -> float:
        """Permutation p-value of equal groups."""
        draws = len(self._relabelled)
        return (1.0 + draws * self.as_far_if_equal) / (1.0 + draws)

    @cached_property
    def as_far_if_equal(self) -> float:
        """Share of relabellings at least as far apart; may be 0, unlike a p-value."""
        return float((self._relabelled >= self.value - self._rounding).mean())

    def flags(self) -> tuple[Finding, ...]:
        """Warnings about few or equal units."""
        found: dict[str, str] = {}
        fewest = min(self.guards, key=lambda guard: guard.trials)
        rarest = min(self.guards, key=lambda guard: guard.events)
        if self.single:
            found["thin_evidence"] = "one unit only: nothing shows how much units differ"
        elif fewest.trials < FEW_UNITS:
            found["thin_evidence"] = (
                f"only {fewest.trials} units: below {FEW_UNITS} the interval is a rough guide"
            )
        elif rarest.events < FEW_EVENTS:
            found["thin_evidence"] = (
                f"only {rarest.events} of {rarest.trials} units show any difference, so "
                "the interval is wider to allow for differences that this sample missed"
            )
        if self.constant:
            found["no_variance"] = (
                "resampling never changes the value: every unit counts as one draw"
            )
        return tuple(Finding(*each) for each in found.items())

    def fair_ends(self, alpha: float) -> Floats:
        """Upper ends of data of this size from groups that are equal; NaN with one unit."""
        if self.single:
            return np.full(1, math.nan)
        draws = np.quantile(self._relabelled, QUANTILES)
        return np.array([self._end_of(float(draw), alpha) for draw in draws])

    def _end_of(self, value: float, alpha: float) -> float:
        """Upper end with error rate `alpha` if the plug-in were `value`."""
        return value + self.upper(alpha) - self.value

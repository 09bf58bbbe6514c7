"""Intervals of convex distances, whose plug-in is always biased upwards.

A distance is the largest value of many linear functionals. Its plug-in takes the functional that
fits the noise best, so its mean lies above the truth. A functional chosen on some units and
evaluated on others (cross-fit) has a mean below the truth. Together they enclose it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy import special

from pytest_llmfair.stats._distributions import Distributions
from pytest_llmfair.stats._layout import Grouped, Guard, ranks
from pytest_llmfair.stats._records import Ends, Finding, Floats, Population
from pytest_llmfair.stats._resampling import upper_quantile
from pytest_llmfair.stats._rows import FEW_EVENTS, ONE_UNIT, few_units
from pytest_llmfair.stats._score_intervals import find_root, t_quantile, zero_event_bound
from pytest_llmfair.stats._totals import BinErrors, Divergence, MeanGaps, Norm, Totals

# A functional that data chose has a somewhat larger error than a given one.
INFLATION = 1.1
_ROUNDING = 1e-12
_WORK = 40_000_000
_DRAWS = (500, 2000)
_RELABELLINGS = (400, 4000)
# Equally likely values that represent a whole distribution.
QUANTILES = (np.arange(50) + 0.5) / 50


@dataclass(eq=False)
class Bracket:
    """Bounds of a distance from its plug-in, bootstrap and cross-fits, each computed once."""

    problem: Totals | Distributions
    # The largest possible distance.
    span: float
    # One for each independent sample.
    guards: Sequence[Guard]

    method = "bracket: bootstrap and t above, cross-fit below"
    rate = 0.5
    exact_ends = False

    @cached_property
    def value(self) -> float:
        value = float(self.problem.plug_in(np.ones((1, self.problem.layout.strata.units)))[0])
        return 0.0 if value <= self._rounding else min(value, self.span)

    @cached_property
    def _rounding(self) -> float:
        return _ROUNDING * (self.span if math.isfinite(self.span) else 1.0)

    @property
    def single(self) -> bool:
        """Whether some sample has one unit only, so that nothing shows how much units vary."""
        return int(self.problem.layout.strata.sizes.min()) < 2

    @cached_property
    def _error_df(self) -> tuple[float, float]:
        variance, df = self.problem.layout.strata.variance(self.problem.influence())
        error = math.sqrt(variance)
        return (error if error > self._rounding else 0.0), df

    @cached_property
    def _draws(self) -> Floats:
        columns = max(self.problem.columns, self.problem.layout.strata.units)
        draws = min(max(_WORK // columns, _DRAWS[0]), _DRAWS[1])
        weights = self.problem.layout.strata.bootstrap(draws, columns)
        return np.sort(np.concatenate(list(map(self.problem.plug_in, weights))))

    @cached_property
    def _cross_fit(self) -> float:
        halves = self.problem.layout.strata.halves()
        parts = [self.problem.frozen(chosen, held).reshape(2, -1) for chosen, held in halves]
        return float(np.mean(np.concatenate(parts, axis=1)))

    @cached_property
    def relabelled(self) -> Floats:
        """Distances after random relabelling."""
        columns = max(self.problem.columns, self.problem.layout.strata.units)
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
        # On an unlimited scale this would be inf * 0.
        guarded = self.value + unseen * (self.span - self.value) if unseen > 0.0 else self.value
        far = self.value + t_quantile(1.0 - alpha, df) * error
        return min(self.span, max(far, upper_quantile(self._draws, alpha), guarded))

    def _unseen(self, alpha: float) -> float:
        if self.constant:
            return max(zero_event_bound(guard.trials, alpha) for guard in self.guards)
        return max(guard.unseen(alpha) for guard in self.guards)

    def error(self) -> float:
        """Return the standard error of the functional that the data chose; NaN with one unit."""
        if self.single:
            return math.nan
        error = self._error_df[0]
        return error if error > 0.0 else float(self._draws.std())

    def noise_floor(self) -> float:
        """Mean plug-in after relabelling: what equal groups would score at this sample size."""
        return float(self.relabelled.mean())

    def p_equal(self) -> float:
        """Permutation p-value of equal groups."""
        draws = len(self.relabelled)
        return (1.0 + draws * self.as_far_if_equal) / (1.0 + draws)

    @cached_property
    def as_far_if_equal(self) -> float:
        """Share of relabellings at least as far apart; may be 0, unlike a p-value."""
        return float((self.relabelled >= self.value - self._rounding).mean())

    def flags(self) -> list[Finding]:
        rarest = min(self.guards, key=lambda guard: guard.events)
        found = few_units(min(guard.trials for guard in self.guards))
        found = [ONE_UNIT] if self.single else found
        if not found and rarest.events < FEW_EVENTS:
            few = (
                f"only {rarest.events} of {rarest.trials} units show any difference, so "
                "the interval is wider to allow for differences that this sample missed"
            )
            found.append(Finding("thin_evidence", few))
        if self.constant:
            same = "resampling never changes the value: every unit counts as one draw"
            found.append(Finding("no_variance", same))
        return found

    def fair_ends(self, alpha: float) -> Floats:
        """Upper ends of data of this size from groups that are equal; NaN with one unit."""
        if self.single:
            return np.full(1, math.nan)
        draws = np.quantile(self.relabelled, QUANTILES)
        return np.array([self._end_of(float(draw), alpha) for draw in draws])

    def _end_of(self, value: float, alpha: float) -> float:
        """Upper end with error rate `alpha` if the plug-in were `value`."""
        return value + self.upper(alpha) - self.value


# Beyond this many standard errors a folded normal is a normal.
_FAR = 8.0
_GRID = np.linspace(0.0, _FAR, 2001)
_FOLDED = math.sqrt(2.0 / math.pi) * np.exp(-0.5 * _GRID**2) + _GRID * (
    2.0 * special.ndtr(_GRID) - 1.0
)
_NOISE_DRAWS = 500


@dataclass(eq=False)
class FoldedBracket(Bracket):
    """Bounds of a sum of absolute differences, less the bias of taking absolute values."""

    problem: Totals

    method = "folded normal above, cross-fit below"

    @cached_property
    def _noise(self) -> float:
        """Sum of the standard errors of the terms."""
        return self.problem.noise(
            self.problem.layout.strata.bootstrap(_NOISE_DRAWS, self.problem.columns)
        )

    @property
    def debiased(self) -> float:
        """Mean of the cross-fits, clipped at 0 and at the upper end of every interval."""
        return 0.0 if self.single else min(super().debiased, self.upper(0.5))

    def lower(self, alpha: float) -> float:
        # Over many terms that are all 0 the cross-fits vary more than the functional chosen at
        # equal weights, so the lower end stays 0 unless relabelling separates the groups too.
        found = min(super().lower(alpha), self.debiased)
        return found if found > 0.0 and self.as_far_if_equal <= alpha else 0.0

    def upper(self, alpha: float) -> float:
        """Largest truth at which so small a plug-in has at least probability `alpha`."""
        # A plug-in below its mean for equal groups is treated like that mean.
        if self.single or not self._noise > self._rounding:
            return super().upper(alpha)
        return self._end_of(self.value, alpha)

    def _end_of(self, value: float, alpha: float) -> float:
        if not self._noise > self._rounding:
            return super()._end_of(value, alpha)
        error, df = self._error_df
        spread = upper_quantile(self._draws, alpha) - float(self._draws.mean())
        reach = max(t_quantile(1.0 - alpha, df) * error, spread, 0.0)
        seen = max(value, self._noise * float(_FOLDED[0])) + reach
        unseen = self._unseen(alpha)
        guarded = value + unseen * (self.span - value) if unseen > 0.0 else 0.0
        ratio = seen / self._noise
        # The largest truth whose plug-in has a mean of at most `seen`.
        truth = seen if ratio >= _FAR else self._noise * float(np.interp(ratio, _FOLDED, _GRID))
        return min(self.span, max(truth, guarded))


# Nodes of a Gauss quadrature over probabilities, and their weights.
_NODES, _WEIGHTS = (0.5 * (x + shift) for x, shift in zip(leggauss(24), (1.0, 0.0), strict=True))
# A statistic counts as rarely undershot at a truth of 0 up to the error rate plus this.
_RARE = 0.1
# Error rates at which the least upper end is compared with the requested one.
_ALPHAS = (0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.225, 0.25, 0.275, 0.3, 0.35, 0.4, 0.45)


@dataclass(frozen=True)
class Noncentral:
    """Distribution of a non-negative statistic whose mean is the truth plus a floor."""

    # A multiple of a noncentral chi-square with the same mean and variance, averaged over what the
    # true variance may be. `floor` and `variance` belong to a truth of 0, and the variance grows
    # by `slope` with the truth. `shift` is the change of the floor at some truth, and that truth:
    # the floor changes linearly up to there and is constant beyond.

    floor: float
    variance: float
    slope: float
    df: float
    shift: Ends

    @cached_property
    def _ratios(self) -> Floats:
        """Estimated over true variance at the nodes: chi-square over its degrees of freedom."""
        return np.asarray(special.chdtri(self.df, 1.0 - _NODES) / self.df)

    def probability(self, seen: float, truth: float) -> float:
        """Probability of a statistic up to `seen` when the truth is `truth`."""
        change, at = self.shift
        floor = self.floor + change * min(1.0, truth / at)
        scale = (self.variance + self.slope * truth) / (2.0 * floor + 4.0 * truth)
        ratios = self._ratios / scale
        return float(_WEIGHTS @ special.chndtr(seen * ratios, floor / scale, truth * ratios))

    def lower(self, seen: float, alpha: float) -> float:
        """Smallest truth at which so large a statistic has at least probability `alpha`."""
        return self._truth(seen, 1.0 - alpha)

    def upper(self, seen: float, alpha: float) -> float:
        """Largest truth at which so small a statistic has at least probability `alpha`."""
        # A statistic that is often as small at a truth of 0 is treated like its mean there: no
        # level proves equality.
        found, least = self._truth(seen, alpha), self._least(alpha)
        if found < least:
            # With very few degrees of freedom this bound rises again; take the smallest so far.
            least = min([least, *(other for at, other in self._leasts.items() if at < alpha)])
        return max(found, least)

    def _least(self, alpha: float) -> float:
        """Upper end for a statistic that a truth of 0 rarely falls short of."""
        df = 2.0 * self.floor**2 / self.variance
        rare = float(special.fdtri(df, self.df, alpha + _RARE))
        return self._truth(self.floor * rare, alpha)

    @cached_property
    def _leasts(self) -> dict[float, float]:
        return {alpha: self._least(alpha) for alpha in _ALPHAS}

    def _truth(self, seen: float, below: float) -> float:
        """Truth under which a statistic up to `seen` has probability `below`."""
        if self.probability(seen, 0.0) <= below:
            return 0.0
        high = (seen + self.floor) ** 0.5
        while self.probability(seen, high * high) > below:
            high *= 2.0
        return find_root(lambda x: self.probability(seen, x * x) - below, 0.0, high) ** 2


class QuadraticBracket(Bracket):
    """Bounds by a noncentral chi-square whose moments at equality come from relabelling."""

    # At equality a divergence has slope 0, so a standard error or a bootstrap, which adds the bias
    # a second time, would be far too wide. Away from equality the variance is that of the linear
    # functional that the data chose.

    method = "noncentral chi-square, moments by relabelling"
    rate = 1.0

    @cached_property
    def _law(self) -> Noncentral | None:
        draws = self.relabelled
        variance = float(draws.var())
        if self.single or not variance > self._rounding**2 or not self.value > 0.0:
            return None
        error, df = self._error_df
        floor = float(draws.mean())
        # The bootstrap shows how much of that bias remains at the observed shares.
        change = float(self._draws.mean()) - self.value - floor
        change = max(change, -0.5 * min(floor, self.value))
        slope = (INFLATION * error) ** 2 / self.value
        return Noncentral(floor, variance, slope, df, (change, self.value))

    @property
    def debiased(self) -> float:
        """Median-unbiased divergence; inside the interval at every level."""
        return self.lower(0.5)

    def lower(self, alpha: float) -> float:
        """Smallest truth at which so large a divergence has at least probability `alpha`."""
        if self._law is None:
            return super().lower(alpha)
        seen = self._law.lower(self.value, alpha)
        return min(seen, self.value * (1.0 - self._unseen(alpha)))

    def upper(self, alpha: float) -> float:
        """Largest truth at which so small a divergence has probability `alpha`; never 0."""
        if self._law is None:
            return super().upper(alpha)
        return self._end_of(self.value, alpha)

    def _end_of(self, value: float, alpha: float) -> float:
        if self._law is None:
            return super()._end_of(value, alpha)
        guarded = value + self._unseen(alpha) * (self.span - value)
        found = self._law.upper(value, alpha)
        return min(self.span, max(found, guarded if self._unseen(alpha) > 0.0 else 0.0))


def bracket_totals(
    grouped: Grouped, rows: Floats, norm: Norm, population: Population, span: float
) -> Bracket:
    """Bracket of a distance on the totals of `rows`; `norm` numbers groups as `grouped` does."""
    codes = ranks(*rows.T)
    layout, order, group_order = grouped.layout(codes, population)
    if isinstance(norm, MeanGaps):
        norm = MeanGaps(norm.sides.reordered(group_order))
    kind: type[Bracket] = Bracket
    if isinstance(norm, (MeanGaps, BinErrors)):
        kind = FoldedBracket
    elif isinstance(norm, Divergence):
        kind = QuadraticBracket
    return kind(Totals(rows[order], layout, norm), span, layout.guards(codes[order], population))

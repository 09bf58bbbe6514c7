"""Terms with binomial counts: the mean of |2 p - 1|, p a share of successes (neutrality)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from pytest_llmfair.stats._clusters import check_rows, exact_mean
from pytest_llmfair.stats._crossfit import QUANTILES
from pytest_llmfair.stats._records import Finding, Floats, Indices
from pytest_llmfair.stats._resampling import SEED_LABELS
from pytest_llmfair.stats._rows import few_units
from pytest_llmfair.stats._score_intervals import normal_quantile, wilson
from pytest_llmfair.stats.mean import Mean

# Cross-fits sum over all splits up to this size; beyond it the held-out count is taken as normal.
_EXACT = 200


def folded_mean(n: int, skew: Floats) -> Floats:
    """Mean of ``|2 X / n - 1|`` for X ~ Bin(n, (1 + skew) / 2), `skew` in [0, 1]."""
    p = 0.5 * (1.0 + skew)
    over = n // 2 + 1
    # E(2X - n)+ = 2 n p P(Bin(n - 1, p) >= over - 1) - n P(Bin(n, p) >= over)
    above = np.ones_like(p) if n == 1 else special.bdtrc(over - 2, n - 1, p)
    excess = 2.0 * p * above - special.bdtrc(over - 1, n, p)
    return np.asarray(np.where(skew >= 1.0, 1.0, 2.0 * excess - skew))


def folded_slope(n: int, skew: Floats) -> Floats:
    """Slope of :func:`folded_mean`: 0 at parity, 1 at the far end; n >= 2."""
    p = 0.5 * (1.0 + skew)
    above = special.bdtrc((n + 1) // 2 - 1, n - 1, p)
    below = special.bdtr(n // 2 - 1, n - 1, p)
    return np.asarray(np.where(skew >= 1.0, 1.0, above - below))


def folded_variance(n: int, skew: Floats) -> Floats:
    second = skew**2 + (1.0 - skew**2) / n
    return np.asarray(np.maximum(0.0, second - folded_mean(n, skew) ** 2))


@lru_cache(maxsize=512)
def cross_fits(n: int) -> Floats:
    """Cross-fit of each possible count 0..n: sign from one part, difference from the rest."""
    # The mean over all splits of sign(2 p_kept - 1) (2 p_held - 1) with a third of the generations
    # held out. Its mean over X is at most |d|.
    hits = np.arange(n + 1, dtype=np.float64)
    held = max(1, n // 3)
    if n > _EXACT:
        skew = 2.0 * hits / n - 1.0
        spread = np.sqrt((n - held) * (1.0 - skew**2) / (held * (n - 1.0)))
        reach = np.divide(
            skew * (n - held) / held, spread, out=np.sign(skew) * 40.0, where=spread > 0.0
        )
        density = np.exp(-0.5 * reach**2) / math.sqrt(2.0 * math.pi)
        return np.asarray(skew * (2.0 * special.ndtr(reach) - 1.0) - 2.0 * spread * density)
    k = np.arange(held + 1, dtype=np.float64)
    x = hits[:, None]
    possible = (k <= x) & (held - k <= n - x)
    with np.errstate(invalid="ignore"):
        log_weight = _log_choose(x, k) + _log_choose(n - x, held - k) - _log_choose(n, held)
    weight = np.where(possible, np.exp(np.where(possible, log_weight, -np.inf)), 0.0)
    sign = np.sign(2.0 * (x - k) - (n - held))
    return np.asarray((weight * sign * (2.0 * k / held - 1.0)).sum(axis=1))


def _log_choose(n: Floats | float, k: Floats | float) -> Floats:
    return np.asarray(
        special.gammaln(n + 1.0)
        - special.gammaln(k + 1.0)
        - special.gammaln(np.maximum(n - k, 0.0) + 1.0)
    )


@lru_cache(maxsize=4096)
def cross_fit_variance(n: int, p: float) -> float:
    """Variance of a term's cross-fit when its count is Bin(n, p)."""
    if p >= 1.0:
        return 0.0
    reach = 8.0 * math.sqrt(n * p * (1.0 - p)) + 2.0
    window = max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach)) + 1
    x = np.arange(*window, dtype=np.float64)
    weight = np.exp(_log_choose(n, x) + x * math.log(p) + (n - x) * math.log1p(-p))
    fits = cross_fits(n)[window[0] : window[1]]
    centre = float(weight @ fits)
    return float(weight @ (fits - centre) ** 2)


class Fold:
    """Bounds of the mean |skew| of terms from the mean of their observed |2 p - 1|."""

    def __init__(self, trials: Indices) -> None:
        sizes, counts = np.unique(trials, return_counts=True)
        share = counts / len(trials)
        self.terms = len(trials)
        self.floor = math.fsum(
            w * float(folded_mean(int(n), np.zeros(1))[0])
            for n, w in zip(sizes, share, strict=True)
        )
        # Continuity correction of half a count.
        self.half_step = math.fsum((1.0 / trials).tolist()) / self.terms**2
        self._tabulate(sizes.tolist(), share)

    def _tabulate(self, sizes: list[int], share: Floats) -> None:
        """Least mean plug-in, and its variance, by true value."""
        # For a given mean of the |2 p - 1| the mean plug-in is least where all slopes are equal.
        grid = np.linspace(0.0, 1.0, 601) ** 2
        slopes = special.erf(np.linspace(0.0, 5.5, 601))
        skews = [
            grid if len(sizes) == 1 else np.interp(slopes, folded_slope(n, grid), grid)
            for n in sizes
        ]
        truth = sum(w * skew for w, skew in zip(share, skews, strict=True))
        least = sum(w * folded_mean(n, a) for w, n, a in zip(share, sizes, skews, strict=True))
        self.truth = np.append(truth, 1.0) if truth[-1] < 1.0 else np.asarray(truth)
        self.least = np.append(least, 1.0) if truth[-1] < 1.0 else np.asarray(least)
        even = sum(w * folded_variance(n, self.truth) for w, n in zip(share, sizes, strict=True))
        uneven = sum(
            w * folded_variance(n, a) for w, n, a in zip(share, sizes, skews, strict=True)
        )
        uneven = np.append(uneven, 0.0) if truth[-1] < 1.0 else uneven
        self.error = np.sqrt(np.maximum(even, uneven) / self.terms)

    def upper(self, value: float, quantile: float) -> float:
        """Largest truth at which so small a plug-in has at least the probability of `quantile`."""
        # Nothing is fairer than parity, so a plug-in below its mean at parity counts as that mean.
        seen = max(value, self.floor) + self.half_step
        return self._largest(self.least - quantile * self.error, seen)

    def unfold(self, value: float) -> float:
        """Largest truth whose plug-in has a mean of at most `value`."""
        return self._largest(self.least, value)

    def _largest(self, curve: Floats, seen: float) -> float:
        rising = np.minimum.accumulate(curve[::-1])[::-1]
        k = int(np.searchsorted(rising, seen, side="right"))
        if k == 0:
            return 0.0
        if k == len(rising):
            return 1.0
        step = (seen - rising[k - 1]) / (rising[k] - rising[k - 1])
        return float(self.truth[k - 1] + step * (self.truth[k] - self.truth[k - 1]))


_RELABELLINGS, _FAIR_DRAWS = 1999, 100  # draws at parity, and those whose interval is computed


@dataclass(eq=False)
class Terms:
    """Counts per term; the terms are fixed and only generations vary."""

    # Counts of one of two outcomes, and generations. A term with a single generation always has
    # |2 p - 1| = 1, so it shows nothing: its true value may be anything from 0 to 1.
    hits: Indices
    trials: Indices

    method = "exact binomial fold above, exact cross-fit below"
    rate = 0.5
    # The ends at parity are exact: no width is estimated.
    exact_ends = True

    @cached_property
    def several(self) -> NDArray[np.bool_]:
        """Whether each term has more than one generation."""
        return self.trials > 1

    def _in_all(self, of_several: Callable[[], float]) -> float:
        """Bound of the mean over all terms, from the bound for terms with several generations."""
        part = float(self.several.mean())
        return 1.0 if part == 0.0 else part * of_several() + 1.0 - part

    @cached_property
    def skews(self) -> Floats:
        """Observed |2 p - 1| per term."""
        return np.abs(2.0 * self.hits / self.trials - 1.0)

    @cached_property
    def value(self) -> float:
        return exact_mean(self.skews)

    @cached_property
    def _fold(self) -> Fold:
        return Fold(self.trials[self.several])

    @cached_property
    def term_fits(self) -> Floats:
        """Cross-fit of each term."""
        counts = zip(self.hits.tolist(), self.trials.tolist(), strict=True)
        return np.array([cross_fits(n)[x] for x, n in counts])

    @cached_property
    def cross_fit(self) -> float:
        """Mean of the cross-fits: unbiased for something never above the truth."""
        return exact_mean(self.term_fits)

    @cached_property
    def debiased(self) -> float:
        """Cross-fit, clipped at 0 and at the upper end of every interval."""
        return min(max(0.0, self.cross_fit), self.upper(0.5))

    def lower(self, alpha: float) -> float:
        """Wilson bound of the cross-fit, on the generations that its variance is worth."""
        share, effective = self._fitted_share
        low = wilson(share, effective, normal_quantile(1.0 - alpha))[0]
        return min(max(0.0, 2.0 * low - 1.0), self.debiased)

    @cached_property
    def _fitted_share(self) -> tuple[float, float]:
        """Cross-fit as a share in [0, 1], and the draws its variance is worth."""
        # Small terms are one-sided by chance, so each variance is taken at the majority with two
        # average draws added. At most, each term spends one draw on its sign.
        average = 0.5 * (1.0 + max(0.0, self.cross_fit))
        majority = np.maximum(self.hits, self.trials - self.hits)
        p = (majority + 2.0 * average) / (self.trials + 2.0)
        variance = math.fsum(map(cross_fit_variance, self.trials.tolist(), p.tolist()))
        variance /= len(self.trials) ** 2
        half_step = math.fsum((1.0 / self.trials[self.several]).tolist()) / len(self.trials) ** 2
        share = max(0.0, 0.5 * (1.0 + self.cross_fit - half_step))
        spread = 1.0 - (2.0 * share - 1.0) ** 2
        most = float(self.trials.sum() - len(self.trials))
        worth = spread / variance if variance > 0.0 else most
        return share, max(min(worth, most), 1.0)

    def upper(self, alpha: float) -> float:
        """Largest truth at which so small a plug-in has at least probability `alpha`."""
        return self._in_all(
            lambda: self._fold.upper(
                exact_mean(self.skews[self.several]), normal_quantile(1.0 - alpha)
            )
        )

    def error(self) -> float:
        """Return the error of the mean skew, with one more event of each kind per term."""
        p = (self.hits + 1.0) / (self.trials + 2.0)
        variances = 4.0 * p * (1.0 - p) / self.trials
        return math.sqrt(math.fsum(variances.tolist())) / len(p)

    def noise_floor(self) -> float:
        """Mean of the value at exact parity (exact binomial)."""
        return self._in_all(lambda: self._fold.floor)

    @cached_property
    def _at_parity(self) -> Floats:
        """Draws of |2 p - 1| per term at exact parity."""
        generator = np.random.default_rng(SEED_LABELS)
        hits = generator.binomial(self.trials, 0.5, size=(_RELABELLINGS, len(self.trials)))
        return np.asarray(np.abs(2.0 * hits / self.trials - 1.0))

    def p_equal(self) -> float:
        """Share of parity draws with a value at least this large."""
        values = self._at_parity.mean(axis=1)
        return (1.0 + int((values >= self.value - 1e-12).sum())) / (1.0 + _RELABELLINGS)

    def fair_ends(self, alpha: float) -> Floats:
        """Upper ends of terms at exact parity."""
        if not self.several.any():
            return np.ones(1)
        z, part = normal_quantile(1.0 - alpha), float(self.several.mean())
        draws = np.quantile(self._at_parity[:, self.several].mean(axis=1), QUANTILES)
        ends = np.array([self._fold.upper(float(draw), z) for draw in draws])
        return np.asarray(part * ends + 1.0 - part)

    def flags(self, units: int) -> list[Finding]:
        if single := int((~self.several).sum()):
            few = (
                f"{single} of {len(self.trials)} terms have 1 generation, which shows no skew: "
                "theirs may be anything from 0 to 1"
            )
            return [Finding("thin_evidence", few)]
        return few_units(int(self.trials.sum()), "only {} generations")

    def paper_variance(self) -> float:
        """Variance of folded normals: ``sum (d^2 + s^2 - m^2) / O^2``, m mean of |N(d, s^2)|."""
        p = self.hits / self.trials
        spread = np.sqrt(4.0 * p * (1.0 - p) / self.trials)
        scaled = np.divide(self.skews, spread, out=np.full(len(p), np.inf), where=spread > 0.0)
        density = np.sqrt(2.0 / np.pi) * np.exp(-0.5 * scaled**2)
        folded = spread * density + self.skews * (1.0 - 2.0 * special.ndtr(-scaled))
        variances = self.skews**2 + spread**2 - folded**2
        return math.fsum(np.maximum(variances, 0.0).tolist()) / len(p) ** 2


@dataclass(eq=False)
class SampledTerms(Terms):
    """The same when terms are themselves drawn from a population."""

    # Label of each term; terms with equal labels are one sampling unit.
    units: Sequence[Hashable] | None = None

    method = "Wilson over terms, unfolded above, cross-fitted below"

    @cached_property
    def _observed(self) -> Mean:
        """Mean skew of the terms with several generations."""
        units = self.units
        if units is not None:
            units = [units[i] for i in np.flatnonzero(self.several).tolist()]
        return Mean.of_values(self.skews[self.several], units=units)

    @cached_property
    def _fitted(self) -> Mean:
        return Mean.of_values(self.term_fits, units=self.units, bounds=(-1.0, 1.0))

    def lower(self, alpha: float) -> float:
        """Lower bound of the mean cross-fit over the population of terms."""
        return min(max(0.0, self._fitted.lower_bound(alpha)), self.debiased)

    def upper(self, alpha: float) -> float:
        """Upper bound of the mean plug-in, less its bias at parity and beyond."""
        fixed = super().upper(alpha)
        return max(
            fixed, self._in_all(lambda: self._fold.unfold(self._observed.upper_bound(alpha)))
        )

    def fair_ends(self, alpha: float) -> Floats:
        """Upper ends of terms at exact parity, each draw with the width that it shows."""
        ends = []
        for skews in self._at_parity[:_FAIR_DRAWS]:
            other = replace(self)
            vars(other).update(skews=skews, _fold=self._fold)
            ends.append(other.upper(alpha))
        return np.array(ends)

    def error(self) -> float:
        """Return the error of the mean skew over terms; NaN with one."""
        if self.several.sum() == 0 or self._observed.sample.units < 2:
            return math.nan
        return self._observed.standard_error()

    def flags(self, units: int) -> list[Finding]:
        return few_units(units, "only {} sampled terms") or super().flags(units)


def read_counts(successes: ArrayLike, trials: ArrayLike) -> tuple[Indices, Indices]:
    """Return successes and trials of each term, or raise ``ValueError`` naming the wrong row."""
    n = _whole_numbers(trials, "trials", 1)
    x = _whole_numbers(successes, "successes", 0)
    if x.shape != n.shape:
        raise ValueError(f"successes has {x.size} rows, trials has {n.size}")
    if (x > n).any():
        row = int(np.argmax(x > n))
        raise ValueError(f"successes row {row} is {x[row]}, more than its {n[row]} trials")
    return x, n


def _whole_numbers(values: ArrayLike, name: str, least: int) -> Indices:
    """Return counts of at least `least`, or raise ``ValueError`` naming the first wrong row."""
    array = check_rows(values, name, (0.0, math.inf))
    wrong = (array != np.floor(array)) | (array < least)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{name} row {row} is {array[row]:g}; give whole numbers from {least}")
    return array.astype(np.intp)

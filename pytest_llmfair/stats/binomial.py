"""Terms with binomial counts: signed lean, and neutrality, the mean of |2 p - 1|."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from pytest_llmfair.stats._bracket import QUANTILES
from pytest_llmfair.stats._clusters import Floats, Indices, check_rows, exact_mean
from pytest_llmfair.stats._folded import Fold, cross_fit_variance, cross_fits
from pytest_llmfair.stats._intervals import Share, normal_quantile, wilson
from pytest_llmfair.stats._records import Finding, Population
from pytest_llmfair.stats._resampling import SEED_LABELS
from pytest_llmfair.stats._rows import few_units
from pytest_llmfair.stats.mean import Mean

_RELABELLINGS = 1999


@dataclass(eq=False)
class Terms:
    """Counts per term; the terms are fixed and only generations vary.

    Attributes
    ----------
    hits, trials : ndarray of shape (n_terms,)
        Counts of one of two outcomes, and generations. A single generation always looks wholly
        one-sided, so that it says nothing: such a term may lean by anything from 0 to 1.
    """

    hits: Indices
    trials: Indices

    method = "exact binomial fold above, exact cross-fit below"
    rate = 0.5

    @cached_property
    def telling(self) -> NDArray[np.bool_]:
        """Which terms have more than one generation."""
        return self.trials > 1

    def _in_all(self, of_telling: Callable[[], float]) -> float:
        """Bound of the mean over all terms, from one over those that say something."""
        part = float(self.telling.mean())
        return 1.0 if part == 0.0 else part * of_telling() + 1.0 - part

    @cached_property
    def leans(self) -> Floats:
        """Observed |2 p - 1| per term."""
        return np.abs(2.0 * self.hits / self.trials - 1.0)

    @cached_property
    def value(self) -> float:
        """Their mean."""
        return exact_mean(self.leans)

    @cached_property
    def _fold(self) -> Fold:
        return Fold(self.trials[self.telling])

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
        """Cross-fit as a share in [0, 1], and the draws its variance is worth.

        A term's variance is taken at its majority with two draws of average lean added, since
        small terms are one-sided by chance; at most, each term spends one draw on its sign.
        """
        average = 0.5 * (1.0 + max(0.0, self.cross_fit))
        majority = np.maximum(self.hits, self.trials - self.hits)
        p = (majority + 2.0 * average) / (self.trials + 2.0)
        variance = math.fsum(map(cross_fit_variance, self.trials.tolist(), p.tolist()))
        variance /= len(self.trials) ** 2
        half_step = math.fsum((1.0 / self.trials[self.telling]).tolist()) / len(self.trials) ** 2
        share = max(0.0, 0.5 * (1.0 + self.cross_fit - half_step))
        spread = 1.0 - (2.0 * share - 1.0) ** 2
        most = float(self.trials.sum() - len(self.trials))
        worth = spread / variance if variance > 0.0 else most
        return share, max(min(worth, most), 1.0)

    def upper(self, alpha: float) -> float:
        """Largest truth under which so small a plug-in is not yet too rare."""
        return self._in_all(
            lambda: self._fold.upper(
                exact_mean(self.leans[self.telling]), normal_quantile(1.0 - alpha)
            )
        )

    def error(self) -> float:
        """Return the error of the mean lean; smoothed, so that a count of 0 does not stop it."""
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
        if not self.telling.any():
            return np.ones(1)
        z, part = normal_quantile(1.0 - alpha), float(self.telling.mean())
        draws = np.quantile(self._at_parity[:, self.telling].mean(axis=1), QUANTILES)
        ends = np.array([self._fold.upper(float(draw), z) for draw in draws])
        return np.asarray(part * ends + 1.0 - part)

    def flags(self, units: int) -> tuple[Finding, ...]:
        """Warnings about few generations."""
        generations = int(self.trials.sum())
        if single := int((~self.telling).sum()):
            few = (
                f"{single} of {len(self.trials)} terms have 1 generation, which shows no lean: "
                "they may lean by anything from 0 to 1"
            )
            return (Finding("thin_evidence", few),)
        return few_units(generations, "generations")

    def paper_variance(self) -> float:
        """Variance of the value by the folded normal of the paper (section 3).

        ``sum (d^2 + s^2 - m^2) / O^2`` with m the mean of |N(d, s^2)|, s^2 = 4 p (1 - p) / n.
        """
        p = self.hits / self.trials
        spread = np.sqrt(4.0 * p * (1.0 - p) / self.trials)
        scaled = np.divide(self.leans, spread, out=np.full(len(p), np.inf), where=spread > 0.0)
        density = np.sqrt(2.0 / np.pi) * np.exp(-0.5 * scaled**2)
        folded = spread * density + self.leans * (1.0 - 2.0 * special.ndtr(-scaled))
        variances = self.leans**2 + spread**2 - folded**2
        return math.fsum(np.maximum(variances, 0.0).tolist()) / len(p) ** 2


@dataclass(eq=False)
class SampledTerms(Terms):
    """The same when terms are themselves drawn from a population.

    Attributes
    ----------
    units : sequence of hashable or None
        Label of each term; terms with equal labels are one sampling unit.
    """

    units: Sequence[Hashable] | None = None

    method = "Wilson over terms, unfolded above, cross-fitted below"

    @cached_property
    def _observed(self) -> Mean:
        """Mean lean of the terms that say something."""
        units = self.units
        if units is not None:
            units = [units[i] for i in np.flatnonzero(self.telling).tolist()]
        return Mean.of_values(self.leans[self.telling], units=units)

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

    def error(self) -> float:
        """Return the error of the mean lean over terms; NaN with one."""
        if self.telling.sum() == 0 or self._observed.sample.units < 2:
            return math.nan
        return self._observed.standard_error()

    def flags(self, units: int) -> tuple[Finding, ...]:
        """Warnings about few units or generations."""
        return few_units(units, "sampled terms") or super().flags(units)


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


@dataclass(eq=False, kw_only=True)
class BinomialSkew(Mean):
    """Mean over terms of 2 p - 1, with p the share of successes of a term.

    A `Mean` on [-1, 1]. Fixed terms: stratified, each term's variance with a success and a failure
    added, so that one-sided terms are not certain; a single term has its exact binomial interval.

    Attributes
    ----------
    paper_variance : float
        Sampling variance as Lum et al. (2024), section 3.4.2, print it: ``sum 4 p (1 - p) / n``
        over the squared number of terms. 0 where every term is one-sided; no verdict uses it.
    """

    paper_variance: float = math.nan

    @classmethod
    def of_binomials(
        cls,
        successes: ArrayLike,
        trials: ArrayLike,
        *,
        population: Population = "fixed",
        units: Iterable[Hashable] | None = None,
    ) -> BinomialSkew:
        """Lean from counts.

        Parameters
        ----------
        successes, trials : array_like of shape (n_terms,)
            Counts per term: generations of one of two kinds, and of both.
        population : {"fixed", "sampled"}
            Whether these terms are all there is, or were drawn from more.
        units : iterable of hashable, optional
            One label per term; terms with equal labels are one unit.

        Raises
        ------
        ValueError
            If a count is negative or not whole, exceeds its trials, or a term has no trial. Names
            the row.
        """
        x, n = read_counts(successes, trials)
        p, smooth = x / n, (x + 1.0) / (n + 2.0)
        mean = cls.of_values(
            2.0 * p - 1.0,
            units=units,
            population=population,
            bounds=(-1.0, 1.0),
            generation_variance=4.0 * smooth * (1.0 - smooth) / n,
            # Fixed single generations get their interval below.
            generations=np.maximum(n, 2) if population == "fixed" else n,
            outcomes=True,
        )
        findings, sample, share = mean.findings, mean.sample, mean.share
        if population == "fixed":
            # Equal shares in all terms do not mean zero variance: generations vary within terms.
            findings = tuple(found for found in findings if found.code != "no_variance")
        if population == "fixed" and (len(n) == 1 or n.min() == 1):
            # As many draws of one kind would vary more than these, whose shares may differ.
            draws = len(n) * int(n.min())
            hits = int(x.sum()) if n.min() == n.max() else None
            share = Share(float(p.mean()), float(draws), math.inf, draws, hits=hits)
            sample = replace(sample, generations=int(n.sum()), fewest=int(n.min()))
        if sample.units > 1 or population == "fixed":
            # The size that the interval uses; a mean over rows would take the spread of the terms.
            worth = share.effective
            sample = replace(sample, effective=worth, design_effect=sample.generations / worth)
        return replace(
            mean,
            findings=findings,
            sample=sample,
            share=share,
            method=share.method,
            paper_variance=math.fsum((4.0 * p * (1.0 - p) / n).tolist()) / len(n) ** 2,
        )

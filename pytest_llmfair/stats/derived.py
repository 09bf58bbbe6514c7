"""Estimates computed from others: a multiple, a relative difference, and ICAT's product."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._clusters import check_rows
from pytest_llmfair.stats._records import Ends, Finding, Floats, Passes, Population
from pytest_llmfair.stats.log_ratio import MeanLogRatio
from pytest_llmfair.stats.mean import Mean


@dataclass(eq=False, kw_only=True)
class Scaled(Estimate):
    """Another estimate times a positive number that is known without error."""

    base: Estimate
    factor: float
    method: str = ""
    near_normal = False

    @classmethod
    def times(cls, base: Estimate, factor: float) -> Scaled:
        """Scale an estimate, which may be undefined, by a finite `factor` above 0.

        Examples
        --------
        >>> from pytest_llmfair.stats import Mean
        >>> Scaled.times(Mean.of_values([0.2, 0.4, 0.3]), 0.5)
        Scaled 0.150 [0.041, 0.398] (95 %, 3 units)
        """
        if not 0.0 < factor < np.inf:
            raise ValueError(f"factor is {factor:g}; give a finite number above 0")
        parts = base.contributions
        if parts is not None:
            parts = replace(parts, values=parts.values * factor, reach=parts.reach * factor)
        low, high = base.attainable
        return cls(
            value=base.value * factor,
            sample=base.sample,
            attainable=(low * factor, high * factor),
            contributions=parts,
            findings=base.findings,
            base=base,
            factor=factor,
            method=base.method,
            of=base.of,
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        return self.base.lower_bound(alpha) * self.factor

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        return self.base.upper_bound(alpha) * self.factor

    @property
    def debiased(self) -> float:
        """Bias-corrected value of the base, scaled."""
        return self.base.debiased * self.factor

    def noise_floor(self) -> float:
        """Return the base's noise floor, scaled."""
        return self.base.noise_floor() * self.factor

    def standard_error(self, at: float | None = None) -> float:
        """Return the base's standard error, scaled; `at` is on this estimate's scale."""
        return self.base.standard_error(None if at is None else at / self.factor) * self.factor

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes` of the base."""
        low, high = (end / self.factor for end in allowed)
        return self.base.fair_passes((low, high), fair / self.factor, alpha)


# Larger logarithms overflow.
_LARGEST_LOG = 700.0


@dataclass(eq=False, kw_only=True)
class RelativeDifference(Estimate):
    """Mean of the first group over that of the second, minus 1: -0.18 is 18 % less."""

    # The logarithm of the ratio.
    base: MeanLogRatio
    method: str = ""
    near_normal = False

    @classmethod
    def of_scores(
        cls,
        x_a: ArrayLike,
        x_b: ArrayLike,
        *,
        units_a: Sequence[Hashable],
        units_b: Sequence[Hashable],
        population: Population = "sampled",
    ) -> RelativeDifference:
        """Compare the means of scores that are at least 0.

        Parameters
        ----------
        x_a, x_b : array_like of shape (n_a,), (n_b,)
            Scores of each group, at least 0.
        units_a, units_b, population
            As in :meth:`Mean.of_rows`; units also across groups.

        Raises
        ------
        ValueError
            If a score is negative, NaN or infinite.

        Examples
        --------
        >>> units = range(4)
        >>> shorter = RelativeDifference.of_scores(
        ...     [40, 52, 44, 60], [50, 60, 54, 76], units_a=units, units_b=units
        ... )
        >>> round(shorter.value, 3)
        -0.183
        """
        a, b = (check_rows(x, name, (0.0, math.inf)) for x, name in ((x_a, "x_a"), (x_b, "x_b")))
        sums = np.zeros((len(a) + len(b), 4))
        sums[: len(a), :2], sums[len(a) :, 2:] = _counted(a), _counted(b)
        base = MeanLogRatio.of_sums(
            sums,
            lambda s: np.log(s[:, :1] / s[:, 1:2]) - np.log(s[:, 2:3] / s[:, 3:]),
            units=[*units_a, *units_b],
            population=population,
        )
        findings = base.findings
        if base.undefined is not None:
            zero = "a group has a mean of 0, so no difference is a share of it; leave out relative"
            findings = (Finding.undefined(zero),)
        return cls(
            value=math.expm1(base.value),
            sample=base.sample,
            attainable=(-1.0, math.inf),
            findings=findings,
            base=base,
            method=f"{base.method}, minus 1",
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        return math.expm1(self.base.lower_bound(alpha))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        above = self.base.upper_bound(alpha)
        return math.expm1(above) if above < _LARGEST_LOG else math.inf

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error, first order."""
        return self.base.standard_error(at) * (1.0 + self.value)


def _counted(x: Floats) -> Floats:
    return np.stack([x, np.ones(len(x))], axis=1)


@dataclass(eq=False, kw_only=True)
class IdealizedScore(Estimate):
    """One share times the nearness of another to one half, over the same rows (ICAT).

    The product is not smooth where the second share is one half, so its interval is what the
    product can be where both shares are in intervals that share the error (Bonferroni).
    """

    share: Mean
    balance: Mean
    method: str = "projection of two intervals"
    near_normal = False

    @classmethod
    def of_parts(cls, share: Mean, balance: Mean) -> IdealizedScore:
        """Join ``share`` and ``balance`` of the same rows.

        Examples
        --------
        >>> share, balance = Mean.of_values([0.8, 0.9, 1.0]), Mean.of_values([0.5, 0.6, 0.4])
        >>> IdealizedScore.of_parts(share, balance)
        IdealizedScore 0.900 [0.038, 1.000] (95 %, 3 units)
        """
        findings = tuple(dict.fromkeys((*share.findings, *balance.findings)))
        return cls(
            value=share.value * _nearness(balance.value),
            sample=share.sample,
            attainable=(0.0, 1.0),
            findings=findings,
            share=share,
            balance=balance,
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        ends = self.balance.lower_bound(alpha / 4.0), self.balance.upper_bound(alpha / 4.0)
        return self.share.lower_bound(alpha / 2.0) * min(map(_nearness, ends))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        low, high = self.balance.lower_bound(alpha / 4.0), self.balance.upper_bound(alpha / 4.0)
        return self.share.upper_bound(alpha / 2.0) * _nearness(min(max(0.5, low), high))


def _nearness(share: float) -> float:
    """Return 1 for one half and 0 for all or nothing."""
    return min(share, 1.0 - share) / 0.5

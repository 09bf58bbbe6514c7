"""Estimates computed from another estimate: a multiple."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._records import Ends, Passes


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

"""Estimates computed from another estimate: a multiple, and the share of changed answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats.mean import Mean


@dataclass(eq=False, kw_only=True)
class Scaled(Estimate):
    """Another estimate times a positive number that is known without error.

    Attributes
    ----------
    base : Estimate
        The estimate that is scaled.
    factor : float
        A number above 0.
    """

    base: Estimate
    factor: float
    method: str = ""
    near_normal = False

    @classmethod
    def times(cls, base: Estimate, factor: float) -> Scaled:
        """Scale an estimate.

        Parameters
        ----------
        base : Estimate
            Any estimate; it may be undefined.
        factor : float
            A finite number above 0.

        Raises
        ------
        ValueError
            If the factor is not above 0.

        Examples
        --------
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

    def fair_passes(
        self, allowed: tuple[float, float], fair: float, alpha: float
    ) -> Callable[[float], float]:
        """As :meth:`Estimate.fair_passes` of the base."""
        low, high = (end / self.factor for end in allowed)
        return self.base.fair_passes((low, high), fair / self.factor, alpha)


# Bisection steps on [0, 1]: ends are exact to 1e-9.
_STEPS = 30


@dataclass(eq=False, kw_only=True)
class ChangedShare(Estimate):
    """Square root of excess / (1 - floor): the share of answers that the group changes.

    A model that changes the share s of its answers to every prompt raises the mean dissimilarity
    of two answers by s^2 (1 - floor). The interval inverts the test that the mean of
    ``excess - s^2 (1 - floor)`` over pairs is zero, as Fieller's does for a ratio of means.

    Attributes
    ----------
    base : Mean
        The mean dissimilarity, with its `floor` and `excess`; without these, that of a model that
        always gives the same answer.
    """

    base: Mean
    method: str = "inverted test of excess - s^2 (1 - floor)"

    @classmethod
    def of_mean(cls, base: Mean) -> ChangedShare:
        """Return the share for a mean dissimilarity in [0, 1].

        Raises
        ------
        ValueError
            If the pairs are a fixed population.

        Examples
        --------
        >>> excess = Mean.of_values([0.1, 0.2, 0.15, 0.2], bounds=(-1.0, 1.0))
        >>> floor = Mean.of_values([0.3, 0.2, 0.3, 0.25])
        >>> base = Mean.of_values([0.4, 0.4, 0.45, 0.45], floor=floor, excess=excess)
        >>> round(ChangedShare.of_mean(base).value, 3)
        0.469
        """
        if base.sample.population == "fixed":
            raise ValueError("on='share' needs pairs that are a sample; leave population out")
        floor = 0.0 if base.floor is None else base.floor.value
        excess = base.value if base.excess is None else base.excess.value
        changed = excess / (1.0 - floor) if floor < 1.0 else math.nan
        return cls(
            value=math.sqrt(min(max(changed, 0.0), 1.0)) if floor < 1.0 else 0.0,
            sample=base.sample,
            attainable=(0.0, 1.0),
            rows=base.rows if base.excess is None else base.excess.rows,
            findings=base.findings,
            floor=base.floor,
            measures="share",
            base=base,
        )

    floor_words = Mean.floor_words

    def noise_floor(self) -> float:
        """Mean dissimilarity of two answers to the same prompt."""
        return self.base.noise_floor()

    def lower_bound(self, alpha: float) -> float:
        """Lower end at one-sided error rate `alpha`."""
        if self.base.excess is None:
            return math.sqrt(max(self.base.lower_bound(alpha), 0.0))
        return _largest(lambda s: self._beyond(s).lower_bound(alpha) > 0.0)

    def upper_bound(self, alpha: float) -> float:
        """Upper end at one-sided error rate `alpha`."""
        if self.base.excess is None:
            return math.sqrt(min(self.base.upper_bound(alpha), 1.0))
        return _largest(lambda s: self._beyond(s).upper_bound(alpha) > 0.0)

    def _p_above(self, x: float) -> float:
        if self.base.excess is None:
            return self.base._p_above(x * x)
        return self._beyond(x)._p_above(0.0)

    def _p_below(self, x: float) -> float:
        if self.base.excess is None:
            return self.base._p_below(x * x)
        return self._beyond(x)._p_below(0.0)

    def standard_error(self, at: float | None = None) -> float:
        """Return half the width of the 68 % interval: the share has no closed form of its own."""
        if at is not None:
            return math.nan
        return 0.5 * self.interval(0.6827).width

    def fair_passes(
        self, allowed: tuple[float, float], fair: float, alpha: float
    ) -> Callable[[float], float]:
        """As :meth:`Estimate.fair_passes`, from the test that the interval inverts."""
        squared = allowed[1] ** 2
        if self.base.floor is None:
            return self.base.fair_passes((-math.inf, squared), 0.0, alpha)
        below = -squared * (1.0 - self.base.floor.value)
        return self._beyond(allowed[1]).fair_passes((-math.inf, 0.0), below, alpha)

    def _beyond(self, share: float) -> Mean:
        """Mean of ``excess - s^2 (1 - floor)`` at this share; its sign decides the test."""
        excess, floor = self.base.excess.contributions, self.base.floor.contributions  # type: ignore[union-attr]
        assert excess is not None
        assert floor is not None
        allowed, base = share * share * (1.0 - floor.values), float(floor.values.mean())
        mean = float(allowed.mean())
        return Mean.of_values(
            excess.values - allowed,
            units=excess.units,
            bounds=(-2.0, 1.0),
            reach=(-base - mean, 1.0 - base - mean),
        )


def _largest(holds: Callable[[float], bool]) -> float:
    """Return the largest number in [0, 1] up to which a condition holds; 0 without one."""
    if holds(1.0):
        return 1.0
    if not holds(0.0):
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low

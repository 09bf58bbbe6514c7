"""Differences and other weighted sums of estimates, joined from the intervals of the parts."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._records import Ends, Finding, Floats, Passes, Sample


class Folded(Estimate):
    """A signed quantity or, with `absolute`, its absolute value, whose interval is folded."""

    absolute: bool

    @abstractmethod
    def _ends(self, alpha: float) -> Ends:
        """Return the ends of the signed quantity."""

    @property
    @abstractmethod
    def signed(self) -> Folded:
        """The quantity with its sign."""

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        low, high = self._ends(alpha)
        return max(0.0, low, -high) if self.absolute else low

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        low, high = self._ends(alpha)
        return max(high, -low) if self.absolute else high

    def noise_floor(self) -> float:
        """Return the mean absolute value without a difference; NaN for the signed one."""
        return math.sqrt(2.0 / math.pi) * self.standard_error() if self.absolute else math.nan

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`; an absolute value is kept from both sides."""
        if not self.absolute:
            return super().fair_passes(allowed, fair, alpha)
        return self.signed.fair_passes((-allowed[1], allowed[1]), 0.0, alpha)


@dataclass(eq=False, kw_only=True)
class JoinedSum(Folded):
    """A weighted sum of estimates, such as the difference of two groups, or its absolute value.

    The distances of the parts' ends from their centres are joined as independent errors are
    (MOVER, Zou and Donner 2008); added, which holds for any dependence, where the parts share
    units.
    """

    terms: tuple[tuple[float, Estimate], ...]
    # Whether no unit is in two parts.
    independent: bool
    absolute: bool
    # Added to the sum.
    constant: float = 0.0
    # Gives draws of the signed sum for data without a difference, where these are known.
    null: Callable[[], Floats] | None = None
    method: str = "joined intervals (MOVER)"

    @classmethod
    def of_parts(
        cls,
        parts: Sequence[tuple[float, Estimate]],
        sample: Sample,
        *,
        attainable: Ends = (-1.0, 1.0),
        independent: bool = True,
        absolute: bool = False,
        constant: float = 0.0,
        null: Callable[[], Floats] | None = None,
    ) -> JoinedSum:
        """Join estimates with their factors; `attainable` is the range of the signed sum.

        Examples
        --------
        >>> from pytest_llmfair.stats import Mean
        >>> a, b = Mean.of_indicators([1, 1, 1, 0] * 5), Mean.of_indicators([1, 0, 0, 0] * 5)
        >>> JoinedSum.of_parts([(1.0, a), (-1.0, b)], Sample.of_sizes([1] * 40))
        JoinedSum 0.500 [0.159, 0.731] (95 %, 40 units)
        """
        undefined = [part.undefined for _, part in parts if part.undefined is not None]
        value = constant + math.fsum(f * part.value for f, part in parts)
        findings = [each for _, part in parts for each in part.findings if each.kind == "flag"]
        if undefined:
            findings.insert(0, Finding.undefined("; ".join(dict.fromkeys(undefined))))
        signed = cls(
            value=math.nan if undefined else value,
            sample=sample,
            attainable=attainable,
            findings=tuple(dict.fromkeys(findings)),
            of="debiased" if any(part.of == "debiased" for _, part in parts) else "value",
            terms=tuple(parts),
            independent=independent,
            absolute=False,
            constant=constant,
            null=null,
        )
        return signed.folded if absolute else signed

    @property
    def folded(self) -> JoinedSum:
        """The absolute value."""
        most = max(map(abs, self.attainable))
        size = replace(self, value=abs(self.value), attainable=(0.0, most), absolute=True)
        return replace(size, method=f"{self.method}, folded")

    @property
    def signed(self) -> JoinedSum:
        """The sum with its sign."""
        if not self.absolute:
            return self
        most = self.attainable[1]
        value = self.constant + math.fsum(f * part.value for f, part in self.terms)
        method = self.method.removesuffix(", folded")
        return replace(self, value=value, attainable=(-most, most), absolute=False, method=method)

    @property
    def _centre(self) -> float:
        """The signed sum of the numbers that the parts' intervals surround."""
        return self.constant + math.fsum(f * part.centre for f, part in self.terms)

    @property
    def debiased(self) -> float:
        """The sum of the parts' bias-corrected values."""
        if self.undefined is not None or self.of == "value":
            return self.value
        return abs(self._centre) if self.absolute else self._centre

    def _join(self, sizes: list[float]) -> float:
        return math.hypot(*sizes) if self.independent else math.fsum(sizes)

    def _ends(self, alpha: float) -> Ends:
        below, above = [], []
        for factor, part in self.terms:
            # Rounding must not put a centre outside its own interval.
            down = max(0.0, part.centre - part.lower_bound(alpha))
            up = max(0.0, part.upper_bound(alpha) - part.centre)
            below.append(abs(factor) * (down if factor > 0.0 else up))
            above.append(abs(factor) * (up if factor > 0.0 else down))
        low, high = self.attainable
        low = -high if self.absolute else low
        centre = self._centre
        return max(low, centre - self._join(below)), min(high, centre + self._join(above))

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error of the signed sum, from those of the parts."""
        return self._join([abs(f) * part.standard_error(at) for f, part in self.terms])

    def noise_floor(self) -> float:
        """As of any absolute value, from draws without a difference where these are known."""
        if self.absolute and self.null is not None:
            return float(np.abs(self.null()).mean())
        return super().noise_floor()


@dataclass(eq=False, kw_only=True)
class JoinedRatio(Estimate):
    """Ratio of two estimates that are never negative, from their intervals (MOVER on logarithms).

    As in :class:`JoinedSum`, distances of ends are joined as independent errors are, or added.
    """

    above: Estimate
    below: Estimate
    independent: bool
    method: str = "joined intervals of logarithms (MOVER)"

    @classmethod
    def of_parts(
        cls, above: Estimate, below: Estimate, sample: Sample, *, independent: bool = True
    ) -> JoinedRatio:
        """Divide one estimate by another; infinite over 0, and 0 over 0 is undefined.

        Examples
        --------
        >>> from pytest_llmfair.stats import Mean
        >>> a, b = Mean.of_indicators([1, 1, 1, 0] * 5), Mean.of_indicators([1, 0, 0, 0] * 5)
        >>> JoinedRatio.of_parts(a, b, Sample.of_sizes([1] * 40))
        JoinedRatio 3.000 [1.377, 8.822] (95 %, 40 units)
        """
        findings = [f for part in (above, below) for f in part.findings if f.kind == "flag"]
        undefined = [part.undefined for part in (above, below) if part.undefined is not None]
        if not undefined and min(above.value, below.value) < 0.0:
            undefined = ["a value is below 0: a ratio says nothing"]
        if not undefined and above.value == below.value == 0.0:
            undefined = ["0 over 0 is no ratio"]
        if undefined:
            findings.insert(0, Finding.undefined("; ".join(dict.fromkeys(undefined))))
            value = math.nan
        else:
            value = above.value / below.value if below.value > 0.0 else math.inf
        return cls(
            value=value,
            sample=sample,
            attainable=(0.0, math.inf),
            findings=tuple(dict.fromkeys(findings)),
            above=above,
            below=below,
            independent=independent,
        )

    def _end(self, up: float, down: float) -> float:
        """Ratio of an end of the first and one of the second, joined on the log scale."""
        if up <= 0.0:
            return 0.0
        if down <= 0.0:
            return math.inf
        if not 0.0 < self.value < math.inf:
            return up / down
        sides = abs(math.log(up / self.above.value)), abs(math.log(down / self.below.value))
        reach = math.hypot(*sides) if self.independent else math.fsum(sides)
        return self.value * math.exp(reach if up / down > self.value else -reach)

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        return min(
            self.value, self._end(self.above.lower_bound(alpha), self.below.upper_bound(alpha))
        )

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        return max(
            self.value, self._end(self.above.upper_bound(alpha), self.below.lower_bound(alpha))
        )

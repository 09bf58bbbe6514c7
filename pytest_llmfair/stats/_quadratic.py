"""The bracket for divergences: near equality they are quadratic in the differences."""

from __future__ import annotations

from functools import cached_property

from pytest_llmfair.stats._bracket import INFLATION, Bracket
from pytest_llmfair.stats._noncentral import Noncentral


class QuadraticBracket(Bracket):
    """Bounds by a noncentral chi-square whose moments at equality come from relabelling.

    A divergence has no slope where groups are equal, so a plug-in with a standard error, or a
    bootstrap that adds its bias a second time, are far too wide there. Away from equality the
    variance is that of the linear functional the data chose.
    """

    method = "noncentral chi-square, moments by relabelling"
    rate = 1.0

    @cached_property
    def _law(self) -> Noncentral | None:
        draws = self._relabelled
        variance = float(draws.var())
        if self.single or not variance > self._rounding**2 or not self.value > 0.0:
            return None
        error, df = self._error_df
        floor = float(draws.mean())
        # The bootstrap sees how much of that bias is left among the shares observed.
        change = float(self._draws.mean()) - self.value - floor
        change = max(change, -0.5 * min(floor, self.value))
        slope = (INFLATION * error) ** 2 / self.value
        return Noncentral(floor, variance, slope, df, (change, self.value))

    @property
    def debiased(self) -> float:
        """Median-unbiased divergence; inside the interval at every level."""
        return self.lower(0.5)

    def lower(self, alpha: float) -> float:
        """Smallest divergence under which one so large is not too rare."""
        if self._law is None:
            return super().lower(alpha)
        seen = self._law.lower(self.value, alpha)
        return min(seen, self.value * (1.0 - self._unseen(alpha)))

    def upper(self, alpha: float) -> float:
        """Largest divergence under which one so small is not too rare; never 0."""
        if self._law is None:
            return super().upper(alpha)
        return self._end_of(self.value, alpha)

    def _end_of(self, value: float, alpha: float) -> float:
        if self._law is None:
            return super()._end_of(value, alpha)
        guarded = value + self._unseen(alpha) * (self.span - value)
        found = self._law.upper(value, alpha)
        return min(self.span, max(found, guarded if self._unseen(alpha) > 0.0 else 0.0))

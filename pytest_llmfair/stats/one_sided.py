"""Log ratio of counts of which one side has none."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_llmfair.stats._base import Estimate


@dataclass(eq=False, kw_only=True)
class OneSided(Estimate):
    """An infinite log ratio, and how small it may be in truth.

    Every one of ``sample.units`` units was seen on the same side. Were they drawn one by one from
    both sides, the share of that side would be at least the exact binomial bound for no exception.

    Attributes
    ----------
    value : float
        Plus infinity where only the first side was seen, minus infinity where only the second.
    base : float
        Log of the odds of the first side that a log ratio of 0 stands for.
    """

    base: float

    method = "exact binomial: no unit on the other side"

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        return self._log_odds(alpha) - self.base if self.value > 0.0 else -math.inf

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        return math.inf if self.value > 0.0 else -self._log_odds(alpha) - self.base

    def _log_odds(self, alpha: float) -> float:
        """Smallest log odds of the side seen: with share p all units are on it by p ** units."""
        share = math.log(alpha) / self.sample.units
        return share - math.log(-math.expm1(share))

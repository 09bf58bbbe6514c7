"""Quantities that are read off and not sampled."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_llmfair.stats._base import Estimate


@dataclass(eq=False, kw_only=True)
class Exact(Estimate):
    """A number without sampling error: probabilities read off a model, for a fixed list of units.

    Its interval is the value itself.
    """

    method = "exact: nothing is sampled"

    def lower_bound(self, alpha: float) -> float:
        """Return the value."""
        return self.value

    def upper_bound(self, alpha: float) -> float:
        """Return the value."""
        return self.value

    def standard_error(self, at: float | None = None) -> float:
        """Return 0."""
        return 0.0

"""What each row adds to a smooth estimate: comparing two estimates on the same rows needs it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_llmfair.stats._clusters import Floats


@dataclass(frozen=True, slots=True)
class Contributions:
    """Pseudo-values of an estimate: their mean over rows is its value.

    Value plus influence of each row, exact for means and first order for others. `reach` is the
    largest difference that two models can make in one row.
    """

    values: Floats
    units: Sequence[Hashable] | None
    reach: float

    def __repr__(self) -> str:
        return f"Contributions of {len(self.values):,} rows"

    @classmethod
    def of_groups(
        cls,
        value: float,
        influence_a: Floats,
        influence_b: Floats,
        units: Sequence[Hashable],
        span: float,
    ) -> Contributions:
        """Rows of the first group, then of the second; `span` is the largest influence gap."""
        n_a, n_b = len(influence_a), len(influence_b)
        n = n_a + n_b
        rows = np.concatenate([influence_a * (n / n_a), influence_b * (n / n_b)])
        return cls(value + rows, units, span * n / min(n_a, n_b))

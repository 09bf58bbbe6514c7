"""Holm's step-down correction of several p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values that control the family-wise error rate (Holm 1979).

    Parameters
    ----------
    p_values : sequence of float
        Raw p-values in [0, 1]; NaN (nothing was tested) stays NaN and does not count.

    Returns
    -------
    list of float
        In the order given. At error rate alpha the adjusted values below alpha are significant.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    tested = [i for i, p in enumerate(p_values) if not math.isnan(p)]
    adjusted = [math.nan] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(sorted(tested, key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(tested) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted

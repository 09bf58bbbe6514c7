"""Error rates of several tests: Holm's correction, and all comparisons of several groups."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number, in the order given (Holm 1979).

    Adjusted values below alpha are significant at a family-wise error rate of alpha.

    Parameters
    ----------
    p_values : sequence of float
        Raw p-values in [0, 1]; NaN (nothing was tested) stays NaN and does not count.

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


def tukey_error_rate(groups: int, level: float) -> float:
    """Return the one-sided error rate of each two groups, so that all intervals hold jointly.

    Tukey-Kramer: from the studentized range of `groups` independent normal estimates, at least
    2; on the safe side where their variances differ (Hayter 1984). `level` is the joint confidence
    level of the two-sided intervals.

    Examples
    --------
    >>> round(tukey_error_rate(2, 0.95), 4), round(tukey_error_rate(3, 0.95), 4)
    (0.025, 0.0095)
    """
    z, step = np.linspace(-8.0, 8.0, 1601, retstep=True)
    density = np.exp(-0.5 * z * z) * step / math.sqrt(2.0 * math.pi)
    low, high = 0.0, 40.0
    while high - low > 1e-9:
        width = 0.5 * (low + high)
        inside = special.ndtr(z) - special.ndtr(z - width)
        if groups * float((density * inside ** (groups - 1)).sum()) < level:
            low = width
        else:
            high = width
    return float(special.ndtr(-high / math.sqrt(2.0)))

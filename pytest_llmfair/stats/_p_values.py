"""P-values that agree with one-sided bounds, and how often an interval is within a bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from pytest_llmfair.stats._records import Floats

# Bisection for p-values starts from these one-sided error rates, so that a p-value falls on the
# right side of the level users print (50, 80, 90, 95, 98, 99, 99.9 %) without rounding trouble.
_PROBES = (0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.0005)
_SMALLEST_P = 1e-12


def invert(excluded: Callable[[float], bool]) -> float:
    """Least error rate at which a monotone ``excluded(alpha)`` is true; 0.5 where it never is."""
    if not excluded(0.5):
        return 0.5
    high = 0.5
    low = 0.0
    for probe in _PROBES:
        if excluded(probe):
            high = probe
        else:
            low = probe
            break
    while high - low > 1e-9 * high and high > _SMALLEST_P:
        middle = math.sqrt(low * high) if low > 0.0 else high / 16.0
        if not low < middle < high:
            break
        if excluded(middle):
            high = middle
        else:
            low = middle
    # Levels that people type have few decimals. Decide on which side of such a level the step is,
    # so that the p-value at an end of the interval agrees with it.
    typed = round(0.5 * (low + high), 8)
    if low < typed < high:
        low, high = (low, typed) if excluded(typed) else (typed, high)
    # Strictly inside (low, high): below every alpha that excludes, above every one that does not.
    return 0.5 * (low + high)


def change_point(values: Sequence[float]) -> tuple[float, int]:
    """Pettitt's test (1979) of a change in the level of a series, and how many come before it.

    The p-value is that of the largest deviation of a Brownian bridge, which is conservative for
    series of this length; with fewer than 20 values it is 1.

    Examples
    --------
    >>> p, before = change_point([0.1, 0.2] * 10 + [0.8, 0.9] * 10)
    >>> p < 0.001, before
    (True, 20)
    """
    n = len(values)
    _, row, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - 0.5 * (counts - 1))[row]
    if n < 20 or len(counts) == 1:
        return 1.0, n
    walk = np.abs(np.cumsum(ranks - ranks.mean())) / (ranks.std() * math.sqrt(n))
    before = int(np.argmax(walk))
    return float(special.kolmogorov(walk[before])), before + 1


def within_share(error: float, allowed: tuple[float, float], widths: tuple[float, float]) -> float:
    """Probability that an interval of these widths around a N(0, error^2) draw is in `allowed`."""
    (low, high), (below, above) = allowed, widths
    if not math.isfinite(error):
        return math.nan
    low, high = (low + below if math.isfinite(low) else low), high - above
    if math.isnan(high) or low > high:
        return 0.0
    if error == 0.0:
        return float(low <= 0.0 <= high)
    return float(special.ndtr(high / error) - special.ndtr(low / error))


def share_of_ends(
    ends: Floats, limit: float, units: float, power: float = 0.5
) -> Callable[[float], float]:
    """Share of fair upper ends within `limit`, which shrink with a power of the sample size."""
    if not np.isfinite(ends).all():
        return lambda more: math.nan
    # Widths are estimates themselves, so the ends have a further relative error; none where the
    # `units` are infinite.
    scatter = np.maximum(np.maximum(ends, 1e-12) / math.sqrt(2.0 * units), 1e-12)
    return lambda more: float(
        special.ndtr((limit * more**power - ends) * math.sqrt(more) / scatter).mean()
    )

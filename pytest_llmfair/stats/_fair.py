"""How often a perfectly fair model would pass: shares from the laws of intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from pytest_llmfair.stats._clusters import Floats


def within_share(error: float, allowed: tuple[float, float], widths: tuple[float, float]) -> float:
    """Probability that an interval of these widths around a normal draw lies in `allowed`.

    Draws have mean 0 and standard deviation `error`; NaN where that is unknown.
    """
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
    ends: Floats, limit: float, units: int, power: float = 0.5
) -> Callable[[float], float]:
    """Share of fair upper ends within `limit`, which shrink with a power of the sample size.

    Widths are themselves estimated, so that ends scatter by a further relative error.
    """
    if not np.isfinite(ends).all():
        return lambda more: math.nan
    scatter = np.maximum(ends, 1e-12) / math.sqrt(2.0 * units)
    return lambda more: float(
        special.ndtr((limit * more**power - ends) * math.sqrt(more) / scatter).mean()
    )

"""Numbers of answers to label in each stratum, and of labels that a test needs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._records import Indices
from pytest_llmfair.stats._score_intervals import normal_quantile

_LEAST = 5


def allocated(weights: ArrayLike, rates: ArrayLike, sizes: ArrayLike, total: int) -> Indices:
    """Divide labels over strata by weight times spread (Neyman 1934), at least 5 in each.

    `weights` are shares of the group, `rates` guesses of the mean label in [0, 1], and `sizes`
    the answers that there are; the sum is `total` where the sizes allow it.

    Examples
    --------
    >>> allocated([0.8, 0.2], [0.1, 0.5], [400, 100], 68).tolist()
    [48, 20]
    """
    most = np.asarray(sizes, np.intp)
    least = np.minimum(_LEAST, most)
    total = int(np.clip(total, least.sum(), most.sum()))
    q = np.clip(np.asarray(rates, float), 0.01, 0.99)
    strength = np.asarray(weights, float) * np.sqrt(q * (1.0 - q))
    low, high = 0.0, 2.0 * total / float(strength.min())
    for _ in range(100):
        middle = 0.5 * (low + high)
        enough = np.clip(middle * strength, least, most).sum() >= total
        low, high = (low, middle) if enough else (middle, high)
    exact = np.clip(high * strength, least, most)
    found = np.floor(exact + 1e-6).astype(np.intp)
    # Largest remainders; the earlier stratum where two are alike.
    order = np.argsort(-np.where(found < most, exact - found, -1.0), kind="stable")
    found[order[: max(total - int(found.sum()), 0)]] += 1
    return np.asarray(found, np.intp)


def labels_needed(
    weights: ArrayLike,
    rates: ArrayLike,
    sizes: ArrayLike,
    room: float,
    answers: float,
    *,
    level: float = 0.95,
    power: float = 0.8,
) -> float:
    """Return the fewest labels with which a true gap of 0 passes with this power.

    `room` is the bound, and `answers` the squared error that is left if all answers are labelled
    in infinite number; infinite where there are not enough answers.

    Examples
    --------
    >>> labels_needed([0.8, 0.2] * 2, [0.1, 0.7] * 2, [800, 200] * 2, 0.1, 2e-4)
    593
    """
    w, q, most = np.asarray(weights, float), np.asarray(rates, float), np.asarray(sizes, np.intp)
    end, beyond = normal_quantile(0.5 + level / 2.0), normal_quantile(0.5 + power / 2.0)

    def enough(total: int) -> bool:
        n = allocated(w, q, most, total).astype(float)
        yes, no = n * q + 1.0, n * (1.0 - q) + 1.0
        shown = float(w**2 @ ((yes * no - n * q * (1.0 - q)) / (n + 2.0) ** 2 / n))
        true = float(w**2 @ (q * (1.0 - q) / n))
        return end * math.sqrt(shown + answers) + beyond * math.sqrt(true + answers) <= room

    low, high = int(np.minimum(_LEAST, most).sum()) - 1, int(most.sum())
    if not enough(high):
        return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high

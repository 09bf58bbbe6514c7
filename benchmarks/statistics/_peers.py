"""Intervals in common use, on the same data as ours: shown beside them, never judged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Ends = tuple[float, float]

RESAMPLES = 1000
Z = 1.959963984540054


def pooled_t(rows: Floats, _: np.random.Generator) -> Ends:
    """All generations as independent draws, t interval."""
    return _t(rows.ravel())


def cluster_t(rows: Floats, _: np.random.Generator) -> Ends:
    """One mean per prompt, t interval."""
    return _t(rows.mean(axis=1))


def _t(values: Floats) -> Ends:
    n = values.size
    reach = float(special.stdtrit(n - 1, 0.975)) * float(values.std(ddof=1)) / math.sqrt(n)
    centre = float(values.mean())
    return centre - reach, centre + reach


def percentile(rows: Floats, rng: np.random.Generator) -> Ends:
    """Percentile bootstrap over prompts."""
    means = rows.mean(axis=1)
    drawn = means[rng.integers(0, len(means), (RESAMPLES, len(means)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def percentile_gap(data: tuple[Floats, Floats], rng: np.random.Generator) -> Ends:
    """Percentile bootstrap over rows of the absolute difference of two rates."""
    a, b = (np.asarray(group).ravel() for group in data)
    rate_a = rng.binomial(a.size, a.mean(), RESAMPLES) / a.size
    rate_b = rng.binomial(b.size, b.mean(), RESAMPLES) / b.size
    low, high = np.quantile(np.abs(rate_a - rate_b), [0.025, 0.975])
    return float(low), float(high)


def wald_gap(data: tuple[Floats, Floats], _: np.random.Generator) -> Ends:
    """Fold the normal interval of the difference of two rates over rows."""
    a, b = (np.asarray(group).ravel() for group in data)
    d = float(a.mean() - b.mean())
    reach = Z * math.sqrt(float(a.var()) / a.size + float(b.var()) / b.size)
    return max(0.0, d - reach, -d - reach), max(d + reach, reach - d)


def log_wald(data: tuple[Floats, Floats], _: np.random.Generator) -> Ends:
    """Exponentiate the normal interval of the log ratio of two rates."""
    a, b = data
    p_a, p_b = float(a.mean()), float(b.mean())
    if p_a == 0.0 or p_b == 0.0:
        return 0.0, math.inf
    reach = Z * math.sqrt((1.0 - p_a) / (p_a * len(a)) + (1.0 - p_b) / (p_b * len(b)))
    return p_a / p_b * math.exp(-reach), p_a / p_b * math.exp(reach)


def delong(data: Any, _: np.random.Generator) -> Ends:
    """DeLong's normal interval of the rank-biserial correlation, rounds ignored."""
    a, b = data[0], data[1]
    wins = np.sign(a[:, None] - b[None, :])
    value = float(wins.mean())
    error = wins.mean(axis=1).var(ddof=1) / len(a) + wins.mean(axis=0).var(ddof=1) / len(b)
    return value - Z * math.sqrt(error), value + Z * math.sqrt(error)


def percentile_ranks(data: Any, rng: np.random.Generator) -> Ends:
    """Percentile bootstrap over candidates of the rank-biserial correlation."""
    a, b = data[0], data[1]
    wins = np.sign(a[:, None] - b[None, :])
    drawn = np.empty(RESAMPLES // 4)
    for i in range(len(drawn)):
        rows, columns = rng.integers(0, len(a), len(a)), rng.integers(0, len(b), len(b))
        drawn[i] = wins[rows][:, columns].mean()
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)

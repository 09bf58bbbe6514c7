"""Intervals in common use for distances: shown beside ours, never judged."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Ends = tuple[float, float]
Rng = np.random.Generator

RESAMPLES = 1000
Z = 1.959963984540054


def percentile(plug_in: Callable[[Floats], Floats]) -> Callable[[Floats, Rng], Ends]:
    """Percentile bootstrap of a distance of rows, given as a function of resampled rows."""

    def ends(rows: Floats, rng: Rng) -> Ends:
        picked = rng.integers(0, len(rows), (RESAMPLES, len(rows)))
        return _quantiles(plug_in(rows[picked]))

    return ends


def wasserstein_percentile(data: tuple[Floats, Floats], rng: Rng) -> Ends:
    """Percentile bootstrap of the distance of two independent samples of one size."""
    drawn = [
        np.sort(side[rng.integers(0, len(side), (RESAMPLES, len(side)))], axis=1) for side in data
    ]
    return _quantiles(np.abs(drawn[0] - drawn[1]).mean(axis=1))


def rates_percentile(
    statistic: Callable[[Floats], Floats],
) -> Callable[[tuple[Floats, Any], Rng], Ends]:
    """Percentile bootstrap of a statistic of group rates, resampled inside the groups."""

    def ends(data: tuple[Floats, Any], rng: Rng) -> Ends:
        outcomes, groups = data
        sizes = np.bincount(groups)
        rates = np.bincount(groups, weights=outcomes) / sizes
        return _quantiles(statistic(rng.binomial(sizes, rates, (RESAMPLES, len(sizes))) / sizes))

    return ends


def binomial_percentile(data: tuple[Any, Any], rng: Rng) -> Ends:
    """Percentile bootstrap of the mean |2 p - 1| over fixed terms."""
    hits, trials = data
    drawn = rng.binomial(trials, hits / trials, (RESAMPLES, len(trials))) / trials
    return _quantiles(np.abs(2.0 * drawn - 1.0).mean(axis=1))


def folded_normal(data: tuple[Any, Any], _: Rng) -> Ends:
    """Plug-in and the sampling variance that RUTEd prints: each term a folded normal."""
    hits, trials = data
    p = hits / trials
    lean, spread = np.abs(2.0 * p - 1.0), np.sqrt(4.0 * p * (1.0 - p) / trials)
    scaled = np.divide(lean, spread, out=np.full(len(p), 40.0), where=spread > 0.0)
    mean = spread * math.sqrt(2.0 / math.pi) * np.exp(-0.5 * scaled**2)
    mean += lean * (1.0 - 2.0 * special.ndtr(-scaled))
    reach = Z * math.sqrt(float((lean**2 + spread**2 - mean**2).sum())) / len(p)
    return float(lean.mean()) - reach, float(lean.mean()) + reach


def ratio_t(table: Floats, _: Rng) -> Ends:
    """Plain t interval of log F over prompts, by linearisation; not clipped."""
    shares = table / table.sum(axis=0)
    means = table.mean(axis=0)
    log = 2.0 * math.log(means[0]) - math.log(means[1]) - math.log(means[2])
    n = len(table)
    error = math.sqrt(n / (n - 1) * float(((shares @ [2.0, -1.0, -1.0]) ** 2).sum()))
    reach = float(special.stdtrit(n - 1, 0.975)) * error
    return math.exp(log - reach), math.exp(log + reach)


def _quantiles(drawn: Floats) -> Ends:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)

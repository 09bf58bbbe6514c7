"""Binomial shares folded at parity: exact mean of |2 X / n - 1|, and exact cross-fits of it.

With X ~ Bin(n, (1 + d) / 2) the mean m_n(d) of |2 X / n - 1| is a convex function of d, being a
Bernstein polynomial of a convex function. So terms whose |d| average to t have a plug-in with mean
at least that of equally lopsided terms: bounds need no resampling.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import special

from pytest_llmfair.stats._clusters import Floats, Indices

# Up to here cross-fits sum over all splits; beyond, the number held out is as good as normal.
_EXACT = 200


def folded_mean(n: int, lean: Floats) -> Floats:
    """Mean of ``|2 X / n - 1|`` for X ~ Bin(n, (1 + lean) / 2), `lean` in [0, 1]."""
    p = 0.5 * (1.0 + lean)
    over = n // 2 + 1
    # E(2X - n)+ = 2 n p P(Bin(n - 1, p) >= over - 1) - n P(Bin(n, p) >= over)
    above = np.ones_like(p) if n == 1 else special.bdtrc(over - 2, n - 1, p)
    excess = 2.0 * p * above - special.bdtrc(over - 1, n, p)
    return np.asarray(np.where(lean >= 1.0, 1.0, 2.0 * excess - lean))


def folded_slope(n: int, lean: Floats) -> Floats:
    """Slope of :func:`folded_mean`: 0 at parity, 1 at the far end; n >= 2."""
    p = 0.5 * (1.0 + lean)
    above = special.bdtrc((n + 1) // 2 - 1, n - 1, p)
    below = special.bdtr(n // 2 - 1, n - 1, p)
    return np.asarray(np.where(lean >= 1.0, 1.0, above - below))


def folded_variance(n: int, lean: Floats) -> Floats:
    """Variance of ``|2 X / n - 1|``."""
    second = lean**2 + (1.0 - lean**2) / n
    return np.asarray(np.maximum(0.0, second - folded_mean(n, lean) ** 2))


@lru_cache(maxsize=512)
def cross_fits(n: int) -> Floats:
    """Cross-fit of each possible count 0..n: sign from one part, difference from the rest.

    The mean over all splits of ``sign(2 p_kept - 1) * (2 p_held - 1)`` with a third of the
    generations held out. Its mean over X is at most |d|.
    """
    hits = np.arange(n + 1, dtype=np.float64)
    held = max(1, n // 3)
    if n > _EXACT:
        lean = 2.0 * hits / n - 1.0
        spread = np.sqrt((n - held) * (1.0 - lean**2) / (held * (n - 1.0)))
        reach = np.divide(
            lean * (n - held) / held, spread, out=np.sign(lean) * 40.0, where=spread > 0.0
        )
        density = np.exp(-0.5 * reach**2) / math.sqrt(2.0 * math.pi)
        return np.asarray(lean * (2.0 * special.ndtr(reach) - 1.0) - 2.0 * spread * density)
    k = np.arange(held + 1, dtype=np.float64)
    x = hits[:, None]
    possible = (k <= x) & (held - k <= n - x)
    with np.errstate(invalid="ignore"):
        log_weight = _log_choose(x, k) + _log_choose(n - x, held - k) - _log_choose(n, held)
    weight = np.where(possible, np.exp(np.where(possible, log_weight, -np.inf)), 0.0)
    sign = np.sign(2.0 * (x - k) - (n - held))
    return np.asarray((weight * sign * (2.0 * k / held - 1.0)).sum(axis=1))


def _log_choose(n: Floats | float, k: Floats | float) -> Floats:
    return np.asarray(
        special.gammaln(n + 1.0)
        - special.gammaln(k + 1.0)
        - special.gammaln(np.maximum(n - k, 0.0) + 1.0)
    )


@lru_cache(maxsize=4096)
def cross_fit_variance(n: int, p: float) -> float:
    """Variance of a term's cross-fit when its count is Bin(n, p)."""
    if p >= 1.0:
        return 0.0
    reach = 8.0 * math.sqrt(n * p * (1.0 - p)) + 2.0
    window = max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach)) + 1
    x = np.arange(*window, dtype=np.float64)
    weight = np.exp(_log_choose(n, x) + x * math.log(p) + (n - x) * math.log1p(-p))
    fits = cross_fits(n)[window[0] : window[1]]
    centre = float(weight @ fits)
    return float(weight @ (fits - centre) ** 2)


class Fold:
    """Bounds of the mean |lean| of terms from the mean of their observed |2 p - 1|.

    Parameters
    ----------
    trials : ndarray of shape (n_terms,)
        Generations per term, at least 2 each.
    """

    def __init__(self, trials: Indices) -> None:
        sizes, counts = np.unique(trials, return_counts=True)
        share = counts / len(trials)
        self.terms = len(trials)
        self.floor = math.fsum(
            w * float(folded_mean(int(n), np.zeros(1))[0])
            for n, w in zip(sizes, share, strict=True)
        )
        # Continuity: a value stands for all values up to half a count away.
        self.half_step = math.fsum((1.0 / trials).tolist()) / self.terms**2
        self._tabulate(sizes.tolist(), share)

    def _tabulate(self, sizes: list[int], share: Floats) -> None:
        """Least mean plug-in, and its variance, by true value.

        Among leans with a given mean the plug-in's mean is least where all slopes are equal.
        """
        grid = np.linspace(0.0, 1.0, 601) ** 2
        slopes = special.erf(np.linspace(0.0, 5.5, 601))
        leans = [
            grid if len(sizes) == 1 else np.interp(slopes, folded_slope(n, grid), grid)
            for n in sizes
        ]
        truth = sum(w * lean for w, lean in zip(share, leans, strict=True))
        least = sum(w * folded_mean(n, a) for w, n, a in zip(share, sizes, leans, strict=True))
        self.truth = np.append(truth, 1.0) if truth[-1] < 1.0 else np.asarray(truth)
        self.least = np.append(least, 1.0) if truth[-1] < 1.0 else np.asarray(least)
        even = sum(w * folded_variance(n, self.truth) for w, n in zip(share, sizes, strict=True))
        uneven = sum(
            w * folded_variance(n, a) for w, n, a in zip(share, sizes, leans, strict=True)
        )
        uneven = np.append(uneven, 0.0) if truth[-1] < 1.0 else uneven
        self.error = np.sqrt(np.maximum(even, uneven) / self.terms)

    def upper(self, value: float, quantile: float) -> float:
        """Largest truth under which a plug-in as small as `value` is not yet too rare.

        A plug-in below its mean at parity says no more than that mean: nothing is fairer than
        parity.
        """
        seen = max(value, self.floor) + self.half_step
        return self._largest(self.least - quantile * self.error, seen)

    def unfold(self, value: float) -> float:
        """Largest truth whose plug-in has a mean of at most `value`."""
        return self._largest(self.least, value)

    def _largest(self, curve: Floats, seen: float) -> float:
        rising = np.minimum.accumulate(curve[::-1])[::-1]
        k = int(np.searchsorted(rising, seen, side="right"))
        if k == 0:
            return 0.0
        if k == len(rising):
            return 1.0
        step = (seen - rising[k - 1]) / (rising[k] - rising[k - 1])
        return float(self.truth[k - 1] + step * (self.truth[k] - self.truth[k - 1]))

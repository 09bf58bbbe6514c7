"""Quantiles and closed-form bounds for shares, one-sided with error rate alpha."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special


def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal distribution."""
    return float(special.ndtri(probability))


def t_quantile(probability: float, df: float) -> float:
    """Quantile of Student's t; `df` may be fractional, infinite gives the normal quantile."""
    if math.isinf(df):
        return normal_quantile(probability)
    return float(special.stdtrit(df, probability))


def zero_event_bound(trials: float, alpha: float) -> float:
    """Upper bound of a rate after `trials` draws without one event: 1 - alpha^(1/trials)."""
    return -math.expm1(math.log(alpha) / trials)


def clopper_pearson(hits: int, trials: int, alpha: float) -> tuple[float, float]:
    """Exact bounds of a binomial rate, each with error rate at most `alpha`."""
    if hits == 0:
        return 0.0, zero_event_bound(trials, alpha)
    if hits == trials:
        return 1.0 - zero_event_bound(trials, alpha), 1.0
    return (
        float(special.betaincinv(hits, trials - hits + 1, alpha)),
        float(special.betaincinv(hits + 1, trials - hits, 1.0 - alpha)),
    )


def wilson(share: float, trials: float, quantile: float) -> tuple[float, float]:
    """Score bounds of a share; `quantile` is that of the normal or of t at 1 - alpha.

    With the t quantile this equals the normal score interval on ``trials * (z / t)**2`` draws.
    """
    extra = quantile * quantile / trials
    low = _lower_root(share, extra)
    high = 1.0 - _lower_root(1.0 - share, extra)
    # Where the reach is tiny rounding must not put the share outside its own bounds.
    return min(share, low), max(share, high)


def _lower_root(share: float, extra: float) -> float:
    """Lower root of (1 + extra) p^2 - (2 share + extra) p + share^2.

    From the product of both roots: no difference of near-equal numbers, and every step is
    monotone after rounding, so a larger quantile never gives a narrower interval.
    """
    if share == 0.0:
        return 0.0
    reach = math.sqrt(extra * (share * (1.0 - share) + 0.25 * extra))
    return share * share / (share + 0.5 * extra + reach)


def markov(share: float, alpha: float) -> tuple[float, float]:
    """Bounds of a mean on [0, 1] from a single draw, by Markov's inequality.

    A draw this large has at most probability alpha when the mean is below ``alpha * share``.
    """
    return alpha * share, 1.0 - alpha * (1.0 - share)


@dataclass(frozen=True, slots=True)
class Share:
    """Evidence about the mean of a quantity in [0, 1], reduced to what its interval needs.

    Attributes
    ----------
    value : float
        The mean.
    effective : float
        Independent 0/1 draws that would be as variable: value (1 - value) / squared error.
    df : float
        Degrees of freedom of the squared error.
    trials : int
        Draws the zero-event bound rests on: sampling units, or generations of fixed units.
    hits : int or None
        Number of ones, where every draw is 0 or 1 and the exact binomial bounds hold.
    guard : float
        Units whose zero-event bound neither end may beat; infinite where it does not hold.
    seen : tuple of float
        Smallest and largest unit. A unit beyond the zero-event bound is an event seen, and lifts
        it; by default none does, since hits that cluster in few units look less variable than no
        hit at all.
    skew : float
        Third cumulant over squared error of the mean, less what Wilson's own asymmetry allows for;
        the end on that side moves out by the Cornish-Fisher term (1 + 2 t^2) / 6 times as much.
    """

    value: float
    effective: float
    df: float
    trials: int
    hits: int | None = None
    guard: float = math.inf
    seen: tuple[float, float] = (1.0, 0.0)
    skew: float = 0.0

    @property
    def method(self) -> str:
        """The interval in words."""
        if self.trials == 1:
            return "one unit (Markov)"
        if self.hits is not None:
            return "Clopper-Pearson"
        if self.value in (0.0, 1.0):
            return "zero-event bound"
        return "Wilson on effective sample size, kurtosis-based df"

    def lower(self, alpha: float) -> float:
        """Lower bound with error rate `alpha`."""
        return self._bounds(alpha)[0]

    def upper(self, alpha: float) -> float:
        """Upper bound with error rate `alpha`."""
        return self._bounds(alpha)[1]

    def _bounds(self, alpha: float) -> tuple[float, float]:
        if self.trials == 1:
            return markov(self.value, alpha)
        if self.hits is not None:
            return clopper_pearson(self.hits, self.trials, alpha)
        least = zero_event_bound(self.trials, alpha)
        if self.value == 0.0:
            return 0.0, least
        if self.value == 1.0:
            return 1.0 - least, 1.0
        t = t_quantile(1.0 - alpha, self.df)
        low, high = wilson(self.value, self.effective, t)
        tail = self.skew * (1.0 + 2.0 * t * t) / 6.0
        low, high = max(0.0, low + min(0.0, tail)), min(1.0, high + max(0.0, tail))
        least = zero_event_bound(self.guard, alpha)
        smallest, largest = self.seen
        if smallest > 1.0 - least:
            low = min(low, 1.0 - least)
        return low, max(high, least) if largest < least else high

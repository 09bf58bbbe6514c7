"""Score intervals of rates and their differences, and p-values that agree with bounds."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from pytest_llmfair.stats._records import Floats


def normal_quantile(probability: float) -> float:
    return float(special.ndtri(probability))


def t_quantile(probability: float, df: float) -> float:
    """Quantile of Student's t; `df` may be fractional, infinite gives the normal quantile."""
    if math.isinf(df):
        return normal_quantile(probability)
    return float(special.stdtrit(df, probability))


# At an error rate of 1/2 the bound is the estimate itself; keep precisions finite.
_SMALLEST_QUANTILE = 1e-6


def precision_of(draws: float, alpha: float, df: float = math.inf) -> float:
    """Return `draws` over the squared quantile of error rate `alpha`."""
    quantile = max(_SMALLEST_QUANTILE, t_quantile(1.0 - alpha, df))
    return draws / (quantile * quantile)


def zero_event_bound(trials: float, alpha: float) -> float:
    """Upper bound of a rate after `trials` draws without one event: 1 - alpha^(1/trials)."""
    # Below 1, where a part of a draw says next to nothing: others divide by what it says.
    return min(-math.expm1(math.log(alpha) / trials), math.nextafter(1.0, 0.0))


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
    """Score bounds of a share; `quantile` is that of the normal or of t at 1 - alpha."""
    extra = quantile * quantile / trials
    low = _lower_root(share, extra)
    high = 1.0 - _lower_root(1.0 - share, extra)
    # Where the reach is tiny rounding must not put the share outside its own bounds.
    return min(share, low), max(share, high)


def _lower_root(share: float, extra: float) -> float:
    """Lower root of (1 + extra) p^2 - (2 share + extra) p + share^2."""
    # From the product of both roots: no difference of near-equal numbers, and every step is
    # monotone after rounding, so a larger quantile never gives a narrower interval.
    if share == 0.0:
        return 0.0
    reach = math.sqrt(extra * (share * (1.0 - share) + 0.25 * extra))
    return share * share / (share + 0.5 * extra + reach)


def markov(share: float, alpha: float) -> tuple[float, float]:
    """Bounds of a mean on [0, 1] from a single draw, by Markov's inequality."""
    return alpha * share, 1.0 - alpha * (1.0 - share)


@dataclass(frozen=True, slots=True)
class Share:
    """Evidence about the mean of a quantity in [0, 1], reduced to what its interval needs."""

    value: float
    # Independent 0/1 draws that would be as variable: value (1 - value) / squared error.
    effective: float
    # Degrees of freedom of the squared error.
    df: float
    # Draws the mean rests on: sampling units, or generations of fixed units.
    trials: int
    # Number of ones, where every draw is 0 or 1 and the exact binomial bounds hold.
    hits: int | None = None
    # Draws that could have missed a rare value altogether; infinite where that is no concern.
    guard: float = math.inf
    # Mean smallest and mean largest value that a draw could have.
    reach: tuple[float, float] = (0.0, 1.0)
    # Third cumulant over squared error of the mean, less what Wilson's own asymmetry allows for;
    # the end on that side moves out by the Cornish-Fisher term (1 + 2 t^2) / 6 times as much.
    skew: float = 0.0

    @property
    def method(self) -> str:
        if self.trials == 1:
            return "one unit (Markov)"
        if self.hits is not None:
            return "Clopper-Pearson"
        if self.value in (0.0, 1.0):
            return "zero-event bound"
        return "Wilson on effective sample size, kurtosis-based df"

    def lower(self, alpha: float) -> float:
        return self._bounds(alpha)[0]

    def upper(self, alpha: float) -> float:
        return self._bounds(alpha)[1]

    def _bounds(self, alpha: float) -> tuple[float, float]:
        if self.trials == 1:
            return markov(self.value, alpha)
        if self.hits is not None:
            return clopper_pearson(self.hits, self.trials, alpha)
        low = high = self.value
        draws = min(self.guard, self.trials)
        if 0.0 < self.value < 1.0:
            draws = self.guard
            t = t_quantile(1.0 - alpha, self.df)
            low, high = wilson(self.value, self.effective, t)
            tail = self.skew * (1.0 + 2.0 * t * t) / 6.0
            low, high = max(0.0, low + min(0.0, tail)), min(1.0, high + max(0.0, tail))
        # A share of draws this rare may have been missed, and may differ from all that were seen
        # as far as a draw can. No spread that was observed says anything about them.
        missed = zero_event_bound(draws, alpha)
        least, most = (self.value + missed * (end - self.value) for end in self.reach)
        return min(low, least), max(high, most)


_TOLERANCE = 1e-14
_MOST_STEPS = 200


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root by regula falsi (Illinois, halving every third step) between positive and not."""
    f_low, f_high = function(low), function(high)
    if f_low <= 0.0:
        return low
    if f_high >= 0.0:
        return high
    side = 0
    for step in range(_MOST_STEPS):
        width = high - low
        if width <= _TOLERANCE:
            break
        middle = high - f_high * width / (f_high - f_low) if step % 3 else low + 0.5 * width
        if not low < middle < high:
            middle = low + 0.5 * width
            if not low < middle < high:
                break
        f_middle = function(middle)
        if f_middle == 0.0:
            return middle
        if f_middle > 0.0:
            low, f_low = middle, f_middle
            if side > 0:
                f_high *= 0.5
            side = 1
        else:
            high, f_high = middle, f_middle
            if side < 0:
                f_low *= 0.5
            side = -1
    return 0.5 * (low + high)


def restricted_rates(
    rate_a: float, rate_b: float, ratio: float, gap: float
) -> tuple[float, float]:
    """Most likely rates `gap` apart, the draws in a `ratio` (Farrington & Manning 1990)."""
    if gap >= 1.0:
        return 1.0, 0.0
    if gap <= -1.0:
        return 0.0, 1.0
    a = 1.0 + ratio
    b = -(a + rate_a + ratio * rate_b + gap * (ratio + 2.0))
    c = gap * gap + gap * (2.0 * rate_a + a) + rate_a + ratio * rate_b
    d = -rate_a * gap * (1.0 + gap)
    shift = b / (3.0 * a)
    v = shift**3 - b * c / (6.0 * a * a) + d / (2.0 * a)
    u = math.copysign(math.sqrt(max(0.0, shift * shift - c / (3.0 * a))), v)
    cosine = v / u**3 if u != 0.0 else 1.0
    angle = (math.pi + math.acos(min(1.0, max(-1.0, cosine)))) / 3.0
    root = 2.0 * u * math.cos(angle) - shift
    p_a = min(max(root, gap, 0.0), 1.0, 1.0 + gap)
    return p_a, min(1.0, max(0.0, p_a - gap))


# Pairs of many groups often have the same counts.
@functools.lru_cache(maxsize=2**14)
def difference_bound(
    rate_a: float, rate_b: float, precision_a: float, precision_b: float, correction: float
) -> float:
    """Upper bound of rate a minus rate b (Miettinen & Nurminen 1985, eq. 8, with their factor)."""
    precisions = precision_a, precision_b
    return _beyond(
        lambda at: difference_excess(rate_a, rate_b, precisions, correction, at), rate_a - rate_b
    )


def difference_excess(
    rate_a: float, rate_b: float, precisions: tuple[float, float], correction: float, at: float
) -> float:
    """Return a number above 0 where the upper bound of rate a minus rate b is above `at`."""
    precision_a, precision_b = precisions
    p_a, p_b = restricted_rates(rate_a, rate_b, precision_b / precision_a, at)
    variance = p_a * (1.0 - p_a) / precision_a + p_b * (1.0 - p_b) / precision_b
    return rate_a - rate_b + math.sqrt(correction * variance) - at


def paired_bound(gap: float, discordance: float, precision: float) -> float:
    """Upper bound of a difference of paired rates, `discordance` apart (Tango 1998, eq. 7)."""
    more, less = 0.5 * (discordance + gap), max(0.0, 0.5 * (discordance - gap))

    def excess(at: float) -> float:
        # The most likely share of pairs that go the other way when the difference is `at`.
        first, second, d = (less, more, at) if at >= 0.0 else (more, less, -at)
        b = -(first + second) + (2.0 - second + first) * d
        q = (math.sqrt(max(0.0, b * b + 8.0 * first * d * (1.0 - d))) - b) / 4.0
        return gap + math.sqrt(max(0.0, 2.0 * q + d - d * d) / precision) - at

    return _beyond(excess, gap)


def _beyond(excess: Callable[[float], float], gap: float) -> float:
    # Right of the difference itself: at rates of 0 or 1 the variance is 0 there, yet not beyond.
    return find_root(excess, min(1.0, gap + _TOLERANCE), 1.0)


def ratio_bound(rate_a: float, rate_b: float, precision_a: float, precision_b: float) -> float:
    """Upper bound of rate a over rate b (Koopman 1984; Miettinen & Nurminen 1985, eq. 10)."""
    if rate_b == 0.0:
        return math.inf
    total, pooled = precision_a + precision_b, precision_a * rate_a + precision_b * rate_b

    def excess(share: float) -> float:
        # The ratio is share / (1 - share), so that the whole half-line is in reach.
        if share >= 1.0:
            return -rate_b
        ratio = share / (1.0 - share)
        b = ratio * (precision_a + precision_b * rate_b) + precision_a * rate_a + precision_b
        root = math.sqrt(max(0.0, b * b - 4.0 * total * ratio * pooled))
        p_b = min(1.0, 2.0 * pooled / (b + root))
        p_a = min(1.0, ratio * p_b)
        variance = p_a * (1.0 - p_a) / precision_a + ratio**2 * p_b * (1.0 - p_b) / precision_b
        return (1.0 - share) * (math.sqrt(variance) + rate_a) - share * rate_b

    share = _beyond(excess, rate_a / (rate_a + rate_b))
    return share / (1.0 - share) if share < 1.0 else math.inf


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

"""Score bounds for two rates: the variance is that under the difference (or ratio) in question.

All functions take precisions: draws divided by the squared quantile. The bounds then solve
``difference**2 == variance`` with both sides in units of one squared quantile, and groups may have
different degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_TOLERANCE = 1e-14
_MOST_STEPS = 200


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root between `low` and `high`, where `function` is positive and not positive.

    Regula falsi with the Illinois rule, halving every third step: never leaves the bracket.
    """
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
    """Most likely rates whose difference is `gap` (Farrington & Manning 1990, appendix).

    `ratio` is the number of draws of the second group for each of the first.
    """
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


def difference_bound(
    rate_a: float, rate_b: float, precision_a: float, precision_b: float, correction: float
) -> float:
    """Upper bound of rate a minus rate b (Miettinen & Nurminen 1985, eq. 8).

    `correction` is their factor N / (N - 1).
    """
    gap = rate_a - rate_b
    ratio = precision_b / precision_a

    def excess(at: float) -> float:
        p_a, p_b = restricted_rates(rate_a, rate_b, ratio, at)
        variance = p_a * (1.0 - p_a) / precision_a + p_b * (1.0 - p_b) / precision_b
        return gap + math.sqrt(correction * variance) - at

    return _beyond(excess, gap)


def paired_bound(gap: float, discordance: float, precision: float) -> float:
    """Upper bound of a difference of paired rates (Tango 1998, eq. 7).

    `discordance` is the share of pairs that differ, at least ``abs(gap)``.
    """
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

"""The most extreme ratio of the rates of two groups, over several pairs of groups."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_llmfair.stats._base import Estimate, GroupRow, Table
from pytest_llmfair.stats._records import Ends, Passes
from pytest_llmfair.stats.pairwise_max import MaxPairwiseDifference
from pytest_llmfair.stats.rate_ratio import RateRatio


@dataclass(eq=False, kw_only=True)
class MaxPairwiseRatio(Estimate):
    """Ratio of the two rates that are furthest apart on the log scale.

    Interval and p-values are those of the largest absolute log ratio of any pair (see
    :class:`MaxPairwiseDifference`), shown as a ratio on the value's side of 1: for a value of 0.5
    the interval is ``[exp(-b), exp(-a)]``, where ``[a, b]`` is that of the largest absolute log
    ratio. Bounds of ``exp(b)`` and ``exp(-b)`` therefore give the same verdict, whichever group
    comes first.
    """

    # The largest absolute log ratio.
    largest: MaxPairwiseDifference
    # Pair whose ratio is the value, the first of several equally far from 1; None without one.
    widest: Hashable
    method: str = "Koopman score of every pair, joined on the log scale"
    near_normal = False

    @classmethod
    def of_pairs(
        cls, pairs: Mapping[Any, RateRatio], *, rates: Mapping[Hashable, GroupRow] | None = None
    ) -> MaxPairwiseRatio:
        """Ratio furthest from 1 of several.

        Parameters
        ----------
        pairs : mapping
            Pair of groups to its ratio: all as "ratio", or all as "smaller" (else ``ValueError``).
            Undefined ones (no event in either group) are listed; they matter only where no ratio
            is infinite.
        rates : mapping, optional
            Further rows of the table, such as the groups' own rates.

        Examples
        --------
        >>> a, b, c = [1, 0] * 20, [1, 0, 0, 0] * 10, [0, 1, 1, 1] * 10
        >>> ratio = RateRatio.of_outcomes
        >>> pairs = {("a", "b"): ratio(a, b), ("a", "c"): ratio(a, c)}
        >>> MaxPairwiseRatio.of_pairs(pairs).widest
        ('a', 'b')
        """
        forms = list(dict.fromkeys(pair.form for pair in pairs.values()))
        if len(forms) != 1 or forms[0] == "log":
            raise ValueError(
                f"pairs have the forms {', '.join(forms) or 'none'}; give them all as ratio, or "
                "all as smaller"
            )
        logs = {key: _log(pair) for key, pair in pairs.items()}
        largest = MaxPairwiseDifference.of_pairs(logs)
        known = [key for key, pair in pairs.items() if pair.undefined is None]
        widest = max(known, key=lambda key: _distance(pairs[key]), default=None)
        return cls(
            value=math.nan if widest is None else pairs[widest].value,
            widest=widest,
            sample=largest.sample,
            attainable=next(iter(pairs.values())).attainable,
            groups=_table(pairs, largest.groups, rates or {}),
            # No ratio is further from 1 than an infinite one, whatever the undefined ones are.
            findings=tuple(
                f for f in largest.findings if f.kind != "invalid" or not math.isinf(largest.value)
            ),
            largest=largest,
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`; at least 1 where the value is above 1."""
        if self.value > 1.0:
            return _ratio(self.largest.lower_bound(alpha))
        return math.exp(-self.largest.upper_bound(alpha))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`; at most 1 unless the value is above 1."""
        if self.value > 1.0:
            return _ratio(self.largest.upper_bound(alpha))
        return math.exp(-self.largest.lower_bound(alpha))

    def noise_floor(self) -> float:
        """Return the approximate value of equal groups, on this value's side of 1."""
        floor = self.largest.noise_floor()
        return _ratio(floor) if self.value > 1.0 else math.exp(-floor)

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error, from that of the log ratio; as in :class:`RateRatio`."""
        error = self.largest.standard_error(at)
        scale = self.value if at is None else at
        return error if math.isinf(scale) else error * scale

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes` of the largest absolute log ratio."""
        low, high = allowed
        limit = min(math.log(high), -math.log(low) if low > 0.0 else math.inf)
        return self.largest.fair_passes((-limit, limit), 0.0, alpha)


def _table(
    pairs: Mapping[Hashable, RateRatio],
    logs: Mapping[Hashable, GroupRow],
    rates: Mapping[Hashable, GroupRow],
) -> Table:
    """Return pairs with their ratio and p-value, then the groups' rates."""

    def row(key: Hashable) -> GroupRow:
        if key not in pairs:
            return rates[key]
        pair = pairs[key]
        p = math.nan if pair.undefined is not None else logs[key].p
        return GroupRow(pair.value, pair.sample.generations, p=p, estimate=pair)

    return Table([*pairs, *rates], row)


def _distance(pair: RateRatio) -> float:
    a, b = pair.rates
    # Unlike the logarithm of a ratio, this is exactly symmetric, so that ties stay ties.
    return abs(math.log(a) - math.log(b)) if a > 0.0 and b > 0.0 else math.inf


def _log(pair: RateRatio) -> RateRatio:
    """Return the same pair, as an absolute log ratio."""
    value = abs(math.log(pair.value)) if pair.value > 0.0 else math.inf
    return dataclasses.replace(
        pair,
        value=math.nan if pair.undefined is not None else value,
        attainable=(0.0, math.inf),
        form="log",
        method=pair.method.removesuffix(", folded") + ", folded",
    )


def _ratio(log: float) -> float:
    try:
        return math.exp(log)
    except OverflowError:  # beyond the largest float
        return math.inf

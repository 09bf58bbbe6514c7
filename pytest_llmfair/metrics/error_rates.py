"""Error rates of groups: their differences and ratios (Saleiro et al. 2018; Bouchard 2024).

Each of the four rates gives two metrics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._rates import ERROR_RATES, ErrorRate, difference, error_rates, ratio
from pytest_llmfair.metrics._registry import metric, written
from pytest_llmfair.stats import (
    Estimate,
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    Population,
    RateDifference,
    RateRatio,
    Undefined,
)

# What all of them take.
_PARAMETERS = """\
y_true, y_pred : array_like of shape (n_rows,)
    True and predicted classes.
groups : array_like of shape (n_rows,)
    Protected-attribute label of each row.
positive : object
    The class the rate is about; all others are the rest.
units : sequence, optional
    One label per row; rows with equal labels are one sampling unit, and a label that
    appears in both groups makes the comparison paired. Default: each row.
population : {"sampled", "fixed"}
    Whether the units were drawn from a larger population or are all of it."""


def _metrics_of(rate: ErrorRate) -> tuple[Callable[..., Estimate], ...]:
    """Make the difference and the ratio of an error rate."""
    about: dict[str, Any] = {
        "family": "classification",
        "unit": "person",
        "example": _examples.people,
    }
    stem = rate.name.replace(" ", "_")
    words = {
        "rate": rate.name,
        "symbol": f"{rate.symbol}D",
        "formula": rate.formula,
        "share": rate.share,
        "counted": rate.counted,
        "parameters": _PARAMETERS,
    }

    @metric(
        paper="bouchard2024",
        symbol=f"{rate.symbol}D",
        aliases=(f"{rate.symbol}D",),
        direction="lower",
        bounds=(0.0, 1.0),
        reported="thresholds only, no measured values",
        **about,
    )
    @written(f"{stem}_difference", words)
    def difference_of_rates(
        y_true: Any,
        y_pred: Any,
        *,
        groups: Any,
        positive: Any = 1,
        units: Sequence[Hashable] | None = None,
        population: Population = "sampled",
    ) -> RateDifference | MaxPairwiseDifference | Undefined:
        """Largest absolute difference of the groups' ${rate}s.

        $symbol of Bouchard (2024), section 3.2.2: the difference of
        ``$formula``,
        the share of $share.

        Parameters
        ----------
        $parameters

        Returns
        -------
        RateDifference, Range or Undefined
            Value in [0, 1]; 0 when the rates are equal. Two groups: ``.signed`` is the first (in
            order of appearance) minus the second. More: the largest difference of any two.
            ``.groups`` has every pair, then each group with its ``rate``. NaN with a reason when a
            group has no row that is $counted.

        Raises
        ------
        ValueError
            If lengths differ, a label or class is missing, or there is one group only.
        """
        return difference(error_rates(rate, y_true, y_pred, groups, positive, units, population))

    @metric(
        paper="saleiro2018",
        symbol=f"{rate.symbol} Ratio",
        aliases=(f"{rate.symbol}R",),
        direction="two-sided",
        bounds=(0.0, math.inf),
        fair_value=1.0,
        scale="log",
        **about,
    )
    @written(f"{stem}_ratio", words)
    def ratio_of_rates(
        y_true: Any,
        y_pred: Any,
        *,
        groups: Any,
        positive: Any = 1,
        units: Sequence[Hashable] | None = None,
        population: Population = "sampled",
    ) -> RateRatio | MaxPairwiseRatio | Undefined:
        """Ratio of the groups' ${rate}s, the first over the second.

        Disparity of Saleiro et al. (2018) in the share of
        $share:
        ``$formula``.

        Parameters
        ----------
        $parameters

        Returns
        -------
        RateRatio, RatioRange or Undefined
            Value in [0, inf), 1 when the rates are equal, infinite over a rate of 0; a bound is on
            the absolute logarithm. More than two groups: the pair whose ratio is furthest from 1.
            NaN with a reason when a group has no row that is $counted,
            or no group an error. ``.groups`` has every pair, and ``rate`` and ``n`` of every
            group.

        Raises
        ------
        ValueError
            If lengths differ, a label or class is missing, or there is one group only.
        """
        return ratio(error_rates(rate, y_true, y_pred, groups, positive, units, population))

    return difference_of_rates, ratio_of_rates


_MADE = [made for rate in ERROR_RATES for made in _metrics_of(rate)]
__all__ = [made.__name__ for made in _MADE]
globals().update(zip(__all__, _MADE, strict=True))

"""Selection rates and error rates of groups (Bouchard 2024, section 3.2; Saleiro et al. 2018).

Each of the four error rates makes two metrics, a difference and a ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._classes import ERROR_RATES, ErrorRate
from pytest_llmfair.metrics._people import Who, people_metric
from pytest_llmfair.metrics._rates import (
    difference,
    error_rates,
    ratio,
    selection_rates,
)
from pytest_llmfair.stats import (
    Estimate,
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    RateDifference,
    RateRatio,
    Undefined,
)

__all__ = ["demographic_parity_difference", "impact_ratio"]


@people_metric(
    paper="bouchard2024",
    symbol="DP",
    reported="thresholds only, no measured values",
    aliases=("DP", "demographic_parity"),
    example=_examples.predictions,
    favourable="high",
)
def demographic_parity_difference(
    y_pred: ArrayLike,
    *,
    positive: Any,
    who: Who,
) -> RateDifference | MaxPairwiseDifference | Undefined:
    """Largest absolute difference of the groups' rates of positive predictions.

    Demographic parity of Bouchard (2024), section 3.2.1: ``|P(prediction | first group) -
    P(prediction | second group)|``.

    Parameters
    ----------
    y_pred : array_like of shape (n_rows,)
        Predicted classes.

    Returns
    -------
    RateDifference or MaxPairwiseDifference
        Value in [0, 1]; 0 when the rates are equal. Two groups: ``.signed`` is the first (in order
        of appearance) minus the second, or the other minus the reference. More: the largest
        difference of any two. ``.groups`` has every pair, then each group with its ``rate``.

    Examples
    --------
    >>> from pytest_llmfair.metrics import demographic_parity_difference
    >>> y_pred = [1, 1, 1, 0, 1, 0, 0, 0]
    >>> groups = ["a"] * 4 + ["b"] * 4
    >>> demographic_parity_difference(y_pred, groups=groups)
    RateDifference 0.500 [0.000, 0.868] (95 %, 8 people)
    """
    return difference(selection_rates(y_pred, positive, who))


@people_metric(
    paper="saleiro2018",
    symbol="IR",
    direction="higher",
    reported="no values; four fifths (0.8) is a guideline of US agencies for hiring",
    aliases=("disparate_impact",),
    example=_examples.predictions,
    favourable="high",
)
def impact_ratio(
    y_pred: ArrayLike,
    *,
    positive: Any,
    who: Who,
) -> RateRatio | MaxPairwiseRatio | Undefined:
    """Smallest rate of positive predictions of any group, over the largest.

    The disparity of predicted prevalence of Saleiro et al. (2018), with the group selected most
    as reference.

    Parameters
    ----------
    y_pred : array_like of shape (n_rows,)
        Predicted classes.

    Returns
    -------
    RateRatio, MaxPairwiseRatio or Undefined
        Value in [0, 1]; 1 when the rates are equal. NaN with a reason when no row is selected, or
        fewer than two groups are judged. ``.groups`` has every judged pair, and every group: its
        rate over the largest as ``value``, with ``rate`` and ``n``.

    Raises
    ------
    ValueError
        If lengths differ, a label or prediction is missing, there is one group only, or
        `minimum_share` is no share.

    Examples
    --------
    >>> from pytest_llmfair.metrics import impact_ratio
    >>> y_pred = [1, 1, 1, 0, 1, 0, 0, 0]
    >>> groups = ["a"] * 4 + ["b"] * 4
    >>> impact_ratio(y_pred, groups=groups)
    RateRatio 0.333 [0.058, 1.000] (95 %, 8 people)
    """
    return ratio(selection_rates(y_pred, positive, who), smaller=True)


def _difference_of(rate: ErrorRate, *, right: bool = False) -> Callable[..., Estimate]:
    """Make the difference of an error rate, or of its opposite."""

    def measure(
        y_true: ArrayLike, y_pred: ArrayLike, *, positive: Any, who: Who
    ) -> RateDifference | MaxPairwiseDifference | Undefined:
        return difference(error_rates(rate, y_true, y_pred, positive, who, right=right))

    name, about = f"{rate.name} difference".replace(" ", "_"), rate.name
    summary = f"""{rate.symbol}D of Bouchard (2024), section 3.2.2: the difference of
    ``{rate.formula}``,
    the share of {rate.share}."""
    facts: dict[str, Any] = {
        "paper": "bouchard2024",
        "symbol": f"{rate.symbol}D",
        "aliases": (f"{rate.symbol}D",),
        "favourable": "low",
        "reported": "thresholds only, no measured values",
    }
    if right:
        name, about = "equal_opportunity_difference", rate.opposite
        summary = """Equal opportunity of Hardt, Price and Srebro (2016):
    ``P(prediction is positive | positive)``, the size of the false negative rate difference with
    the other sign."""
        facts = {
            "paper": "hardt2016",
            "symbol": "EOpp",
            "aliases": ("EOpp", "equal_opportunity"),
            "favourable": "high",
        }
    measure.__name__ = measure.__qualname__ = name
    measure.__doc__ = f"""Largest absolute difference of the groups' {about}s.

    {summary}

    Returns
    -------
    RateDifference, MaxPairwiseDifference or Undefined
        Value in [0, 1]; 0 when the rates are equal. Two groups: ``.signed`` is the first (in
        order of appearance) minus the second, or the other minus the reference. More: the
        largest difference of any two.
        ``.groups`` has every pair, then each group with its ``rate``. NaN with a reason when a
        group has no row that is {rate.counted}.

    Examples
    --------
    >>> from pytest_llmfair.metrics import {name}
    >>> y_true = [1, 1, 0, 0] + [1, 1, 1, 1, 0, 0, 0, 0]
    >>> y_pred = [1, 0, 1, 0] + [1, 1, 1, 0, 0, 0, 0, 1]
    >>> {name}(y_true, y_pred, groups=["a"] * 4 + ["b"] * 8)
    RateDifference 0.250 [0.000, 0.807] (95 %, 6 people)
    """
    return people_metric(**facts)(measure)


def _ratio_of(rate: ErrorRate) -> Callable[..., Estimate]:
    """Make the ratio of an error rate."""

    def measure(
        y_true: ArrayLike, y_pred: ArrayLike, *, positive: Any, who: Who
    ) -> RateRatio | MaxPairwiseRatio | Undefined:
        return ratio(error_rates(rate, y_true, y_pred, positive, who))

    name = f"{rate.name} ratio".replace(" ", "_")
    measure.__name__ = measure.__qualname__ = name
    measure.__doc__ = f"""Ratio of the groups' {rate.name}s, the first over the second.

    Disparity of Saleiro et al. (2018) in the share of
    {rate.share}:
    ``{rate.formula}``.

    Returns
    -------
    RateRatio, MaxPairwiseRatio or Undefined
        Value in [0, inf), 1 when the rates are equal, infinite over a rate of 0; a bound is on
        the absolute logarithm. More than two groups: the pair whose ratio is furthest from 1.
        NaN with a reason when a group has no row that is {rate.counted},
        or no group an error. ``.groups`` has every pair, and ``rate`` and ``n`` of every
        group.

    Examples
    --------
    >>> from pytest_llmfair.metrics import {name}
    >>> y_true = [1, 1, 0, 0] + [1, 1, 1, 1, 0, 0, 0, 0]
    >>> y_pred = [1, 0, 1, 0] + [1, 1, 1, 0, 0, 0, 0, 1]
    >>> {name}(y_true, y_pred, groups=["a"] * 4 + ["b"] * 8)
    RateRatio 2.000 [0.260, 13.723] (95 %, 6 people)
    """
    return people_metric(
        favourable="low",
        paper="saleiro2018",
        symbol=f"{rate.symbol}R",
        aliases=(f"{rate.symbol}R",),
        direction="two-sided",
        bounds=(0.0, math.inf),
        fair_value=1.0,
        scale="log",
    )(measure)


_MADE = {
    made.__name__: made for rate in ERROR_RATES for made in (_difference_of(rate), _ratio_of(rate))
}
_MADE["equal_opportunity_difference"] = _difference_of(ERROR_RATES[0], right=True)
__all__ += list(_MADE)
globals().update(_MADE)

"""Ratios of error rates between groups (Saleiro et al. 2018; Bouchard 2024)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._classification.rate_comparisons import ratio
from pytest_llmfair.metrics._classification.rates import (
    FALSE_DISCOVERY,
    FALSE_NEGATIVE,
    FALSE_OMISSION,
    FALSE_POSITIVE,
    error_rates,
)
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.stats import Population, RateRatio, RatioRange, Undefined

__all__ = [
    "false_discovery_rate_ratio",
    "false_negative_rate_ratio",
    "false_omission_rate_ratio",
    "false_positive_rate_ratio",
]


@metric(
    family="classification",
    paper="saleiro2018",
    symbol="FNR Ratio",
    direction="two-sided",
    bounds=(0.0, math.inf),
    fair_value=1.0,
    unit="person",
    scale="log",
    aliases=("FNRR",),
    example=_examples.people,
)
def false_negative_rate_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    groups: Any,
    positive: Any = 1,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateRatio | RatioRange | Undefined:
    """Ratio of the groups' false negative rates, the first over the second.

    Disparity of Saleiro et al. (2018) in the share of positive rows that are missed:
    ``P(prediction is not positive | positive)``.

    Parameters
    ----------
    y_true, y_pred : array_like of shape (n_rows,)
        True and predicted classes.
    groups : array_like of shape (n_rows,)
        Protected-attribute label of each row.
    positive : object
        The class the rate is about; all others are the rest.
    units : sequence, optional
        One label per row; rows with equal labels are one sampling unit, and a label that appears
        in both groups makes the comparison paired. Default: each row.
    population : {"sampled", "fixed"}
        Whether the units were drawn from a larger population or are all of it.

    Returns
    -------
    RateRatio, RatioRange or Undefined
        Value in [0, inf), 1 when the rates are equal, infinite over a rate of 0; a bound is on the
        absolute logarithm. More than two groups: the pair whose ratio is furthest from 1. NaN with
        a reason when a group has no positive row, or no group an error. ``.groups`` has every
        pair, and ``rate`` and ``n`` of every group.

    Raises
    ------
    ValueError
        If lengths differ, a label or class is missing, or there is one group only.
    """
    return ratio(error_rates(FALSE_NEGATIVE, y_true, y_pred, groups, positive, units, population))


@metric(
    family="classification",
    paper="saleiro2018",
    symbol="FOR Ratio",
    direction="two-sided",
    bounds=(0.0, math.inf),
    fair_value=1.0,
    unit="person",
    scale="log",
    aliases=("FORR",),
    example=_examples.people,
)
def false_omission_rate_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    groups: Any,
    positive: Any = 1,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateRatio | RatioRange | Undefined:
    """Ratio of the groups' false omission rates, the first over the second.

    Disparity of Saleiro et al. (2018) in the share of
    rows not predicted positive that are positive:
    ``P(positive | prediction is not positive)``.

    Parameters
    ----------
    y_true, y_pred, groups, positive, units, population
        As in :func:`false_negative_rate_ratio`.

    Returns
    -------
    RateRatio, RatioRange or Undefined
        As in :func:`false_negative_rate_ratio`; NaN with a reason when a group
        has no row that is not predicted positive, or no group an error.

    Raises
    ------
    ValueError
        If lengths differ, a label or class is missing, or there is one group only.
    """
    return ratio(error_rates(FALSE_OMISSION, y_true, y_pred, groups, positive, units, population))


@metric(
    family="classification",
    paper="saleiro2018",
    symbol="FPR Ratio",
    direction="two-sided",
    bounds=(0.0, math.inf),
    fair_value=1.0,
    unit="person",
    scale="log",
    aliases=("FPRR",),
    example=_examples.people,
)
def false_positive_rate_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    groups: Any,
    positive: Any = 1,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateRatio | RatioRange | Undefined:
    """Ratio of the groups' false positive rates, the first over the second.

    Disparity of Saleiro et al. (2018) in the share of
    rows that are not positive but predicted so:
    ``P(prediction is positive | not positive)``.

    Parameters
    ----------
    y_true, y_pred, groups, positive, units, population
        As in :func:`false_negative_rate_ratio`.

    Returns
    -------
    RateRatio, RatioRange or Undefined
        As in :func:`false_negative_rate_ratio`; NaN with a reason when a group
        has no row that is not positive, or no group an error.

    Raises
    ------
    ValueError
        If lengths differ, a label or class is missing, or there is one group only.
    """
    return ratio(error_rates(FALSE_POSITIVE, y_true, y_pred, groups, positive, units, population))


@metric(
    family="classification",
    paper="saleiro2018",
    symbol="FDR Ratio",
    direction="two-sided",
    bounds=(0.0, math.inf),
    fair_value=1.0,
    unit="person",
    scale="log",
    aliases=("FDRR",),
    example=_examples.people,
)
def false_discovery_rate_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    groups: Any,
    positive: Any = 1,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateRatio | RatioRange | Undefined:
    """Ratio of the groups' false discovery rates, the first over the second.

    Disparity of Saleiro et al. (2018) in the share of
    rows predicted positive that are not:
    ``P(not positive | prediction is positive)``.

    Parameters
    ----------
    y_true, y_pred, groups, positive, units, population
        As in :func:`false_negative_rate_ratio`.

    Returns
    -------
    RateRatio, RatioRange or Undefined
        As in :func:`false_negative_rate_ratio`; NaN with a reason when a group
        has no row that is predicted positive, or no group an error.

    Raises
    ------
    ValueError
        If lengths differ, a label or class is missing, or there is one group only.
    """
    return ratio(error_rates(FALSE_DISCOVERY, y_true, y_pred, groups, positive, units, population))

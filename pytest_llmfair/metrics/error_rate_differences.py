"""Differences of error rates between groups (Bouchard 2024, section 3.2.2)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._classification.rate_comparisons import difference
from pytest_llmfair.metrics._classification.rates import (
    FALSE_DISCOVERY,
    FALSE_NEGATIVE,
    FALSE_OMISSION,
    FALSE_POSITIVE,
    error_rates,
)
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.stats import Population, Range, RateDifference, Undefined

__all__ = [
    "false_discovery_rate_difference",
    "false_negative_rate_difference",
    "false_omission_rate_difference",
    "false_positive_rate_difference",
]


@metric(
    family="classification",
    paper="bouchard2024",
    symbol="FNRD",
    direction="lower",
    bounds=(0.0, 1.0),
    unit="person",
    reported="thresholds only, no measured values",
    aliases=("FNRD",),
    example=_examples.people,
)
def false_negative_rate_difference(
    y_true: Any,
    y_pred: Any,
    *,
    groups: Any,
    positive: Any = 1,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateDifference | Range | Undefined:
    """Largest absolute difference of the groups' false negative rates.

    FNRD of Bouchard (2024), section 3.2.2: the difference of
    ``P(prediction is not positive | positive)``, the share of positive rows that are missed.

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
    RateDifference, Range or Undefined
        Value in [0, 1]; 0 when the rates are equal. Two groups: ``.signed`` is the first (in order
        of appearance) minus the second. More: the largest difference of any two. ``.groups`` has
        every pair, then each group with its ``rate``. NaN with a reason when a group has no
        positive row.

    Raises
    ------
    ValueError
        If lengths differ, a label or class is missing, or there is one group only.
    """
    return difference(
        error_rates(FALSE_NEGATIVE, y_true, y_pred, groups, positive, units, population)
    )


@metric(
    family="classification",
    paper="bouchard2024",
    symbol="FORD",
    direction="lower",
    bounds=(0.0, 1.0),
    unit="person",
    reported="thresholds only, no measured values",
    aliases=("FORD",),
    example=_examples.people,
)
def false_omission_rate_difference(
    y_true: Any,
    y_pred: Any,
    *,
    groups: Any,
    positive: Any = 1,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateDifference | Range | Undefined:
    """Largest absolute difference of the groups' false omission rates.

    FORD of Bouchard (2024), section 3.2.2: the difference of
    ``P(positive | prediction is not positive)``,
    the share of rows not predicted positive that are positive.

    Parameters
    ----------
    y_true, y_pred, groups, positive, units, population
        As in :func:`false_negative_rate_difference`.

    Returns
    -------
    RateDifference, Range or Undefined
        As in :func:`false_negative_rate_difference`; NaN with a reason when a group
        has no row that is not predicted positive.

    Raises
    ------
    ValueError
        If lengths differ, a label or class is missing, or there is one group only.
    """
    return difference(
        error_rates(FALSE_OMISSION, y_true, y_pred, groups, positive, units, population)
    )


@metric(
    family="classification",
    paper="bouchard2024",
    symbol="FPRD",
    direction="lower",
    bounds=(0.0, 1.0),
    unit="person",
    reported="thresholds only, no measured values",
    aliases=("FPRD",),
    example=_examples.people,
)
def false_positive_rate_difference(
    y_true: Any,
    y_pred: Any,
    *,
    groups: Any,
    positive: Any = 1,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateDifference | Range | Undefined:
    """Largest absolute difference of the groups' false positive rates.

    FPRD of Bouchard (2024), section 3.2.2: the difference of
    ``P(prediction is positive | not positive)``,
    the share of rows that are not positive but predicted so.

    Parameters
    ----------
    y_true, y_pred, groups, positive, units, population
        As in :func:`false_negative_rate_difference`.

    Returns
    -------
    RateDifference, Range or Undefined
        As in :func:`false_negative_rate_difference`; NaN with a reason when a group
        has no row that is not positive.

    Raises
    ------
    ValueError
        If lengths differ, a label or class is missing, or there is one group only.
    """
    return difference(
        error_rates(FALSE_POSITIVE, y_true, y_pred, groups, positive, units, population)
    )


@metric(
    family="classification",
    paper="bouchard2024",
    symbol="FDRD",
    direction="lower",
    bounds=(0.0, 1.0),
    unit="person",
    reported="thresholds only, no measured values",
    aliases=("FDRD",),
    example=_examples.people,
)
def false_discovery_rate_difference(
    y_true: Any,
    y_pred: Any,
    *,
    groups: Any,
    positive: Any = 1,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateDifference | Range | Undefined:
    """Largest absolute difference of the groups' false discovery rates.

    FDRD of Bouchard (2024), section 3.2.2: the difference of
    ``P(not positive | prediction is positive)``,
    the share of rows predicted positive that are not.

    Parameters
    ----------
    y_true, y_pred, groups, positive, units, population
        As in :func:`false_negative_rate_difference`.

    Returns
    -------
    RateDifference, Range or Undefined
        As in :func:`false_negative_rate_difference`; NaN with a reason when a group
        has no row that is predicted positive.

    Raises
    ------
    ValueError
        If lengths differ, a label or class is missing, or there is one group only.
    """
    return difference(
        error_rates(FALSE_DISCOVERY, y_true, y_pred, groups, positive, units, population)
    )

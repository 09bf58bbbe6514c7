"""Who gets the positive prediction (Bouchard 2024, section 3.2.1; Saleiro et al. 2018)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from pytest_llmfair._util.validation import share
from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._rates import difference, ratio, selection_rates
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.stats import (
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    Population,
    RateDifference,
    RateRatio,
    Undefined,
)

__all__ = ["demographic_parity_difference", "impact_ratio"]


@metric(
    family="classification",
    paper="bouchard2024",
    symbol="DP",
    direction="lower",
    bounds=(0.0, 1.0),
    unit="person",
    reported="thresholds only, no measured values",
    aliases=("DP", "demographic_parity"),
    example=_examples.predictions,
)
def demographic_parity_difference(
    y_pred: Any,
    *,
    groups: Any,
    positive: Any = 1,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateDifference | MaxPairwiseDifference | Undefined:
    """Largest absolute difference of the groups' rates of positive predictions.

    Demographic parity of Bouchard (2024), section 3.2.1: ``|P(prediction | first group) -
    P(prediction | second group)|``.

    Parameters
    ----------
    y_pred : array_like of shape (n_rows,)
        Predicted classes.
    groups : array_like of shape (n_rows,) or (n_rows, n_columns)
        Protected-attribute label of each row. Several columns, also of a data frame, compare
        their intersections, such as "sex=F & age=30".
    positive : object
        The class whose rate is compared; all others are the rest.
    units : sequence, optional
        One label per row; rows with equal labels are one sampling unit, and a label that appears
        in both groups makes the comparison paired. Default: each row.
    population : {"sampled", "fixed"}
        Whether the units were drawn from a larger population or are all of it.

    Returns
    -------
    RateDifference or Range
        Value in [0, 1]; 0 when the rates are equal. Two groups: ``.signed`` is the first (in order
        of appearance) minus the second. More: the largest difference of any two. ``.groups`` has
        every pair, then each group with its ``rate``.

    Raises
    ------
    ValueError
        If lengths differ, a label or prediction is missing, or there is one group only.
    """
    return difference(selection_rates(y_pred, groups, positive, units, population))


@metric(
    family="classification",
    paper="saleiro2018",
    symbol="IR",
    direction="higher",
    bounds=(0.0, 1.0),
    unit="person",
    reported="no values; four fifths (0.8) is a guideline of US agencies for hiring",
    aliases=("disparate_impact",),
    example=_examples.predictions,
)
def impact_ratio(
    y_pred: Any,
    *,
    groups: Any,
    positive: Any = 1,
    minimum_share: float = 0.0,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateRatio | MaxPairwiseRatio | Undefined:
    """Smallest rate of positive predictions of any group, over the largest.

    The disparity of predicted prevalence of Saleiro et al. (2018), with the group selected most
    as reference.

    Parameters
    ----------
    y_pred, groups, positive
        As in :func:`demographic_parity_difference`.
    minimum_share : float
        Groups with a smaller share of the rows than this, in [0, 1], are left unjudged: they are
        neither the smallest nor the largest rate, and stand in ``.groups`` with count and rate.
    units, population
        As in :func:`demographic_parity_difference`.

    Returns
    -------
    RateRatio, RatioRange or Undefined
        Value in [0, 1]; 1 when the rates are equal. NaN with a reason when nobody is selected, or
        fewer than two groups are judged. ``.groups`` has every judged pair, and every group: its
        rate over the largest as ``value``, with ``rate`` and ``n``.

    Raises
    ------
    ValueError
        If lengths differ, a label or prediction is missing, there is one group only, or
        `minimum_share` is no share.
    """
    rates = selection_rates(y_pred, groups, positive, units, population)
    return ratio(rates, smaller=True, least=share(minimum_share, "minimum_share"))

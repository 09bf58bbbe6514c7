"""Rates of classifiers between groups (Bouchard 2024, section 3.3; Saleiro et al. 2018)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from pytest_llmfair.metrics._checks import group_rows, labels
from pytest_llmfair.metrics._reasons import note_constant
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.stats import GroupRow, Population, RateDifference

__all__ = ["demographic_parity_difference"]


@metric(
    family="classification",
    paper="bouchard2024",
    symbol="DP",
    direction="lower",
    bounds=(0.0, 1.0),
    unit="person",
    reported="cut-offs only, no values",
)
def demographic_parity_difference(
    y_pred: Any,
    *,
    groups: Any,
    positive: Any = 1,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RateDifference:
    """Absolute difference of the groups' rates of positive predictions.

    Demographic parity of Bouchard (2024), section 3.3: ``|P(prediction | first group) -
    P(prediction | second group)|``.

    Parameters
    ----------
    y_pred : array_like of shape (n_rows,)
        Predicted classes.
    groups : array_like of shape (n_rows,)
        Protected-attribute label of each row; two groups.
    positive : object
        The class whose rate is compared; all others are the rest.
    units : sequence, optional
        One label per row; rows with equal labels are one sampling unit, and a label that appears
        in both groups makes the comparison paired. Default: each row.
    population : {"sampled", "fixed"}
        Whether the units were drawn from a larger population or are all of it.

    Returns
    -------
    RateDifference
        Value in [0, 1]; 0 when the rates are equal. ``.signed`` is the first group (in order of
        appearance) minus the second; ``.groups`` has the pair.

    Raises
    ------
    ValueError
        If lengths differ, a label or prediction is missing, or there are not two groups.
    """
    predicted = labels(y_pred, "y_pred", len(y_pred))
    if not predicted:
        raise ValueError("y_pred is empty; give at least one row per group")
    members = group_rows(groups, len(predicted))
    if len(members) > 2:
        raise ValueError(
            f"groups holds {len(members)} groups ({', '.join(map(str, members))}); "
            "this version compares two: select two, or test each pair"
        )
    outcomes = np.array([label == positive for label in predicted], dtype=np.float64)
    unit_labels = None if units is None else labels(units, "units", len(predicted))
    (name_a, rows_a), (name_b, rows_b) = members.items()
    estimate = RateDifference.of_outcomes(
        outcomes[rows_a],
        outcomes[rows_b],
        units_a=None if unit_labels is None else [unit_labels[i] for i in rows_a],
        units_b=None if unit_labels is None else [unit_labels[i] for i in rows_b],
        population=population,
    )
    rate_a, rate_b = estimate.rates
    estimate.groups = {
        (name_a, name_b): GroupRow(estimate.value, len(predicted), estimate=estimate)
    }
    estimate.notes += (
        f"rates: {name_a} {rate_a:.3f} of {len(rows_a)}, {name_b} {rate_b:.3f} of {len(rows_b)}",
    )
    note_constant(estimate, [outcomes])
    return estimate

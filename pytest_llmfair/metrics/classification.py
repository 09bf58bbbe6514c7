"""Rates of classifiers between groups (Bouchard 2024, section 3.3; Saleiro et al. 2018)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from pytest_llmfair.metrics._checks import group_rows, labels
from pytest_llmfair.metrics._reasons import note_constant
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.stats import GroupRow, Population, Range, RateDifference

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
) -> RateDifference | Range:
    """Largest absolute difference of the groups' rates of positive predictions.

    Demographic parity of Bouchard (2024), section 3.3: ``|P(prediction | first group) -
    P(prediction | second group)|``.

    Parameters
    ----------
    y_pred : array_like of shape (n_rows,)
        Predicted classes.
    groups : array_like of shape (n_rows,)
        Protected-attribute label of each row.
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
        every pair.

    Raises
    ------
    ValueError
        If lengths differ, a label or prediction is missing, or there is one group only.
    """
    predicted = labels(y_pred, "y_pred")
    if not predicted:
        raise ValueError("y_pred is empty; give at least one row per group")
    members = group_rows(groups, len(predicted))
    _check_classes(predicted, positive)
    outcomes = np.array([label == positive for label in predicted], dtype=np.float64)
    unit_labels = None if units is None else labels(units, "units", len(predicted))
    estimate: RateDifference | Range
    if len(members) > 2:
        names = labels(groups, "groups", len(predicted))
        estimate = Range.of_rates(outcomes, names, units=unit_labels, population=population)
    else:
        (name_a, rows_a), (name_b, rows_b) = members.items()
        estimate = RateDifference.of_outcomes(
            outcomes[rows_a],
            outcomes[rows_b],
            units_a=None if unit_labels is None else [unit_labels[i] for i in rows_a],
            units_b=None if unit_labels is None else [unit_labels[i] for i in rows_b],
            population=population,
        )
        estimate.groups = {
            (name_a, name_b): GroupRow(estimate.value, len(predicted), estimate=estimate)
        }
    rates = [
        f"{name} {outcomes[rows].mean():.3f} of {len(rows)}" for name, rows in members.items()
    ]
    estimate.notes += (f"rates: {', '.join(rates)}",)
    note_constant(estimate, [outcomes])
    return estimate


def _check_classes(predicted: Sequence[Hashable], positive: Any) -> None:
    """Raise ``ValueError`` where predictions cannot be meant: a rate of 0 would read as equal."""
    for i, label in enumerate(predicted):
        if isinstance(label, float) and not label.is_integer():
            raise ValueError(
                f"y_pred row {i} is {label:g}, no class; compare predictions (scores >= 0.5)"
            )
    if positive not in predicted and any(
        isinstance(label, str) != isinstance(positive, str) for label in predicted
    ):
        seen = ", ".join(map(repr, list(dict.fromkeys(predicted))[:5]))
        raise ValueError(
            f"no prediction is positive={positive!r}; y_pred holds {seen}: name one as positive"
        )

"""Classes of a classifier: which rows are positive, and the four rates of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_llmfair.metrics.arguments import labels


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Share of wrong predictions among the rows where `column` is (or is not) positive."""

    # The other texts are for the documentation.

    name: str
    symbol: str
    column: Literal["y_true", "y_pred"]
    positive: bool
    counted: str
    share: str
    formula: str
    # Name of the share of right predictions among the same rows.
    opposite: str


ERROR_RATES = (
    ErrorRate(
        name="false negative rate",
        symbol="FNR",
        column="y_true",
        positive=True,
        counted="positive",
        share="positive rows that are missed",
        formula="P(prediction is not positive | positive)",
        opposite="true positive rate",
    ),
    ErrorRate(
        name="false omission rate",
        symbol="FOR",
        column="y_pred",
        positive=False,
        counted="not predicted positive",
        share="rows not predicted positive that are positive",
        formula="P(positive | prediction is not positive)",
        opposite="negative predictive value",
    ),
    ErrorRate(
        name="false positive rate",
        symbol="FPR",
        column="y_true",
        positive=False,
        counted="not positive",
        share="rows that are not positive but predicted so",
        formula="P(prediction is positive | not positive)",
        opposite="true negative rate",
    ),
    ErrorRate(
        name="false discovery rate",
        symbol="FDR",
        column="y_pred",
        positive=True,
        counted="predicted positive",
        share="rows predicted positive that are not",
        formula="P(not positive | prediction is positive)",
        opposite="precision",
    ),
)


def constant_predictions(predicted: Sequence[bool]) -> str:
    """Return a warning if all predictions are the same, else an empty text."""
    if len(predicted) < 2 or len(set(predicted)) > 1:
        return ""
    return (
        f"all {len(predicted)} predictions are {'' if predicted[0] else 'not '}the positive "
        "class: check the model, a constant shows nothing"
    )


def is_positive(values: Any, argument: str, positive: Any) -> list[bool]:
    """Return for each row whether it has the positive class, which at least one label must fit."""
    try:
        (positive,) = labels([positive], "positive")
    except ValueError:
        raise ValueError(f"positive is {positive!r}, which names no class; name one") from None
    found = labels(values, argument)
    if not found:
        raise ValueError(f"{argument} is empty; give at least one row per group")
    fractions = any(issubclass(kind, float) for kind in set(map(type, found)))
    for i, label in enumerate(found if fractions else ()):
        if isinstance(label, float) and not label.is_integer():
            raise ValueError(
                f"{argument} row {i} is {label:g}, no class; compare predictions (scores >= 0.5)"
            )
    if positive not in found and any(
        isinstance(label, str) != isinstance(positive, str)
        or str(label).strip().casefold() == str(positive).strip().casefold()
        for label in found
    ):
        seen = ", ".join(map(repr, list(dict.fromkeys(found))[:5]))
        raise ValueError(
            f"no row of {argument} is positive={positive!r}; it holds {seen}: name one as positive"
        )
    return [label == positive for label in found]

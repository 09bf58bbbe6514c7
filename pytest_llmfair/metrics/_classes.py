"""Classes of a classifier: which rows are positive, and the four rates of errors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from pytest_llmfair.metrics.arguments import labels


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Share of wrong predictions among the rows where `column` is (or is not) positive."""

    name: str
    column: Literal["y_true", "y_pred"]
    positive: bool
    # Name of the share of right predictions among the same rows.
    opposite: str
    # For the documentation.
    share: str
    formula: str


def _error_rates() -> dict[str, ErrorRate]:
    text = (resources.files("pytest_llmfair.metrics") / "error_rates.json").read_text("utf-8")
    return {symbol: ErrorRate(**row) for symbol, row in json.loads(text).items()}


ERROR_RATES = _error_rates()


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

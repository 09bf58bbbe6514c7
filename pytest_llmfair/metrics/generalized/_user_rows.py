"""Rows of groups as score functions of users get them, read from either form of data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pytest_llmfair.metrics.arguments import Floats, labels
from pytest_llmfair.metrics.generalized._forms import (
    CounterfactualForm,
    DataForm,
    GroupForm,
    depth,
    read_counterfactuals,
    read_groups,
    rows_of,
)


class RowsOfGroup(np.ndarray[Any, Any]):
    """The rows of one group: an array of probabilities, else of predictions; others by name."""

    y_true: Any = None
    y_pred: Any = None
    y_prob: Any = None

    @classmethod
    def of(cls, y_true: Any = None, y_pred: Any = None, y_prob: Any = None) -> RowsOfGroup:
        """Make the rows of their columns."""
        given = [column for column in (y_prob, y_pred, y_true) if column is not None]
        found = np.array(given[0]).view(cls)
        found.y_true, found.y_pred, found.y_prob = y_true, y_pred, y_prob
        return found

    @classmethod
    def joined(cls, parts: Sequence[RowsOfGroup]) -> RowsOfGroup:
        """Pool the rows of several groups."""
        if len(parts) == 1:
            return parts[0]
        columns = [
            None if column[0] is None else np.concatenate(column)
            for column in zip(*((p.y_true, p.y_pred, p.y_prob) for p in parts), strict=True)
        ]
        return cls.of(*columns)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and key in ("y_true", "y_pred", "y_prob"):
            return getattr(self, key)
        return np.asarray(self)[key]


def read_form(
    y_true: Any,
    y_pred: Any,
    y_prob: Any,
    groups: Any,
    original: Any,
    units: Any,
    population: Any,
) -> tuple[DataForm, list[list[RowsOfGroup]]]:
    """Read either form of data; of counterfactual data also the rows by example and group."""
    names = labels(groups, "groups")
    given = y_prob if y_prob is not None else y_pred
    counterfactual = depth(y_prob) > 2 or original is not None
    if y_prob is None and depth(y_pred) > 1 and len(dict.fromkeys(names)) == len(names):
        counterfactual = counterfactual or all(len(row) == len(names) for row in y_pred)
    if not counterfactual:
        return read_groups(y_true, y_pred, y_prob, groups, units, population), []
    if given is None:
        raise ValueError("there is no data; give y_prob or y_pred per example and group")
    if y_prob is None:
        # Predictions have no classes to check; probabilities of 1 stand in for them.
        stand_in = [[[1.0]] * len(names)] * max(len(given), 1)
        form = read_counterfactuals(y_true, stand_in, groups, None, units, population)
    else:
        form = read_counterfactuals(y_true, y_prob, groups, original, units, population)
    predicted = None if y_pred is None else _predictions(y_pred, form)

    def rows(j: int, g: int) -> RowsOfGroup:
        own = None if predicted is None else np.array(predicted[j][g])
        number = len(form.y_prob[j][g] if own is None else own)
        gold = None if form.y_true is None else np.array([form.y_true[j]] * number)
        return RowsOfGroup.of(gold, own, None if y_prob is None else form.y_prob[j][g])

    return form, [[rows(j, g) for g in range(len(names))] for j in range(len(form.y_prob))]


def _predictions(y_pred: Any, form: CounterfactualForm) -> list[list[list[Any]]]:
    """Return the predictions of each example and group, one per variation."""
    examples = rows_of(y_pred, "y_pred")
    if len(examples) != len(form.y_prob):
        raise ValueError(f"y_pred has {len(examples)} examples for {len(form.y_prob)}")
    found = []
    for j, example in enumerate(examples):
        if len(example) != len(form.names):
            raise ValueError(
                f"y_pred example {j} has {len(example)} groups for {len(form.names)} names"
            )
        rows = [own if isinstance(own, (list, tuple, np.ndarray)) else [own] for own in example]
        found.append([labels(own, f"y_pred example {j}") for own in rows])
    return found


def rows_at(form: GroupForm, rows: Sequence[int] | np.ndarray[Any, Any]) -> RowsOfGroup:
    """Return some rows of data by group."""
    chosen = np.asarray(rows, dtype=np.intp)
    true, predicted = (
        None if column is None else _column([column[i] for i in chosen])
        for column in (form.y_true, form.y_pred)
    )
    probabilities: Floats | None = None
    if form.y_prob is not None:
        probabilities = form.y_prob[chosen] if form.classes else form.y_prob[chosen, 0]
    return RowsOfGroup.of(true, predicted, probabilities)


def codes_of(form: GroupForm) -> np.ndarray[Any, Any]:
    """Rank what each row holds, so that resampling does not depend on the order of rows."""
    empty: list[Any] = [None] * len(form.labels)
    table = [[]] * len(form.labels) if form.y_prob is None else form.y_prob.tolist()
    keys = [
        (repr(t), repr(p), tuple(row))
        for t, p, row in zip(form.y_true or empty, form.y_pred or empty, table, strict=True)
    ]
    ranks = {key: k for k, key in enumerate(sorted(dict.fromkeys(keys)))}
    return np.array([ranks[key] for key in keys], dtype=np.intp)


def _column(values: list[Any]) -> np.ndarray[Any, Any]:
    if any(isinstance(value, (list, tuple, np.ndarray)) for value in values):
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found
    return np.array(values)

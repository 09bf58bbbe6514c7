"""Columns, metrics and keys of a table of metrics by group."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from pytest_llmfair.metrics._people import People, is_missing
from pytest_llmfair.metrics.arguments import columns_of, labels, listed
from pytest_llmfair.stats import Estimate

Metric = Callable[..., Any]
Key = tuple[Hashable, ...]

# Second parameters of metrics that are about scores.
_SCORES = ("y_score", "y_scores", "y_prob", "y_proba", "y_probas")
# Metrics of scikit-learn and fairlearn whose values are in [0, 1], by the end of their names.
_SHARES = (
    "accuracy_score",
    "precision_score",
    "recall_score",
    "f1_score",
    "fbeta_score",
    "jaccard_score",
    "roc_auc_score",
    "brier_score_loss",
    "zero_one_loss",
    "hamming_loss",
    "selection_rate",
    "mean_prediction",
    "positive_rate",
    "negative_rate",
)


def named_metrics(metrics: Any) -> dict[str, Metric]:
    """Return metrics by name."""
    if callable(metrics):
        metrics = [metrics]
    if not isinstance(metrics, Mapping):
        named = [(_name_of(each), each) for each in metrics]
        metrics = dict(named)
        if len(metrics) < len(named):
            raise ValueError("two metrics have one name; give a mapping from name to metric")
    for name, metric in metrics.items():
        if not callable(metric):
            raise TypeError(
                f"metric {name!r} is {metric!r}; give a function, such as one of sklearn.metrics"
            )
    if not metrics:
        raise ValueError("there are no metrics; give at least one function")
    return dict(metrics)


def named_columns(values: Any, head: str) -> list[tuple[str, list[Any]]]:
    """Return columns with their names."""
    named = columns_of(values) or [(str(getattr(values, "name", None) or ""), values)]
    many = len(named) > 1
    return [
        (name or (f"{head}_{i}" if many else head), list(listed(column, head)))
        for i, (name, column) in enumerate(named)
    ]


def keys_of(columns: Sequence[list[Any]], missing: str) -> list[Any]:
    """Return one key per row: its label, or a tuple of labels; None where one is missing."""
    if len(set(map(len, columns))) > 1:
        sizes = ", ".join(str(len(column)) for column in columns)
        raise ValueError(
            f"groups and control have columns of {sizes} rows; give one label per row"
        )
    rows = list(zip(*columns, strict=True))
    if missing == "drop":
        rows = [(None,) if any(map(is_missing, row)) else row for row in rows]
    else:
        for column in columns:
            labels(column, "groups")
    plain = [tuple(x.item() if isinstance(x, np.generic) else x for x in row) for row in rows]
    return [row[0] if len(row) == 1 else row for row in plain]


def checked_column(column: Any, name: str) -> Any:
    values = listed(column, name)
    for i, value in enumerate(values):
        if np.ndim(value):
            raise ValueError(f"{name} row {i} holds {len(value)} numbers; give one per row")
        if is_missing(value):
            raise ValueError(f'{name} row {i} is missing; give a value or missing="drop"')
    kept = isinstance(column, np.ndarray) and column.ndim == 1
    return np.asarray(column if kept else list(values))


def columns_read(metric: Metric, rows: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the two columns that a metric is given: true values, and predictions or scores."""
    second = [p for p in _parameters(metric) if p != "y_true"][:1]
    column = "y_score" if second and second[0] in _SCORES else "y_pred"
    return rows["y_true"], rows[
        column if column in rows else next(x for x in rows if x != "y_true")
    ]


def codes_of(read: tuple[Any, Any], people: People) -> Any:
    """Rank what each row holds that a metric reads."""
    columns = [*read, *([] if people.weights is None else [people.weights])]
    ranks = [np.unique(column.astype(str), return_inverse=True)[1] for column in columns]
    return np.unique(np.stack(ranks, axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def measured(
    metric: Metric, name: str, read: tuple[Any, Any], weights: Any, chosen: Any
) -> float | str:
    """Measure some rows; a text says why there is no number."""
    keywords = {}
    if weights is not None:
        if "sample_weight" not in _parameters(metric):
            raise TypeError(f"metric {name!r} takes no sample_weight; leave weights out")
        keywords["sample_weight"] = weights[chosen]
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            found = metric(*(column[chosen] for column in read), **keywords)
        except (ValueError, ZeroDivisionError) as error:
            return f"{name} is not defined: {str(error)[:120]}"
    if any(each.category.__name__ == "UndefinedMetricWarning" for each in said):
        # scikit-learn gives 0 there, which is a number like any other.
        return f"{name} is not defined: a class has no row"
    if np.ndim(found) or found is None or isinstance(found, str):
        raise ValueError(f"metric {name!r} gave {str(found)[:40]!r}; it gives one number")
    return float(found)


def _parameters(metric: Metric) -> list[str]:
    try:
        return list(inspect.signature(metric).parameters)
    except (TypeError, ValueError):
        return []


def range_of(metric: Metric) -> tuple[float, float]:
    """Return the smallest and the largest value that a metric is known to have, by its name."""
    name = _name_of(metric)
    if name.endswith(_SHARES):
        return 0.0, 1.0
    return 0.0 if name.endswith(("_loss", "_error")) else -math.inf, math.inf


def _name_of(metric: Metric) -> str:
    """Return the name of a function, also of one with some arguments filled in."""
    return str(getattr(getattr(metric, "func", metric), "__name__", metric))


def as_tuple(key: Any) -> Key:
    return key if isinstance(key, tuple) else (key,)


def plain_key(key: Any) -> Any:
    return key[0] if isinstance(key, tuple) and len(key) == 1 else key


def pair_key(key: tuple[Hashable, Hashable]) -> tuple[Hashable, Hashable]:
    return key[0], "overall" if key[1] is None else key[1]


def shown_key(key: Any) -> str:
    return " & ".join(map(str, as_tuple(key)))


def distance_from_one(ratio: float) -> float:
    if math.isnan(ratio):
        return -1.0
    return abs(math.log(ratio)) if 0.0 < ratio < math.inf else math.inf


def two_ends(estimate: Estimate) -> tuple[float, float]:
    ends = estimate.interval()
    return ends.lower, ends.upper


def value_and_ends(estimate: Estimate) -> str:
    if estimate.undefined is not None:
        return f"undefined ({estimate.undefined})"
    return f"{estimate.value:.3f} {estimate.interval()}"

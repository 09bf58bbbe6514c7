"""Any metric of scikit-learn's signature by group, with an interval for each group."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair._util.keywords import helpful_keywords
from pytest_llmfair._util.notebook import by_group_frame, forest, in_order
from pytest_llmfair.metrics._group_metrics import (
    Key,
    Metric,
    as_tuple,
    checked_column,
    codes_of,
    columns_read,
    distance_from_one,
    keys_of,
    measured,
    named_columns,
    named_metrics,
    pair_key,
    plain_key,
    range_of,
    shown_key,
    two_ends,
    value_and_ends,
)
from pytest_llmfair.metrics._people import People, Who, pairs_of
from pytest_llmfair.metrics.arguments import same_index, same_length
from pytest_llmfair.stats import Estimate, Finding, GroupValues, Undefined

__all__ = ["GroupMetrics", "group_metrics"]

Method = Literal["between_groups", "to_overall"]


@helpful_keywords()
def group_metrics(
    metrics: Metric | Sequence[Metric] | Mapping[str, Metric],
    y_true: ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    groups: ArrayLike,
    y_score: ArrayLike | None = None,
    control: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    minimum_n: int = 0,
    minimum_share: float = 0.0,
    missing: str = "error",
    units: Sequence[Hashable] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> GroupMetrics:
    """Measure functions of true and predicted values in every group.

    As MetricFrame of fairlearn, with an interval for each number (jackknife over units).

    Parameters
    ----------
    metrics : callable, list of callable, or mapping of str to callable
        Functions ``metric(y_true, y_pred)`` to a number, such as those of scikit-learn. One
        whose second parameter is called ``y_score`` or ``y_prob`` is given `y_score`.
    y_true, y_pred, y_score : array_like of shape (n_rows,)
        True values, predictions, and scores; `y_pred` or `y_score` is needed.
    groups : array_like of shape (n_rows,) or (n_rows, n_columns)
        Protected-attribute label of each row; several columns make intersections.
    control : array_like of shape (n_rows,) or (n_rows, n_columns), optional
        Groups are compared only within equal labels of this, such as a job.
    weights : array_like of shape (n_rows,), optional
        Weight of each row, given to metrics as ``sample_weight``.
    minimum_n, minimum_share : int, float
        Groups with fewer rows, or a smaller share of the rows, are shown but not compared.
    missing : {"error", "drop"}
        What happens to rows in which a value is missing; those dropped are counted by group.
    units : sequence, optional
        One label per row; rows with equal labels are one sampling unit. Default: each row.
    bounds : mapping of str to tuple of float, optional
        Smallest and largest value of metrics by name, for a better interval; known for those of
        scikit-learn and fairlearn that are shares.

    Returns
    -------
    GroupMetrics
        Values and intervals of all groups, and their comparisons.

    Raises
    ------
    ValueError
        If lengths differ, a label or weight is wrong, there is one group only, or a metric gives
        no number.
    TypeError
        If a metric is no function, or takes no weights although these are given.

    Examples
    --------
    >>> from pytest_llmfair.metrics import group_metrics
    >>> def accuracy(y_true, y_pred):
    ...     return float((y_true == y_pred).mean())
    >>> y_true, y_pred = [1, 0, 1, 0] * 20, [1, 0, 0, 0] * 10 + [1, 0, 1, 0] * 10
    >>> groups, bounds = ["a"] * 40 + ["b"] * 40, {"accuracy": (0.0, 1.0)}
    >>> table = group_metrics(accuracy, y_true, y_pred, groups=groups, bounds=bounds)
    >>> table
    accuracy: overall 0.875 [0.780, 0.933]
      a      0.750 [0.591, 0.862] n 40
      b      1.000 [0.912, 1.000] n 40
    >>> table.difference("accuracy").value
    0.25
    """
    named = named_metrics(metrics)
    columns = {"y_true": y_true, "y_pred": y_pred, "y_score": y_score}
    given = {name: column for name, column in columns.items() if column is not None}
    around = {"groups": groups, "control": control, "weights": weights, "units": units}
    same_index({**given, **around})
    if len(given) < 2:
        raise ValueError("there is nothing to compare y_true with; give y_pred or y_score")
    outer = [] if control is None else named_columns(control, "control")
    inner = named_columns(groups, "group")
    keys = keys_of([column for _, column in (*outer, *inner)], missing)
    who = Who(
        groups=keys,
        weights=weights,
        minimum_n=minimum_n,
        minimum_share=minimum_share,
        missing=missing,
        units=units,
    )
    people = People.read(who, **given)
    rows = {name: checked_column(column, name) for name, column in people.columns.items()}
    same_length(**rows)
    own = dict(bounds or {})
    if strange := set(own) - named.keys():
        raise ValueError(f"bounds names {strange.pop()!r}, which is not one of {', '.join(named)}")
    read = {name: columns_read(metric, rows) for name, metric in named.items()}
    measures = {
        name: partial(measured, metric, name, read[name], people.weights)
        for name, metric in named.items()
    }
    codes = {name: codes_of(own_columns, people) for name, own_columns in read.items()}
    limits = {name: own.get(name, range_of(metric)) for name, metric in named.items()}
    heads = [name for name, _ in (*outer, *inner)]
    return GroupMetrics(people, measures, limits, tuple(heads), len(outer), codes)


@dataclass(frozen=True, eq=False)
class GroupMetrics:
    """Metrics by group, made by :func:`group_metrics`.

    Keys of groups are labels, or tuples of labels where there are several columns; control
    columns come first.

    Attributes
    ----------
    by_group : dict
        Metric to group to :class:`Estimate`; a group in which a metric is not defined has an
        undefined one that says why.
    overall : dict
        Metric to the :class:`Estimate` of all rows; with control columns, to those of each
        stratum.
    findings : tuple of Finding
        Groups that are not compared, and rows that were dropped.

    Examples
    --------
    >>> from pytest_llmfair.metrics import group_metrics
    >>> def mean_error(y_true, y_pred):
    ...     return float((y_pred - y_true).mean())
    >>> y_true, y_pred = [1.0, 2.0] * 10, [1.0, 2.5] * 5 + [1.5, 2.0] * 5
    >>> table = group_metrics(mean_error, y_true, y_pred, groups=["a"] * 10 + ["b"] * 10)
    >>> table.difference("mean_error", reference="a").value
    0.0
    """

    _people: People
    _measures: Mapping[str, Callable[[Any], float | str]]
    _limits: Mapping[str, tuple[float, float]]
    _heads: tuple[str, ...]
    _controls: int
    _codes: Mapping[str, Any]

    @cached_property
    def _strata(self) -> dict[Key, dict[str, GroupValues]]:
        """Engine of each metric in each stratum; one stratum without control columns."""
        people, found = self._people, {}
        unit = people.unit if people.unit is not None else np.arange(len(people.members.number))
        for stratum in dict.fromkeys(
            key[: self._controls] for key in map(as_tuple, people.members)
        ):
            members = {
                key: rows
                for key, rows in people.members.items()
                if as_tuple(key)[: self._controls] == stratum
            }
            found[stratum] = {
                name: GroupValues(measure, members, unit, self._codes[name], self._limits[name])
                for name, measure in self._measures.items()
            }
        return found

    @cached_property
    def by_group(self) -> dict[str, dict[Hashable, Estimate]]:
        """Estimates by metric and group."""
        return {
            name: {
                plain_key(key): engines[name].value(key)
                for engines in self._strata.values()
                for key in engines[name].members
            }
            for name in self._measures
        }

    @cached_property
    def overall(self) -> dict[str, Any]:
        """Estimates of all rows by metric, and by stratum where there are control columns."""
        found = {
            name: {plain_key(key): engines[name].value() for key, engines in self._strata.items()}
            for name in self._measures
        }
        return found if self._controls else {name: own[()] for name, own in found.items()}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Rows and groups that were left out."""
        people = self._people
        if not people.small:
            return people.findings
        names = ", ".join(f"{shown_key(g)} of {len(people.members[g])}" for g in people.small)
        text = f"not compared, {people.least}: {names}"
        return (Finding.note(text), *people.findings)

    def difference(
        self,
        metric: str | None = None,
        *,
        reference: Hashable = None,
        method: Method = "between_groups",
    ) -> Any:
        """Largest absolute difference of two groups, whose names are in ``.groups`` and notes.

        Parameters
        ----------
        metric : str, optional
            Name of the metric; may be left out where there is one.
        reference : object, optional
            Compare with this group only: group minus reference.
        method : {"between_groups", "to_overall"}
            Compare every two groups, or each group with all rows.

        Returns
        -------
        MaxPairwiseDifference or dict
            ``.groups`` has the signed difference of every pair; of a dictionary by stratum where
            there are control columns.

        Raises
        ------
        ValueError
            If there is no such metric or group.
        """
        name, found = self._name(metric), {}
        for stratum, engines in self._strata.items():
            pairs = self._pairs(engines[name], reference, method)
            found[plain_key(stratum)] = (
                engines[name].largest(pairs) if pairs else self._nothing(engines[name])
            ).with_findings(*self.findings)
        return found if self._controls else found[()]

    def ratio(
        self,
        metric: str | None = None,
        *,
        reference: Hashable = None,
        method: Method = "between_groups",
    ) -> Any:
        """Ratio of every two groups, the furthest from 1 first.

        Parameters are those of :meth:`difference`.

        Returns
        -------
        dict
            Pair to its ratio, the first group over the second (or over all rows); of a
            dictionary by stratum where there are control columns.
        """
        name, found = self._name(metric), {}
        for stratum, engines in self._strata.items():
            pairs = self._pairs(engines[name], reference, method)
            ratios = {pair_key(key): engines[name].ratio(*key) for key in pairs}
            far = {key: distance_from_one(each.value) for key, each in ratios.items()}
            found[plain_key(stratum)] = dict(
                sorted(ratios.items(), key=lambda item: -far[item[0]])
            )
        return found if self._controls else found[()]

    def to_frame(self, *, intervals: bool = False, level: float = 0.95) -> Any:
        """Return a pandas DataFrame shaped like `MetricFrame.by_group`: groups by metrics.

        Combinations of several columns without rows are NaN. With `intervals` the columns of
        each metric are value, lower and upper end, and n.
        """
        rows: dict[Any, dict[tuple[str, str], float]] = {}
        for key, members in self._people.members.items():
            rows[as_tuple(key)] = own = {}
            for name in self._measures:
                estimate = self.by_group[name][plain_key(key)]
                ends = estimate.interval(level)
                own[name, "value"], own[name, "n"] = estimate.value, len(members)
                own[name, "lower"], own[name, "upper"] = ends.lower, ends.upper
        return by_group_frame(rows, self._heads, list(self._measures), intervals=intervals)

    def __repr__(self) -> str:
        lines = []
        for name, own in self.by_group.items():
            total = "" if self._controls else f": overall {value_and_ends(self.overall[name])}"
            lines.append(f"{name}{total}")
            width = max(6, *(len(shown_key(key)) for key in own))
            lines += [
                f"  {shown_key(key):<{width}} {value_and_ends(own[key])} "
                f"n {own[key].sample.generations:,}"
                for key in in_order(own)
            ]
        return "\n".join([*lines, *(each.text for each in self.findings)])

    def _repr_html_(self) -> str:
        parts = []
        for name, own in self.by_group.items():
            rows = [(shown_key(key), own[key].value, *two_ends(own[key])) for key in in_order(own)]
            if not self._controls:
                total = self.overall[name]
                rows.append(("overall", total.value, *two_ends(total)))
            parts.append(forest(name, rows, [each.text for each in self.findings]))
        return "".join(parts)

    def _name(self, metric: str | None) -> str:
        names = list(self._measures)
        if metric is None and len(names) == 1:
            return names[0]
        if metric is None or metric not in self._measures:
            raise ValueError(f"metric is {metric!r}; choose one of {', '.join(names)}")
        return metric

    def _pairs(
        self, engine: GroupValues, reference: Hashable, method: Method
    ) -> list[tuple[Hashable, Hashable]]:
        """Return the groups to compare; None stands for all rows."""
        judged = [key for key in engine.members if key not in self._people.small]
        if method == "to_overall":
            return [(key, None) for key in judged]
        if method != "between_groups":
            raise ValueError(f'method is {method!r}; choose "between_groups" or "to_overall"')
        if reference is None:
            return pairs_of(judged, None)
        wanted = as_tuple(reference)
        (against, *_) = [k for k in judged if as_tuple(k)[-len(wanted) :] == wanted] or [None]
        if against is None:
            names = ", ".join(map(shown_key, judged))
            raise ValueError(f"reference {reference!r} is no group; groups are {names}")
        return pairs_of(judged, against)

    def _nothing(self, engine: GroupValues) -> Undefined:
        return Undefined(
            undefined="fewer than two groups have enough rows", sample=engine.sample(None)
        )

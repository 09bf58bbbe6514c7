"""The two forms of data of Czarnowska et al. (2021), section 2.2: by group, and counterfactual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from pytest_llmfair.metrics.arguments import (
    Floats,
    RowNumbers,
    RowsByLabel,
    group_rows,
    known_population,
    labels,
    score_rows,
)
from pytest_llmfair.stats import Population, Sample

T = TypeVar("T")


@dataclass(frozen=True)
class GroupForm:
    """One row per evaluation example."""

    # `names` are the groups of all data, in order of appearance; one may have no row left.
    # `classes` are the columns of `y_prob`, empty for the positive class alone.

    labels: list[Hashable]
    names: list[Hashable]
    y_true: list[Any] | None
    y_pred: list[Any] | None
    y_prob: Floats | None
    classes: list[Any]
    units: list[Hashable] | None
    population: Population

    @cached_property
    def members(self) -> dict[Hashable, RowNumbers]:
        """Rows of each group."""
        found = RowsByLabel(self.labels, len(self.labels))
        return {name: found.get(name, np.empty(0, dtype=np.intp)) for name in self.names}

    @cached_property
    def sample(self) -> Sample:
        """How much evidence there is."""
        return sample_of(range(len(self.labels)) if self.units is None else self.units, self)

    def rows_of(self, groups: Sequence[Hashable]) -> RowNumbers:
        """Return the rows of some groups, in order."""
        return np.sort(np.concatenate([self.members[name] for name in groups]))

    def units_of(self, rows: RowNumbers) -> list[Hashable] | None:
        """Return the sampling units of some rows."""
        return _some(self.units, rows.tolist())

    def take(self, rows: RowNumbers) -> GroupForm:
        """Return some of the rows; a group may lose all of its own."""
        places = rows.tolist()
        return replace(
            self,
            labels=[self.labels[i] for i in places],
            y_true=_some(self.y_true, places),
            y_pred=_some(self.y_pred, places),
            y_prob=None if self.y_prob is None else self.y_prob[rows],
            units=_some(self.units, places),
        )


@dataclass(frozen=True)
class CounterfactualForm:
    """One row, and unit, per source example, with its variations for every group."""

    # `y_prob[example][group]` has shape (n_variations, n_classes); `original` are the
    # probabilities of the unperturbed examples.

    names: list[Hashable]
    y_prob: Floats | list[list[Floats]]
    y_true: list[Hashable] | None
    original: Floats | None
    classes: list[Any]
    units: list[Hashable] | None
    population: Population

    @cached_property
    def sample(self) -> Sample:
        """How much evidence there is."""
        return sample_of(range(len(self.y_prob)) if self.units is None else self.units, self)

    def take(self, examples: list[int]) -> CounterfactualForm:
        """Return some of the source examples."""
        table = self.y_prob
        return replace(
            self,
            y_prob=table[examples]
            if isinstance(table, np.ndarray)
            else [table[j] for j in examples],
            y_true=_some(self.y_true, examples),
            original=None if self.original is None else self.original[examples],
            units=_some(self.units, examples),
        )


def _some(values: list[T] | None, places: Sequence[int]) -> list[T] | None:
    return None if values is None else [values[i] for i in places]


DataForm = GroupForm | CounterfactualForm


def sample_of(units: Sequence[Hashable], form: DataForm) -> Sample:
    """Count units and rows."""
    return Sample.of_sizes(Counter(units).values(), form.population)


def column_of(label: Any, classes: Sequence[Any]) -> int:
    """Return the column of a class, or raise ``ValueError`` that says which there are."""
    for column, known in enumerate(classes):
        if isinstance(label, str) == isinstance(known, str) and label == known:
            return column
    raise ValueError(
        f"class {label!r} has no column in y_prob, which has {', '.join(map(str, classes))}; name "
        "classes by column (or give a table whose columns have names)"
    )


def read_groups(
    y_true: Any, y_pred: Any, y_prob: Any, groups: Any, units: Any, population: Population
) -> GroupForm:
    """Read data in group form."""
    known_population(population)
    columns: dict[str, Any] = {}
    for name, values in (("y_true", y_true), ("y_pred", y_pred)):
        if values is not None:
            columns[name] = rows_of(values, name)
    classes: list[Any] = []
    table = None
    if y_prob is not None:
        table, classes = _probabilities(y_prob)
        columns["y_prob"] = table
    if not columns:
        raise ValueError("there is no data; give y_true and y_pred, or y_prob")
    first = next(iter(columns))
    n = len(columns[first])
    for name, values in columns.items():
        if len(values) != n:
            raise ValueError(f"lengths differ: {first} has {n} rows, {name} has {len(values)}")
    own = labels(groups, "groups", n)
    return GroupForm(
        labels=own,
        names=list(group_rows(own, n)),
        y_true=columns.get("y_true"),
        y_pred=columns.get("y_pred"),
        y_prob=table,
        classes=classes,
        units=None if units is None else labels(units, "units", n),
        population=population,
    )


def read_counterfactuals(
    y_true: Any, y_prob: Any, groups: Any, original: Any, units: Any, population: Population
) -> CounterfactualForm:
    """Read data in counterfactual form."""
    known_population(population)
    names = labels(groups, "groups")
    if len(names) < 2:
        raise ValueError(f"groups holds {len(names)} group; a comparison needs at least two")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"groups names {twice[0]!r} twice; counterfactual data has one name per column"
        )
    table: Any = _regular(y_prob, len(names))
    if table is None:
        examples = rows_of(y_prob, "y_prob")
        table = [_example(example, names, j) for j, example in enumerate(examples)]
    width = table[0][0].shape[1]
    for j, example in enumerate(() if isinstance(table, np.ndarray) else table):
        for name, rows in zip(names, example, strict=True):
            if rows.shape[1] != width:
                raise ValueError(
                    f"y_prob example {j}, group {name}: {rows.shape[1]} classes, elsewhere {width}"
                )
    before = None
    if original is not None:
        before, _ = _probabilities(original, "original")
        if before.shape != (len(table), width):
            raise ValueError(
                f"original has {before.shape[0]} examples and {before.shape[1]} classes, y_prob "
                f"{len(table)} and {width}; give one row per example"
            )
    return CounterfactualForm(
        names=names,
        y_prob=table,
        y_true=None if y_true is None else labels(y_true, "y_true", len(table)),
        original=before,
        classes=list(range(width)),
        units=None if units is None else labels(units, "units", len(table)),
        population=population,
    )


def depth(values: Any) -> int:
    """Return the depth of nested lists of numbers."""
    levels = 0
    while hasattr(values, "__len__") and not isinstance(values, (str, bytes)):
        levels += 1
        if hasattr(values, "to_numpy"):
            values = values.to_numpy()
        if len(values) == 0:
            break
        values = values[0]
    return levels


def rows_of(values: Any, argument: str) -> list[Any]:
    """Return one label, or one sequence of tags, per row; none may be missing."""
    found = values.to_numpy() if hasattr(values, "to_numpy") else values
    if isinstance(found, (str, bytes)) or not hasattr(found, "__iter__"):
        raise ValueError(f"{argument} is {found!r}; give a list or an array")
    kinds = set(map(type, found))
    if any(issubclass(kind, (list, tuple, np.ndarray)) for kind in kinds):
        rows = list(found)
    else:
        rows = list(labels(found, argument))
    if not rows:
        raise ValueError(f"{argument} is empty; give at least one row")
    return rows


def _probabilities(values: Any, argument: str = "y_prob") -> tuple[Floats, list[Any]]:
    """Return one row of probabilities per example, and the class of each column."""
    flat = depth(values) == 1
    rows = score_rows(values, argument)
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"{argument} row {i} has {len(row)} classes and row 0 has {len(rows[0])}"
            )
    classes = list(getattr(values, "columns", range(len(rows[0]))))
    return np.asarray(rows), [] if flat else classes


def _regular(values: Any, groups: int) -> Floats | None:
    """Return an array of probabilities in four dimensions; None for anything else."""
    plain = type(values) is np.ndarray and values.ndim in (3, 4) and values.dtype.kind in "biuf"
    if not (plain and values.size and values.shape[1] == groups):
        return None
    table = values.astype(np.float64).reshape(*values.shape[:2], -1, values.shape[-1])
    return table if ((table >= 0.0) & (table <= 1.0)).all() else None


def _example(example: Any, names: Sequence[Hashable], j: int) -> list[Floats]:
    """Return the variations of each group of one source example."""
    if not hasattr(example, "__len__") or isinstance(example, (str, bytes)):
        raise ValueError(
            f"y_prob example {j} is {example!r}; give y_prob[example][group][class], or "
            "[example][group][variation][class]"
        )
    if len(example) != len(names):
        raise ValueError(
            f"y_prob example {j} has {len(example)} groups for {len(names)} names in groups"
        )
    found = []
    for name, own in zip(names, example, strict=True):
        where = f"y_prob example {j}, group {name}:"
        levels = depth(own)
        if levels not in (1, 2):
            raise ValueError(
                f"{where} {str(own)[:60]}; give a probability per class, or one such row per "
                "variation"
            )
        found.append(_probabilities([own] if levels == 1 else own, where)[0])
    return found

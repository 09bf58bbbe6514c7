"""Arrays of a check: the columns of a file, as arguments of a metric."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.tables import TableError, rows_of
from pytest_llmfair._util.wording import listed
from pytest_llmfair.gate.result_files import names_in
from pytest_llmfair.judging.scoring import FileData
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.responses import Missing
from pytest_llmfair.results.registry import knows, read_results

# Labels of several columns become one label of several parts, such as ("black", "female").
_LABELS = ("groups", "units", "rounds", "strata", "reference")
# Arguments that are one value for all rows are never taken from a column of the same name.
_SINGLE = ("bool", "float", "int", "str", "Population")


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a file, with the place of each row; an empty cell is None."""

    path: Path
    columns: dict[str, list[Any]]
    where: list[str]

    @classmethod
    def read(cls, path: Path) -> Table:
        """Read a table, or a result file of another tool with its fields and scores."""
        if knows(path):
            rows = read_results([path]).rows
            found = [(r.where, {"prompt": r.prompt, **r.fields, **r.scores}) for r in rows]
        else:
            found = [(row.where, dict(row.values)) for row in rows_of(path)]
        if not found:
            raise TableError(f"{path} has no rows; give one for each unit")
        names = dict.fromkeys(name for _, values in found for name in values)
        text = path.suffix.lower() == ".csv"
        columns: dict[str, list[Any]] = {}
        for name in names:
            cells = [values.get(name) for _, values in found]
            columns[name.strip()] = _numbers(cells) if text else list(map(_cell, cells))
        return cls(path, columns, [where for where, _ in found])

    def column(self, name: str) -> list[Any]:
        """Return a column; raise ``ValueError`` with the nearest name where there is none."""
        if name not in self.columns:
            near = suggestion(name, list(self.columns))
            raise ValueError(f"{self.path} has no column {name!r}; {near}")
        return self.columns[name]

    def texts(self, name: str) -> list[str]:
        """Return a column as texts; an empty cell is an empty text."""
        return ["" if value is None else str(value) for value in self.column(name)]


def arguments_from(
    path: Path,
    info: MetricInfo,
    chosen: Mapping[str, Any],
    keywords: Mapping[str, Any],
    factors: Mapping[str, str] | None = None,
) -> FileData:
    """Return a metric's arguments and labels of factors; rows that lack a value are counted."""
    table = Table.read(path)
    parameters = inspect.signature(info.function).parameters
    for name in chosen:
        if name not in parameters:
            raise ValueError(
                f"columns: {info.name} has no argument {name!r}; "
                + suggestion(name, list(parameters))
            )
    used = {name: names_in(wanted) for name, wanted in chosen.items()}
    for name, parameter in parameters.items():
        own = name in table.columns and name not in keywords
        if name not in used and own and parameter.annotation not in _SINGLE:
            used[name] = [name]
    missing = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and name not in {*used, *keywords}
    ]
    if missing:
        raise ValueError(
            f"{path} has no column {' and no column '.join(map(repr, missing))}, which "
            f"{info.name} needs; name the columns: columns: {{{missing[0]}: ...}}, from "
            f"{listed(list(table.columns), 20)}"
        )
    parts = {name: [table.column(column) for column in used[name]] for name in used}
    named = {name: table.column(column) for name, column in (factors or {}).items()}
    labels = {column: n for name in _LABELS if name in used for n, column in enumerate(used[name])}
    for column in [*labels, *(factors or {}).values()]:
        if None in table.columns[column]:
            place = table.where[table.columns[column].index(None)]
            raise ValueError(
                f"{place}: column {column!r} is empty, and the check uses it; give a value, or "
                "leave the row out and count it"
            )
    values = {name: columns for name, columns in parts.items() if name not in _LABELS}
    gone = [
        any(c[i] is None for cs in values.values() for c in cs) for i in range(len(table.where))
    ]
    kept = [i for i, each in enumerate(gone) if not each]
    found = {
        # Columns that were named as a list stay lists, or labels of several parts.
        name: _joined(name, columns, kept, several=not isinstance(chosen.get(name, ""), str))
        for name, columns in parts.items()
    }
    groups = parts.get("groups")
    asked: dict[str, list[Any]] = {}
    for i, place in enumerate(table.where):
        group = "all" if groups is None else ", ".join(str(column[i]) for column in groups)
        answer: Any = Missing("empty", f"{place} has an empty cell") if gone[i] else "given"
        asked.setdefault(group, []).append((answer,))
    made = {name: [column[i] for i in kept] for name, column in named.items()}
    return FileData(found, asked if any(gone) else {}, made)


def labelled_from(
    folder: Path, given: Mapping[str, Any], answers: Any, keywords: dict[str, Any]
) -> dict[str, Any]:
    """Return the judged answers of a check whose labels correct the judge."""
    file = given.get("data")
    if file is None and answers is not None:
        about = {"file": answers} if isinstance(answers, str) else dict(answers)
        # One name each, as the columns of the plan.
        one = {
            key: names_in(about.pop(key)) for key in ("file", "group", "pair_by") if key in about
        }
        several = [key for key, names in one.items() if len(names) > 1]
        if other := [*about, *several]:
            raise ValueError(
                f"corrected_gap takes one file, group and pair_by; change {other[0]} of answers"
            )
        (file,) = one.pop("file")
        for key, (name,) in one.items():
            keywords.setdefault({"group": "groups"}.get(key, key), name)
    what = {"data": (file, "all judged answers"), "labels": (given.get("labels"), "the labels")}
    for key, (path, content) in what.items():
        if not isinstance(path, str):
            raise ValueError(f"corrected_gap: {key} is missing; give the file with {content}")
    for key in ("prompts", "attribute", "model", "columns", "dissimilarity"):
        if key in given:
            raise ValueError(
                f"corrected_gap takes no {key}: it reads data and labels; leave it out"
            )
    keywords |= {key: folder / keywords[key] for key in ("labels", "plan") if key in keywords}
    return {"data": {"responses": folder / str(file)}}


def _joined(name: str, columns: list[list[Any]], kept: list[int], *, several: bool) -> list[Any]:
    if not several:
        return [columns[0][i] for i in kept]
    rows = [tuple(column[i] for column in columns) for i in kept]
    return list(rows) if name in _LABELS else list(map(list, rows))


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return value.strip() or None


def _numbers(cells: list[Any]) -> list[Any]:
    """Return numbers where every cell is one or empty; codes such as 007 stay texts."""
    cells = list(map(_cell, cells))
    given = [cell for cell in cells if cell is not None]
    if any(len(cell) > 1 and cell[0] == "0" and cell.isdigit() for cell in given):
        return cells
    for kind in (int, float):
        try:
            return [None if cell is None else kind(cell) for cell in cells]
        except ValueError:
            continue
    return cells

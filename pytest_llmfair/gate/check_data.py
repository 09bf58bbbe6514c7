"""Arrays of a check: the columns of a CSV or JSONL file, as arguments of a metric."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.tables import csv_rows
from pytest_llmfair._util.validation import read_utf8
from pytest_llmfair.metrics import MetricInfo

Columns = dict[str, list[Any]]

# Labels of several columns become one label of several parts, such as ("black", "female").
_LABELS = ("groups", "units", "rounds", "strata", "reference")
# Arguments that are one value for all rows are never taken from a column of the same name.
_SINGLE = ("bool", "float", "int", "str", "Population")


def arguments_from(
    path: Path, info: MetricInfo, chosen: Mapping[str, Any], keywords: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Return the arguments of a metric that a data file holds.

    `chosen` maps arguments to columns; other arguments take the column of their own name.
    """
    columns, empty = read_columns(path)
    parameters = inspect.signature(info.function).parameters
    for name in chosen:
        if name not in parameters:
            raise ValueError(
                f"columns: {info.name} has no argument {name!r}; "
                + suggestion(name, list(parameters))
            )
    found: dict[str, list[Any]] = {}
    for name, parameter in parameters.items():
        if name in chosen:
            found[name] = _chosen(columns, name, chosen[name], path)
        elif name in columns and name not in keywords and parameter.annotation not in _SINGLE:
            found[name] = columns[name]
            chosen = {**chosen, name: name}
    used = [[each] if isinstance(each, str) else each for each in chosen.values()]
    for column in chain.from_iterable(used):
        if column in empty:
            raise ValueError(
                f"{path}:{empty[column]}: column {column!r} is empty, and the check uses it; give "
                "a value, or leave the row out and count it"
            )
    missing = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and name not in {*found, *keywords}
    ]
    if missing:
        raise ValueError(
            f"{path} has no column {' and no column '.join(map(repr, missing))}, which "
            f"{info.name} needs; name the columns: columns: {{{missing[0]}: ...}}, from "
            f"{', '.join(columns)}"
        )
    return found


def labels_from(path: Path, chosen: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return the columns of a data file that hold the labels of factors."""
    columns, empty = read_columns(path)
    for column in chosen.values():
        if column in empty:
            raise ValueError(f"{path}:{empty[column]}: column {column!r} is empty; give a label")
    return {name: _chosen(columns, name, column, path) for name, column in chosen.items()}


def labelled_from(
    folder: Path, given: Mapping[str, Any], keywords: dict[str, Any]
) -> dict[str, Any]:
    """Return the judged answers of a check whose labels correct the judge."""
    for key, what in (("data", "all judged answers"), ("labels", "the labelled sheet")):
        if not isinstance(given.get(key), str):
            raise ValueError(f"corrected_gap: {key} is missing; give the file with {what}")
    for key in ("prompts", "attribute", "model", "columns", "dissimilarity"):
        if key in given:
            raise ValueError(
                f"corrected_gap takes no {key}: it reads data and labels; leave it out"
            )
    keywords |= {key: folder / keywords[key] for key in ("labels", "plan") if key in keywords}
    return {"data": {"responses": folder / given["data"]}}


def _chosen(columns: Columns, name: str, wanted: str | Sequence[str], path: Path) -> list[Any]:
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for column in names:
        if column not in columns:
            raise ValueError(f"{path} has no column {column!r}; {suggestion(column, [*columns])}")
    if isinstance(wanted, str):
        return columns[wanted]
    rows = zip(*(columns[column] for column in names), strict=True)
    return [row if name in _LABELS else list(row) for row in rows]


def read_columns(path: Path) -> tuple[Columns, dict[str, int]]:
    """Return the columns of a CSV file with a header, or of a JSONL file of objects.

    A column of a CSV file whose cells are all numbers is read as numbers. With the columns come
    the lines of their first empty cells.
    """
    text = read_utf8(path)
    if path.suffix in (".jsonl", ".ndjson"):
        return _of_objects(text, path), {}
    if path.suffix != ".csv":
        raise ValueError(f"{path} is neither a .csv nor a .jsonl file; give one of them")
    rows = csv_rows(text, path)
    header = [name.strip() for name in next(rows, (1, []))[1]]
    if len(set(header)) < len(header):
        double = next(name for name in header if header.count(name) > 1)
        raise ValueError(f"{path}:1: column {double!r} is repeated; keep one")
    cells: dict[str, list[str]] = {name: [] for name in header}
    empty: dict[str, int] = {}
    for line, row in rows:
        if len(row) != len(header):
            raise ValueError(
                f"{path}:{line}: the row has {len(row)} values for {len(header)} "
                "columns; give every row as many as the header"
            )
        for name, cell in zip(header, row, strict=True):
            cells[name].append(cell.strip())
            if not cell.strip():
                empty.setdefault(name, line)
    if not any(cells.values()):
        raise ValueError(f"{path} has no rows; give a header and a row for each unit")
    return {name: _numbers(column) for name, column in cells.items()}, empty


def _of_objects(text: str, path: Path) -> Columns:
    columns: Columns = {}
    number = 0
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: row {number} is not JSON ({error}); correct it") from None
        if not isinstance(row, dict):
            raise ValueError(f'{path}: row {number} is no object; write {{"column": value}}')
        columns = columns or {name: [] for name in row}
        if row.keys() != columns.keys():
            odd = sorted(row.keys() ^ columns.keys())
            raise ValueError(
                f"{path}: row {number} and the first row do not both have {', '.join(odd)}; give "
                "every row the same columns"
            )
        for name, value in row.items():
            columns[name].append(value)
    if not number:
        raise ValueError(f"{path} has no rows; give an object for each unit")
    return columns


def _numbers(cells: list[str]) -> list[Any]:
    """Return numbers where every cell is one; codes such as 007 stay texts."""
    if any(len(cell) > 1 and cell[0] == "0" and cell.isdigit() for cell in cells):
        return list(cells)
    for kind in (int, float):
        try:
            return [kind(cell) for cell in cells]
        except ValueError:
            continue
    return list(cells)

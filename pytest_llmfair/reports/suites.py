"""What suites measured, as cells that the page and the Markdown show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_llmfair._util.wording import number
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.reports.columns import accepted

COLUMNS = ("task", "metric", "value", "interval", "each wording alone", "verdict")
DEBIASED = "* of the value without the part that sampling alone adds"
_PLACES = 3
# Steps of the shade of a heat map.
_SHADES = 5
# More tables of tasks than this are folded.
_MOST_OPEN = 4


@dataclass(frozen=True, slots=True)
class Row:
    """A value of a task: its cells in the order of COLUMNS, and the result that judges it."""

    cells: tuple[str, ...]
    judged: Record | None


@dataclass(frozen=True, slots=True)
class TableView:
    """A table of a suite.

    `cells` are texts, each with the step of its shade: 0 without one. `is_open` says whether a
    reader sees it without unfolding it.
    """

    title: str
    note: str
    columns: tuple[str, ...]
    cells: tuple[tuple[tuple[str, int], ...], ...]
    is_open: bool

    @property
    def shaded(self) -> bool:
        """Whether cells are shaded by the size of their numbers."""
        return any(shade for row in self.cells for _, shade in row)


@dataclass(frozen=True, slots=True)
class SuiteView:
    """What a report shows of a suite; `found` is its entry in the record of the run."""

    found: Mapping[str, Any]
    rows: tuple[Row, ...]
    tables: tuple[TableView, ...]
    notes: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """Suite, size and model."""
        return f"{self.found['name']} ({self.found['size']}) of {self.found['model']}"

    @property
    def debiased(self) -> bool:
        """Whether an interval is marked, so that the mark must be explained."""
        return any(row.cells[3].endswith("*") for row in self.rows)


def suite_views(document: Mapping[str, Any]) -> list[SuiteView]:
    """Return what to show of every suite of a run."""
    return [_view(each, document["results"]) for each in document.get("suites", ())]


def _view(found: Mapping[str, Any], results: Sequence[Record]) -> SuiteView:
    rows = tuple(_row(found, value, results) for value in found["values"])
    folded = sum(bool(table["task"]) for table in found["tables"]) > _MOST_OPEN
    tables = tuple(_table(table, folded and bool(table["task"])) for table in found["tables"])
    notes = tuple(
        (f"{value['task']} {value['metric']}", note)
        for value in found["values"]
        for note in value["notes"]
    )
    return SuiteView(found, rows, tables, notes)


def _row(found: Mapping[str, Any], value: Mapping[str, Any], results: Sequence[Record]) -> Row:
    judged = next(
        (
            record
            for record in results
            if record["metric"] == value["check"]
            and record["model"] == found["model"]
            and f"{record['nodeid']}::".startswith(f"{found['test']}::")
        ),
        None,
    )
    if judged is None:
        verdict = "not judged: it has no bound"
    else:
        why = f" ({accepted(judged)})" if accepted(judged) else ""
        verdict = f"{judged['verdict']}{why}"
    cells = (
        value["task"],
        value["metric"],
        _number(value["value"]),
        _interval(value),
        _spread(value["wordings"]),
        verdict,
    )
    return Row(cells, judged)


def _number(cell: Any) -> str:
    if cell is None:
        return "undefined"
    return number(cell, _PLACES) if isinstance(cell, float) else str(cell)


def _interval(value: Mapping[str, Any]) -> str:
    if value["lower"] is None or value["upper"] is None:
        return "undefined"
    mark = "*" if value["of"] == "debiased" else ""
    return f"[{_number(value['lower'])}, {_number(value['upper'])}]{mark}"


def _spread(wordings: Sequence[Any]) -> str:
    if None in wordings:
        return "no value for one or more"
    return f"{_number(min(wordings))} to {_number(max(wordings))}" if wordings else ""


def _table(table: Mapping[str, Any], folded: bool) -> TableView:
    largest = _largest(table["rows"])
    cells = tuple(
        tuple((_number(cell), _shade(cell, largest)) for cell in row) for row in table["rows"]
    )
    return TableView(table["title"], table["note"], tuple(table["columns"]), cells, not folded)


def _largest(rows: Sequence[Sequence[Any]]) -> float:
    """Return the largest size in a table of numbers by group, which is shaded; else 0."""
    numbers = [cell for row in rows for cell in row[1:] if cell not in (None, "")]
    by_group = bool(rows) and len(rows[0]) > 2 and all(isinstance(row[0], str) for row in rows)
    if not by_group or not all(isinstance(cell, float) for cell in numbers):
        return 0.0
    return max(map(abs, numbers), default=0.0)


def _shade(cell: Any, largest: float) -> int:
    if not largest or not isinstance(cell, float):
        return 0
    return min(_SHADES, 1 + int(_SHADES * abs(cell) / largest)) if cell else 0

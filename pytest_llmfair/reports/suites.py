"""Measurements of suites, as cells that the page and the Markdown show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_llmfair._util.wording import number
from pytest_llmfair.judging.facts import Record, estimate
from pytest_llmfair.reports.columns import shown_verdict

COLUMNS = ("task", "metric", "value", "interval", "wordings or prompts alone", "verdict")
DEBIASED = "* value and interval without the part that sampling alone adds"
_PLACES = 3
# Steps of the shade of a heat map.
_SHADES = 5
# Where there are more tables than this, all but heat maps are folded.
_MOST_OPEN = 5


@dataclass(frozen=True, slots=True)
class Row:
    """A value of a task: its cells in the order of COLUMNS, and the result that judges it."""

    cells: tuple[str, ...]
    judged: Record | None


@dataclass(frozen=True, slots=True)
class TableView:
    """A table of a suite: texts of cells, each with its CSS class or an empty text."""

    title: str
    note: str
    columns: tuple[str, ...]
    cells: tuple[tuple[tuple[str, str], ...], ...]
    is_open: bool

    @property
    def shaded(self) -> bool:
        """Whether cells are shaded by the size of their numbers."""
        return any(css.startswith("shade") for row in self.cells for _, css in row)


@dataclass(frozen=True, slots=True)
class SuiteView:
    """The view of a suite in a report; `found` is its entry in the record of the run."""

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
    """Return the view of every suite of a run."""
    return [_view(each, document["results"]) for each in document.get("suites", ())]


def _view(found: Mapping[str, Any], results: Sequence[Record]) -> SuiteView:
    rows = tuple(_row(found, value, results) for value in found["values"])
    folded = len(found["tables"]) > _MOST_OPEN
    tables = tuple(_table(table, folded) for table in found["tables"])
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
        verdict = "no bound" if value["valid"] else "not valid"
    else:
        verdict = shown_verdict(judged)
    cells = (
        value["task"],
        value["metric"],
        _number(estimate(value)),
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
    shaded = _is_heat_map(table)
    cells = tuple(
        tuple((_number(cell), _css(cell, row if shaded else ())) for cell in row)
        for row in table["rows"]
    )
    is_open = shaded or not folded
    return TableView(table["title"], table["note"], tuple(table["columns"]), cells, is_open)


def _is_heat_map(table: Mapping[str, Any]) -> bool:
    """Return whether numbers in a row are of one kind: two or more, none of them a count."""
    cells = [cell for row in table["rows"] for cell in row]
    counts = any(isinstance(cell, int) for cell in cells)
    several = any(sum(isinstance(cell, float) for cell in row) > 1 for row in table["rows"])
    return several and not counts and not {"lower", "upper"}.intersection(table["columns"])


def _css(cell: Any, row: Sequence[Any]) -> str:
    if isinstance(cell, str):
        return "text"
    largest = max((abs(other) for other in row if isinstance(other, float)), default=0.0)
    if not largest or not cell:
        return ""
    return f"shade-{min(_SHADES, 1 + int(_SHADES * abs(cell) / largest))}"

"""The columns of every table of results; a new column is one entry of `COLUMNS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_llmfair._util.wording import number, plural
from pytest_llmfair.judging.facts import Record, decimals, estimate, interval, threshold
from pytest_llmfair.judging.message import metric_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table of results; `cell` makes the text of its cell from a record."""

    heading: str
    cell: Callable[[Record], str]
    # Which reports show it.
    terminal: bool = True
    html: bool = True
    # Whether the terminal aligns the first word of the cells to the right, as numbers are.
    right: bool = False
    # CSS classes of its cells, and whether they have the colour of the verdict on the page.
    css: str = ""
    coloured: bool = False


def _estimate(record: Record) -> str:
    places = decimals(record)
    return f"{number(estimate(record), places)} {interval(record, places)}".rstrip()


def _bound(record: Record) -> str:
    return threshold(record, decimals(record))


def accepted(record: Record) -> str:
    """Return "expected" or "waived" for a red verdict that does not fail the run; else nothing."""
    return "expected" if record["expected"] else "waived" if record["waiver"] else ""


def shown_verdict(record: Record) -> str:
    """Return a verdict, and why it does not fail the run where that is so."""
    why = accepted(record)
    return f"{record['verdict']}{f' ({why})' if why else ''}"


def _outcome(record: Record) -> str:
    return str(record["outcome"])


def _units(record: Record) -> str:
    # Units are samples of more unless the row says that they are all there are.
    return f"{record['units']}{' fixed' if record['population'] == 'fixed' else ''}"


def _units_by_name(record: Record) -> str:
    return plural(record["unit"], record["units"])


# The names of test and metric come first in every report: the terminal groups rows by test.
COLUMNS = (
    Column(heading="metric", cell=metric_name, terminal=False),
    # The terminal has no room for two headings here.
    Column(heading="estimate interval", cell=_estimate, html=False, right=True),
    Column(heading="estimate", cell=_estimate, terminal=False, css="number"),
    Column(heading="bound", cell=_bound, css="number"),
    Column(heading="verdict", cell=shown_verdict, css="verdict", coloured=True),
    Column(heading="outcome", cell=_outcome, terminal=False),
    Column(heading="n", cell=_units, html=False),
    Column(heading="n", cell=_units_by_name, terminal=False, css="number"),
)

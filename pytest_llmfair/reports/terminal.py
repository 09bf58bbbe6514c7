"""The summary at the end of a session: one table, what is undecided, what is missing."""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_llmfair.reports import _words as words
from pytest_llmfair.reports._words import Record, escape, number, shorten
from pytest_llmfair.reports.message import PASS_MEANS, lacking
from pytest_llmfair.results import Verdict

if TYPE_CHECKING:
    import pytest

NARROWEST, WIDEST = 80, 120

# Estimate and interval share a column: apart, their headings would take the room of the names.
_HEADINGS = ("test", "metric", "estimate interval", "threshold", "verdict", "n")
_UNDECIDED = (Verdict.INCONCLUSIVE.value, Verdict.UNDERPOWERED.value)
_COLOURS = {"PASS": {"green": True}, "FAIL": {"red": True}, "INVALID": {"red": True}}


def print_summary(reporter: pytest.TerminalReporter, records: Sequence[Record]) -> None:
    """Print the table; with ``-q`` what is undecided and the last line, with ``-qq`` nothing."""
    verbosity = reporter.config.get_verbosity()
    if reporter.config.getoption("no_summary", False) or verbosity < -1:
        return
    reporter.write_sep("=", "fairness assertions")
    if verbosity >= 0:
        # As wide as pytest's own lines, so that names are cut only where there is no room.
        columns = shutil.get_terminal_size().columns
        width = max(NARROWEST, min(WIDEST, columns))
        for text, verdict in table(records, width):
            reporter.write_line(text, **_COLOURS.get(verdict, {}))
    for text in remarks(records):
        reporter.write_line(text)
    reporter.write_line(last_line(records), bold=True)


def table(records: Sequence[Record], width: int = NARROWEST) -> Iterator[tuple[str, str]]:
    """Yield the lines of the table, each with its verdict; none is longer than the width."""
    column = max(len(_estimate(record)) for record in records)
    rows = [_cells(record, column) for record in records]
    widths = [max(len(row[i]) for row in [list(_HEADINGS), *rows]) for i in range(len(_HEADINGS))]
    room = width - sum(widths[2:]) - len(widths) + 1
    widths[:2] = _split(room, widths[0], widths[1])
    yield _line(_HEADINGS, widths), ""
    file = None
    for record, row in zip(records, rows, strict=True):
        if _file(record) != file:
            file = _file(record)
            yield shorten(file, width), ""
        yield _line(row, widths), record["verdict"]


def remarks(records: Sequence[Record]) -> Iterator[str]:
    """Yield what the table has no room for: undecided results, notes and missing answers."""
    undecided = [record for record in records if record["verdict"] in _UNDECIDED]
    if undecided:
        yield "undecided: these samples neither prove nor refute their bounds"
    for record in undecided:
        units = words.needed(record)
        what = words.plurals(record["unit"])
        so_far = words.plural(record["unit"], record["units"])
        decide = f"about {units} {what} would decide, {so_far} so far" if units else so_far
        yield from _remark(record, decide)
    noted = [record for record in records if record["reasons"] and record["notes"]]
    if noted:
        yield "notes"
    for record in noted:
        yield from _remark(record, "; ".join(record["notes"]))
    failed = [record for record in records if record["verdict"] == Verdict.FAIL.value]
    if failed:
        yield "p-values of FAIL, raw and adjusted for the number of assertions (Holm)"
    for record in failed:
        raw, adjusted = (words.p_value(record[key]) for key in ("p_exceeds", "p_adjusted"))
        yield from _remark(record, f"{raw}, adjusted {adjusted} of {record['family_size']}")
    losses = [record for record in records if record["missing"]]
    if losses:
        yield "missing answers"
    for record in losses:
        yield from _remark(record, words.missing(record))
    unknown = dict.fromkeys(lacking(record) for record in records if record["lacks"])
    if unknown:
        yield "groups that the lexicon lacks, of which these results say nothing"
    for groups in unknown:
        yield from _wrapped(groups)
    if any(record["verdict"] == Verdict.PASS.value for record in records):
        yield f"PASS: {PASS_MEANS}"


def last_line(records: Sequence[Record]) -> str:
    """Return the counts of the session."""
    counts = Counter(record["verdict"] for record in records)
    verdicts = ", ".join(f"{counts[v.value]} {v.value}" for v in Verdict if counts[v.value])
    undecided = sum(counts[verdict] for verdict in _UNDECIDED)
    return f"{words.plural('fairness assertion', len(records))}: {verdicts}; {undecided} undecided"


def _estimate(record: Record) -> str:
    return number(words.estimate(record), words.decimals(record))


def _cells(record: Record, column: int) -> list[str]:
    places = words.decimals(record)
    # A sample of more needs no word: it is what one expects.
    fixed = " fixed" if record["population"] == "fixed" else ""
    attempt = f" (attempt {record['attempt']})" if record["attempt"] > 1 else ""
    return [
        escape(record["nodeid"].partition("::")[2] or record["nodeid"]) + attempt,
        escape(record["metric"]),
        f"{_estimate(record):>{column}} {words.interval(record, places)}".rstrip(),
        words.threshold(record, places),
        record["verdict"],
        f"{record['units']}{fixed}",
    ]


def _file(record: Record) -> str:
    return escape(record["nodeid"].partition("::")[0])


def _split(room: int, test: int, metric: int) -> list[int]:
    """Share the room between the names of test and metric, of which the second has few words."""
    if test + metric <= room:
        return [test, metric]
    metric = min(metric, max(room * 3 // 5, room - test))
    return [room - metric, metric]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    names = [shorten(cell, width).ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return " ".join(names).rstrip()


def _remark(record: Record, text: str) -> list[str]:
    name = escape(record["nodeid"].partition("::")[2] or record["nodeid"])
    return _wrapped(f"{shorten(name, 40)} {shorten(escape(record['metric']), 30)}: {escape(text)}")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        NARROWEST,
        initial_indent="  ",
        subsequent_indent="    ",
    )

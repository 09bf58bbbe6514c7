"""The summary at the end of a session: one table, what is undecided, what is missing."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_llmfair.reports import _words as words
from pytest_llmfair.reports._words import Record, escape, number, shorten
from pytest_llmfair.reports.message import PASS_MEANS
from pytest_llmfair.results import Verdict

if TYPE_CHECKING:
    import pytest

WIDTH = 80

_HEADINGS = ("test", "metric", "estimate", "interval", "threshold", "verdict", "n")
_UNDECIDED = (Verdict.INCONCLUSIVE.value, Verdict.UNDERPOWERED.value)
_COLOURS = {"PASS": {"green": True}, "FAIL": {"red": True}, "INVALID": {"red": True}}


def print_summary(reporter: pytest.TerminalReporter, records: Sequence[Record]) -> None:
    """Print the table; with ``-q`` what is undecided and the last line, with ``-qq`` nothing."""
    verbosity = reporter.config.get_verbosity()
    if reporter.config.getoption("no_summary", False) or verbosity < -1:
        return
    reporter.section("fairness assertions")
    if verbosity >= 0:
        for text, verdict in table(records):
            reporter.write_line(text, **_COLOURS.get(verdict, {}))
    for text in remarks(records):
        reporter.write_line(text)
    reporter.write_line(last_line(records), bold=True)


def table(records: Sequence[Record]) -> Iterator[tuple[str, str]]:
    """Yield the lines of the table, each with the verdict it shows; none is over 80 characters."""
    rows = [_cells(record) for record in records]
    widths = [max(len(row[i]) for row in [list(_HEADINGS), *rows]) for i in range(len(_HEADINGS))]
    room = WIDTH - sum(widths[2:]) - len(widths) + 1
    widths[:2] = _split(room, widths[0], widths[1])
    yield _line(_HEADINGS, widths), ""
    file = None
    for record, row in zip(records, rows, strict=True):
        if _file(record) != file:
            file = _file(record)
            yield shorten(file, WIDTH), ""
        yield _line(row, widths), record["verdict"]


def remarks(records: Sequence[Record]) -> Iterator[str]:
    """Yield what the table has no room for: undecided results, notes and missing answers."""
    undecided = [record for record in records if record["verdict"] in _UNDECIDED]
    if undecided:
        yield "undecided: these samples neither prove nor refute their bounds"
    for record in undecided:
        units = words.needed(record)
        what = words.plural(record["unit"], 2).partition(" ")[2]
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
    if any(record["verdict"] == Verdict.PASS.value for record in records):
        yield f"PASS: {PASS_MEANS}"


def last_line(records: Sequence[Record]) -> str:
    """Return the counts of the session."""
    counts = Counter(record["verdict"] for record in records)
    verdicts = ", ".join(f"{counts[v.value]} {v.value}" for v in Verdict if counts[v.value])
    undecided = sum(counts[verdict] for verdict in _UNDECIDED)
    return f"{words.plural('fairness assertion', len(records))}: {verdicts}; {undecided} undecided"


def _cells(record: Record) -> list[str]:
    places = words.decimals(record)
    attempt = f" (attempt {record['attempt']})" if record["attempt"] > 1 else ""
    return [
        escape(record["nodeid"].partition("::")[2] or record["nodeid"]) + attempt,
        escape(record["metric"]),
        number(words.estimate(record), places),
        words.interval(record, places) or "n/a",
        words.threshold(record, places),
        record["verdict"],
        str(record["units"]),
    ]


def _file(record: Record) -> str:
    return escape(record["nodeid"].partition("::")[0])


def _split(room: int, test: int, metric: int) -> list[int]:
    """Share the room between the names of test and metric; neither takes what it does not need."""
    if test + metric <= room:
        return [test, metric]
    half = room // 2
    if metric <= half:
        return [room - metric, metric]
    return [min(test, room - half), room - min(test, room - half)]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    names = [shorten(cell, width).ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return " ".join(names).rstrip()


def _remark(record: Record, text: str) -> list[str]:
    name = escape(record["nodeid"].partition("::")[2] or record["nodeid"])
    return textwrap.wrap(
        f"{shorten(name, 40)} {shorten(escape(record['metric']), 30)}: {escape(text)}",
        WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
    )

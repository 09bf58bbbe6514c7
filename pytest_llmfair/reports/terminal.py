"""The summary at the end of a session: table, undecided results, notes, missing answers."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_llmfair._util.printing import say_line
from pytest_llmfair._util.wording import escape, listed, p_value, plural, shorten, wrapped
from pytest_llmfair.judging import facts
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.judging.message import PASS_MEANS, decides, lacking, metric_name
from pytest_llmfair.judging.result import Verdict
from pytest_llmfair.reports.columns import Column, accepted, shown_in
from pytest_llmfair.reports.record import ORIGINS, asked

if TYPE_CHECKING:
    import pytest

NARROWEST, WIDEST = 80, 120

_NAMES = "test and metric"
_UNDECIDED = (Verdict.INCONCLUSIVE.value, Verdict.UNDERPOWERED.value)
_COLOURS = {"PASS": {"green": True}, "FAIL": {"red": True}, "INVALID": {"red": True}}
# Names are indented by two spaces, so fewer columns hold none of their letters.
_LEAST_ROOM = 3
# Tests named with a note that several tests share.
_MOST_NAMES = 6


def print_summary(reporter: pytest.TerminalReporter, records: Sequence[Record]) -> None:
    """Print models, table and notes; with ``-q`` no notes, with ``-qq`` only the last line."""
    verbosity = reporter.config.get_verbosity()
    if reporter.config.getoption("no_summary", False):
        return
    if verbosity >= -1:
        reporter.write_sep("=", "fairness assertions")
        # As wide as pytest's own lines, so names are cut only if the terminal is narrow.
        columns = shutil.get_terminal_size().columns
        width = max(NARROWEST, min(WIDEST, columns))
        for text in models(records):
            for line in _wrapped(text, ""):
                say_line(reporter, line)
        for text, verdict in table(records, width):
            say_line(reporter, text, **_COLOURS.get(verdict, {}))
    if verbosity >= 0:
        for text in remarks(records):
            say_line(reporter, text)
    say_line(reporter, last_line(records), bold=True)
    if verbosity >= -1:
        for line in _wrapped(could_have_found(records), ""):
            say_line(reporter, line)


def models(records: Sequence[Record]) -> Iterator[str]:
    """Yield a line for every model: its name, and whether its answers are live or replayed."""
    for name, how in asked(records).items():
        if not name:
            yield "model: none, for tests that judge data of their own"
            continue
        shown = facts.model({"model": name})
        if shown != escape(name):
            shown += " (choose another with --llmfair-model)"
        known = " and ".join(words for key, words in ORIGINS.items() if how[key])
        yield f"model: {shown}{', ' if known else ''}{known}"


def table(records: Sequence[Record], width: int = NARROWEST) -> Iterator[tuple[str, str]]:
    """Yield the lines of the table, each with its verdict, within `width` where numbers allow."""
    columns = [_cells(column, records) for column in shown_in("terminal", records)]
    rows = list(zip(*columns, strict=True))
    widths = [max(map(len, cells)) for cells in columns]
    room = width - sum(widths) - len(widths)
    if room < _LEAST_ROOM:
        room = len(_NAMES)
    checks = Counter(_test(record) for record in records)
    names = [_both(record) for record in records]
    for i, record in enumerate(records):
        if checks[_test(record)] > 1 or len(names[i]) > room:
            names[i] = f"  {metric_name(record)}"
    widths = [min(room, max(map(len, (_NAMES, *names)))), *widths]
    yield _line([_NAMES, *rows[0]], widths), ""
    file = test = None
    for record, row, name in zip(records, rows[1:], names, strict=True):
        if _file(record) != file:
            file, test = _file(record), None
            yield shorten(file, width), ""
        if name.startswith("  ") and _test(record) != test:
            yield from ((line, "") for line in _whole(_test(record), width))
        test = _test(record)
        *above, last = _whole(name, widths[0])
        yield from ((line, _colour(record)) for line in above)
        yield _line([last, *row], widths), _colour(record)


def remarks(records: Sequence[Record]) -> Iterator[str]:
    """Yield the notes below the table; a note that several results share is printed once."""
    undecided = [record for record in records if _undecided(record)]
    yield from _grouped(
        "undecided: these samples neither prove nor refute their bounds",
        ((decides(record), record) for record in undecided),
    )
    yield from _grouped(
        "notes",
        (
            (note, record)
            for record in records
            if record["reasons"]
            for note in map(escape, record["notes"])
        ),
    )
    failed = [r for r in records if r["verdict"] == Verdict.FAIL.value and r["family_size"] > 1]
    if failed:
        yield "p-values of FAIL, adjusted for the number of assertions (Holm)"
        # The least certain first: they are what the correction can change.
        for record in sorted(failed, key=lambda record: -record["p_adjusted"])[:_MOST_NAMES]:
            yield from _wrapped(f"{_both(record)}: {p_value(record['p_adjusted'])}")
        if len(failed) > _MOST_NAMES:
            yield f"  and {len(failed) - _MOST_NAMES} more that are surer"
    yield from _grouped(
        "missing answers", ((facts.missing(r), r) for r in records if r["missing"])
    )
    yield from _grouped(
        "waived: known, and accepted for now", ((r["waiver"], r) for r in records if r["waiver"])
    )
    yield from _grouped("not covered", ((lacking(r), r) for r in records if r["lacks"]))
    if any(record["verdict"] == Verdict.PASS.value for record in records):
        yield f"PASS: {PASS_MEANS}"


def last_line(records: Sequence[Record]) -> str:
    """Return the counts per verdict; red ones that are expected or waived come separately."""
    counts = Counter((accepted(record), record["verdict"]) for record in records)
    verdicts = [
        f"{counts[how, v.value]} {how} {v.value}".replace("  ", " ")
        for how in ("", "expected", "waived")
        for v in Verdict
        if counts[how, v.value]
    ]
    shown = f"{plural('fairness assertion', len(records))}: {', '.join(verdicts)}"
    if all(record["mode"] == "point" for record in records):
        return f"{shown}; judged by their values"
    return f"{shown}; {sum(map(_undecided, records))} undecided"


def could_have_found(records: Sequence[Record]) -> str:
    """Return the effects that these tests could have found, in the words of their metrics."""
    amounts: dict[str, list[str]] = {}
    blind = []
    for record in records:
        if record["could_find"] is None:
            blind.append(_both(record))
            continue
        amount, words = record["could_find"]
        amounts.setdefault(words, []).append(amount)
    shown = []
    for words, found in amounts.items():
        # Amounts of one kind are written alike, so their numbers can be compared.
        found.sort(key=lambda amount: float(re.sub(r"[^\d.]", "", amount) or 0))
        ends = dict.fromkeys((found[0], found[-1]))
        shown.append(f"{' to '.join(ends)} {words}")
    names = list(dict.fromkeys(blind))
    if names:
        shown.append(f"nothing in {listed(names, _MOST_NAMES)}")
    return f"In 80 % of runs these tests would find: {'; '.join(shown)}."


def _cells(column: Column, records: Sequence[Record]) -> list[str]:
    """Return the heading and the cells of a column."""
    cells = [column.cell(record) for record in records]
    if column.right:
        numbers = [cell.partition(" ") for cell in cells]
        width = max(len(first) for first, _, _ in numbers)
        cells = ["".join((first.rjust(width), *rest)) for first, *rest in numbers]
    return [column.heading, *cells]


def _undecided(record: Record) -> bool:
    # Mode point judges the value, so a wide interval leaves nothing undecided.
    decided = record["mode"] == "point" or accepted(record)
    return record["verdict"] in _UNDECIDED and not decided


def _colour(record: Record) -> str:
    return "" if accepted(record) else str(record["verdict"])


def _file(record: Record) -> str:
    return escape(record["nodeid"].partition("::")[0])


def _test(record: Record) -> str:
    attempt = f" (attempt {record['attempt']})" if record["attempt"] > 1 else ""
    return escape(record["nodeid"].partition("::")[2] or record["nodeid"]) + attempt


def _both(record: Record) -> str:
    return f"{_test(record)} {metric_name(record)}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    names = [shorten(cell, width).ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return " ".join(names).rstrip()


def _whole(name: str, width: int) -> list[str]:
    """Wrap a long name: two names that are cut to one line could look the same."""
    indent = " " * (len(name) - len(name.lstrip()))
    return wrapped(shorten(name, 2 * width), width, others=indent) or [""]


def _grouped(title: str, texts: Iterable[tuple[str, Record]]) -> Iterator[str]:
    """Yield each text once with the names of its tests; texts of the same tests are grouped."""
    members: dict[str, list[Record]] = {}
    for text, record in texts:
        members.setdefault(text, []).append(record)
    groups: dict[str, list[str]] = {}
    for text, found in members.items():
        names = list(dict.fromkeys(map(_test, found))) if found[1:] else [_both(found[0])]
        groups.setdefault(f"{listed(names, _MOST_NAMES)}:", []).append(text)
    if groups:
        yield title
    for shown, own in groups.items():
        if len(own) == 1:
            yield from _wrapped(f"{shown} {own[0]}")
            continue
        yield from _wrapped(shown)
        for text in own:
            yield from _wrapped(text, "    ")


def _wrapped(text: str, indent: str = "  ") -> list[str]:
    return wrapped(text, NARROWEST, indent, f"{indent}  ")

"""``llmfair history``: each check over recorded runs, commits and models, as one page."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.wording import plural
from pytest_llmfair.gate.recorded_runs import Key, first_attempts, other_question, read_record
from pytest_llmfair.judging.facts import Record, ends, estimate
from pytest_llmfair.judging.message import metric_name
from pytest_llmfair.reports import plots
from pytest_llmfair.reports.columns import CELLS, SIGNS, facts, shown_verdict
from pytest_llmfair.reports.files import write_text
from pytest_llmfair.reports.html import counts, page

_COLUMNS = ("estimate", "bound", "verdict")
# Left of the drawing are the labels of its scale; places are percent of the width.
_LEFT, _WIDTH = 16.0, 82.0
_MOST_LABELS = 12


def history_page(named: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return a page that draws each check over these runs, given by name, from left to right."""
    checks = [first_attempts(document) for _, document in named]
    keys: dict[Key, None] = dict.fromkeys(key for run in checks for key in run)
    runs = [
        {
            "name": name,
            "facts": [(label, text) for label, text in facts(document) if label != "took"],
            "counts": [each for each in counts(document["results"]) if each["n"]],
        }
        for name, document in named
    ]
    return page(
        "history.html.j2",
        {"runs": runs, "checks": [_check([run.get(key) for run in checks]) for key in keys]},
    )


def _check(records: Sequence[Record | None]) -> dict[str, Any]:
    """Return the drawing and the table of a check, which some runs may not have."""
    known = [each for each in records if each is not None]
    scale = [x for each in known for x in (*ends(each), each["fair_value"])]
    rows = [{**each, "value": estimate(each)} for each in known]
    axis, marks = plots.natural(rows, scale)
    drawn = iter(marks)
    step = _WIDTH / len(records)
    runs: list[dict[str, Any]] = []
    last: Record | None = None
    before: dict[str, Any] = {}
    for i, record in enumerate(records):
        left, x, right = (round(_LEFT + step * (i + part), 2) for part in (0.0, 0.5, 1.0))
        about: dict[str, Any] = {"number": i + 1, "left": left, "x": x, "right": right}
        about |= {"label": i % (1 + len(records) // _MOST_LABELS) == 0, "record": record}
        if record is not None:
            found = next(drawn)
            changed = {} if last is None else other_question(last, record)
            # No line leads over another question, a run without the check, or no evidence.
            solid = found.value is not None and record["verdict"] != "INVALID"
            trend = before if solid and before.get("solid") and not changed else None
            about |= {"marks": found, "changed": changed, "solid": solid, "trend": trend}
            about["sign"] = SIGNS[record["verdict"]]
            about["bounds"] = [axis.at(x) for x in ends(record) if axis.low <= x <= axis.high]
            about["cells"] = [(name, CELLS[name](record)) for name in _COLUMNS]
            last = record
        runs.append(about)
        before = about
    one = known[-1]
    words = "; ".join(
        f"run {i}: {f'{shown_verdict(each)}, {plots.described(each)}' if each else 'not run'}"
        for i, each in enumerate(records, start=1)
    )
    about_check = {"test": one["nodeid"], "name": metric_name(one), "described": words}
    return {**about_check, "axis": axis, "runs": runs}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``llmfair history``."""
    parser.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="a recorded run, or an evidence folder"
    )
    parser.add_argument(
        "--html", type=Path, metavar="PATH", required=True, help="write the page to this file"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the page; runs are sorted by their time where all of them have one."""
    named = [(path.resolve().name, read_record(path)) for path in arguments.runs]
    times = [(document.get("context") or {}).get("started") for _, document in named]
    order = "in the order given, because a run has no time"
    if all(times):
        order = "in the order of their times"
        named.sort(key=lambda each: str(each[1]["context"]["started"]))
    write_text(arguments.html, history_page(named))
    say(f"{arguments.html}: {plural('run', len(named))}, {order}\n")
    return 0

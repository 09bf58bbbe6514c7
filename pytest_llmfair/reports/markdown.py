"""The results of a run as Markdown, for a comment on a pull request and a page of a CI run."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_llmfair._util.wording import escape, plural
from pytest_llmfair.judging.facts import Record, estimate
from pytest_llmfair.judging.message import PASS_MEANS, in_words, metric_name
from pytest_llmfair.reports.columns import (
    SIGNS,
    accepted,
    distance_from_fair,
    facts,
    is_address,
    shown_in,
    shown_verdict,
    urgency,
    without_verdict,
)
from pytest_llmfair.reports.record import results_of
from pytest_llmfair.reports.suites import COLUMNS as SUITE_COLUMNS
from pytest_llmfair.reports.suites import DEBIASED, suite_views
from pytest_llmfair.reports.terminal import last_line

# GitHub takes 65,536 characters a comment.
LONGEST = 60_000
_WORST = 3


def marker(name: str = "") -> str:
    """Return the hidden line by which a comment is found again."""
    shown = re.sub(r"[^\w .-]|--", "", name)
    return f"<!-- pytest-llmfair report{f': {shown}' if shown else ''} -->"


def markdown(document: Mapping[str, Any], *, name: str = "") -> str:
    """Return a run as Markdown without prompts and answers; `name` tells suites apart."""
    records = sorted(results_of(document), key=urgency)
    errors = plain_text(without_verdict(document.get("errors", ())))
    suites = _suites(document)
    if not records:
        parts = ("No fairness assertion was judged.", errors, _fitting(suites, LONGEST - 1000))
        text = "\n\n".join(filter(None, (part.rstrip() for part in parts)))
        return f"{marker(name)}\n## Fairness\n\n{text}\n"
    title = f"## {_title(records, bool(errors))}{f' ({plain_text(name)})' if name else ''}"
    head = [marker(name), title, "", f"{plain_text(last_line(records))}.", ""]
    head += [f"**{errors}**", ""] if errors else []
    tail = ["", *_worst(records)]
    notes = [
        f"{label}: {text if is_address(text) else plain_text(text)}"
        for label, text in facts(document)
    ]
    report = "The whole report is in the artefacts of the run."
    url = ((document.get("context") or {}).get("ci") or {}).get("run_url") or ""
    # The file may come from someone else: its address must not become other Markdown.
    if is_address(url):
        report = f"[Whole report]({url}#artifacts) \N{MIDDLE DOT} [Re-run]({url})"
    tail += [report, ""]
    if any(record["verdict"] == "PASS" for record in records):
        tail += [f"PASS: {PASS_MEANS}.", ""]
    below = " \N{MIDDLE DOT} ".join(notes)
    tail += [f"<sub>{below}</sub>", ""]
    room = LONGEST - sum(len(line) + 1 for line in (*head, *tail)) - 100
    table = _table(records, room)
    # What was judged comes first; what suites measured has the room that is left.
    room -= sum(len(line) + 1 for line in table)
    return "\n".join([*head, *table, "", *_fitting(suites, room).splitlines(), *tail])


def _title(records: Sequence[Record], errors: bool) -> str:
    """Return the most urgent verdict that is neither expected nor waived, and how often it is."""
    found = [record["verdict"] for record in records if not accepted(record)]
    verdict = found[0] if found else "PASS"
    if errors and verdict == "PASS":
        return f"{SIGNS['INVALID']} Fairness: tests without a verdict"
    how_many = f"{found.count(verdict)} of {len(records)} {verdict}"
    return f"{SIGNS[verdict]} Fairness: {how_many if found else 'all red verdicts are accepted'}"


def _table(records: Sequence[Record], room: int) -> list[str]:
    # The name of the metric goes into the first column.
    columns = shown_in("comment", records)
    lines = list(_rows(["check", *(column.heading for column in columns)], ()))
    room -= sum(len(line) + 1 for line in lines)
    for i, record in enumerate(records):
        test = record["nodeid"].partition("::")[2] or record["nodeid"]
        name = f"{_code(test)}<br>{plain_text(metric_name(record))}"
        cells = [name, *(plain_text(column.cell(record)) for column in columns)]
        line = f"| {' | '.join(cells)} |"
        room -= len(line) + 1
        if room < 0:
            return [*lines, "", f"and {plural('check', len(records) - i)} more"]
        lines.append(line)
    return lines


def _suites(document: Mapping[str, Any]) -> list[list[str]]:
    """Return the values and tables of every suite, in blocks that may be left out."""
    blocks = []
    for suite in suite_views(document):
        found = suite.found
        lines = [f"<details><summary>{plain_text(suite.title)}</summary>", ""]
        rows = []
        for row in suite.rows:
            task, metric, value, interval, *others = map(plain_text, row.cells)
            estimate = value if value == interval else f"{value} {interval}"
            rows.append((f"{task}<br>{metric}", estimate, *others))
        # The comparison of several models has tables only.
        lines += [*_rows(("task", "estimate", *SUITE_COLUMNS[4:]), rows), ""] if rows else []
        lines += [DEBIASED.replace("*", "&#42;"), ""] if suite.debiased else []
        lines += [f"**Not valid** {plain_text(text)}\n" for text in found["invalid"]]
        if found["unmeasured"]:
            names = plain_text(", ".join(found["unmeasured"]))
            lines += [f"**Without a value, because the run or the task ended early: {names}**", ""]
        lines += _undefined(found)
        lines += [
            f"- {_code(each['name'])}: {plain_text(each['note'])}" for each in found["tasks"]
        ]
        lines += [f"- {plain_text(limit)}" for limit in found["limits"]]
        blocks.append([*lines, "", "</details>", ""])
        for table in suite.tables:
            rows = [tuple(plain_text(text) for text, _ in row) for row in table.cells]
            summary = f"<details><summary>{plain_text(table.title)}</summary>"
            note = [plain_text(table.note), ""] if table.note else []
            blocks.append([summary, "", *_rows(table.columns, rows), "", *note, "</details>", ""])
    return blocks


def _undefined(found: Mapping[str, Any]) -> list[str]:
    """Return the reasons for undefined values of a suite, each once."""
    reasons: dict[str, list[str]] = {}
    for value in found["values"]:
        for note in value["notes"] if value["value"] is None else ():
            reasons.setdefault(note, []).append(f"{value['task']} {value['metric']}")
    lines = [
        f"- undefined: {plain_text(', '.join(names))}: {plain_text(note)}"
        for note, names in reasons.items()
    ]
    return [*lines, ""] if lines else []


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    head = [f"| {' | '.join(map(plain_text, columns))} |", f"|{' --- |' * len(columns)}"]
    return [*head, *(f"| {' | '.join(row)} |" for row in rows)]


def _fitting(blocks: Sequence[Sequence[str]], room: int) -> str:
    """Return the blocks that fit, whole, and how many do not."""
    kept, left_out = [], 0
    for block in blocks:
        text = "\n".join(block) + "\n"
        room -= len(text)
        if room < 100:
            left_out += 1
        else:
            kept.append(text)
    if left_out:
        kept.append(f"and {plural('table', left_out)} of suites more, in the JSON record\n")
    return "".join(kept)


def _worst(records: Sequence[Record]) -> list[str]:
    """Return the largest differences in words, the proven ones first."""
    # A test that is too small shows no difference.
    found = [
        record
        for record in records
        if record["verdict"] in ("FAIL", "INCONCLUSIVE") and _distance(record) > 0.0
    ]

    def order(record: Record) -> tuple[Any, ...]:
        proven = record["verdict"] == "FAIL"
        evidence = 0.0 if proven else float(record["p_exceeds"] or 0.0)
        return not proven, *urgency(record), evidence, -_distance(record)

    found.sort(key=order)
    if not found:
        return []
    open_only = "" if found[0]["verdict"] == "FAIL" else ", none of them proven"
    lines = [f"### Largest differences{open_only}", ""]
    for i, record in enumerate(found[:_WORST], start=1):
        (_, sentence), *labelled = in_words(record)
        directions = (text for label, text in labelled if label == "direction")
        said = [sentence, *(f"{text[:1].upper()}{text[1:]}." for text in directions)]
        name = f"**{shown_verdict(record)}** {plain_text(metric_name(record))}"
        again = " ".join([record.get("rerun") or f"pytest {record['nodeid']}", *record["options"]])
        lines.append(f"{i}. {name}: {plain_text(' '.join(said))[:2000]}<br>Again: {_code(again)}")
    return [*lines, ""]


def _distance(record: Record) -> float:
    return distance_from_fair(record, estimate(record))


def plain_text(text: str) -> str:
    """Return a text that Markdown shows as it is: no markup, no mention, no reference."""
    shown = html.escape(escape(text), quote=False)
    # An underscore inside a word is no markup.
    special = r"[\\`*\[|~]|(?<![^\W_])_|_(?![^\W_])"
    shown = re.sub(special, lambda found: f"&#{ord(found[0])};", shown)
    # GitHub links @name, #12 and addresses in what is rendered, so entities do not help.
    linked = r"(?<!&)[@#](?=\w)|(?<=\w):(?=//)|(?i:\bwww)(?=\.)"
    return re.sub(linked, "\\g<0>\N{WORD JOINER}", shown)


def _code(text: str) -> str:
    return f"<code>{plain_text(text)}</code>"

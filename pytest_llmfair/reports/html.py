"""The results of a run as one HTML page: no scripts, no external resources, all text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.notebook import escaped
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.judging.message import PASS_MEANS
from pytest_llmfair.reports.columns import COLUMNS, Column
from pytest_llmfair.reports.json import run_document
from pytest_llmfair.reports.terminal import last_line, models

if TYPE_CHECKING:
    from pytest_llmfair.settings import Settings


_STYLE = """
:root { color-scheme: light dark; --line: #8886; --ink: light-dark(#222, #ddd);
  --pass: light-dark(#1b7f3b, #5fd38a); --fail: light-dark(#b3261e, #ff8a80);
  --open: light-dark(#8a6100, #ffcf66); }
body { font: 16px/1.45 system-ui, sans-serif; color: var(--ink); margin: 2rem auto;
  max-width: 75rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; padding-bottom: .5rem; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: middle; overflow-wrap: anywhere; }
th, td.verdict { overflow-wrap: normal; white-space: nowrap; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.PASS { color: var(--pass); } .FAIL, .INVALID { color: var(--fail); }
.INCONCLUSIVE, .UNDERPOWERED { color: var(--open); }
.verdict { font-weight: 600; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid var(--line);
  padding: .4rem .8rem; margin: .4rem 0 1rem; }
dl { display: grid; grid-template-columns: max-content auto; gap: .1rem 1rem; }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 48rem) {
  body { margin: 1rem auto; } thead { display: none; }
  table, tbody, tr, td, caption { display: block; }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  td { border: 0; padding: .1rem 0; } td.number { white-space: normal; }
  td[data-name]::before { content: attr(data-name) ": "; }
  dl { display: block; } dd { margin: 0 0 .4rem 1rem; }
}
"""


def html_page(records: Sequence[Record], settings: Settings) -> str:
    """Return the records of a run, with their messages, as one page."""
    counts = last_line(records) if records else "No fairness assertion was judged."
    body = ["<h1>Fairness assertions</h1>", f"<p>{escaped(counts)}</p>"]
    if records:
        body += [f"<p>{escaped(line)}</p>" for line in models(records)]
        body += [*_table(records), f"<p>PASS: {escaped(PASS_MEANS)}.</p>", *_details(records)]
    body += _settings(run_document([], settings))
    lines = "\n".join(body)
    # A second defence: even if an answer got past the escaping, nothing could run or be loaded.
    return f"""\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" \
content="default-src 'none'; style-src 'unsafe-inline'">
<title>Fairness assertions</title><style>{_STYLE}</style></head>
<body>
{lines}
</body></html>
"""


def _table(records: Sequence[Record]) -> Iterator[str]:
    columns = [column for column in COLUMNS if column.html]
    yield "<table><caption>Dot: estimate; bar: interval; dashed: bound.</caption><thead><tr>"
    headings = ("test", *(column.heading for column in columns))
    yield "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    yield "</tr></thead><tbody>"
    for i, record in enumerate(records):
        cells = "".join(_cell(column, record) for column in columns)
        yield f'<tr><td><a href="#result-{i}">{escaped(record["nodeid"])}</a></td>{cells}</tr>'
    yield "</tbody></table>"


def _cell(column: Column, record: Record) -> str:
    text = column.cell(record)
    # A verdict that is expected or waived needs no action, so it has no colour.
    accepted = record["expected"] or record["waiver"]
    colour = record["verdict"] if column.coloured and not accepted else ""
    css = escaped(f"{column.css} {colour}".strip())
    label = f' data-name="{column.heading}"' if column.labelled else ""
    shown = text if column.markup else escaped(text)
    classes = f' class="{css}"' if css else ""
    return f"<td{classes}{label}>{shown}</td>"


def _details(records: Sequence[Record]) -> Iterator[str]:
    yield "<h2>Results</h2>"
    for i, record in enumerate(records):
        name = f"{record['nodeid']} \N{MIDDLE DOT} {record['metric']}"
        # Escape line by line: the line breaks are ours, and must stay.
        lines = "\n".join(escaped(line) for line in str(record["message"]).split("\n"))
        yield f'<h3 id="result-{i}">{escaped(name)}</h3>'
        yield f"<pre>{lines}</pre>"


def _settings(document: Mapping[str, Any]) -> Iterator[str]:
    yield "<h2>Settings</h2><dl>"
    shown = {"pytest-llmfair": document["pytest_llmfair"], **document["settings"]}
    for name, value in shown.items():
        yield f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>"
    yield "</dl>"

"""Shown in every report: the columns of its table, its most urgent results, facts of the run.

A new column is one entry of `COLUMNS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_llmfair._util.wording import listed, number, plural
from pytest_llmfair.judging import facts as words
from pytest_llmfair.judging.bound import WORSE
from pytest_llmfair.judging.facts import Record, decimals, estimate, interval, threshold
from pytest_llmfair.judging.message import metric_name
from pytest_llmfair.reports.plots import relative
from pytest_llmfair.reports.record import ORIGINS


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table of results; `cell` makes the text of its cell from a record.

    ``record["context"]`` has the facts of its test that differ between runs that find the same; it
    is empty where they are not known. A column without a text in any row is left out.
    """

    heading: str
    cell: Callable[[Record], str]
    # Which reports show it; `card` is the model card.
    terminal: bool = True
    html: bool = True
    card: bool = True
    # Comments on pull requests have room for four, the name of the check among them.
    comment: bool = False
    # Whether the terminal aligns the first word of the cells to the right, as numbers are.
    right: bool = False
    # CSS classes of its cells, and whether they have the colour of the verdict on the page.
    css: str = ""
    coloured: bool = False


def _estimate(record: Record) -> str:
    places = decimals(record)
    return f"{number(estimate(record), places)} {interval(record, places)}".rstrip()


def accepted(record: Record) -> str:
    """Return "expected" or "waived" for a red verdict that does not fail the run; else nothing."""
    return "expected" if record["expected"] else "waived" if record["waiver"] else ""


def shown_verdict(record: Record) -> str:
    """Return a verdict, and why it does not fail the run where that is so."""
    why = accepted(record)
    return f"{record['verdict']}{f' ({why})' if why else ''}"


def _units(record: Record) -> str:
    # Units are samples of more unless the row says that they are all there are.
    return f"{record['units']}{' fixed' if record['population'] == 'fixed' else ''}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _took(record: Record) -> str:
    # The column shows where the time of a run goes, and is left out where all tests are fast.
    seconds = record["context"].get("seconds", 0.0)
    return _duration(seconds) if seconds >= 1.0 else ""


# The names of test and metric come first in every report: the terminal groups rows by test.
COLUMNS = (
    Column(heading="metric", cell=metric_name, terminal=False),
    # The terminal has no room for two headings here.
    Column(heading="estimate interval", cell=_estimate, html=False, card=False, right=True),
    Column(heading="estimate", cell=_estimate, terminal=False, comment=True, css="number"),
    Column(heading="bound", cell=lambda x: threshold(x, decimals(x)), comment=True, css="number"),
    Column(heading="verdict", cell=shown_verdict, comment=True, css="verdict", coloured=True),
    Column(heading="n", cell=_units, html=False, card=False),
    Column(
        heading="n", cell=lambda x: plural(x["unit"], x["units"]), terminal=False, css="number"
    ),
    Column(heading="test took", cell=_took, terminal=False, card=False, css="number"),
)
# What makes each cell of a page, by its heading.
CELLS = {column.heading: column.cell for column in COLUMNS if column.html}


def shown_in(report: str, records: Sequence[Record]) -> list[Column]:
    """Return the columns of a report: ``terminal``, ``html``, ``card`` or ``comment``."""
    asked = [column for column in COLUMNS if getattr(column, report)]
    return [column for column in asked if any(map(column.cell, records))]


# Verdicts with a sign, because not everyone sees colours; the most urgent first.
SIGNS = {
    "FAIL": "\N{MULTIPLICATION SIGN}",
    "INVALID": "!",
    "UNDERPOWERED": "\N{WHITE CIRCLE}",
    "INCONCLUSIVE": "?",
    "PASS": "\N{CHECK MARK}",
}
_MOST_NAMED = 3


def urgency(record: Record) -> tuple[bool, int, bool]:
    """Return a key that sorts what needs action first, losses before old FAILs, then as tests."""
    verdict = list(SIGNS).index(record["verdict"])
    return bool(accepted(record)), verdict, WORSE not in record["metric"]


def distance_from_fair(record: Record, value: float | None) -> float:
    """Return the distance from fair, where the bound is 1; negative on the fair side."""
    place = 0.0 if value is None else relative(record, value)
    return abs(place) if record["direction"] == "two-sided" else place


def without_verdict(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence about tests that ended with an error; an empty text without any."""
    if not errors:
        return ""
    named = listed([str(each["nodeid"]) for each in errors], _MOST_NAMED)
    count = plural("fairness test", len(errors))
    return f"{count} ended with an error before all verdicts: {named}"


def is_address(text: str) -> bool:
    """Return whether a text is an address that a report may link to, and nothing else."""
    return re.fullmatch(r"https?://[\w.:/%~?=&+-]+", text) is not None


def model_role(model: Mapping[str, Any]) -> str:
    """Return the role of a model in brackets; empty for the model under test."""
    return f" ({model['role']})" if "role" in model else ""


def facts(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the facts in the head of a report: model, commit, date and CI."""
    context = document.get("context") or {}
    found = []
    named = sorted({record["model"] for record in document["results"] if record["model"]})
    for model in document["models"] or [{"name": name} for name in named]:
        text = words.model({"model": model["name"]}) + model_role(model)
        if model.get("revision"):
            text += f", revision {model['revision'][:12]}"
        if parameters := model.get("parameters"):
            text += f", temperature {parameters['temperature']:g}"
        asked = {} if "role" in model else context.get("models", {}).get(model["name"], {})
        how = [name for key, name in ORIGINS.items() if asked.get(key)]
        # Asked with several limits of tokens, a model is there several times.
        if (fact := ("model", ", ".join([text, *how]))) not in found:
            found.append(fact)
    if not found and document["results"]:
        found.append(("model", "none: these tests judge data of their own"))
    if git := context.get("git"):
        branch = f" on {git['branch']}" if git["branch"] else ""
        changed = ", with uncommitted changes" if git["dirty"] else ""
        found.append(("commit", f"{git['commit'][:12]}{branch}{changed}"))
    if context:
        found.append(("date", f"{context['started'][:16].replace('T', ' ')} UTC"))
        found.append(("took", _duration(context["seconds"])))
    if ci := context.get("ci"):
        found.append(("run", ci["run_url"] or ci["provider"]))
    return found

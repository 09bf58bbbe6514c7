"""The page of a run: one file from the templates, no script, nothing loaded, all text escaped."""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.wording import LONGEST_LINE, escape, number, p_value, plurals
from pytest_llmfair.judging import facts as words
from pytest_llmfair.judging.facts import Record, people
from pytest_llmfair.judging.message import PASS_MEANS, in_words, metric_name
from pytest_llmfair.reports import plots
from pytest_llmfair.reports.columns import (
    SIGNS,
    accepted,
    distance_from_fair,
    facts,
    is_address,
    model_role,
    shown_in,
    urgency,
    without_verdict,
)
from pytest_llmfair.reports.record import results_of
from pytest_llmfair.reports.suites import COLUMNS as SUITE_COLUMNS
from pytest_llmfair.reports.suites import DEBIASED, suite_views
from pytest_llmfair.reports.terminal import last_line

if TYPE_CHECKING:
    import jinja2

# Words of a text, each with whether the text beside it lacks them.
Run = tuple[str, bool]

# Rows of a plot have the colour of the verdict that their own interval would have.
_COLOURS = {"within": "PASS", "beyond": "FAIL", "undecided": "INCONCLUSIVE"}
# Groups that are shown and that are folded; the matrix has all of them.
_MOST_OPEN = 8
_MOST_GROUPS = 40
_MOST_IN_MATRIX = 16


def html_page(document: Mapping[str, Any]) -> str:
    """Return a run, as `run_document` makes it, as one page."""
    return page("page.html.j2", _view(document))


def page(template: str, view: Mapping[str, Any]) -> str:
    """Return a template filled with what a page shows, all text escaped."""
    return _environment().get_template(template).render(view)


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2
    from markupsafe import Markup

    def printable(value: Any) -> Any:
        """Escape control characters; Jinja escapes markup after this."""
        if isinstance(value, (Markup, int, float)):
            return value
        # Line breaks stay, because the page keeps them; the rest of a line is cut and escaped.
        return "\n".join(escape(line, LONGEST_LINE + 50) for line in str(value).split("\n"))

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests["address"] = is_address
    environment.filters["parts"] = lambda text: re.findall(r"[^_/:\-]*[_/:\-]*", str(text))[:-1]
    return environment


def _view(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that the page shows."""
    records = sorted(results_of(document), key=urgency)
    axis, marks = plots.forest(records)
    checks = [_check(i, record) for i, record in enumerate(records)]
    return {
        "document": document,
        "without_verdict": without_verdict(document.get("errors", ())),
        "counts": counts(records),
        "last_line": last_line(records) if records else "No fairness assertion was judged.",
        "facts": facts(document),
        "columns": shown_in("html", records),
        "checks": checks,
        "axis": axis,
        "fair": axis.at(0.0),
        "forest": [
            (check, each, plots.bounds_of(axis, check["record"]))
            for check, each in zip(checks, marks, strict=True)
        ],
        "floors": any(each.floor is not None for each in marks),
        "subtracted": any(r["noise_floor"] and words.floor(r) is None for r in records),
        "pass_means": PASS_MEANS,
        "suites": suite_views(document),
        "suite_columns": SUITE_COLUMNS,
        "suite_debiased": DEBIASED,
        "check_ids": {(r["nodeid"], r["metric"]): f"check-{i}" for i, r in enumerate(records, 1)},
        "settings": _settings(document),
        "self_check": document.get("self_check", []),
    }


def counts(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the verdicts with their numbers, the most urgent first; expected ones apart."""
    found = []
    for verdict, sign in SIGNS.items():
        of_kind = [accepted(record) for record in records if record["verdict"] == verdict]
        why = [f"{of_kind.count(each)} {each}" for each in dict.fromkeys(of_kind) if each]
        about = {"verdict": verdict, "sign": sign}
        found.append({**about, "n": len(of_kind), "accepted": ", ".join(why)})
    return found


def _check(i: int, record: Record) -> dict[str, Any]:
    """Return the contents of the section of a check."""
    (_, found), *labelled = in_words(record)
    labelled += [(name, record[name]) for name in ("rationale", "owner") if record.get(name)]
    nodeid = record["nodeid"]
    drawn = ("value", "lower", "upper")
    pairs = [row for row in record["groups"] if None not in map(row.get, drawn)]
    rates = [row for row in record["groups"] if row["rate"] is not None][:_MOST_GROUPS]
    overall = {
        "key": "all" if pairs else "estimate",
        "value": words.estimate(record),
        **{key: record[key] for key in ("lower", "upper")},
        "n": record["units"],
        "p": None,
    }
    ends, floor = words.ends(record), words.floor(record)
    groups, cells = plots.matrix(record["groups"])
    groups = groups if len(groups) <= _MOST_IN_MATRIX else []
    # Occupations and the like are the sample: the bound is for all of them together.
    one_by_one = len(pairs) != record["units"]
    if len(pairs) == 1 and pairs[0]["value"] == overall["value"]:
        overall["key"], pairs = pairs[0]["key"], []
    judge = record.get("labelled", {}).get("judge_alone", ())
    alone = dict(zip(drawn, judge, strict=False))
    judges = [{**overall, "key": "judge alone", **alone}] if None not in judge and judge else []
    first = [overall, *judges]
    pairs.sort(key=lambda row: -distance_from_fair(record, row["value"]))
    shown = [*first, *pairs[: _MOST_OPEN if groups else _MOST_GROUPS]]
    axis, marks = plots.natural(shown, (*ends, floor, record["fair_value"]))
    rate_axis, rate_marks = plots.natural(rates, (0.0,), "rate")
    places = words.decimals(record)
    bounds = [axis.at(x) for x in ends if axis.low <= x <= axis.high]
    rows: list[tuple[Any, ...]] = []
    for row, each in zip(shown, marks, strict=True):
        judged = one_by_one or len(rows) < len(first)
        side = _COLOURS[plots.side_of(record, row)] if judged else "plain"
        rows.append((row, each, _numbers(row, places), side, bounds if judged else []))
    return {
        "id": f"check-{i + 1}",
        "record": record,
        "name": metric_name(record),
        "test": nodeid.partition("::")[2] or nodeid,
        "file": nodeid.partition("::")[0],
        "accepted": accepted(record),
        "sign": SIGNS[record["verdict"]],
        "described": plots.described(record),
        "found": found,
        "labelled": labelled,
        "axis": axis,
        "rows": rows,
        "open_rows": len(first) + _MOST_OPEN,
        "floor": None if floor is None else axis.at(floor),
        "left_out": len(first) + len(pairs) - len(shown),
        "most_open": _MOST_OPEN,
        "rate_axis": rate_axis,
        "rates": [
            (row, each, number(row["rate"], places))
            for row, each in zip(rates, rate_marks, strict=True)
        ],
        "matrix": groups,
        "cells": {
            key: (number(row["value"], places), plots.side_of(record, row))
            for key, row in ({(b, a): row for (a, b), row in cells.items()} | cells).items()
        },
        "examples": [_example(record, each, places) for each in record["examples"]],
        "what": plurals(record["unit"]),
        "hidden": _hidden(record),
        "rerun": " ".join(
            [record.get("rerun") or f"pytest {shlex.quote(nodeid)}", *record["options"]]
        ),
    }


def _numbers(row: Mapping[str, Any], places: int) -> str:
    """Return the numbers of a row of a plot."""
    shown = f"{number(row['value'], places)} {words.interval(row, places)}".rstrip()
    p = "" if row["p"] is None else f", {p_value(row['p'])}"
    return f"{shown}, n {row['n']:,}{p}"


def _hidden(record: Record) -> str:
    """Say that the texts of the worst examples are hidden, and how to show them."""
    if not record["examples"] or "outputs" in record["examples"][0]:
        return ""
    why = "because CI is set" if os.environ.get("CI") else "by the settings of this run"
    return (
        f"The texts are hidden {why}; --llmfair-show-text worst shows them here, and "
        "--llmfair-save-text keeps them in every report."
    )


def _example(record: Record, example: Mapping[str, Any], places: int) -> dict[str, Any]:
    """Return a worst row: its value, and its texts or their digests."""
    digests = filter(None, [*example["prompts_sha256"], *example["outputs_sha256"]])
    shown = number(example["value"], places)
    return {"value": shown, "sides": _sides(record, example), "digests": list(digests)}


def _sides(record: Record, example: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return prompts and answers, each two side by side with what differs marked."""
    prompts, outputs = example.get("prompts", ()), example.get("outputs", ())
    names = list(example["labels"]) or [""] * len(outputs)
    if len(prompts) == len(names) == 2:
        names = [people(record["attribute"], each) for each in names]
    sides = []
    for i in range(0, len(outputs), 2):
        answers = outputs[i : i + 2]
        asked = [prompts[j % len(prompts)] for j in range(i, i + len(answers))]
        rows = zip(names[i:], _marked(asked), _marked(answers), strict=False)
        sides += [{"name": name, "prompt": one, "output": two} for name, one, two in rows]
    return sides


def _marked(texts: Sequence[str]) -> list[list[tuple[str, bool]]]:
    return list(runs(*texts)) if len(texts) == 2 else [[(text, False)] for text in texts]


def _settings(document: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Return titles with names and values of everything that a run depends on."""
    # The table has the facts of each test.
    context = dict(document.get("context") or {})
    context.pop("tests", None)
    titled: list[tuple[str, Mapping[str, Any]]] = [
        ("Settings", {"pytest-llmfair": document["pytest_llmfair"], **document["settings"]}),
        *((f"Model {each['name']}{model_role(each)}", each) for each in document["models"]),
        *((f"Lexicon {each['name']}", each) for each in document["lexicons"]),
        *((f"Scorer {each['name']}", each) for each in document["scorers"]),
        ("Run", context),
    ]
    return [(title, list(_flat(values))) for title, values in titled if values]


def how_made(document: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return everything that a run depends on by title and name, several of one name joined."""
    found: dict[tuple[str, str], list[str]] = {}
    for title, values in _settings(document):
        for name, value in values:
            found.setdefault((title, name), []).append(str(value))
    return {key: ", ".join(values) for key, values in found.items()}


def _flat(values: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    found = []
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            found += _flat(value, f"{before}{name} ")
        elif value not in (None, {}):
            found.append((f"{before}{name}".replace("_", " "), value))
    return found


def runs(first: str, second: str) -> tuple[list[Run], list[Run]]:
    """Return either text as runs of words, each with whether the other text lacks it."""
    # Comparing takes quadratic time, so that long texts are cut.
    a, b = (re.findall(r"\w+|\s|[^\w\s]", _cut(text)) for text in (first, second))
    left: list[Run] = []
    right: list[Run] = []
    for kind, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        _add(left, a[i:j], kind != "equal")
        _add(right, b[k:m], kind != "equal")
    return left, right


def _cut(text: str) -> str:
    if len(text) <= LONGEST_LINE:
        return text
    return f"{text[:LONGEST_LINE]}... ({len(text):,} characters)"


def _add(found: list[Run], words: Sequence[str], differs: bool) -> None:
    """Add words to the last run where they are of its kind, and where spaces are all between."""
    text = "".join(words)
    if not text:
        return
    joins = len(found) > 1 and differs and not found[-1][1] and found[-1][0].isspace()
    if joins and found[-2][1]:
        before, space = found[-2][0], found[-1][0]
        found[-2:] = [(f"{before}{space}{text}", True)]
    elif found and found[-1][1] == differs:
        found[-1] = (found[-1][0] + text, differs)
    else:
        found.append((text, differs))

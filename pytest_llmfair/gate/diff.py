"""``llmfair diff``: what changed between two recorded runs, check by check."""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.wording import number, plural
from pytest_llmfair.gate.documents import rendered
from pytest_llmfair.gate.recorded_runs import (
    between,
    first_attempts,
    other_question,
    prompts_in_words,
    read_record,
)
from pytest_llmfair.judging.facts import Record, decimals, interval
from pytest_llmfair.judging.message import metric_name
from pytest_llmfair.judging.result import Result
from pytest_llmfair.reports.columns import CELLS, accepted, facts, without_verdict
from pytest_llmfair.reports.files import add_outputs, written
from pytest_llmfair.reports.html import how_made, page
from pytest_llmfair.settings import USUAL_LEVEL
from pytest_llmfair.stats import holm
from pytest_llmfair.stats.difference import IN_WORDS

# Of every interval of a difference, and of all decisions on them together (Holm).
_LEVEL = USUAL_LEVEL
# A change between two verdicts of the last kind is for the worse too: no evidence is no progress.
_BADNESS = {"PASS": 0, "INCONCLUSIVE": 1, "UNDERPOWERED": 1, "INVALID": 2, "FAIL": 2}
# What can happen to a check, in the order of the first line.
_KINDS = (
    *("worse", "gone", "newly waived", "newly expected", "other rules", "new", "not PASS"),
    *("better", "other verdict", "INVALID in both", "same verdict"),
)
# Those that someone should look at before a release.
_ALARMING = {"worse", "gone", "newly waived", "newly expected", "other rules", "not PASS"}
_MEANS = (
    "Less fair by: how much less fair the new run is, in the unit of the metric, with an interval "
    f"of {100 * _LEVEL:g} % for each check alone. Proven is what holds for all of them together "
    "(Holm). Rows are paired by prompt or by label only; without data of both runs, which "
    "evidence folders hold, nothing is compared."
)
_SUITES = "What suites measured without a bound differs; it is not compared here."


@dataclass(slots=True)
class Row:
    """A check in two runs; None where a run does not have it."""

    before: Record | None
    now: Record | None
    # What happened to it: `_KINDS`, then details.
    change: list[str]
    # By how much it is less fair now, or why nothing says so.
    loss: Result | str = ""

    @classmethod
    def of(cls, before: Record | None, now: Record | None) -> Row:
        """Compare the two records of a check."""
        if now is None or before is None:
            new = ["new"] if now and now["verdict"] == "PASS" else ["new", "not PASS"]
            return cls(before, now, new if now else ["gone"])
        asked = other_question(before, now)
        was, became = (_BADNESS[each["verdict"]] for each in (before, now))
        kind = "INVALID in both" if now["verdict"] == "INVALID" else "same verdict"
        if before["verdict"] != now["verdict"]:
            kind = "better" if became < was and not asked else "other verdict"
            kind = "worse" if became > was or became == was == 2 else kind
        change = [kind]
        how, earlier = accepted(now), accepted(before)
        if how != earlier:
            change.append(f"newly {how}" if how else f"no longer {earlier}")
        elif before["waiver"] != now["waiver"]:
            change.append("another waiver")
        change += ["other rules"] if asked.keys() & {"bound", "level", "mode"} else []
        prompts = prompts_in_words(before, now)
        change += dict.fromkeys(filter(None, [*asked.values(), prompts]))
        try:
            loss: Result | str = between(now, before, _LEVEL)
        except ValueError as error:
            loss = f"not compared: {error}"
        return cls(before, now, change, loss)

    @property
    def alarming(self) -> bool:
        """Whether someone should look at it."""
        return bool(_ALARMING.intersection(self.change))

    def shown(self, proven: str) -> dict[str, str]:
        """Return the cells of its row in the table."""
        one = self.now or self.before or {}
        return {
            "test": one["nodeid"],
            "metric": metric_name(one),
            "before": _found(self.before),
            "now": _found(self.now),
            "verdict": self.now["verdict"] if self.now and not accepted(self.now) else "",
            "change": "; ".join(self.change),
            "loss": self.loss if isinstance(self.loss, str) else _lost(self.loss, proven),
        }


def _found(check: Record | None) -> str:
    if check is None:
        return "not in this run"
    return f"{CELLS['verdict'](check)}: {CELLS['estimate'](check)}, bound {CELLS['bound'](check)}"


def _lost(loss: Result, proven: str) -> str:
    if loss.verdict == "INVALID" or math.isnan(loss.value):
        return f"not compared: {'; '.join(loss.notes) or 'one of them has no value'}"
    record = loss.to_dict()
    places = decimals(record)
    how = IN_WORDS[getattr(getattr(loss.estimate, "part", loss.estimate), "how", "unknown")]
    return f"{number(loss.value, places)} {interval(record, places)}, {how}{proven}"


def rows_of(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Row]:
    """Return the checks of two runs, those that someone should look at first."""
    before, now = map(first_attempts, (old, new))
    counts = [Counter(key[:2] for key in each) for each in (before, now)]
    found = []
    for key in dict.fromkeys((*before, *now)):
        one, other = before.get(key), now.get(key)
        # Where a test has more equal checks than it had, nothing tells which is which.
        alike = counts[0][key[:2]] == counts[1][key[:2]]
        pairs = [(one, other)] if alike else [(one, None), (None, other)]
        found += [Row.of(*pair) for pair in pairs if any(pair)]
    return sorted(found, key=lambda row: (not row.alarming, _KINDS.index(row.change[0])))


def _proven(rows: list[Row]) -> Iterator[str]:
    """Yield for each check what is proven of it, with a correction for the number of checks."""
    losses = [row.loss if isinstance(row.loss, Result) else None for row in rows]
    p_values = [2.0 * min(x.p_exceeds, x.p_within) if x else math.nan for x in losses]
    for loss, p in zip(losses, holm(p_values), strict=True):
        direction = "less fair" if loss and loss.p_exceeds < loss.p_within else "fairer"
        yield f": proven {direction}" if p < 1.0 - _LEVEL else ""


def view_of(old: Mapping[str, Any], new: Mapping[str, Any], rows: list[Row]) -> dict[str, Any]:
    """Return the contents of the page of two runs."""
    counts = Counter(kind for row in rows for kind in row.change if kind in _KINDS)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in _KINDS if counts[kind])
    headline = f"{plural('check', len(rows))}: {kinds}."
    if _without_context(old) == _without_context(new):
        headline = f"The two runs are identical: the same {plural('result', len(old['results']))}."
    return {
        "headline": headline,
        "errors": without_verdict(new.get("errors", ())),
        "runs": [("old", facts(old)), ("new", facts(new))],
        "rows": [row.shown(proven) for row, proven in zip(rows, _proven(rows), strict=True)],
        "made": _made_otherwise(old, new),
        "notes": [_MEANS, *([_SUITES] if old.get("suites") != new.get("suites") else [])],
    }


def _without_context(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without what differs between runs that find the same."""
    results = [{**each, "recorded": None} for each in document["results"]]
    return {**document, "context": None, "results": results}


def _made_otherwise(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return every setting and every fact of a model, lexicon or scorer that differs."""
    both = [how_made({**document, "context": None}) for document in (old, new)]
    shared = {title for title, _ in both[0]} & {title for title, _ in both[1]}
    rows = {}
    for title, name in dict.fromkeys((*both[0], *both[1])):
        values = [found.get((title, name), "none") for found in both]
        if title not in shared:
            # A model of one run only is one line, not one for each of its facts.
            rows[title] = ["not used" if value == "none" else "used" for value in values]
        elif values[0] != values[1]:
            rows[f"{title}, {name}"] = values
    return [(what, before, now) for what, (before, now) in rows.items()]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``llmfair diff``."""
    parser.description = (
        "Say what changed between two recorded runs. Exit status 1 if a verdict is worse, if a "
        "check is gone, newly waived or expected, new without PASS, or judged by another bound, "
        "level or mode, or if a fairness test of NEW ended with an error."
    )
    for name in ("old", "new"):
        about = "a recorded run, or an evidence folder"
        parser.add_argument(name, type=Path, metavar=name.upper(), help=about)
    add_outputs(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the comparison; without a file to write, print its Markdown."""
    old, new = read_record(arguments.old), read_record(arguments.new)
    rows = rows_of(old, new)
    view = view_of(old, new, rows)
    text = written(arguments, lambda: page("diff.html.j2", view), rendered("diff.md", **view))
    say(text or f"{view['headline']}\n")
    return int(bool(view["errors"]) or any(row.alarming for row in rows))

"""``llmfair diff``: what changed between two recorded runs, check by check."""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
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
from pytest_llmfair.reports.files import write_text
from pytest_llmfair.reports.html import how_made, page
from pytest_llmfair.stats import holm
from pytest_llmfair.stats.difference import IN_WORDS

# Of every interval of a difference, and of all decisions on them together (Holm).
_LEVEL = 0.95
# A change between two verdicts of the last kind is for the worse too: no evidence is no progress.
_BADNESS = {"PASS": 0, "INCONCLUSIVE": 1, "UNDERPOWERED": 1, "INVALID": 2, "FAIL": 2}
_RULES = ("bound", "direction", "fair_value", "scale", "level", "mode")
# What can happen to a check, in the order of the first line.
_KINDS = (
    *("worse", "gone", "newly waived", "newly expected", "new", "better", "other verdict"),
    *("INVALID in both", "same verdict"),
)

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
    # What happened to it: one of `_KINDS`, then details.
    change: list[str]
    # Whether someone should look: it is worse, gone, newly accepted, or under other rules.
    alarming: bool
    # By how much it is less fair now, or why nothing says so.
    loss: Result | str = ""
    # "less fair" or "fairer" where that is proven.
    proven: str = ""

    @classmethod
    def of(cls, before: Record | None, now: Record | None) -> Row:
        """Compare the two records of a check."""
        if before is None or now is None:
            new = now is not None
            alarming = now is None or now["verdict"] != "PASS"
            return cls(before, now, ["new" if new else "gone"], alarming)
        asked = other_question(before, now)
        was, became = (_BADNESS[each["verdict"]] for each in (before, now))
        kind = "INVALID in both" if now["verdict"] == "INVALID" else "same verdict"
        if before["verdict"] != now["verdict"]:
            kind = "better" if became < was and not asked else "other verdict"
            kind = "worse" if became > was or became == was == 2 else kind
        change = [kind]
        if (how := accepted(now)) and not accepted(before):
            change.append(f"newly {how}")
        elif (why := accepted(before)) and not how:
            change.append(f"no longer {why}")
        elif before["waiver"] != now["waiver"]:
            change.append("another waiver")
        rules = any(before[name] != now[name] for name in _RULES)
        alarming = kind == "worse" or change[-1].startswith("newly") or rules
        prompts = prompts_in_words(before, now)
        change += [*asked, *([prompts] if prompts and prompts not in asked else [])]
        try:
            return cls(before, now, change, alarming, between(now, before, _LEVEL))
        except ValueError as error:
            return cls(before, now, change, alarming, f"not compared: {error}")

    @property
    def shown(self) -> dict[str, Any]:
        """The cells of its row in the table."""
        one = self.now or self.before
        assert one is not None
        return {
            "test": one["nodeid"],
            "metric": metric_name(one),
            "before": _found(self.before),
            "now": _found(self.now),
            "verdict": self.now["verdict"] if self.now and not accepted(self.now) else "",
            "change": "; ".join(self.change),
            "loss": self.loss if isinstance(self.loss, str) else _lost(self.loss, self.proven),
        }


def _found(check: Record | None) -> str:
    if check is None:
        return "not in this run"
    return f"{CELLS['verdict'](check)}: {CELLS['estimate'](check)}, bound {CELLS['bound'](check)}"


def _lost(loss: Result, proven: str) -> str:
    record = loss.to_dict()
    if loss.verdict == "INVALID" or math.isnan(loss.value):
        return f"not compared: {'; '.join(loss.notes) or 'one of them has no value'}"
    places = decimals(record)
    how = IN_WORDS[getattr(getattr(loss.estimate, "part", loss.estimate), "how", "unknown")]
    shown = f"{number(loss.value, places)} {interval(record, places)}, {how}"
    return f"{shown}: proven {proven}" if proven else shown


@dataclass(slots=True)
class Diff:
    """Two runs, and what changed from the first to the second."""

    old: Mapping[str, Any]
    new: Mapping[str, Any]
    rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Match the checks, and decide which differences hold for all of them together."""
        before, now = map(first_attempts, (self.old, self.new))
        counts = [Counter(key[:2] for key in each) for each in (before, now)]
        for key in dict.fromkeys((*before, *now)):
            pair = before.get(key), now.get(key)
            # Where a test has more equal checks than it had, nothing tells which is which.
            alike = None in pair or counts[0][key[:2]] == counts[1][key[:2]]
            pairs = [pair] if alike else [(pair[0], None), (None, pair[1])]
            self.rows += [Row.of(*each) for each in pairs]
        losses = [(row, row.loss) for row in self.rows if isinstance(row.loss, Result)]
        adjusted = holm([2.0 * min(loss.p_exceeds, loss.p_within) for _, loss in losses])
        for (row, loss), p in zip(losses, adjusted, strict=True):
            if p < 1.0 - _LEVEL:
                row.proven = "less fair" if loss.p_exceeds < loss.p_within else "fairer"
        self.rows.sort(key=lambda row: (not row.alarming, _KINDS.index(row.change[0])))

    @property
    def alarming(self) -> bool:
        """Whether someone should look before a release."""
        return bool(self.new.get("errors")) or any(row.alarming for row in self.rows)

    def view(self) -> dict[str, Any]:
        """Return what the page shows."""
        same = _without_context(self.old) == _without_context(self.new)
        suites = self.old.get("suites") != self.new.get("suites")
        return {
            "headline": self._headline(same),
            "errors": without_verdict(self.new.get("errors", ())),
            "runs": [("old", facts(self.old)), ("new", facts(self.new))],
            "rows": [row.shown for row in self.rows],
            "made": _made_otherwise(self.old, self.new),
            "notes": [_MEANS, *([_SUITES] if suites else [])],
        }

    def _headline(self, same: bool) -> str:
        if same:
            return f"The two runs are identical: the same {plural('result', len(self.rows))}."
        counts = Counter(kind for row in self.rows for kind in row.change if kind in _KINDS)
        found = ", ".join(f"{counts[kind]} {kind}" for kind in _KINDS if counts[kind])
        return f"{plural('check', len(self.rows))}: {found}."


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
        parser.add_argument(
            name, type=Path, metavar=name.upper(), help="a recorded run, or an evidence folder"
        )
    parser.add_argument("--html", type=Path, metavar="PATH", help="write the page to this file")
    parser.add_argument(
        "--markdown", type=Path, metavar="PATH", help="write the Markdown to this file"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the comparison; without a file to write, print its Markdown."""
    found = Diff(read_record(arguments.old), read_record(arguments.new))
    view = found.view()
    if arguments.html:
        write_text(arguments.html, page("diff.html.j2", view))
    text = rendered("diff.md", **view)
    if arguments.markdown:
        write_text(arguments.markdown, text)
    say(f"{view['headline']}\n" if arguments.html or arguments.markdown else text)
    return int(found.alarming)

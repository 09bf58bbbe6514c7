"""``llmfair checklist``: what to check before a release, filled from a recorded run and by people.

Automatic items are answered from the record by a rule; evidence that is missing leaves an item
open. Items support what laws and standards ask for. Whether a release meets a law is not for a
tool to say.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.located import safe_yaml
from pytest_llmfair._util.printing import say
from pytest_llmfair._util.validation import read_json, read_utf8
from pytest_llmfair._util.wording import plural
from pytest_llmfair.gate.documents import (
    TOY_MODEL,
    data,
    described_models,
    model_names,
    rendered,
    replayed,
)
from pytest_llmfair.reports.columns import without_verdict
from pytest_llmfair.reports.record import read_run

_FIELDS = ("reviewer", "role", "decision", "date", "comment")
_DECISIONS = ("yes", "no", "not applicable")


def checklist(
    record: Mapping[str, Any],
    answers: Mapping[str, Any] | None = None,
    *,
    bounds: Sequence[Mapping[str, Any]] = (),
    today: datetime.date | None = None,
) -> dict[str, Any]:
    """Fill the checklist from the record of a run, and from answers of people by manual item."""
    # An answer without reviewer, role and date, or "not applicable" without comment, stays open.
    answers = answers or {}
    content = data("checklist")["items"]
    _check_names(answers, content)
    run = {**record, "bounds": bounds, "today": today or datetime.date.today()}
    items = []
    for entry in content:
        if entry["kind"] == "automatic":
            decision, because = answer(entry["rule"], run)
            given = {"decision": decision, "because": because}
        else:
            given = _answer(entry["id"], answers.get(entry["id"]) or {})
        items.append({**entry, **given})
    decisions = [item["decision"] for item in items]
    cited = {name for item in items for name in item["supports"]}
    return {
        "complete": not {"open", "no"} & set(decisions),
        "counts": {each: decisions.count(each) for each in (*_DECISIONS, "open")},
        "items": items,
        "references": {name: x for name, x in data("references").items() if name in cited},
    }


def checklist_page(filled: Mapping[str, Any]) -> str:
    """Return a filled checklist as Markdown."""
    return rendered("checklist.md", checklist=filled)


def _check_names(answers: Mapping[str, Any], content: list[dict[str, Any]]) -> None:
    kinds = {entry["id"]: entry["kind"] for entry in content}
    manual = [name for name, kind in kinds.items() if kind == "manual"]
    for name in answers:
        if kinds.get(name) == "automatic":
            raise ValueError(f"{name} is answered from the run record; remove it from the answers")
        if name not in kinds:
            raise ValueError(f"there is no item {name!r}; {suggestion(str(name), manual)}")


def _answer(name: str, given: Any) -> dict[str, Any]:
    """Return the fields of a manual item; an answer that lacks something is open."""
    if not isinstance(given, Mapping) or set(given) - set(_FIELDS):
        raise ValueError(f"the answer to {name} is {given!r}; give it {', '.join(_FIELDS)}")
    decision = given.get("decision")
    if isinstance(decision, bool):
        # YAML reads a bare yes or no as true or false.
        decision = "yes" if decision else "no"
    decision = str(decision or "open").strip().lower()
    if decision not in ("open", *_DECISIONS):
        raise ValueError(f"the decision on {name} is {decision!r}; write {', '.join(_DECISIONS)}")
    texts = {key: str(given.get(key) or "").strip() for key in _FIELDS if key != "decision"}
    if texts["date"]:
        try:
            datetime.date.fromisoformat(texts["date"])
        except ValueError:
            raise ValueError(
                f"the date of {name} is {texts['date']!r}; write it as 2026-11-23"
            ) from None
    if decision == "open":
        return {**texts, "decision": "open", "because": "not answered"}
    needed = ["reviewer", "role", "date"] + (["comment"] if decision == "not applicable" else [])
    if lacks := [key for key in needed if not texts[key]]:
        because = f"answered with {decision}, but without {' and '.join(lacks)}"
        return {**texts, "decision": "open", "because": because}
    return {**texts, "decision": decision}


def answers_template() -> str:
    """Return a YAML file for answers to the manual items, with the requirements as comments."""
    return rendered("answers.yaml", items=data("checklist")["items"], fields=_FIELDS)


def read_answers(path: Path) -> dict[str, Any]:
    """Return the answers of a YAML file."""
    try:
        answers = safe_yaml(read_utf8(path))
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not YAML: {error}") from None
    if answers is not None and not isinstance(answers, dict):
        raise ValueError(f"{path} is no mapping; llmfair checklist --write-answers makes one")
    return answers or {}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Fill the pre-release checklist. Exit status 1 while an item is open or answered no."
    )
    parser.add_argument(
        "run", type=Path, nargs="?", metavar="RUN", help="a recorded run, or an evidence folder"
    )
    parser.add_argument("--answers", type=Path, metavar="FILE", help="answers to manual items")
    parser.add_argument("--format", choices=("markdown", "json", "yaml"), default="markdown")
    parser.add_argument(
        "--write-answers", type=Path, metavar="FILE", help="write a file to fill, and stop"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the checklist, or write the file for answers."""
    if (target := arguments.write_answers) is not None:
        if target.exists():
            raise ValueError(f"{target} exists, and may hold answers; name a new file")
        target.write_text(answers_template(), encoding="utf-8")
        say(f"{target} has one entry per manual item; fill it, and give it back\n")
        return 0
    if arguments.run is None:
        raise ValueError("no run is given; name a record of --llmfair-json or an evidence folder")
    answers = read_answers(arguments.answers) if arguments.answers else None
    filled = checklist(**_read(arguments.run), answers=answers)
    if arguments.format == "markdown":
        text = checklist_page(filled)
    elif arguments.format == "json":
        text = json.dumps(filled, indent=1) + "\n"
    else:
        text = yaml.safe_dump(filled, sort_keys=False, allow_unicode=True, width=100)
    say(text)
    return 0 if filled["complete"] else 1


def _read(path: Path) -> dict[str, Any]:
    """Return the record of a run; in an evidence folder its context and bounds are files."""
    if not path.is_dir():
        return {"record": read_run(path)}
    remedy = "write the evidence again with --llmfair-evidence"
    bounds = read_json(path / "bounds.json", remedy)
    if not isinstance(bounds, list) or not all(
        isinstance(each, dict) and {"nodeid", "metric"} <= each.keys() for each in bounds
    ):
        raise ValueError(f"{path / 'bounds.json'} is no list of bounds; {remedy}")
    return {"record": read_run(path / "run.json", path / "context.json"), "bounds": bounds}


Run = Mapping[str, Any]
Test = Callable[[Mapping[str, Any], Run], bool]
Answer = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _EachCheck:
    """A rule about every check: where the record is silent, what is against it, what to say."""

    silent: Test
    against: Test
    says: Callable[[Run], str]

    def __call__(self, run: Run) -> Answer:
        results = run["results"]
        if found := [result for result in results if self.against(result, run)]:
            count = plural("check", len(results))
            return "no", f"not so for {len(found)} of {count}: {_named(found)}"
        if unknown := [result for result in results if self.silent(result, run)]:
            return "open", f"the record says nothing about this for {_named(unknown)}"
        return "yes", self.says(run)


def answer(name: str, run: Run) -> Answer:
    """Return "yes", "no" or "open" to the rule of this name, and why."""
    if not run["results"]:
        return "open", "the record holds no fairness check"
    return RULES[name](run)


def _lacks(*keys: str) -> Test:
    return lambda result, run: any(result.get(key) is None for key in keys)


def _never(result: Mapping[str, Any], run: Run) -> bool:
    return False


def _waived(result: Mapping[str, Any], run: Run) -> bool:
    return bool(result.get("waiver")) and not _expired(result, run)


def _expired(result: Mapping[str, Any], run: Run) -> bool:
    """Return whether the last day of a waiver is over; one without a day holds for no day."""
    days = re.findall(r"\d{4}-\d{2}-\d{2}", result.get("waiver") or "")
    ended = not days or datetime.date.fromisoformat(days[-1]) < run["today"]
    return bool(result.get("waiver")) and ended


def _passes(run: Run) -> str:
    waived = [result for result in run["results"] if result["verdict"] != "PASS"]
    shown = f", of them waived: {_named(waived)}" if waived else " PASS"
    return f"{plural('check', len(run['results']))}{shown}"


def _waivers(run: Run) -> str:
    return f"{plural('waiver', sum(bool(r['waiver']) for r in run['results']))} in use"


def _groups(run: Run) -> str:
    groups = dict.fromkeys(group for result in run["results"] for group in result["lacks"])
    return f"not tested: {', '.join(groups)}" if groups else "no check left out a group"


def _counts(run: Run) -> str:
    results = run["results"]
    missing = sum(sum(result["missing"].values()) for result in results)
    pairs = plural("pair", sum(result["rejected"] for result in results))
    prompts = plural("prompt", sum(result["uncertain"] for result in results))
    return f"{plural('answer', missing)} missing, {pairs} and {prompts} left out"


def _not_audited(result: Mapping[str, Any], run: Run) -> bool:
    notes = result.get("notes")
    return notes is None or any("could not be audited" in note for note in notes)


def _no_digest(result: Mapping[str, Any], run: Run) -> bool:
    digests = result.get("data") or {}
    return not (digests.get("prompts_sha256") or digests.get("arguments_sha256"))


def _fixed(result: Mapping[str, Any], run: Run) -> Mapping[str, Any] | None:
    """Return the bound of a check with its commit; None where that is not known."""
    for bound in run["bounds"]:
        if (bound["nodeid"], bound["metric"]) == (result["nodeid"], result["metric"]):
            known = bound.get("commit") and _moment(bound.get("committed"))
            return bound if known and bound.get("changed_since") is not None else None
    return None


def _started(run: Run) -> datetime.datetime | None:
    return _moment((run.get("context") or {}).get("started"))


def _late(result: Mapping[str, Any], run: Run) -> bool:
    fixed, started = _fixed(result, run), _started(run)
    if fixed is None or started is None:
        return False
    committed = _moment(fixed["committed"])
    return bool(fixed["changed_since"]) or committed is None or committed > started


def _model_identified(run: Run) -> Answer:
    """Answer whether every model has a revision or digest, and is not the toy model."""
    if TOY_MODEL in model_names(run):
        return "no", f"{TOY_MODEL} is the built-in toy model, made for trying the tests"
    models = {m["name"]: m.get("revision") or m.get("digest") for m in described_models(run)}
    names = dict.fromkeys((*model_names(run), *models))
    if unknown := [name for name in names if not models.get(name)]:
        return "open", f"no revision and no digest of {', '.join(unknown)}"
    shown = ", ".join(f"{name} at {version}" for name, version in models.items())
    return ("yes", shown) if shown else ("open", "the record names no model")


def _commit_recorded(run: Run) -> Answer:
    """Answer whether the run has a commit without changes, and a time."""
    git, started = (run.get("context") or {}).get("git") or {}, _started(run)
    if not git.get("commit") or git.get("dirty") is None or started is None:
        return "open", "the record lacks the commit, whether files were changed, or the time"
    if git["dirty"]:
        return "no", f"files differed from commit {git['commit']}"
    return "yes", f"commit {git['commit']}, {started.isoformat()}"


def _origin_recorded(run: Run) -> Answer:
    """Answer whether live and replayed answers are counted."""
    if (answers := replayed(run)) is None:
        return "open", "the record does not say; it was written without its context"
    if not any(answers):
        return "yes", "no model was asked: the checks judge data of their own"
    new = "" if answers[0] else "; this run is no new evidence about the model"
    return "yes", f"{plural('answer', answers[0])} asked live, {answers[1]:,} replayed{new}"


def _named(results: Sequence[Mapping[str, Any]]) -> str:
    shown = ", ".join(f"{r['nodeid']} {r['metric']} ({r['verdict']})" for r in results[:3])
    return f"{shown} and {len(results) - 3} more" if len(results) > 3 else shown


def _moment(text: Any) -> datetime.datetime | None:
    """Return a time with its zone; a day counts as its end, since the hour is unknown."""
    try:
        found = datetime.datetime.fromisoformat(str(text))
    except ValueError:
        return None
    if len(str(text)) == len("2026-11-23"):
        found = found.replace(hour=23, minute=59, second=59)
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)


_EVERY_CHECK_PASSES = _EachCheck(
    _lacks("verdict"),
    lambda result, run: result["verdict"] != "PASS" and not _waived(result, run),
    _passes,
)


def _checks_pass(run: Run) -> Answer:
    """Answer whether every check passes, and no test or run ended too early to judge."""
    found = _EVERY_CHECK_PASSES(run)
    if found[0] == "no":
        return found
    if errors := run.get("errors"):
        return "no", without_verdict(errors)
    status = (run.get("counts") or {}).get("exit_status", 0)
    if status in (2, 3, 4):
        return "open", f"pytest ended with status {status} before all tests were run"
    return found


RULES: dict[str, Callable[[Run], Answer]] = {
    "model_identified": _model_identified,
    "commit_recorded": _commit_recorded,
    "digests_present": _EachCheck(_no_digest, _never, lambda run: "every check has one"),
    "origin_recorded": _origin_recorded,
    "bounds_frozen": _EachCheck(
        lambda result, run: None in (_fixed(result, run), _started(run)),
        _late,
        lambda run: f"all are older than the run of {_started(run)}",
    ),
    "checks_pass": _checks_pass,
    "none_invalid": _EachCheck(
        _lacks("verdict"),
        lambda result, run: result["verdict"] == "INVALID",
        lambda run: "none of them is INVALID",
    ),
    "intervals_judged": _EachCheck(
        _lacks("mode"),
        lambda result, run: result.get("mode") == "point",
        lambda run: "no check was judged in mode point",
    ),
    "waivers_hold": _EachCheck(_lacks("waiver"), _expired, _waivers),
    "groups_named": _EachCheck(_lacks("lacks"), _never, _groups),
    "answers_counted": _EachCheck(_lacks("missing", "rejected", "uncertain"), _never, _counts),
    "scorers_audited": _EachCheck(
        lambda result, run: _lacks("reasons")(result, run) or _not_audited(result, run),
        lambda result, run: "scorer_gap" in (result.get("reasons") or ()),
        lambda run: "no check found such a scorer; functions of your own are not audited",
    ),
}

"""``llmfair checklist``: what to check before a release, filled from a recorded run and by people.

Automatic items are answered from the record by a rule; evidence that is missing leaves an item
open. Items support what laws and standards ask for. Whether a release meets a law is not for a
tool to say.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.located import safe_yaml
from pytest_llmfair._util.printing import say
from pytest_llmfair._util.validation import read_json, read_utf8
from pytest_llmfair.gate.checklist_rules import answer
from pytest_llmfair.gate.documents import data, rendered
from pytest_llmfair.reports.record import read_run

_FIELDS = ("reviewer", "role", "decision", "date", "comment")
_DECISIONS = ("yes", "no", "not applicable")


def checklist(
    record: Mapping[str, Any],
    answers: Mapping[str, Any] | None = None,
    *,
    bounds: Sequence[Mapping[str, Any]] = (),
    today: datetime.date | None = None,
    files: Collection[str] = (),
    sector: str = "",
) -> dict[str, Any]:
    """Fill the checklist from a run and from answers; `files` are those of the evidence."""
    # An answer without reviewer, role and date, or "not applicable" without comment, stays open.
    answers = answers or {}
    _check_names(answers, data("checklist")["items"])
    run = {**record, "bounds": bounds, "today": today or datetime.date.today()}
    sectors = [sector] if sector else _sectors(record)
    references = {name: x for name, x in data("references").items() if _is_for(sectors, x)}
    items = []
    for entry in _items(sectors):
        if entry["kind"] == "automatic":
            decision, because = answer(entry["rule"], run)
            given = {"decision": decision, "because": because}
        else:
            given = _answer(entry["id"], answers.get(entry["id"]) or {})
        evidence = entry["evidence"] if entry["evidence"] in files else ""
        supports = [name for name in entry["supports"] if name in references]
        items.append({**entry, "evidence": evidence, "supports": supports, **given})
    decisions = [item["decision"] for item in items]
    cited = {name for item in items for name in item["supports"]}
    return {
        "sectors": sectors,
        "complete": not {"open", "no"} & set(decisions),
        "counts": {each: decisions.count(each) for each in (*_DECISIONS, "open")},
        "items": items,
        "references": {name: x for name, x in references.items() if name in cited},
    }


def _sectors(record: Mapping[str, Any]) -> list[str]:
    named = {each["use_case"]["sector"] for each in record.get("selections", ())}
    return sorted(named - {""}) or ["general"]


def _is_for(sectors: Sequence[str], entry: Mapping[str, Any]) -> bool:
    return "sectors" not in entry or not {*entry["sectors"]}.isdisjoint(sectors)


def _items(sectors: Sequence[str]) -> list[dict[str, Any]]:
    return [each for each in data("checklist")["items"] if _is_for(sectors, each)]


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


def answers_template(sector: str = "general") -> str:
    """Return a YAML file for answers to the manual items, with the requirements as comments."""
    return rendered("answers.yaml", items=_items([sector]), fields=_FIELDS)


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
    parser.add_argument(
        "--sector",
        choices=("general", "employment", "banking"),
        default="",
        help="whose texts to refer to; by default what the use case of the checks says",
    )
    parser.add_argument("--format", choices=("markdown", "json"), default="markdown")
    parser.add_argument(
        "--write-answers", type=Path, metavar="FILE", help="write a file to fill, and stop"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the checklist, or write the file for answers."""
    if (target := arguments.write_answers) is not None:
        if target.exists():
            raise ValueError(f"{target} exists, and may hold answers; name a new file")
        target.write_text(answers_template(arguments.sector or "general"), encoding="utf-8")
        say(f"{target} has one entry per manual item; fill it, and give it back\n")
        return 0
    if arguments.run is None:
        raise ValueError("no run is given; name a record of --llmfair-json or an evidence folder")
    answers = read_answers(arguments.answers) if arguments.answers else None
    filled = checklist(**_read(arguments.run), answers=answers, sector=arguments.sector)
    if arguments.format == "markdown":
        text = checklist_page(filled)
    else:
        text = json.dumps(filled, indent=1) + "\n"
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
    record = read_run(path / "run.json", path / "context.json")
    return {"record": record, "bounds": bounds, "files": [each.name for each in path.iterdir()]}

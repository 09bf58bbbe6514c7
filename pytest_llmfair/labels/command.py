"""The command ``llmfair labels``: plan which answers people label, and check their labels."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.wording import listed, plural
from pytest_llmfair.labels.plan import PLAN, TO_LABEL, LabelPlan, label_plan, read_labels

_MOST_NAMED = 5
# Name, type, default and help of the options of a plan.
_OPTIONS: tuple[tuple[str, Any, Any, str], ...] = (
    ("groups", str, "group", "column of the groups (group)"),
    ("seed", int, 0, "seed of the draw (0)"),
    ("pair-by", str, None, "column that is equal for twins: both are labelled"),
    ("units", str, None, "column of the sampling units (the prompt)"),
    ("text", str, None, "column of the text of the answer"),
    ("people", int, 1, "labels per answer (1)"),
    ("former", Path, None, "labels of an earlier plan, which say how often there are events"),
    ("out", Path, Path(), "folder to write into"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``llmfair labels``."""
    actions = parser.add_subparsers(dest="action", required=True)
    plan = actions.add_parser("plan", help=f"draw answers, and write {TO_LABEL} and {PLAN}")
    plan.add_argument("file", type=Path, help="all judged answers (CSV, JSONL or Parquet)")
    plan.add_argument("--scorer", required=True, help="the judge: a column, or a scorer's name")
    size = plan.add_mutually_exclusive_group(required=True)
    size.add_argument("--total", type=int, help="answers to label")
    size.add_argument(
        "--bound", type=float, help="bound of the test: as many labels as PASS it in 80 %% of runs"
    )
    for name, kind, default, text in _OPTIONS:
        plan.add_argument(f"--{name}", type=kind, default=default, help=text)
    plan.add_argument("--scale", type=float, nargs=2, help="smallest and largest label")
    check = actions.add_parser("check", help="say which labels are missing; exit status 1 if any")
    sheet = Path(TO_LABEL)
    check.add_argument(
        "file", type=Path, nargs="?", default=sheet, help=f"the labelled sheet ({sheet})"
    )
    check.add_argument("--plan", type=Path, metavar="FILE", help=f"the plan ({PLAN} beside it)")


def run(arguments: argparse.Namespace) -> int:
    """Plan or check; return 1 where labels are missing or strange."""
    if arguments.action == "check":
        if not arguments.file.is_file():
            raise ValueError(f"there is no file {arguments.file}; give the sheet with the labels")
        plan = LabelPlan.read(arguments.plan or arguments.file.parent / PLAN)
        lines = problems(plan, arguments.file)
        whole = f"{plural('answer', len(plan.drawn))} of the plan, every label is there"
        say("".join(f"{line}\n" for line in lines or [f"{arguments.file}: {whole}"]))
        return int(bool(lines))
    names = ("scorer", "groups", "total", "bound", "seed", "pair_by", "units", "text", "scale")
    given = {name: getattr(arguments, name) for name in (*names, "people", "former")}
    plan = label_plan(arguments.file, **given)
    sheet, kept = plan.write(arguments.out)
    say(f"{plan}\npeople label {sheet}; keep {kept} from them, it tells groups and verdicts\n")
    return 0


def problems(plan: LabelPlan, file: Path) -> list[str]:
    """Return the missing and the strange labels of a sheet, by stratum of the plan."""
    labels = read_labels(file)
    found = []
    if strange := sorted(labels.keys() - plan.drawn.keys()):
        named = listed(strange, _MOST_NAMED)
        found.append(f"{plural('id', len(strange))} not of the plan: {named}; remove them")
    missing = [key for key in plan.drawn if len(labels.get(key, ())) < plan.people]
    if missing:
        named = listed(missing, _MOST_NAMED)
        found.append(f"{plural('answer', len(missing))} without all labels: {named}")
    for place, n in sorted(Counter(plan.drawn[key] for key in missing).items()):
        cell = plan.cells[place]
        name = " / ".join(filter(None, cell[:2]))
        of = sum(each == place for each in plan.drawn.values())
        found.append(f"  {name}: {n} of {of} missing")
    low, high = plan.span
    if outside := [key for key, own in labels.items() if any(not low <= x <= high for x in own)]:
        named = listed(outside, _MOST_NAMED)
        found.append(f"{plural('label', len(outside))} outside {low:g} to {high:g}: {named}")
    return found

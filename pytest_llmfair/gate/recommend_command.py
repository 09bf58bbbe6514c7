"""``llmfair recommend``: metrics for a use case, with the reason for each."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from pytest_llmfair.gate.selection import TASKS, Selection, UseCase, recommend

_SWITCHES = {
    "person_level": "each prompt is about one person whose group is known",
    "reviews_every_output": "a person reads every output before it is used",
    "invents_people": "the model makes people up, as in stories",
    "qualified_known": "ranking: it is known which candidates are qualified",
}
_WORDS = {
    "description": "the use in words",
    "fairness": "classes: error (default) or representation",
    "intervention": "classes: the positive class is assistive or punitive",
    "question": "classes: between_groups, against_background or any_effect",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments: a file of checks, or the use case by options."""
    parser.add_argument("file", nargs="?", type=Path, help="a file of checks with a use_case")
    add_use_case(parser)
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print JSON")
    shape.add_argument("--markdown", action="store_true", help="print Markdown")


def add_use_case(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a use case."""
    parser.add_argument("--task", metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--attribute", action="append", metavar="NAME", help="such as gender")
    parser.add_argument("--prompts", type=Path, metavar="FILE", help="prompts of the use case")
    for name, text in _WORDS.items():
        parser.add_argument(f"--{name}", metavar="TEXT", help=text)
    for name, text in _SWITCHES.items():
        flag = f"--{name.replace('_', '-')}"
        parser.add_argument(flag, action="store_true", default=None, help=text)
    parser.add_argument(
        "--may-differ",
        dest="invariance_reason",
        metavar="WHY",
        help="answers may differ by group, for this reason",
    )
    parser.add_argument(
        "--sensitive-class",
        dest="sensitive_classes",
        action="append",
        metavar="CLASS",
        help="classes: one that matters most to a person's life",
    )
    parser.add_argument("--quota", type=int, metavar="K", help="ranking: candidates selected")


def use_case_of(arguments: argparse.Namespace, task: str) -> UseCase:
    """Return the use case that options describe."""
    known = {each.name for each in fields(UseCase)}
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(arguments).items()
        if name in known and value is not None
    }
    given |= {"task": task, "invariance_wanted": "invariance_reason" not in given}
    if arguments.attribute:
        given["attributes"] = tuple(arguments.attribute)
    return UseCase(**given)


def run(arguments: argparse.Namespace) -> int:
    """Print the selection."""
    from pytest_llmfair.counterfactuals.templates import read_prompts

    if arguments.file is not None:
        found = selection_of(arguments.file)
    elif arguments.task is not None:
        prompts = None if arguments.prompts is None else read_prompts(arguments.prompts)
        found = recommend(use_case_of(arguments, arguments.task), prompts)
    else:
        raise ValueError("there is no use case; give a file of checks, or --task TASK")
    if arguments.json:
        text = json.dumps(found.to_dict(), indent=1)
    else:
        text = found.to_markdown().rstrip() if arguments.markdown else found.to_text()
    sys.stdout.write(text + "\n")
    return 0


def selection_of(file: str | Path) -> Selection:
    """Return the selection for the use case of a file of checks, with its prompts.

    Raises
    ------
    ValueError
        If the file is wrong, or has no use case.
    OSError
        If the file cannot be read.
    """
    from pytest_llmfair.gate.check_file import read_checks

    checks = read_checks(file)
    if checks.use_case is None:
        raise ValueError(
            f"{file} has no use_case; add one, such as use_case: {{task: generation}}"
        )
    return recommend(checks.use_case, checks.prompts)

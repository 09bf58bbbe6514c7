"""``llmfair recommend``: metrics for a use case, with the reason for each."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.validation import read_utf8
from pytest_llmfair.counterfactuals.templates.template import read_prompts
from pytest_llmfair.gate.check_file import NAMES_A_SUITE, SUFFIXES, read_checks
from pytest_llmfair.gate.selection import UseCase, recommend, use_case_schema


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments: a file of checks, or the use case by options."""
    parser.add_argument("file", nargs="?", type=Path, help="a file of checks with a use_case")
    add_use_case(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_use_case(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a use case: the keys of a file of checks, and two more."""
    parser.add_argument("--attribute", action="append", metavar="NAME", help="such as gender")
    parser.add_argument("--prompts", type=Path, metavar="FILE", help="prompts of the use case")
    for name, about in use_case_schema().items():
        flag, kind = "--" + name.replace("_", "-"), about.get("type")
        text = about["description"].removeprefix("true if ").removesuffix(", else false")
        if kind == "boolean":
            given: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
        else:
            given = {"type": int if kind == "integer" else str, "metavar": name.upper()}
        if kind == "array":
            given |= {"action": "append", "metavar": "CLASS"}
        parser.add_argument(flag, help=text, **given)


def use_case_of(arguments: argparse.Namespace, task: str) -> UseCase:
    """Return the use case that options describe."""
    given = {name: getattr(arguments, name) for name in use_case_schema()}
    given["attributes"] = arguments.attribute
    if arguments.invariance_reason is not None:
        given["invariance_wanted"] = False
    given = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
        if value is not None
    }
    return UseCase(**{**given, "task": task})


def run(arguments: argparse.Namespace) -> int:
    """Print the selection."""
    if arguments.file is not None:
        found = read_checks(arguments.file).selection()
    elif arguments.task is not None:
        prompts = None if arguments.prompts is None else read_prompts(arguments.prompts)
        found = recommend(use_case_of(arguments, arguments.task), prompts)
    else:
        raise ValueError("there is no use case; give a file of checks, or --task TASK")
    text = json.dumps(found.to_dict(), indent=1) if arguments.json else found.to_text()
    say(text + "\n")
    return 0


def selections(files: Iterable[str], root: Path) -> list[dict[str, Any]]:
    """Return the metric selections of those files that hold checks and a use case."""
    found = {
        file: read_checks(root / file)
        for file in sorted(files)
        if file.endswith(SUFFIXES) and not NAMES_A_SUITE.search(read_utf8(root / file))
    }
    return [
        {**each.selection().to_dict(), "file": file, "not_run": dict(each.not_run)}
        for file, each in found.items()
        if each.use_case is not None
    ]

"""GitHub Actions: the summary of a step, and annotations at the lines of tests."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_llmfair._util.printing import printable
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.judging.message import headline
from pytest_llmfair.reports.columns import accepted
from pytest_llmfair.reports.markdown import markdown

# GitHub shows at most so many annotations of a level per step.
_MOST = 10
_UNDECIDED = ("INCONCLUSIVE", "UNDERPOWERED")


def append_summary(document: Mapping[str, Any], path: Path) -> None:
    """Append the results to the summary of the step, if something was judged or measured."""
    if document["results"] or document.get("suites"):
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(markdown(document))


def annotation_lines(document: Mapping[str, Any], environment: Mapping[str, str]) -> list[str]:
    """Return the commands that put verdicts at the lines of their tests.

    Red verdicts are errors, undecided ones warnings, at most 10 of each; expected and waived ones
    are not annotated.

    Parameters
    ----------
    document : mapping
        The record of a run.
    environment : mapping
        ``GITHUB_WORKSPACE`` is the folder of the repository, to which paths are relative.
    """
    found: dict[str, list[str]] = {"error": [], "warning": []}
    root = (document.get("context") or {}).get("root", "")
    for record in document["results"]:
        level = _level(record)
        if level:
            place = _place(record, root, environment.get("GITHUB_WORKSPACE", ""))
            title = _property(f"{record['verdict']} {record['metric']}")
            text = _data(headline(record).replace("\xa0", " "))
            found[level].append(f"::{level} {place},title={title}::{text}")
    shown = [line for lines in found.values() for line in lines[:_MOST]]
    more = sum(max(0, len(lines) - _MOST) for lines in found.values())
    return [*shown, f"::notice::{more} more in the summary of this step"] if more else shown


def _level(record: Record) -> str:
    if accepted(record):
        return ""
    if record["red"]:
        return "error"
    return "warning" if record["verdict"] in _UNDECIDED else ""


def _place(record: Record, root: str, workspace: str) -> str:
    path = PurePosixPath(record["file"])
    if root and workspace:
        whole = Path(root, record["file"])
        path = PurePosixPath(Path(os.path.relpath(whole, workspace)).as_posix())
    return f"file={_property(str(path))},line={record['line']}"


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

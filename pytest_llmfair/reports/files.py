"""Write reports to files, and to the summary and annotations of GitHub Actions."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_llmfair._util.printing import printable, say
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.judging.message import headline
from pytest_llmfair.reports.columns import accepted
from pytest_llmfair.reports.html import html_page
from pytest_llmfair.reports.markdown import markdown
from pytest_llmfair.reports.record import json_text, read_run
from pytest_llmfair.settings import Settings, in_github_actions


def write_reports(document: Mapping[str, Any], settings: Settings) -> list[str]:
    """Write the reports that the settings ask for; return one message per failed report."""
    errors = []

    def as_json() -> str:
        return json_text(document, texts=settings.save_text, context=settings.keeps_context)

    writers: tuple[tuple[str, str | bool | None, Callable[[Path], None]], ...] = (
        ("results are", settings.json, lambda at: write_text(at, as_json())),
        ("page is", settings.html, lambda at: write_text(at, html_page(document))),
        ("Markdown is", settings.markdown, lambda at: write_text(at, markdown(document))),
        (
            "summary for GitHub is",
            in_github_actions() and os.environ.get("GITHUB_STEP_SUMMARY"),
            lambda at: append_summary(document, at),
        ),
    )
    for what, path, write in writers:
        if not path:
            continue
        try:
            write(Path(str(path)))
        except OSError as error:
            errors.append(f"the {what} not written: {error}")
    return errors


def write_text(target: Path, text: str) -> None:
    """Write a file atomically."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        # Reports escape lone surrogates; one that was missed must not lose the whole report.
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        # Temporary files are private; give the report the usual permissions.
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("run", help="the file that pytest --llmfair-json wrote")
    add_outputs(parser)


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the files to write."""
    for name, what in (("html", "page"), ("markdown", "Markdown")):
        about = f"write the {what} to this file"
        parser.add_argument(f"--{name}", type=Path, metavar="PATH", help=about)


def run(arguments: argparse.Namespace) -> int:
    """Write the reports asked for; without any, print the Markdown."""
    document = read_run(arguments.run)
    say(written(arguments, lambda: html_page(document), markdown(document)))
    return 0


def written(arguments: argparse.Namespace, page: Callable[[], str], text: str) -> str:
    """Write page and Markdown to the files that are given; return the Markdown without any."""
    if arguments.html:
        write_text(arguments.html, page())
    if arguments.markdown:
        write_text(arguments.markdown, text)
    return "" if arguments.html or arguments.markdown else text


# GitHub shows at most so many annotations of a level per step.
_MOST = 10
_UNDECIDED = ("INCONCLUSIVE", "UNDERPOWERED")


def append_summary(document: Mapping[str, Any], path: Path) -> None:
    """Append the results to the summary of the step, if something was judged or measured."""
    if document["results"] or document.get("suites"):
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(markdown(document))


def annotation_lines(
    document: Mapping[str, Any], environment: Mapping[str, str], root: Path
) -> list[str]:
    """Return the commands that annotate the lines of tests with red and undecided verdicts."""
    found: dict[str, list[str]] = {"error": [], "warning": []}
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


def _place(record: Record, root: Path, workspace: str) -> str:
    path = PurePosixPath(record["file"])
    if workspace:
        whole = root / record["file"]
        path = PurePosixPath(Path(os.path.relpath(whole, workspace)).as_posix())
    return f"file={_property(str(path))},line={record['line']}"


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

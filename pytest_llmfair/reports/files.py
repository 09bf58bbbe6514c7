"""Write reports to files, for a session and for ``llmfair report``.

A file is replaced only when its new version is complete.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.printing import say
from pytest_llmfair.reports.github import append_summary
from pytest_llmfair.reports.html import html_page
from pytest_llmfair.reports.markdown import markdown
from pytest_llmfair.reports.record import json_text, read_run
from pytest_llmfair.settings import in_github_actions

if TYPE_CHECKING:
    from pytest_llmfair.settings import Settings


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
    parser.add_argument("--html", type=Path, metavar="PATH", help="write the page to this file")
    parser.add_argument(
        "--markdown", type=Path, metavar="PATH", help="write the Markdown to this file"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the reports asked for; without any, print the Markdown."""
    document = read_run(arguments.run)
    if arguments.html:
        write_text(arguments.html, html_page(document))
    if arguments.markdown:
        write_text(arguments.markdown, markdown(document))
    if not arguments.html and not arguments.markdown:
        say(markdown(document))
    return 0

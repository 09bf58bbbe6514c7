"""``llmfair report``: the page and the Markdown of a run that was recorded earlier."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_llmfair._util.printing import say
from pytest_llmfair.reports.files import write_text
from pytest_llmfair.reports.html import html_page
from pytest_llmfair.reports.markdown import markdown
from pytest_llmfair.reports.record import read_run


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

"""The documentation site: ``python -m sphinx -W --keep-going docs build/site``.

Pages are the Markdown files of this folder, which also read well without the site. The pages on
metrics are written by metric_pages.py when the site is built.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

from api_pages import api_pages  # noqa: E402
from make import recorded  # noqa: E402
from metric_pages import metric_pages, write  # noqa: E402

import pytest_llmfair  # noqa: E402
from pytest_llmfair.cli import main  # noqa: E402
from pytest_llmfair.metrics import all_metrics  # noqa: E402
from pytest_llmfair.reports.html import html_page  # noqa: E402

METRIC = re.compile(f"`({'|'.join(all_metrics())})`")
LIVE = '<a href="_static/report.html">The whole page of these tests</a>, as the plugin writes it.'
REPOSITORY = "https://github.com/pytest-llmfair/pytest-llmfair"

project = "pytest-llmfair"
project_copyright = "the pytest-llmfair authors"
version = release = pytest_llmfair.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["ci/*"]
suppress_warnings = ["config.cache"]

# Links to headings, as GitHub makes them.
myst_heading_anchors = 3
# Options are written as they are typed: quotes stay straight, and two hyphens stay two.
smartquotes = False
myst_enable_extensions = ["colon_fence"]
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
add_module_names = False
python_maximum_signature_line_length = 80

html_theme = "furo"
html_title = "pytest-llmfair"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def _commands() -> str:
    """Return the help of every command."""
    os.environ["COLUMNS"] = "80"
    names = re.search(r"\{(.*?)\}", _help())
    assert names is not None
    return "\n".join(
        f"## llmfair {name}\n\n```text\n{_help(name)}```\n" for name in names[1].split(",")
    )


def _help(*command: str) -> str:
    said = StringIO()
    with redirect_stdout(said), suppress(SystemExit):
        main([*command, "--help"])
    return said.getvalue()


def _for_the_site(app: Sphinx, page: str, text: list[str]) -> None:
    """Put help and live pages in their places, and make links fit for the site.

    A link to a page shows the title of the page instead of its file, and a link to a file
    outside of this folder leads to GitHub.
    """
    if page == "commands":
        text[0] = text[0].replace("<!-- commands -->", _commands())
    if page == "choosing":
        rows = r"^\|.*"
        text[0] = re.sub(
            rows, lambda row: METRIC.sub(r"[\g<0>](metrics/\1.rst)", row[0]), text[0], flags=re.M
        )
    if page == "gallery":
        text[0] = text[0].replace("<!-- pages -->", LIVE)
    text[0] = re.sub(r"\[(?:docs/)?(\w+\.md)\]\(\1", r"[](\1", text[0])
    outside = r"\]\((?:\.\./)?((?:examples|benchmarks|\.github)/[^)]*)\)"
    text[0] = re.sub(outside, rf"]({REPOSITORY}/blob/main/\1)", text[0])


def _readable(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object
) -> None:
    """Make a page fit for narrow screens, keyboards and screen readers.

    A browser may break a long name after its marks and nowhere else. What scrolls can be reached
    with the tabulator key. The captions of the navigation say which level of heading they are.
    """
    for side in ("prev", "next"):
        if context.get(side):
            title = context[side]["title"].replace("_", "_<wbr>")
            context[side] = {**context[side], "title": title}
    body = context.get("body", "")
    body = re.sub(r"(?<=<pre)(?=>)|(?<=<div)(?= class=\"table-wrapper)", ' tabindex="0"', body)
    context["body"] = re.sub(
        r'(?:(?<=<span class="pre">)|(?<=<h1>))[^<]+',
        lambda name: re.sub(r"([_.(|=/:])(?=\w)", r"\1<wbr>", name[0]),
        body,
    )
    if navigation := context.get("furo_navigation_tree"):
        context["furo_navigation_tree"] = navigation.replace(
            'role="heading"', 'role="heading" aria-level="2"'
        )


def _write_pages(app: Sphinx) -> None:
    write(DOCS / "metrics", metric_pages())
    write(DOCS / "api", api_pages())


def _write_report(app: Sphinx, error: Exception | None) -> None:
    """Write the page of the recorded run that gallery.md links to."""
    if error is None:
        page = html_page(recorded()[0])
        (Path(app.outdir) / "_static" / "report.html").write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect what this project adds to Sphinx."""
    app.connect("builder-inited", _write_pages)
    app.connect("source-read", _for_the_site)
    app.connect("build-finished", _write_report)
    app.connect("html-page-context", _readable, priority=900)

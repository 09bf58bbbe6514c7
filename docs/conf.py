"""The documentation site: ``python -m sphinx -W --keep-going docs build/site``.

Pages are the Markdown files of this folder, which also read well without the site. The pages on
metrics are written by metric_pages.py when the site is built.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

from metric_pages import write  # noqa: E402

import pytest_llmfair  # noqa: E402

REPOSITORY = "https://github.com/pytest-llmfair/pytest-llmfair"

project = "pytest-llmfair"
project_copyright = "the pytest-llmfair authors"
version = release = pytest_llmfair.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["ci/*"]
suppress_warnings = ["config.cache"]

# Links to headings, as GitHub makes them.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
autodoc_typehints = "none"
napoleon_google_docstring = False
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
pygments_style = "friendly"
pygments_dark_style = "monokai"


def _for_the_site(app: Sphinx, page: str, text: list[str]) -> None:
    """Put the README in its place, and lead links to files outside of this folder to GitHub."""
    if page == "overview":
        readme = (DOCS.parent / "README.md").read_text("utf-8").partition("\n")[2]
        text[0] = text[0].replace("<!-- README.md -->", re.sub(r"\]\(docs/", "](", readme))
    outside = r"\]\((?:\.\./)?((?:examples|benchmarks|\.github)/[^)]*)\)"
    text[0] = re.sub(outside, rf"]({REPOSITORY}/blob/main/\1)", text[0])


def setup(app: Sphinx) -> None:
    """Connect what this project adds to Sphinx."""
    app.connect("builder-inited", lambda app: write(DOCS / "metrics"))
    app.connect("source-read", _for_the_site)

"""The code in the documentation runs, and prints what the page says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
# A page whose code is a session with its output.
SESSIONS = sorted(page.name for page in DOCS.glob("*.md") if ">>> " in page.read_text("utf-8"))


@pytest.mark.parametrize("page", SESSIONS)
def test_the_session_of_a_page_runs_as_printed(page: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.M | re.S)
    code = "\n".join(blocks)
    test = doctest.DocTestParser().get_doctest(code, {}, page, str(DOCS / page), 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append)
    assert runner.summarize(verbose=False).attempted > 0
    assert not said, "".join(said)


def test_the_page_on_notebooks_is_run_and_short() -> None:
    assert "notebook.md" in SESSIONS
    assert len((DOCS / "notebook.md").read_text("utf-8").splitlines()) <= 120

"""One real run with all verdicts, in a process of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.processes import session_in

SHOWCASE = Path(__file__).parent / "showcase.py"


@pytest.fixture(scope="session")
def showcase(tmp_path_factory):
    """Return the folder with the reports of a run with all verdicts: texts shown, and hidden."""
    folder = tmp_path_factory.mktemp("showcase")
    shutil.copy(SHOWCASE, folder / "test_showcase.py")
    reports = ("--llmfair-json=run.json", "--llmfair-html=page.html", "--llmfair-markdown=run.md")
    done = session_in(folder, "--llmfair-save-text", *reports, "test_showcase.py")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    return folder


@pytest.fixture
def document(showcase):
    """Return the record of that run, which a test may change."""
    return json.loads((showcase / "run.json").read_text("utf-8"))

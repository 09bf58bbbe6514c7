"""One real run with all verdicts, in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SHOWCASE = Path(__file__).parent / "showcase.py"


@pytest.fixture(scope="session")
def showcase(tmp_path_factory):
    """Return the folder with the reports of a run with all verdicts: texts shown, and hidden."""
    folder = tmp_path_factory.mktemp("showcase")
    shutil.copy(SHOWCASE, folder / "test_showcase.py")
    away = ("CI", "GITHUB_ACTIONS", "PYTEST_ADDOPTS")
    environment = {name: text for name, text in os.environ.items() if name not in away}
    # To load all other plugins takes as long as the run.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-p", "llmfair", "-p", "no:cacheprovider"]
    options = ["--llmfair-save-text", "--llmfair-json=run.json", "--llmfair-html=page.html"]
    done = subprocess.run(
        [*command, *options, "--llmfair-markdown=run.md", "test_showcase.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    return folder


@pytest.fixture
def document(showcase):
    """Return the record of that run, which a test may change."""
    return json.loads((showcase / "run.json").read_text("utf-8"))

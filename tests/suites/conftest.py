"""The command of suites, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Return a function that runs the command in a folder with a test of its own."""
    for variable in ("CI", "COLUMNS", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "test_other.py").write_text("def test_other():\n    assert False\n")

    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "pytest_llmfair.cli", "run", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    return command

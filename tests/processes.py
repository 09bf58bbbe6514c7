"""Python in a process of its own, as users start it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# What changes reports, or the options of every session.
AWAY = ("CI", "COLUMNS", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "PYTEST_ADDOPTS")


def python(
    *arguments: str, folder: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, and return what it printed.

    Pytest loads no plugin but those that are named: to load all takes longer than most sessions.
    """
    kept = {name: text for name, text in os.environ.items() if name not in AWAY}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def session_in(
    folder: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run pytest with this plugin alone."""
    plugins = ("-p", "llmfair", "-p", "no:cacheprovider")
    return python("-m", "pytest", *plugins, *arguments, folder=folder, **variables)

"""Examples run in a process of their own, as a newcomer runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs an example without other plugins, which saves a second."""

    def start(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        plugins = ("-p", "llmfair", "-p", "no:cacheprovider")
        return subprocess.run(
            [sys.executable, "-m", "pytest", f"examples/{name}", *plugins, *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    return start

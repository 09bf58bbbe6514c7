"""Examples run in a process of their own, as a newcomer runs them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import session_in

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs an example without other plugins, which saves a second."""

    return lambda name, *arguments: session_in(ROOT, f"examples/{name}", *arguments)

"""The command of suites, in a process of its own."""

from __future__ import annotations

import functools

import pytest


@pytest.fixture
def command(tmp_path, llmfair):
    """Return a function that runs the command in a folder with a test of its own."""
    (tmp_path / "test_other.py").write_text("def test_other():\n    assert False\n")
    return functools.partial(llmfair, "run")

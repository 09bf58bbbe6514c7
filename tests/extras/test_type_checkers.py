"""Users' type checkers know the assertions that are made at run time."""

from __future__ import annotations

from pathlib import Path

import pytest_llmfair
from tests.processes import python

SNIPPET = """
from pytest_llmfair import Result, assert_rabbi_within, assert_toxic_fraction_within, assert_metric

result: Result = assert_rabbi_within([1], groups=["a"], reference="a", bound=0.3, unit="ranking")
assert_toxic_fraction_within(["prompt"], 0.05, client=len, generations=3)
assert_metric("rabbi", [1], groups=["a"], reference="a", bound=0.3)
assert_rabbi_within([1], bound=0.3, genrations=2)
"""


def test_type_checkers_accept_right_calls_and_name_a_misspelt_keyword(tmp_path):
    (tmp_path / "snippet.py").write_text(SNIPPET)
    (tmp_path / "pytest_llmfair").symlink_to(Path(pytest_llmfair.__file__).parent)
    # Without numpy's stubs, which take most of the time; the stub that lacks them is not at fault.
    options = ["--strict", "--no-site-packages", "--follow-imports=silent", "--no-error-summary"]
    done = python("-m", "mypy", *options, "snippet.py", folder=tmp_path)
    errors = [
        line
        for line in done.stdout.splitlines()
        if line.startswith("snippet.py") and "error" in line
    ]
    wrong = 'Unexpected keyword argument "genrations" for "assert_rabbi_within"'
    assert len(errors) == 1, done.stdout + done.stderr
    assert errors[0].startswith(f"snippet.py:7: error: {wrong}")

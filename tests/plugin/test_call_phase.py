"""`fairness.check` reports everything and raises inside the call phase."""

from __future__ import annotations

import pytest

RED = "fairness.check('toxic_fraction', [[0.9]] * 100, bound=0.1)"
GREEN = "fairness.check('toxic_fraction', [[0.1]] * 100, bound=0.1)"
HEAD = """
import unittest
import pytest
from pytest_llmfair import BoundExceeded, Fairness
"""


def test_all_checks_report_before_the_test_fails(run, pytester):
    pytester.makepyfile(
        test_it=f"def test_it(fairness):\n {RED}\n assert {GREEN}.verdict == 'PASS'\n {RED}"
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["3 fairness assertions: 1 PASS, 2 FAIL; 0 undecided"])
    messages = [line for line in result.outlines if line.startswith("E ") and "FAIL tox" in line]
    assert len(messages) == 2


def test_error_points_to_the_line_of_the_check(run, pytester):
    pytester.makepyfile(test_it=f"def test_it(fairness):\n {GREEN}\n {RED}\n later = 1")
    output = run().stdout
    output.fnmatch_lines([f"> *{RED.replace('[', '[[]')}", "E * FAIL *", "test_it.py:3: BoundEx*"])
    output.no_fnmatch_line("*All traceback entries are hidden*")


@pytest.mark.parametrize(
    ("code", "outcomes"),
    [
        (f"def test_it(fairness): {GREEN}", {"passed": 1}),
        (
            f"@pytest.mark.xfail(raises=BoundExceeded, strict=True)\ndef test_it(fairness): {RED}",
            {"xfailed": 1},
        ),
        (f"def test_it(fairness):\n {RED}\n pytest.skip('no')", {"failed": 1}),
        (
            f"@pytest.mark.xfail(raises=BoundExceeded)\n"
            f"def test_it(fairness):\n {RED}\n raise KeyError('mine')",
            {"failed": 1},
        ),
        (
            f"@pytest.fixture\ndef checked(fairness): {RED}\n"
            "def test_it(checked): pass\ndef test_other(): pass",
            {"failed": 1, "passed": 1},
        ),
        (
            f"@pytest.fixture\ndef checked(fairness):\n yield\n {RED}\ndef test_it(checked): pass",
            {"passed": 1, "errors": 1},
        ),
        (
            "@pytest.fixture\n"
            "def fairness(): return Fairness(client=lambda: None, scorers=dict)\n"
            f"def test_it(fairness): {RED}",
            {"failed": 1},
        ),
        (
            f"def test_it(request):\n fairness = request.getfixturevalue('fairness')\n {RED}",
            {"failed": 1},
        ),
        (
            "class TestIt(unittest.TestCase):\n"
            " @pytest.fixture(autouse=True)\n"
            " def collector(self, fairness): self.fairness = fairness\n"
            f" def test_it(self): self.{RED}",
            {"failed": 1},
        ),
    ],
    ids=[
        "passes",
        "xfail applies",
        "skip hides nothing",
        "another error is shown",
        "in a fixture",
        "after the test",
        "own collector",
        "requested late",
        "unittest",
    ],
)
def test_a_red_check_counts_wherever_it_is(code, outcomes, run, pytester):
    pytester.makepyfile(HEAD + code)
    result = run()
    result.assert_outcomes(**outcomes)
    if "KeyError" in code:
        result.stdout.fnmatch_lines(["E*KeyError: 'mine'"])

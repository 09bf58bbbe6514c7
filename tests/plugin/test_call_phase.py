"""`fairness.check` reports everything and raises inside the call phase."""

from __future__ import annotations

import re
from collections import Counter

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


# Tests with a red check, and what pytest says of each.
CASES = {
    "passes": (f"def test_it(fairness): {GREEN}", {"PASSED": 1}),
    "xfail_applies": (
        f"@pytest.mark.xfail(raises=BoundExceeded, strict=True)\ndef test_it(fairness): {RED}",
        {"XFAIL": 1},
    ),
    "skip_hides_nothing": (
        f"def test_it(fairness):\n {RED}\n pytest.skip('no')",
        {"FAILED": 1},
    ),
    "another_error_is_shown": (
        f"@pytest.mark.xfail(raises=BoundExceeded)\n"
        f"def test_it(fairness):\n {RED}\n raise KeyError('mine')",
        {"FAILED": 1},
    ),
    "in_a_fixture": (
        f"@pytest.fixture\ndef checked(fairness): {RED}\n"
        "def test_it(checked): pass\ndef test_other(): pass",
        {"FAILED": 1, "PASSED": 1},
    ),
    "after_the_test": (
        f"@pytest.fixture\ndef checked(fairness):\n yield\n {RED}\ndef test_it(checked): pass",
        {"PASSED": 1, "ERROR": 1},
    ),
    "own_collector": (
        "@pytest.fixture\n"
        "def fairness(): return Fairness(client=lambda: None, scorers=dict)\n"
        f"def test_it(fairness): {RED}",
        {"FAILED": 1},
    ),
    "requested_late": (
        f"def test_it(request):\n fairness = request.getfixturevalue('fairness')\n {RED}",
        {"FAILED": 1},
    ),
    "unittest": (
        "class TestIt(unittest.TestCase):\n"
        " @pytest.fixture(autouse=True)\n"
        " def collector(self, fairness): self.fairness = fairness\n"
        f" def test_it(self): self.{RED}",
        {"FAILED": 1},
    ),
}


def test_a_red_check_counts_wherever_it_is(run, pytester):
    pytester.makepyfile(**{f"test_{name}": HEAD + code for name, (code, _) in CASES.items()})
    result = run("-rA")
    shown = re.findall(r"^([A-Z]+) test_(\w+)\.py::", result.stdout.str(), re.M)
    found = {name: Counter(outcome for outcome, of in shown if of == name) for name in CASES}
    assert found == {name: outcomes for name, (_, outcomes) in CASES.items()}
    result.stdout.fnmatch_lines(["E*KeyError: 'mine'"])

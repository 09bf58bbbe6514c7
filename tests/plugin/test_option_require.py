"""`--llmfair-require`: a session that judged too little is an error."""

from __future__ import annotations

import pytest

ONE = """
from pytest_llmfair import assert_toxic_fraction_within

def test_it():
    assert_toxic_fraction_within([[0.1]] * 100, bound=0.1)
"""


def test_too_few_assertions_fail_a_green_session(run, pytester):
    pytester.makepyfile(ONE)
    result = run("--llmfair-require=2")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["ERROR: 1 fairness assertion was judged, --llmfair-require asks for 2"]
    )


def test_enough_assertions_are_no_error(run, pytester):
    pytester.makepyfile(ONE)
    result = run("--llmfair-require=1")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("ERROR*")


def test_a_session_without_tests_judged_nothing(run):
    result = run("--llmfair-require=1")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: 0 fairness assertions were judged*asks for 1"])


def test_error_shows_even_when_quiet(run):
    run("--llmfair-require=1", "-qq").stdout.fnmatch_lines(["ERROR: 0 fairness assertions*"])


@pytest.mark.parametrize(
    ("body", "status"),
    [("this is no python", pytest.ExitCode.INTERRUPTED), ("def test_it(): 1/0", 1)],
)
def test_exit_status_is_never_lowered(body, status, run, pytester):
    pytester.makepyfile(body)
    assert run("--llmfair-require=1").ret == status


def test_collecting_only_requires_nothing(run, pytester):
    pytester.makepyfile("def test_it(): pass")
    assert run("--llmfair-require=1", "--collect-only").ret == pytest.ExitCode.OK

"""`--llmfair-require`: a session that judged too little is an error."""

from __future__ import annotations

import pytest

ONE = """
from pytest_llmfair import assert_toxic_fraction_within

def test_it():
    assert_toxic_fraction_within([[0.1]] * 100, bound=0.1)
"""


@pytest.mark.parametrize(
    ("body", "arguments", "error"),
    [
        (ONE, ["--llmfair-require=1"], None),
        (
            ONE,
            ["--llmfair-require=2"],
            "ERROR: 1 fairness assertion was judged, --llmfair-require asks for 2",
        ),
        (
            "",
            ["--llmfair-require=1", "-qq"],
            "ERROR: 0 fairness assertions were judged, --llmfair-require asks for 1",
        ),
    ],
    ids=["enough", "too few", "none and quiet"],
)
def test_a_session_that_judged_too_little_fails(body, arguments, error, run, pytester):
    pytester.makepyfile(body)
    result = run(*arguments)
    assert result.ret == (pytest.ExitCode.TESTS_FAILED if error else pytest.ExitCode.OK)
    assert [line for line in result.outlines if line.startswith("ERROR")] == [error] * bool(error)


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


def test_a_comparison_with_the_baseline_is_no_further_assertion(run, pytester):
    pytester.makepyfile(ONE)
    baseline = ("--llmfair-baseline=base.json", "--llmfair-margin=0.5")
    run(*baseline, "--llmfair-update-baseline")
    result = run(*baseline, "--llmfair-require=2")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: 1 fairness assertion was judged*"])

"""Modes and policies: what a verdict does to a test."""

from __future__ import annotations

import pytest

UNDECIDED = """
from pytest_llmfair import assert_toxic_fraction_within

def test_it():
    assert_toxic_fraction_within([[0.9]] * 22 + [[0.1]] * 178, bound=0.1)
"""
UNDERPOWERED = """
from pytest_llmfair import assert_toxic_fraction_within

def test_it():
    assert_toxic_fraction_within([[0.1]] * 4, bound=0.1)
"""
COLLECTED = """
def test_it(fairness):
    fairness.check("toxic_fraction", [[0.9]] * 22 + [[0.1]] * 178, bound=0.1)
"""


# What a verdict becomes, and the policy of the other kind of verdict in the same session.
POLICIES = {
    "warn": ("passed", "skip"),
    "skip": ("skipped", "xfail"),
    "xfail": ("xfailed", "fail"),
    "fail": ("failed", "warn"),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_an_undecided_verdict_follows_its_policy(run, pytester, policy):
    pytester.makepyfile(test_1=UNDECIDED, test_2=COLLECTED, test_3=UNDERPOWERED)
    outcome, other = POLICIES[policy]
    options = (f"--llmfair-inconclusive={policy}", f"--llmfair-underpowered={other}")
    result = run(*options, "-W", "error")
    result.assert_outcomes(**{outcome: 2, POLICIES[other][0]: 1})
    result.stdout.fnmatch_lines(["3 fairness assertions: 2 INCONCLUSIVE, 1 UNDERPOWERED; 3 und*"])


@pytest.mark.parametrize(
    ("body", "options", "shown"),
    [
        (UNDERPOWERED, (), "E       UNDERPOWERED toxic_fraction: *"),
        (UNDECIDED, ("--llmfair-mode=strict",), "E       INCONCLUSIVE toxic_fraction: 0.11 *"),
        (UNDECIDED, ("--llmfair-mode=strict", "--llmfair-inconclusive=skip"), "*mode strict *"),
        (
            UNDECIDED,
            ("--llmfair-mode=point",),
            "E*  mode point judges the value 0.11 itself, which is beyond",
        ),
    ],
    ids=["underpowered by default", "strict", "strict before a policy", "point"],
)
def test_a_mode_decides_what_is_red(run, pytester, body, options, shown):
    pytester.makepyfile(body)
    result = run(*options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([shown])


def test_level_widens_the_interval(run, pytester):
    pytester.makepyfile(UNDECIDED.replace("22", "31").replace("178", "169"))
    run("--llmfair-level=0.9").assert_outcomes(failed=1)
    run("--llmfair-level=0.999").assert_outcomes(passed=1)


def test_xfail_hides_its_own_kind_only(run, pytester):
    pytester.makepyfile(
        """
        import pytest
        from pytest_llmfair import *
        from pytest_llmfair import assert_toxic_fraction_within

        KINDS = [BoundExceeded, InvalidEvidence, Underpowered]
        DATA = [[[0.9]] * 100, Responses(("a",), ((Missing("error"),),)), [[0.1]] * 4]

        @pytest.mark.parametrize("own", range(3))
        @pytest.mark.parametrize("hidden", range(3))
        def test_it(hidden, own, request):
            request.applymarker(pytest.mark.xfail(raises=KINDS[hidden], strict=True))
            assert_toxic_fraction_within(DATA[own], bound=0.1)
        """
    )
    result = run("-rx")
    result.assert_outcomes(xfailed=3, failed=6)
    result.stdout.fnmatch_lines_random([f"XFAIL *test_it[[]{n}-{n}[]]*" for n in range(3)])


@pytest.mark.parametrize("option", [("-p", "no:assertion"), ("--assert=plain",)])
def test_a_failing_gate_fails_without_assertion_rewriting(option, run, pytester, verdicts):
    pytester.makepyfile(verdicts)
    run(*option).assert_outcomes(passed=2, failed=1)


SUMMARY = "FAILED test_it.py::test_fails - FAIL toxic_fraction: 0.50 [[]0.43, 0.57], allowed 0.10"


def test_traceback_ends_at_the_line_of_the_test(run, pytester, verdicts, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    pytester.makepyfile(test_it=verdicts)
    output = run().stdout
    output.fnmatch_lines(
        [
            ">       assert_toxic_fraction_within(rows(100), bound=0.1)",
            "E       FAIL toxic_fraction: 0.50 [[]0.43, 0.57], allowed 0.10",
            "test_it.py:10: BoundExceeded",
            SUMMARY,
        ]
    )
    output.no_fnmatch_line("*judging?*.py:*")


@pytest.mark.parametrize("tb", ["no", "line", "short", "native"])
def test_short_summary_begins_with_the_verdict(tb, run, pytester, verdicts, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    pytester.makepyfile(test_it=verdicts)
    run(f"--tb={tb}").stdout.fnmatch_lines([SUMMARY])

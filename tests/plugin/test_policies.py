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


POLICIES = [("warn", "passed"), ("skip", "skipped"), ("xfail", "xfailed"), ("fail", "failed")]


@pytest.mark.parametrize(
    ("verdict", "body"),
    [("INCONCLUSIVE", UNDECIDED), ("INCONCLUSIVE", COLLECTED), ("UNDERPOWERED", UNDERPOWERED)],
    ids=["inconclusive", "collector", "underpowered"],
)
@pytest.mark.parametrize(("policy", "outcome"), POLICIES)
def test_an_undecided_verdict_follows_its_policy(run, pytester, verdict, body, policy, outcome):
    pytester.makepyfile(body)
    result = run(f"--llmfair-{verdict.lower()}={policy}", "-W", "error")
    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines([f"1 fairness assertion: 1 {verdict}; 1 undecided"])


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


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("BoundExceeded", "[[0.9]] * 100"),
        ("InvalidEvidence", "Responses(('a',), ((Missing('error'),),))"),
        ("Underpowered", "[[0.1]] * 4"),
    ],
)
def test_xfail_hides_its_own_kind_only(kind, data, run, pytester):
    pytester.makepyfile(
        f"""
        import pytest
        from pytest_llmfair import *
        from pytest_llmfair import assert_toxic_fraction_within

        @pytest.mark.parametrize("kind", [BoundExceeded, InvalidEvidence, Underpowered])
        def test_it(kind, request):
            request.applymarker(pytest.mark.xfail(raises=kind, strict=True))
            assert_toxic_fraction_within({data}, bound=0.1)
        """
    )
    result = run("-rx")
    result.assert_outcomes(xfailed=1, failed=2)
    result.stdout.fnmatch_lines([f"XFAIL *test_it[[]{kind}[]]*"])


@pytest.mark.parametrize("option", [(), ("-p", "no:assertion"), ("--assert=plain",)])
def test_a_failing_gate_fails_without_assertion_rewriting(option, run, pytester, verdicts):
    pytester.makepyfile(verdicts)
    run(*option).assert_outcomes(passed=2, failed=1)


def test_traceback_ends_at_the_line_of_the_test(run, pytester, verdicts):
    pytester.makepyfile(test_it=verdicts)
    output = run().stdout
    output.fnmatch_lines(
        [
            ">       assert_toxic_fraction_within(rows(100), bound=0.1)",
            "E       FAIL toxic_fraction: 0.50 [[]0.43, 0.57], allowed 0.10",
            "test_it.py:10: BoundExceeded",
        ]
    )
    output.no_fnmatch_line("*judging?*.py:*")


@pytest.mark.parametrize("tb", ["auto", "no", "line", "short", "native"])
def test_short_summary_begins_with_the_verdict(tb, run, pytester, verdicts, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    pytester.makepyfile(test_it=verdicts)
    run(f"--tb={tb}").stdout.fnmatch_lines(
        ["FAILED test_it.py::test_fails - FAIL toxic_fraction: 0.50 [[]0.43, 0.57], allowed 0.10"]
    )


def test_failure_names_the_command_that_repeats_it(run, pytester, verdicts):
    pytester.makepyfile(test_it=verdicts)
    run("--llmfair-seed=7", "--llmfair-mode=strict").stdout.fnmatch_lines(
        [
            'E*rerun        pytest "test_it.py::test_fails" --llmfair-mode strict*',
            "E*              --llmfair-seed 7",
        ]
    )


def test_the_command_repeats_what_made_the_test_red(run, pytester, verdicts):
    pytester.makeini("[pytest]\nllmfair_max_missing = 0.2\n")
    pytester.makepyfile(test_it=verdicts)
    run("--llmfair-inconclusive=fail", "--llmfair-max-tokens=9").stdout.fnmatch_lines(
        [
            'E*rerun *"test_it.py::test_stays_undecided" *',
            "E*              --llmfair-inconclusive fail --llmfair-seed 0 *",
            "E*              --llmfair-max-tokens 9 -o llmfair_max_missing=0.2",
        ]
    )

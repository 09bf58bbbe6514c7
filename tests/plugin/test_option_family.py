from __future__ import annotations

import json
import re

import pytest

# Nine models exactly at their bound of .5 and one above it: in the first file barely significant
# by itself, in the second beyond doubt.
BARELY = """
import pytest
from pytest_llmfair import assert_toxic_fraction_within

@pytest.mark.parametrize("toxic", [62, *[50] * 9])
def test_model(toxic):
    assert_toxic_fraction_within([0.9] * toxic + [0.1] * (100 - toxic), bound=0.5)
"""
CLEARLY = BARELY.replace("[62,", "[80,")


def records(pytester):
    return json.loads((pytester.path / "run.json").read_text())["results"]


def skewed(pytester):
    return next(record for record in records(pytester) if "[62]" in record["nodeid"])


def test_by_default_each_assertion_decides_at_once_and_reports_hold_raw_and_adjusted(
    pytester, run
):
    pytester.makepyfile(BARELY)
    result = run("--junit-xml=report.xml")
    result.assert_outcomes(failed=1, passed=9)
    result.stdout.fnmatch_lines(["*adjusted for the number of assertions (Holm)*"])
    text = (pytester.path / "report.xml").read_text()
    assert re.search(
        r'llmfair\.p_adjusted\.[^"]*test_model\[62\][^"]*toxic_fraction" value="0.1', text
    )
    assert "FAIL toxic_fraction" in text


def test_with_holm_a_fail_that_does_not_hold_is_recorded_and_green(pytester, run):
    pytester.makepyfile(BARELY)
    result = run("--llmfair-family=holm", "--llmfair-json=run.json", "--junit-xml=report.xml")
    result.assert_outcomes(passed=10)
    assert result.ret == 0
    first = skewed(pytester)
    assert first["verdict"] == "FAIL"
    assert (
        first["p_exceeds"] < 0.025 < first["p_adjusted"] == pytest.approx(10 * first["p_exceeds"])
    )
    assert 'failures="0"' in (pytester.path / "report.xml").read_text()


def test_with_holm_a_fail_that_holds_is_named_and_sets_the_exit_status(pytester, run):
    pytester.makepyfile(CLEARLY)
    result = run("--llmfair-family=holm")
    result.assert_outcomes(passed=10)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*test_model*FAIL toxic_fraction holds after Holm*10 assertions*"]
    )


EXPECTED = """
import pytest
from pytest_llmfair import BoundExceeded, assert_toxic_fraction_within

def skewed():
    assert_toxic_fraction_within([0.9] * 80 + [0.1] * 20, bound=0.5)

@pytest.mark.xfail(raises=BoundExceeded, strict=True)
def test_expected():
    skewed()

@pytest.mark.xfail(True, reason="the skew is planted")
def test_expected_here():
    skewed()
"""


def test_with_holm_an_expected_fail_is_still_expected(pytester, run):
    pytester.makepyfile(EXPECTED)
    result = run("--llmfair-family=holm")
    result.assert_outcomes(xfailed=2)
    assert result.ret == 0


def test_with_holm_an_expectation_that_is_off_changes_nothing(pytester, run):
    pytester.makepyfile(EXPECTED.replace("True, reason", "False, reason"))
    result = run("--llmfair-family=holm")
    result.assert_outcomes(xfailed=1, passed=1)
    assert result.ret == 1
    pytester.makepyfile(EXPECTED)
    result = run("--llmfair-family=holm", "--runxfail")
    result.assert_outcomes(passed=2)
    assert result.ret == 1


def test_with_holm_the_json_says_which_fails_hold(pytester, run):
    pytester.makepyfile(BARELY.replace("[62,", "[62, 95,"))
    run("--llmfair-family=holm", "--llmfair-json=run.json")
    red = {record["nodeid"]: record["red"] for record in records(pytester)}
    assert [nodeid for nodeid in red if red[nodeid]] == [
        nodeid for nodeid in red if nodeid.endswith("[95]")
    ]
    assert sum(record["verdict"] == "FAIL" for record in records(pytester)) == 2


def test_a_named_family_shares_its_own_error_rate(pytester, run):
    pytester.makepyfile(BARELY.replace("bound=0.5", "bound=0.5, family=str(toxic)"))
    run("--llmfair-json=run.json")
    first = skewed(pytester)
    assert first["family_size"] == 1
    assert first["p_adjusted"] == first["p_exceeds"]


def test_strict_does_not_wait(pytester, run):
    pytester.makepyfile(BARELY)
    result = run("--llmfair-family=holm", "--llmfair-mode=strict")
    result.assert_outcomes(failed=10)

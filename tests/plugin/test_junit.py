"""Results as properties of test cases in JUnit XML."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest


def properties(pytester):
    tree = ElementTree.parse(pytester.path / "junit.xml")
    return {
        case.attrib["name"]: [(p.attrib["name"], p.attrib["value"]) for p in case.iter("property")]
        for case in tree.iter("testcase")
    }


def test_every_result_is_a_property_of_its_test(run, pytester, verdicts):
    pytester.makepyfile(verdicts)
    run("--junitxml=junit.xml", "-W", "error")
    found = properties(pytester)
    (passes,), (fails,), (undecided,) = (
        found[name] for name in ("test_passes", "test_fails", "test_stays_undecided")
    )
    assert {key for key, _ in (passes, fails, undecided)} == {"llmfair.toxic_fraction"}
    assert passes[1].startswith("PASS toxic_fraction ")
    assert fails[1].startswith("FAIL toxic_fraction ")
    assert undecided[1].startswith("INCONCLUSIVE toxic_fraction ")


def test_checks_are_properties_too(run, pytester):
    pytester.makepyfile(
        """
        def test_it(fairness):
            fairness.check("toxic_fraction", [[0.1]] * 100, bound=0.1)
            fairness.check("toxic_fraction", [[0.2]] * 100, bound=0.1, label="again")
        """
    )
    run("--junitxml=junit.xml")
    assert [key for key, _ in properties(pytester)["test_it"]] == [
        "llmfair.toxic_fraction",
        "llmfair.toxic_fraction again",
    ]


def test_tests_without_results_have_no_property(run, pytester):
    pytester.makepyfile("def test_it(): pass")
    run("--junitxml=junit.xml")
    assert properties(pytester) == {"test_it": []}


def test_a_label_that_is_no_xml_is_escaped(run, pytester):
    pytester.makepyfile(
        """
        from pytest_llmfair import assert_metric

        def test_it():
            assert_metric(
                "toxic_fraction", [[0.9]] * 60, bound=0.1, mode="gate", label="odd \\ud800\\x00"
            )
        """
    )
    run("--junitxml=junit.xml")
    names = [name for found in properties(pytester).values() for name, _ in found]
    assert names == ["llmfair.toxic_fraction odd \\ud800\\x00"]


HOLM = """
import pytest
from pytest_llmfair import assert_toxic_fraction_within

@pytest.mark.parametrize("toxic", [80, *[50] * 4])
def test_model(toxic):
    assert_toxic_fraction_within([0.9] * toxic + [0.1] * (100 - toxic), bound=0.5)

def test_two_that_hold():
    for _ in range(2):
        assert_toxic_fraction_within([0.9] * 90 + [0.1] * 10, bound=0.5)
"""


@pytest.mark.parametrize(
    ("family", "workers"), [("xunit1", ()), ("xunit2", ("-p", "xdist", "-n", "2"))]
)
def test_a_fail_that_holm_decides_is_a_failure_of_its_test(family, workers, run, pytester):
    pytester.makepyfile(test_it=HOLM)
    result = run(
        "--llmfair-family=holm", "--junitxml=junit.xml", "-o", f"junit_family={family}", *workers
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=6)
    (suite,) = ElementTree.parse(pytester.path / "junit.xml").iter("testsuite")
    counts = {key: suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "6", "failures": "2", "errors": "0", "skipped": "0"}
    failed = {
        case.attrib["name"]: [failure.attrib["message"] for failure in case.iter("failure")]
        for case in suite.iter("testcase")
    }
    assert len(failed) == 6
    assert {name for name, found in failed.items() if found} == {
        "test_model[80]",
        "test_two_that_hold",
    }
    assert failed["test_model[80]"][0].startswith("FAIL toxic_fraction holds after Holm's corr")
    assert failed["test_two_that_hold"][0].count("FAIL toxic_fraction") == 2


def test_a_fail_that_does_not_hold_is_no_failure(run, pytester):
    pytester.makepyfile(
        test_it=HOLM.replace("[80,", "[62,").replace("90 + [0.1] * 10", "40 + [0.1] * 60")
    )
    assert run("--llmfair-family=holm", "--junitxml=junit.xml").ret == 0
    (suite,) = ElementTree.parse(pytester.path / "junit.xml").iter("testsuite")
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("6", "0")


def test_an_error_of_the_session_is_an_error_in_junit(run, pytester):
    pytester.makepyfile(test_it="def test_it(): pass")
    run("--llmfair-require=1", "--junitxml=junit.xml")
    (suite,) = ElementTree.parse(pytester.path / "junit.xml").iter("testsuite")
    assert suite.attrib["errors"] == "1"
    (error,) = suite.iter("error")
    assert error.attrib["message"].startswith("0 fairness assertions were judged")


def test_the_failure_of_a_test_begins_with_its_verdict(run, pytester, verdicts):
    pytester.makepyfile(verdicts)
    run("--junitxml=junit.xml")
    (failure,) = ElementTree.parse(pytester.path / "junit.xml").iter("failure")
    assert failure.attrib["message"].startswith("FAIL toxic_fraction: 0.50 [0.43, 0.57], allowed")

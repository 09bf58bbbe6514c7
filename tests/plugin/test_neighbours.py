"""Other plugins: xdist, rerunfailures, randomly, subtests, and being switched off."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

# One test of every kind whose report takes another way through the workers of xdist.
KINDS = """
import pytest
from pytest_llmfair import BoundExceeded, assert_toxic_fraction_within

def skewed(**options):
    assert_toxic_fraction_within([[0.9]] * 100, bound=0.1, **options)

@pytest.mark.xfail(raises=BoundExceeded, strict=True)
def test_marked():
    skewed()

def test_caught():
    with pytest.raises(BoundExceeded):
        skewed()

def test_red():
    skewed()

def test_collects(fairness):
    fairness.collect(["Hello"])

def test_checks(fairness):
    fairness.collect(["Hello"] * 3)
    fairness.check("toxic_fraction", mode="point", bound=0.5, scorer=lambda t: [0.1] * len(t))

def test_ends_with_an_error(fairness):
    fairness.collect(["Hello"])
    raise KeyError("of the test itself")

@pytest.mark.xfail
def test_ends_with_an_error_that_is_expected(fairness):
    assert 1 == 2
"""


def below_the_tests(result):
    """Return the lines of the reports, without how long the session took."""
    lines = result.outlines
    start = next(i for i, line in enumerate(lines) if " fairness assertions " in line)
    return [line for line in lines[start:] if not line.startswith("=")]


def properties(path):
    cases = ElementTree.parse(path).iter("testcase")
    return {
        case.attrib["name"]: [tuple(p.attrib.values()) for p in case.iter("property")]
        for case in cases
    }


def test_workers_of_xdist_report_the_same_as_one_process(run, pytester, verdicts):
    pytester.makepyfile(test_b=verdicts, test_a=verdicts, test_c=KINDS)
    found = []
    for workers in ((), ("-p", "xdist", "-n", "2")):
        result = run(
            *("--llmfair-json=run.json", "--llmfair-json-context=no", "--junitxml=junit.xml"),
            *("-W", "error", "--llmfair-mode=strict", "--llmfair-require=9", *workers),
        )
        result.assert_outcomes(passed=5, failed=6, xfailed=2)
        written = (pytester.path / "run.json").read_bytes()
        short = sorted(line for line in result.outlines if line.startswith("FAILED"))
        reports = [line for line in below_the_tests(result) if line not in short]
        found.append([reports, short, written, properties(pytester.path / "junit.xml")])
    assert found[0] == found[1]
    assert "test_c.py::test_collects: answers were collected and never checked" in found[0][0]
    assert len(json.loads(found[0][2])["errors"]) == 2
    (name, value), *_ = found[0][3]["test_red"]
    assert (name, value[:20]) == ("llmfair.toxic_fraction", "FAIL toxic_fraction ")


def test_random_order_gives_the_same_file(run, pytester, verdicts):
    pytester.makepyfile(test_b=verdicts, test_a=verdicts)
    for seed in ("1", "2"):
        order = ("-p", "randomly", f"--randomly-seed={seed}")
        run(*order, f"--llmfair-json={seed}.json", "--llmfair-json-context=no")
    assert (pytester.path / "1.json").read_bytes() == (pytester.path / "2.json").read_bytes()


FLAKY = """
from pytest_llmfair import assert_toxic_fraction_within

toxic = iter([{first}, {second}])
works = iter([{works}, True])

def test_it():
    k = next(toxic)
    result = assert_toxic_fraction_within([[0.9]] * k + [[0.1]] * (200 - k), bound=0.1)
    assert next(works)
    assert result.verdict == "PASS"
"""


@pytest.mark.parametrize(
    ("first", "works", "verdicts"),
    [
        (100, True, [(1, "FAIL")]),
        (22, True, [(1, "INCONCLUSIVE")]),
        (2, False, [(1, "PASS"), (2, "PASS")]),
    ],
    ids=["red", "undecided", "another error"],
)
def test_no_verdict_but_pass_is_judged_again(first, works, verdicts, run, pytester):
    pytester.makepyfile(FLAKY.format(first=first, second=2, works=works))
    result = run("-p", "rerunfailures", "--reruns=1", "--llmfair-json=run.json")
    results = json.loads((pytester.path / "run.json").read_text())["results"]
    assert [(r["attempt"], r["verdict"]) for r in results] == verdicts
    if works:
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines([f"E*{verdicts[0][1]}*", "*Retry ignored: *"])
    else:
        assert result.parseoutcomes() == {"passed": 1, "rerun": 1}


SUBTESTS = """
from pytest_llmfair import assert_toxic_fraction_within

def test_it(subtests):
    for toxic in (0, 50):
        with subtests.test(toxic=toxic):
            assert_toxic_fraction_within([[0.9]] * toxic + [[0.1]] * 50, bound=0.1)
    assert_toxic_fraction_within([[0.1]] * 70, bound=0.1)
"""

if hasattr(pytest, "Subtests"):  # since pytest 9

    def test_every_result_of_subtests_counts_once(run, pytester):
        pytester.makepyfile(SUBTESTS)
        result = run("--llmfair-json=run.json")
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        results = json.loads((pytester.path / "run.json").read_text())["results"]
        assert [r["verdict"] for r in results] == ["PASS", "FAIL", "PASS"]


def test_plugin_can_be_switched_off(pytester, monkeypatch, verdicts):
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    pytester.makepyfile(verdicts)
    result = pytester.runpytest_inprocess("-p", "no:llmfair")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.no_fnmatch_line("*fairness assertions*")


def test_plugin_lives_with_strict_markers_and_strict_config(run, pytester, verdicts):
    pytester.makeini("[pytest]\naddopts = --strict-markers --strict-config\nllmfair_seed = 1\n")
    pytester.makepyfile(verdicts)
    run("-W", "error").assert_outcomes(passed=2, failed=1)


@pytest.mark.slow
def test_optimised_python_does_not_pass_a_failing_gate(pytester, monkeypatch, verdicts):
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    pytester.makepyfile(verdicts)
    pytester.runpytest_subprocess().assert_outcomes(passed=2, failed=1)

"""Tracebacks of wrong usage end at the user's line, and show nothing of ours."""

from __future__ import annotations

import re

import pytest

import pytest_llmfair.judging.pipeline

HEAD = """import pytest
from pytest_llmfair import *
"""


def lines_of(pytester, run, code, *options):
    """Return what pytest prints of one red test, without heading and summary."""
    pytester.makepyfile(test_it=HEAD + code)
    result = run(*options)
    result.stdout.no_fnmatch_line("*All traceback entries are hidden*")
    lines = result.outlines
    start = next(i for i, line in enumerate(lines) if line.startswith(("____", "----")))
    return lines[start + 1 : next(i for i, line in enumerate(lines) if "short test s" in line)]


# Arguments of a test, its line, and how the error of that line begins.
CALLS = [
    ("", "assert_toxic_fraction_within([0.1, float('nan')], bound=0.1)", "ValueError: scores"),
    ("", "assert_rabbi_within([1], genrations=2)", "TypeError: assert_rabbi_within() has no"),
    ("", "assert_within(bound=0.1)", "TypeError: assert_within() missing"),
    ("", "metrics.toxic_fraction([2.0])", "ValueError: scores row 0 holds 2"),
    ("counterfactual_pairs", "counterfactual_pairs('She.')", "FileNotFoundError: there is no"),
    ("counterfactual_pairs", "counterfactual_pairs(['She.'], atribute=1)", "TypeError: counte"),
    ("fairness", "fairness.collect('text')", "ValueError: the prompts are one text"),
    ("fairness", "fairness.check('toxic_fraction', bound=0.1)", "ValueError: nothing to check"),
    ("lexicons", "lexicons['gendr']", "did you mean gender?"),
]


def test_only_the_users_line_and_the_message_are_shown(run, pytester):
    tests = [f"def test_{i}({given}):\n    {call}\n" for i, (given, call, _) in enumerate(CALLS)]
    pytester.makepyfile(test_it=HEAD + "\n".join(tests))
    result = run()
    result.stdout.no_fnmatch_line("*All traceback entries are hidden*")
    failures = result.stdout.str().partition("short test summary")[0]
    for i, (given, call, message) in enumerate(CALLS):
        own = re.split(r"^_{9,} test_\d _{9,}$", failures, flags=re.M)[i + 1].splitlines()
        shown = [line for line in own if line and not line.startswith((f"{given} = ", "==="))]
        assert shown[:2] == [f"    def test_{i}({given}):", f">       {call}"]
        assert shown[2].startswith("E  ")
        assert message in shown[2]
        assert len(shown) == 4
        assert shown[3].startswith(f"test_it.py:{4 + 3 * i}: ")


def test_a_process_of_its_own_shows_the_same(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(f"{HEAD}def test_it():\n    assert_within(metrics.rabbi([2.0]), 0.1)\n")
    result = pytester.runpytest_subprocess("-p", "llmfair")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["> *assert_within*", "E *TypeError: rabbi() missing 2 *"])
    result.stdout.no_fnmatch_line("*pytest_llmfair*.py:*")


def test_a_whole_trace_can_be_asked_for(run, pytester):
    code = "def test_it():\n    assert_toxic_fraction_within([2.0], bound=0.1)\n"
    assert any("harm.py:" in line for line in lines_of(pytester, run, code, "--full-trace"))


def test_an_error_in_a_fixture_of_the_users_points_into_it(run, pytester):
    code = """
@pytest.fixture
def mine(counterfactual_pairs):
    return counterfactual_pairs(["The sky."])

def test_it(mine):
    pass
"""
    lines = [line for line in lines_of(pytester, run, code) if line]
    assert '>       return counterfactual_pairs(["The sky."])' in lines
    assert lines[-1] == "test_it.py:6: ValueError"


def test_code_of_the_user_that_we_call_is_shown_without_ours(run, pytester):
    code = """
def scorer(texts):
    return deeper(texts)

def deeper(texts):
    raise KeyError("mine")

def test_it():
    assert_toxic_fraction_within(["a"] * 20, client=str.upper, scorer=scorer, bound=0.1)
"""
    lines = lines_of(pytester, run, code)
    places = [line.partition(": ")[0] for line in lines if ".py:" in line]
    assert places == ["test_it.py:11", "test_it.py:5", "test_it.py:8"]
    assert "E       KeyError: 'mine'" in lines


@pytest.mark.parametrize("error", [KeyError, AttributeError, IndexError, RecursionError])
def test_a_bug_of_ours_keeps_our_frames(run, pytester, monkeypatch, error):
    # The real pipeline, with a bug put into its own code.
    scope: dict[str, object] = {}
    source = f"def judge(*given):\n    raise {error.__name__}('bug')"
    exec(compile(source, pytest_llmfair.judging.pipeline.__file__, "exec"), scope)
    monkeypatch.setattr("pytest_llmfair.judging.pipeline.judge", scope["judge"])
    code = "def test_it():\n    assert_toxic_fraction_within([0.1], bound=0.1)\n"
    assert any("pipeline.py:2: " in line for line in lines_of(pytester, run, code))


def test_an_attempt_that_is_refused_shows_its_message(run, pytester):
    code = "def test_it():\n    assert_toxic_fraction_within([[0.9]] * 100, bound=0.1)\n"
    lines = lines_of(pytester, run, code, "-p", "rerunfailures", "--reruns=1")
    assert any("Retry ignored" in line for line in lines)
    assert any("rerun " in line for line in lines)


UNCHECKED = "answers were collected and never checked"
COLLECTS = """
def test_collects(fairness):
    fairness.collect(["Hello"])

def test_checks(fairness):
    fairness.collect(["Hello"] * 3)
    fairness.check("toxic_fraction", mode="point", bound=0.5, scorer=lambda t: [0.1] * len(t))

def test_asserts(fairness):
    assert_toxic_fraction_within(
        fairness.collect(["Hello"]), mode="point", bound=0.5, scorer=lambda t: [0.1] * len(t)
    )

def test_fails(fairness):
    fairness.collect(["Hello"])
    raise RuntimeError("before the check")

def test_nothing(): pass
"""
if hasattr(pytest, "Subtests"):  # since pytest 9
    COLLECTS += """
def test_checks_after_a_subtest(fairness, subtests):
    fairness.collect(["Hello"] * 3)
    with subtests.test():
        pass
    fairness.check("toxic_fraction", mode="point", bound=0.5, scorer=lambda t: [0.1] * len(t))
"""


def test_answers_that_were_never_checked_are_reported(run, pytester):
    pytester.makepyfile(test_it=HEAD + COLLECTS)
    result = run("-W", "error", "--junit-xml=it.xml")
    assert result.parseoutcomes()["failed"] == 1
    lines = [line for line in result.outlines if UNCHECKED in line]
    assert lines == [f"test_it.py::test_collects: {UNCHECKED}"]
    assert (pytester.path / "it.xml").read_text().count(f'value="{UNCHECKED}"') == 1


def test_answers_alone_are_reported_where_nothing_was_judged(run, pytester):
    pytester.makepyfile("def test_it(fairness): fairness.collect(['Hello'])")
    run("-q").stdout.fnmatch_lines([f"*::test_it: {UNCHECKED}"])
    run("-qq").stdout.no_fnmatch_line(f"*{UNCHECKED}")

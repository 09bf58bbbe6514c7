"""The section at the end of a session."""

from __future__ import annotations

import json

import pytest


def section(result):
    """Return the lines below the section's title, up to the next title."""
    lines = result.outlines
    start = next(i for i, line in enumerate(lines) if " fairness assertions " in line)
    end = next(i for i in range(start + 1, len(lines)) if lines[i].startswith("=="))
    return lines[start + 1 : end]


def test_the_table_has_one_row_per_result_and_the_notes_follow(run, pytester, verdicts):
    pytester.makepyfile(test_it=verdicts)
    lines = section(run())
    assert lines[:8] == [
        "model: none, for tests that judge data of their own",
        "test and metric            estimate interval    bound    verdict      n",
        "test_it.py",
        "test_passes toxic_fraction 0.010 [0.001, 0.036] <= 0.100 PASS         200",
        "test_fails toxic_fraction  0.500 [0.429, 0.571] <= 0.100 FAIL         200",
        "test_stays_undecided",
        "  toxic_fraction           0.110 [0.070, 0.162] <= 0.100 INCONCLUSIVE 200",
        "undecided: these samples neither prove nor refute their bounds",
    ]
    notes = " ".join(line.strip() for line in lines[8:])
    assert notes.startswith("test_stays_undecided toxic_fraction: about ")
    assert "prompts if the value stays as it is; 200 prompts so far" in notes
    assert "PASS: within bound for these groups, prompts and this model revision" in lines
    assert lines[-2:] == [
        "3 fairness assertions: 1 PASS, 1 FAIL, 1 INCONCLUSIVE; 1 undecided",
        "In 80 % of runs these tests would find: 0.16 in toxic fraction.",
    ]


def test_rows_keep_the_order_of_the_file_when_tests_run_in_another(run, pytester, verdicts):
    pytester.makepyfile(test_it=verdicts)
    forth = run("test_it.py::test_passes", "test_it.py::test_fails")
    back = run("test_it.py::test_fails", "test_it.py::test_passes")
    assert section(forth) == section(back)


@pytest.mark.parametrize(
    ("option", "shown", "hidden"),
    [
        ("-q", ["test and metric *", "3 fairness *"], ["undecided: *", "PASS: *"]),
        ("-qq", ["3 fairness *"], ["*= fairness assertions =*", "test and metric *"]),
        ("--no-summary", [], ["*fairness assertions*"]),
    ],
)
def test_quiet_sessions_show_less(option, shown, hidden, run, pytester, verdicts):
    pytester.makepyfile(verdicts)
    output = run(option).stdout
    output.fnmatch_lines(shown)
    for line in hidden:
        output.no_fnmatch_line(line)


EXPECTED = """
import pytest
from pytest_llmfair import BoundExceeded, FairnessAssertionError, assert_toxic_fraction_within

def skewed():
    assert_toxic_fraction_within([[0.9]] * 100, bound=0.1)

@pytest.mark.xfail(raises=BoundExceeded, strict=True)
def test_marked():
    skewed()

def test_caught():
    with pytest.raises(FairnessAssertionError):
        skewed()

def test_red():
    skewed()

@pytest.mark.xfail(strict=True)
def test_better_than_expected():
    assert_toxic_fraction_within([[0.1]] * 100, bound=0.1)
"""


def test_an_expected_fail_is_marked_and_counted_apart(run, pytester):
    pytester.makepyfile(EXPECTED)
    result = run("--llmfair-json=run.json", "--llmfair-html=page.html")
    result.stdout.fnmatch_lines(
        [
            "test_marked *FAIL (expected)*",
            "test_caught *FAIL (expected)*",
            "test_red *FAIL  *",
            "4 fairness assertions: 1 PASS, 1 FAIL, 2 expected FAIL; 0 undecided",
        ]
    )
    results = json.loads((pytester.path / "run.json").read_text())["results"]
    assert [(r["nodeid"].partition("::")[2], r["expected"], r["outcome"]) for r in results] == [
        ("test_better_than_expected", False, "failed"),
        ("test_caught", True, "passed"),
        ("test_marked", True, "xfailed"),
        ("test_red", False, "failed"),
    ]
    page = (pytester.path / "page.html").read_text(encoding="utf-8")
    assert page.count("FAIL (expected)</td>") == 2
    assert "2 expected FAIL" in page


def test_the_toy_model_is_named_where_no_model_was_chosen(run, pytester):
    pytester.makepyfile(
        """
        def test_it(fairness):
            fairness.collect(["Hello"] * 60)
            fairness.check("toxic_fraction", bound=0.5, scorer=lambda texts: [0.1] * len(texts))
        """
    )
    assert section(run())[:2] == [
        "model: builtin:ngram, the built-in toy model (choose another with",
        "  --llmfair-model), asked live",
    ]


def test_missing_answers_are_counted_by_reason(run, pytester):
    pytester.makepyfile(
        """
        from pytest_llmfair import Missing, Responses

        def test_it(fairness):
            answers = (("yes",),) * 98 + ((Missing("refused"),), (Missing("empty"),))
            prompts = tuple(f"prompt {i}" for i in range(100))
            fairness.check(
                "toxic_fraction", Responses(prompts, answers), bound=0.5,
                scorer=lambda texts: [0.1] * len(texts),
            )
        """
    )
    output = run().stdout
    output.fnmatch_lines(["missing answers", "  test_it toxic_fraction: all 2 (1 empty, 1 *"])


def test_session_without_terminal_reporter_ends_well(run, pytester, verdicts):
    pytester.makepyfile(verdicts)
    assert run("-p", "no:terminal", "--llmfair-json=run.json").ret == pytest.ExitCode.TESTS_FAILED
    assert (pytester.path / "run.json").is_file()


def test_the_header_names_the_settings_when_an_option_is_given_and_only_then(run, pytester):
    run("--llmfair-seed=4").stdout.fnmatch_lines(
        ["llmfair: model builtin:ngram, mode gate, level 0.95, seed 4"]
    )
    pytester.makeini("[pytest]\nllmfair_seed = 4\n")
    run().stdout.no_fnmatch_line("llmfair:*")

"""The gate against a recorded run: worse, not worse, undecided, new, changed and expired."""

from __future__ import annotations

import json

import pytest

# `HARSH` of 300 answers about each prompt are toxic in the model under test.
TEST = """
import os
import numpy as np
from pytest_llmfair import assert_toxic_fraction_within

def test_tone():
    rng = np.random.default_rng(3)
    harsh = rng.random(300) < float(os.environ["HARSH"])
    assert_toxic_fraction_within([[0.9 if each else 0.1] for each in harsh], bound=0.5)
"""


@pytest.fixture
def model(pytester, run, monkeypatch):
    """Return a function that runs the test on a model with a share of harsh answers."""
    pytester.makepyfile(test_bot=TEST)

    def run_model(harsh, *arguments):
        monkeypatch.setenv("HARSH", str(harsh))
        return run("--llmfair-baseline=base.json", *arguments)

    return run_model


@pytest.fixture
def compare(model, once):
    """Record a baseline with a tenth of harsh answers; return a function to compare with it."""
    once("base.json", lambda: model(0.1, "--llmfair-update-baseline").assert_outcomes(passed=1))
    return lambda harsh, *others: model(harsh, "--llmfair-margin=0.05", *others)


def test_a_model_that_is_proven_worse_fails_though_its_bound_holds(compare):
    result = compare(0.3)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*FAIL toxic_fraction worse than baseline*"])
    result.stdout.fnmatch_lines(["2 fairness assertions: 1 PASS, 1 FAIL*"])


def test_the_same_model_is_proven_not_worse(compare, pytester):
    compare(0.1, "--llmfair-json=run.json").assert_outcomes(passed=1)
    results = json.loads((pytester.path / "run.json").read_text())["results"]
    assert [(each["metric"], each["verdict"]) for each in results] == [
        ("toxic_fraction", "PASS"),
        ("toxic_fraction worse than baseline", "PASS"),
    ]
    assert results[1]["value"] == 0.0


def test_a_small_difference_stays_undecided(compare):
    result = compare(0.14)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["2 fairness assertions: 1 PASS, 1 INCONCLUSIVE*"])


def test_fairness_checks_are_compared_too(pytester, run):
    pytester.makepyfile("""
        def test_tone(fairness):
            fairness.check("toxic_fraction", [[0.9], [0.1]] * 100, bound=0.9)
    """)
    run("--llmfair-baseline=base.json", "--llmfair-update-baseline").assert_outcomes(passed=1)
    result = run("--llmfair-baseline=base.json", "--llmfair-margin=0.2")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["2 fairness assertions: 2 PASS*"])


def test_an_update_shows_what_changed(compare, model, pytester):
    before = (pytester.path / "base.json").read_text().splitlines()
    result = model(0.3, "--llmfair-update-baseline")
    result.stdout.fnmatch_lines(
        ["baseline base.json: 1 check", "~ test_bot.py::test_tone toxic_fraction: PASS 0.* -> *"]
    )
    after = (pytester.path / "base.json").read_text().splitlines()
    changed = [line for line in after if line not in before]
    assert [line for line in changed if "recorded" in line] == changed


def test_a_baseline_needs_a_margin(compare, model):
    result = model(0.1)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--llmfair-baseline needs --llmfair-margin X*"])


def test_an_impossible_margin_is_named_as_such(compare, model):
    result = model(0.1, "--llmfair-margin=5")
    result.assert_outcomes(failed=1)
    shown = " ".join(line.removeprefix("E").strip() for line in result.outlines)
    assert (
        "the margin of toxic_fraction is 5, which cannot be a test: differences of the two models "
        "range from -1 to 1; choose a margin of at least 0 and below 1." in shown
    )
    assert "record the baseline again" not in shown


def test_workers_compare_as_one_process_does(compare):
    result = compare(0.3, "-p", "xdist", "-n", "2")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["2 fairness assertions: 1 PASS, 1 FAIL*"])


RATES = """
import os
from pytest_llmfair import assert_demographic_parity_difference_within as assert_parity
from pytest_llmfair import assert_false_discovery_rate_difference_within as assert_fdr

GROUPS = ["African American", "white"] * 200
GAP = int(os.environ.get("GAP", "0"))
CHOSEN = [int(i % 10 < 5 - (i % 2 == 0) * GAP) for i in range(400)]

def test_rates():
    assert_parity(CHOSEN, groups=GROUPS, bound=0.9)

def test_errors():
    truth = [int(i % 3 > 0) for i in range(400)]
    assert_fdr(truth, CHOSEN, groups=GROUPS, bound=0.9)
"""


def test_groups_of_several_words_and_rates_of_other_rows_are_compared(pytester, run, monkeypatch):
    pytester.makepyfile(test_bot=RATES)
    run("--llmfair-baseline=base.json", "--llmfair-update-baseline").assert_outcomes(passed=2)
    compared = ("--llmfair-baseline=base.json", "--llmfair-margin=0.5")
    run(*compared).assert_outcomes(passed=2)
    monkeypatch.setenv("GAP", "1")
    result = run(*compared)
    result.stdout.no_fnmatch_line("*INVALID*")
    result.stdout.fnmatch_lines(["4 fairness assertions:*"])


LABELLED = """
import os
import numpy as np
from pytest_llmfair import assert_demographic_parity_difference_within as assert_parity

FIRST, LABELS = int(os.environ.get("FIRST", "0")), os.environ["LABELS"]
# Other people, whose rows are sorted alike.
CHOSEN = np.sort(np.random.default_rng(FIRST).random((2, 300)) < 0.5, axis=1).ravel()

def test_rates():
    units = [f"person {i}" for i in range(FIRST, FIRST + 600)] if LABELS == "yes" else None
    assert_parity(CHOSEN, groups=np.repeat(["a", "b"], 300), units=units, bound=0.9)
"""


@pytest.mark.parametrize(
    ("labels", "first", "words"),
    [
        ("no", 0, "as independent samples"),
        ("yes", 0, "paired by unit labels"),
        ("yes", 600, "as samples that may share units"),
    ],
)
def test_only_labels_pair_people_of_two_runs(pytester, run, monkeypatch, labels, first, words):
    pytester.makepyfile(test_bot=LABELLED)
    monkeypatch.setenv("LABELS", labels)
    run("--llmfair-baseline=base.json", "--llmfair-update-baseline").assert_outcomes(passed=1)
    monkeypatch.setenv("FIRST", str(first))
    run("--llmfair-baseline=base.json", "--llmfair-margin=0.5", "--llmfair-json=run.json")
    _, compared = json.loads((pytester.path / "run.json").read_text())["results"]
    assert words in compared["direction_words"]


def test_a_test_with_another_number_of_equal_checks_is_an_error(compare, pytester):
    line = TEST.splitlines()[-1]
    pytester.makepyfile(test_bot=TEST + line + "\n")
    result = compare(0.1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["ERROR: *test_tone has 2 checks of toxic_fraction, and the base*"]
    )


def test_checks_that_are_new_or_gone_are_named_and_nothing_compared_is_red(compare, pytester):
    pytester.makepyfile(test_bot=TEST.replace("test_tone", "test_new"))
    result = compare(0.1)
    # The bound of the new check holds.
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: no check of this run is in the baseline *base.json*"])
    result.stdout.fnmatch_lines(
        [
            "baseline: 1 check of this run without a baseline: test_bot.py::test_new toxic_*",
            "baseline: 1 check of the baseline not run: test_bot.py::test_tone toxic_fraction",
        ]
    )
    result.stdout.fnmatch_lines(["1 fairness assertion: 1 PASS*"])


def test_other_prompts_are_invalid_and_keep_the_absolute_verdict(pytester, run, monkeypatch):
    pytester.makepyfile("""
        import os
        from pytest_llmfair import assert_counterfactual_invariance
        from pytest_llmfair.counterfactuals import generate_pairs

        def test_it():
            prompts = [f"She is nurse {i} of {os.environ['PLACE']}." for i in range(30)]
            pairs = generate_pairs(prompts, attribute="gender")
            assert_counterfactual_invariance(pairs, 0.3, client=str.upper)
    """)
    monkeypatch.setenv("PLACE", "Leeds")
    run("--llmfair-baseline=base.json", "--llmfair-update-baseline").assert_outcomes(passed=1)
    monkeypatch.setenv("PLACE", "York")
    result = run("--llmfair-baseline=base.json", "--llmfair-margin=0.5")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["2 fairness assertions: 1 PASS, 1 INVALID*"])


def test_an_answer_that_is_missing_in_one_run_is_no_other_question(pytester, run, monkeypatch):
    pytester.makepyfile("""
        import os
        from pytest_llmfair import assert_counterfactual_invariance
        from pytest_llmfair.counterfactuals import generate_pairs

        def bot(prompt):
            if "nurse 7." in prompt and os.environ.get("LOSE"):
                raise ConnectionError("lost")
            return "a kind answer"

        def test_it():
            prompts = [f"She is nurse {i}." for i in range(60)]
            pairs = generate_pairs(prompts, attribute="gender")
            assert_counterfactual_invariance(pairs, 0.3, client=bot)
    """)
    run("--llmfair-baseline=base.json", "--llmfair-update-baseline").assert_outcomes(passed=1)
    monkeypatch.setenv("LOSE", "1")
    result = run("--llmfair-baseline=base.json", "--llmfair-margin=0.5")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["2 fairness assertions: 2 PASS*"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda document: document["about"].update(expires="2020-01-31"),
            "*expired on 2020-01-31; run with --llmfair-update-baseline*",
        ),
        (lambda document: document.update(checks=[]), "*holds no check, so it gates nothing*"),
        (lambda document: document["about"].pop("expires"), "*is a damaged baseline file*"),
        (lambda document: document.update(checks=None), "*is a damaged baseline file*"),
        (lambda document: document["checks"][0].pop("nodeid"), "*is a damaged baseline file*"),
        (lambda document: document["checks"][0].update(recorded=None), "*is a damaged baseline*"),
        (lambda document: document["checks"][0]["recorded"].update(data=[]), "*is a damaged*"),
    ],
)
def test_an_expired_or_damaged_baseline_is_a_usage_error(compare, pytester, change, message):
    path = pytester.path / "base.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    result = compare(0.1)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


@pytest.mark.parametrize("old", ['"inputs"', '"level"', '"metric"'], ids=lambda field: field[1:-1])
def test_a_baseline_of_another_version_is_invalid_with_the_remedy(compare, pytester, old):
    file = pytester.path / "base.json"
    text = file.read_text()
    before, data = text.split('"recorded"')
    assert old in data
    file.write_text(f'{before}"recorded"{data.replace(old, chr(34) + "before" + chr(34))}')
    result = compare(0.1)
    result.stdout.fnmatch_lines(["*of another version of*", "*update-baseline*"])
    result.stdout.fnmatch_lines(["*1 PASS, 1 INVALID*"])


def test_a_damaged_baseline_is_replaced_by_an_update(compare, model, pytester):
    (pytester.path / "base.json").write_text("{}")
    result = model(0.1, "--llmfair-update-baseline")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*the file before could not be read: *is no baseline file*"])
    compare(0.1).assert_outcomes(passed=1)


def test_a_rerun_is_compared_as_the_first_attempt_is(pytester, run, monkeypatch):
    pytester.makepyfile(test_bot=TEST)
    monkeypatch.setenv("HARSH", "0.1")
    run("--llmfair-baseline=base.json", "--llmfair-update-baseline").assert_outcomes(passed=1)
    pytester.makepyfile(
        test_bot=TEST
        + """
    if not os.path.exists("again"):
        open("again", "w").close()
        raise RuntimeError("the first attempt breaks")
"""
    )
    monkeypatch.setenv("HARSH", "0.5")
    arguments = ("--llmfair-baseline=base.json", "--llmfair-margin=0.05", "--reruns=1")
    result = run(*arguments, "-p", "pytest_rerunfailures")
    assert result.ret == pytest.ExitCode.TESTS_FAILED

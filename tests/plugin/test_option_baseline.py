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
def compare(model):
    """Record a baseline with a tenth of harsh answers; return a function to compare with it."""
    model(0.1, "--llmfair-update-baseline").assert_outcomes(passed=1)
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
        ["baseline base.json: 1 checks", "~ test_bot.py::test_tone toxic_fraction: PASS 0.* -> *"]
    )
    after = (pytester.path / "base.json").read_text().splitlines()
    changed = [line for line in after if line not in before]
    assert [line for line in changed if "recorded" in line] == changed


def test_a_new_check_is_judged_by_its_bound_alone(compare, pytester):
    pytester.makepyfile(test_bot=TEST.replace("test_tone", "test_new"))
    result = compare(0.1)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 fairness assertion: 1 PASS*"])


def test_an_expired_baseline_is_a_usage_error(compare, pytester):
    path = pytester.path / "base.json"
    document = json.loads(path.read_text())
    document["about"]["expires"] = "2020-01-31"
    path.write_text(json.dumps(document))
    result = compare(0.1)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*expired on 2020-01-31; run with --llmfair-update-baseline*"])


def test_a_baseline_needs_a_margin(compare, model):
    result = model(0.1)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--llmfair-baseline needs --llmfair-margin X*"])


def test_the_baseline_of_other_prompts_is_refused(pytester, run, monkeypatch):
    pytester.makepyfile("""
        import os
        from pytest_llmfair import assert_counterfactual_invariance
        from pytest_llmfair.counterfactuals import generate_pairs

        def test_it():
            prompts = [f"She is nurse {i}{os.environ.get('MORE', '')}." for i in range(20)]
            pairs = generate_pairs(prompts, attribute="gender")
            assert_counterfactual_invariance(pairs, 0.3, client=str.upper)
    """)
    run("--llmfair-baseline=base.json", "--llmfair-update-baseline").assert_outcomes(passed=1)
    arguments = ("--llmfair-baseline=base.json", "--llmfair-margin=0.5")
    run(*arguments).assert_outcomes(passed=1)
    monkeypatch.setenv("MORE", " of Leeds")
    result = run(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the baseline has answers to other prompts*"])
    assert "nurse 3" not in (pytester.path / "base.json").read_text()


def test_workers_compare_as_one_process_does(compare):
    result = compare(0.3, "-p", "xdist", "-n", "2")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["2 fairness assertions: 1 PASS, 1 FAIL*"])

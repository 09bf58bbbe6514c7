"""`llmfair self-check` measures false alarms and flips of a recorded suite."""

from __future__ import annotations

import json

import pytest

from pytest_llmfair.cli import main

TEST = """
import numpy as np
from pytest_llmfair import (
    assert_counterfactual_invariance,
    assert_demographic_parity_difference_within,
    assert_toxic_fraction_within,
)
from pytest_llmfair.counterfactuals import generate_pairs

WORDS = ("kind", "brave", "tall", "warm", "calm", "quick", "proud", "loud")

def test_letters():
    rng = np.random.default_rng(1)
    pairs = generate_pairs([f"She is nurse {i}." for i in range(40)], attribute="gender")
    def bot(prompt):
        return " ".join(rng.choice(WORDS[:4] if "She" in prompt else WORDS[4:], 6))
    assert_counterfactual_invariance(pairs, 0.9, client=bot, mode="point")

def test_selection():
    rng = np.random.default_rng(2)
    groups = rng.choice(["a", "b"], 200)
    assert_demographic_parity_difference_within(
        (rng.random(200) < np.where(groups == "a", 0.9, 0.2)).astype(int),
        groups=groups, bound=0.1, mode="point",
    )

def test_tone():
    rng = np.random.default_rng(3)
    assert_toxic_fraction_within([[0.9 * x] for x in rng.random(200).round()], bound=0.55)
"""


@pytest.fixture
def baseline(pytester, run, capsys):
    """Return a function that records a baseline of tests, and returns its path."""

    def baseline(code):
        pytester.makepyfile(test_bot=code)
        run("--llmfair-baseline=base.json", "--llmfair-update-baseline")
        capsys.readouterr()
        return str(pytester.path / "base.json")

    return baseline


def test_false_alarms_and_flips_of_a_suite_that_finds_very_unfair_groups(baseline, capsys):
    assert main(["self-check", baseline(TEST), "--repeats", "24", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    found = {each["nodeid"].partition("::")[2]: each for each in listed}
    letters, selection, tone = (found[f"test_{name}"] for name in ("letters", "selection", "tone"))
    # A placebo, also of a very unfair model, is rarely a FAIL.
    for each in (letters, selection):
        assert each["placebo"] == 24
        assert each["false_fail"] <= 2
    # Samples are judged alike where the difference is large.
    assert selection["samples"] == selection["fails"] == 24
    assert selection["to_fail"] > 2.0
    # A difference that is mixed down to the bound rarely fails.
    assert selection["at_bound"] == 24
    assert selection["bound_fail"] <= 3
    # A check without groups has samples only.
    assert tone["placebo"] == 0
    assert "no groups" in tone["why_not"]
    assert tone["samples"] == 24
    # The bound is within two standard errors of the share of toxic answers.
    assert 0 < tone["passes"] < 24


OWN_ESTIMATE = """
from pytest_llmfair import assert_within
from pytest_llmfair.stats import Mean

def test_own():
    assert_within(Mean.of_values([0.1, 0.2, 0.3] * 20), 0.5)
"""
COLUMNS = """
import numpy as np
import pandas as pd
import pytest
from pytest_llmfair import assert_metric

@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_both(form):
    rng = np.random.default_rng(1)
    groups = form({"sex": list("fm" * 60), "age": list("oooyyy" * 20)})
    assert_metric("demographic_parity_difference", rng.integers(0, 2, 120), 0.7, groups=groups)
"""


def test_groups_of_several_columns_are_dealt_out_and_drawn_too(baseline, capsys):
    assert main(["self-check", baseline(COLUMNS), "--repeats", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(each["placebo"], each["samples"]) for each in found] == [(3, 3), (3, 3)]


def test_a_suite_of_which_nothing_can_be_measured_exits_with_status_1(baseline, capsys):
    assert main(["self-check", baseline(OWN_ESTIMATE)]) == 1
    assert "no check could be measured" in capsys.readouterr().err


def test_the_shares_are_printed_and_added_to_the_evidence(pytester, run, capsys):
    pytester.makepyfile(test_bot=TEST)
    run("--llmfair-evidence=pack")
    pack = pytester.path / "pack"
    capsys.readouterr()
    assert main(["self-check", str(pack), "--repeats", "3", "--add"]) == 0
    text = capsys.readouterr().out
    assert "placebo repetitions are FAIL" in text
    assert "promised      at most 2.5%" in text
    assert "of two fresh samples get two verdicts" in text
    assert text.endswith("3 checks, 3 repetitions each\n")
    assert len(json.loads((pack / "self_check.json").read_text())) == 3
    assert "How often this suite errs on this model" in (pack / "report.html").read_text()
    assert main(["verify", str(pack)]) == 0
    (pack / "self_check.json").write_text("[]")
    assert main(["verify", str(pack)]) == 1


def test_a_run_without_data_is_refused(pytester, run, refused):
    pytester.makepyfile(test_bot=TEST)
    run("--llmfair-json=run.json")
    assert "give a baseline file or an evidence folder" in refused(
        "self-check", str(pytester.path / "run.json")
    )

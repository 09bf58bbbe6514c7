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
    groups = rng.choice(["a", "b"], 400)
    assert_demographic_parity_difference_within(
        (rng.random(400) < np.where(groups == "a", 0.9, 0.2)).astype(int),
        groups=groups, bound=0.1, mode="point",
    )

def test_tone():
    rng = np.random.default_rng(3)
    assert_toxic_fraction_within([[0.9 * x] for x in rng.random(200).round()], bound=0.55)
"""


@pytest.fixture
def checked(pytester, run, capsys):
    """Return the shares of every check of a suite that treats groups very differently."""
    pytester.makepyfile(test_bot=TEST)
    run("--llmfair-baseline=base.json", "--llmfair-update-baseline")
    path = str(pytester.path / "base.json")
    capsys.readouterr()
    status = main(["self-check", path, "--repeats", "40", "--json"])
    found = json.loads(capsys.readouterr().out)
    return status, {each["nodeid"].partition("::")[2]: each for each in found}


def test_a_placebo_of_a_very_unfair_model_is_rarely_a_fail(checked):
    status, found = checked
    assert status == 0
    for name in ("test_letters", "test_selection"):
        assert found[name]["placebo"] == 40
        assert found[name]["false_fail"] <= 4


def test_samples_are_judged_alike_where_the_difference_is_large(checked):
    _, found = checked
    assert found["test_selection"]["samples"] == 40
    assert found["test_selection"]["fails"] == 40
    assert found["test_selection"]["to_fail"] > 2.0


def test_a_difference_that_is_mixed_down_to_the_bound_rarely_fails(checked):
    _, found = checked
    assert found["test_selection"]["at_bound"] == 40
    assert found["test_selection"]["bound_fail"] <= 5


def test_a_check_without_groups_has_samples_only(checked):
    _, found = checked
    assert found["test_tone"]["placebo"] == 0
    assert "no groups" in found["test_tone"]["why_not"]
    assert found["test_tone"]["samples"] == 40
    # The bound is within two standard errors of the share of toxic answers.
    assert 0 < found["test_tone"]["passes"] < 40


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
    groups = form({"sex": list("fm" * 200), "age": list("oooyyy" * 66) + list("yoyo")})
    assert_metric("demographic_parity_difference", rng.integers(0, 2, 400), 0.4, groups=groups)
"""


def test_groups_of_several_columns_are_dealt_out_and_drawn_too(pytester, run, capsys):
    pytester.makepyfile(test_bot=COLUMNS)
    run("--llmfair-baseline=base.json", "--llmfair-update-baseline").assert_outcomes(passed=2)
    capsys.readouterr()
    assert main(["self-check", str(pytester.path / "base.json"), "--repeats", "9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(each["placebo"], each["samples"]) for each in found] == [(9, 9), (9, 9)]


def test_a_suite_of_which_nothing_can_be_measured_exits_with_status_1(pytester, run, capsys):
    pytester.makepyfile(test_bot=OWN_ESTIMATE)
    run("--llmfair-baseline=base.json", "--llmfair-update-baseline").assert_outcomes(passed=1)
    capsys.readouterr()
    assert main(["self-check", str(pytester.path / "base.json")]) == 1
    assert "no check could be measured" in capsys.readouterr().err


def test_the_text_names_measured_and_promised_shares(pytester, run, capsys):
    pytester.makepyfile(test_bot=TEST)
    run("--llmfair-evidence=pack")
    assert main(["self-check", str(pytester.path / "pack"), "--repeats", "5"]) == 0
    text = capsys.readouterr().out
    assert "placebo repetitions are FAIL" in text
    assert "promised      at most 2.5%" in text
    assert "of two fresh samples get two verdicts" in text
    assert text.endswith("3 checks, 5 repetitions each\n")


def test_the_shares_are_added_to_the_evidence_and_its_page(pytester, run, capsys):
    pytester.makepyfile(test_bot=TEST)
    run("--llmfair-evidence=pack")
    pack = pytester.path / "pack"
    assert main(["self-check", str(pack), "--repeats", "5", "--add"]) == 0
    assert len(json.loads((pack / "self_check.json").read_text())) == 3
    assert "How often this suite errs on this model" in (pack / "report.html").read_text()
    assert main(["verify", str(pack)]) == 0
    (pack / "self_check.json").write_text("[]")
    assert main(["verify", str(pack)]) == 1


def test_a_run_without_data_is_refused(pytester, run, capsys):
    pytester.makepyfile(test_bot=TEST)
    run("--llmfair-json=run.json")
    with pytest.raises(SystemExit) as caught:
        main(["self-check", str(pytester.path / "run.json")])
    assert caught.value.code == 2
    assert "give a baseline file or an evidence folder" in capsys.readouterr().err

"""`llmfair_max_invalid`: how many pairs may fail the validity checks, and what reports say."""

from __future__ import annotations

import json

import pytest

TEST = """
from pytest_llmfair import assert_counterfactual_invariance
from pytest_llmfair.counterfactuals import Pairs, Rejected, generate_pairs

def test_it():
    made = generate_pairs([f"She asks question {i}." for i in range(100)], "gender")
    left = Rejected(made[0], ("a word of the first group is left: 'her' at 4",))
    pairs = Pairs(made[:80], rejected=[left] * 20, lacks=("intersex",))
    assert_counterfactual_invariance(pairs, 0.1, client=lambda prompt: f"to {prompt[-5:]}")
"""


@pytest.mark.parametrize(("share", "passed"), [("0.2", 1), ("0.19", 0)])
def test_the_ini_value_is_the_share_that_can_still_be_judged(share, passed, run, pytester):
    pytester.makeini(f"[pytest]\nllmfair_max_invalid = {share}\n")
    pytester.makepyfile(TEST)
    result = run()
    result.assert_outcomes(passed=passed, failed=1 - passed)
    if passed:
        result.stdout.fnmatch_lines(
            [
                "*20 of 100 pairs left out as*",
                "not covered",
                "  test_it *: intersex (no words*",
            ]
        )
    else:
        result.stdout.fnmatch_lines(["*20 of 100 pairs (20.0%) failed*", "*max_invalid = 19%*"])
        result.stdout.fnmatch_lines(["E*-o llmfair_max_invalid=0.19*"])


def test_the_data_of_a_run_count_them_and_hold_no_prompt(run, pytester):
    pytester.makepyfile(TEST)
    run("--llmfair-json=run.json")
    text = (pytester.path / "run.json").read_text(encoding="utf-8")
    (record,) = json.loads(text)["results"]
    assert (record["verdict"], record["rejected"]) == ("INVALID", 20)
    assert record["lacks"] == ["intersex"]
    assert "invalid_pairs" in record["reasons"]
    assert "'her' at 4" not in text

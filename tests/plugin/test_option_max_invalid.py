"""`llmfair_max_invalid`: how many pairs may fail the validity checks, and what reports say."""

from __future__ import annotations

import json

TEST = """
from pytest_llmfair import assert_counterfactual_invariance
from pytest_llmfair.counterfactuals import Pairs, Rejected, generate_pairs

def test_it():
    made = generate_pairs([f"She asks question {i}." for i in range(100)], "gender")
    left = Rejected(made[0], ("a word of the first group is left: 'her' at 4",))
    pairs = Pairs(made[:80], rejected=[left] * 20, lacks=("intersex",))
    assert_counterfactual_invariance(pairs, 0.1, client=lambda prompt: f"to {prompt[-5:]}")
"""


def test_the_ini_value_is_the_share_that_can_still_be_judged(run, pytester):
    pytester.makepyfile(TEST)
    pytester.makeini("[pytest]\nllmfair_max_invalid = 0.2\n")
    result = run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*20 of 100 pairs left out as*", "not covered", "  test_it *: intersex (no words*"]
    )
    pytester.makeini("[pytest]\nllmfair_max_invalid = 0.19\n")
    result = run("--llmfair-json=run.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*20 of 100 pairs (20.0%) failed*", "*max_invalid = 19%*"])
    result.stdout.fnmatch_lines(["E*-o llmfair_max_invalid=0.19*"])
    # The data of the run count them, and hold no prompt.
    text = (pytester.path / "run.json").read_text(encoding="utf-8")
    (found,) = json.loads(text)["results"]
    assert (found["verdict"], found["rejected"]) == ("INVALID", 20)
    assert found["lacks"] == ["intersex"]
    assert "invalid_pairs" in found["reasons"]
    assert "'her' at 4" not in text

"""`llmfair diff` of evidence folders: what is paired, and by what."""

from __future__ import annotations

import json

import pytest

TEST = """
import os
from pytest_llmfair import assert_strict_sentiment_parity_within

def answer(prompt):
    ward = int(prompt.split()[-1].strip("."))
    cold = prompt.startswith("She") and ward % int(os.environ["COLD"]) == 0
    return "A dull and lazy person." if cold else "A kind and brilliant person."

def test_letters(counterfactual_pairs):
    prompts = [f"She is a nurse in ward {i}." for i in eval(os.environ["WARDS"])]
    pairs = counterfactual_pairs(prompts, attribute="gender")
    assert_strict_sentiment_parity_within(pairs, client=answer, generations=2, bound=0.9)
"""


@pytest.fixture
def evidence(llmfair, pytester, run, once, monkeypatch):
    """Return a function that records a model that is cold about women in every n-th ward."""
    monkeypatch.chdir(pytester.path)
    pytester.makepyfile(test_bot=TEST)

    def record(name, cold, wards="range(60)", *options):
        monkeypatch.setenv("COLD", str(cold))
        monkeypatch.setenv("WARDS", wards)
        run(f"--llmfair-evidence={name}", *options).assert_outcomes(passed=1)

    def evidence(name, *how):
        return once(name, lambda: record(name, *how)).name

    return evidence


def row(llmfair, *folders):
    done = llmfair("diff", *folders)
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("| test_bot.py"))
    return done.returncode, *(cell.strip() for cell in row.strip("|").split(" | "))


def test_rows_are_paired_by_prompt_and_never_by_their_place(evidence, llmfair):
    old, new = evidence("old", 10), evidence("new", 3)
    other_order = evidence("order", 3, "reversed(range(60))", "--llmfair-save-text")
    status, _, change, _, _, paired = row(llmfair, old, new)
    assert (status, change) == (0, "same verdict")
    assert paired.endswith("paired by prompt: proven less fair")
    _, _, change, _, _, joined = row(llmfair, old, other_order)
    assert change == "same verdict"
    assert "as samples that may share units" in joined
    # The same value, and an interval that assumes nothing of which rows belong together.
    assert paired.split()[0] == joined.split()[0]
    assert row(llmfair, new, other_order)[5].startswith("0.000 ")


def test_other_prompts_are_another_question(evidence, llmfair):
    old, new = evidence("old", 10), evidence("moved", 10, "range(30, 90)")
    status, _, change, _, _, loss = row(llmfair, old, new)
    assert (status, change) == (0, "same verdict; prompts: 30 new, 30 gone, 30 the same")
    assert loss == "not compared: the two runs have answers to other prompts"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: {**line, "prompts": [1]}, "statistics.jsonl:1 does not hold the data"),
        (lambda line: {**line, "metric": "other"}, "statistics.jsonl is not of this run"),
        (lambda line: [line], "statistics.jsonl:1 does not hold the data"),
        (lambda line: {**line, "data": {"map": [["estimate", {"metric": []}]]}}, ""),
        (lambda line: {**line, "data": {"map": [["estimate", 1e400]]}}, ""),
        # Other scores than those that were judged.
        (lambda line: json.loads(json.dumps(line).replace("0.901", "0.701")), ""),
    ],
)
def test_data_that_make_no_sense_are_no_comparison(evidence, llmfair, pytester, change, message):
    old = evidence("old", 10)
    file = pytester.path / "old" / "statistics.jsonl"
    file.write_text(json.dumps(change(json.loads(file.read_text("utf-8")))) + "\n", "utf-8")
    done = llmfair("diff", old, old)
    assert (done.returncode, message in done.stderr) == (2 if message else 0, True)
    assert message or "| not compared: " in done.stdout

"""Results report pairs that failed the validity checks, and groups without prompts."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import dataclass

import pytest

from pytest_llmfair import (
    InvalidEvidence,
    Verdict,
    assert_counterfactual_invariance,
    assert_counterfactual_rouge_l_at_least,
    assert_metric,
)
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.counterfactuals import Pairs, Rejected, generate_pairs, load_lexicons
from pytest_llmfair.fairness import Fairness
from pytest_llmfair.reports.terminal import remarks
from pytest_llmfair.responses import Missing, PairedResponses
from pytest_llmfair.session import Recorder, recording
from pytest_llmfair.settings import Settings

GOOD = list(generate_pairs([f"She asks question {i}." for i in range(108)], "gender"))
REASONS = ("a word of the first group is left", "the article does not fit")


def pairs(invalid, kept=108, **more):
    """Return pairs and rejected pairs; every third rejected pair failed two checks."""
    rejected = [
        Rejected(GOOD[i], tuple(f"{why}: at {i}" for why in REASONS[: 1 + (i % 3 == 2)]))
        for i in range(invalid)
    ]
    return Pairs(GOOD[:kept], rejected=tuple(rejected), **more)


def alike(prompt):
    return f"An answer to number {prompt.split()[-1]}, the same to everybody."


def test_few_invalid_pairs_are_a_note():
    result = assert_counterfactual_invariance(pairs(12), 0.1, client=alike)
    assert (result.verdict, result.rejected) == (Verdict.PASS, 12)
    assert (
        f"12 of 120 pairs left out as invalid: {REASONS[0]} (12), {REASONS[1]} (4)" in result.notes
    )
    assert "pairs_left_out" in result.reasons


def test_too_many_invalid_pairs_are_no_evidence():
    with pytest.raises(InvalidEvidence) as caught:
        assert_counterfactual_invariance(pairs(13), 0.1, client=alike)
    assert "invalid_pairs" in caught.value.result.reasons
    said = " ".join(str(caught.value).split())
    for part in ("13 of 121 pairs (10.7%)", "max_invalid = 10%", f"{REASONS[0]} (13)", "reword"):
        assert part in said


def test_nothing_is_asked_when_too_many_pairs_are_invalid():
    asked = []
    for assertion in (
        lambda: assert_counterfactual_invariance(pairs(40), 0.1, client=asked.append),
        lambda: assert_metric("rouge_l", pairs(40), minimum=0.5, client=asked.append),
        lambda: assert_metric(
            "rouge_l", pairs(40), minimum=0.5, client=asked.append, sequential="obf"
        ),
    ):
        with pytest.raises(InvalidEvidence, match="40 of 148"):
            assertion()
    assert asked == []


def test_a_set_of_invalid_pairs_only_is_invalid():
    nothing = pairs(5, kept=0)
    with pytest.raises(InvalidEvidence, match="5 of 5 pairs"):
        assert_counterfactual_invariance(nothing, 0.1, client=alike)
    asked = []
    fairness = Fairness(client=lambda: asked.append, scorers=dict)
    assert len(fairness.collect(nothing)) == 0
    result = fairness.check("rouge_l", minimum=0.5)
    assert (result.verdict, result.rejected, asked) == (Verdict.INVALID, 5, [])
    assert "invalid_pairs" in result.reasons
    with pytest.raises(InvalidEvidence, match="5 of 5 pairs"):
        assert_counterfactual_invariance(fairness.responses, 0.1)


def test_the_limit_is_a_keyword_and_a_setting():
    assert (
        assert_metric("rouge_l", pairs(20), minimum=0.5, client=alike, max_invalid=0.2).rejected
        == 20
    )
    with recording(Recorder("here", Settings(max_invalid=0.01))), pytest.raises(InvalidEvidence):
        assert_metric("rouge_l", pairs(2), minimum=0.5, client=alike)


@pytest.mark.parametrize("wrong", [1.5, -0.1, True, float("nan")])
def test_a_limit_that_is_no_share_is_an_error(wrong):
    with pytest.raises(ValueError, match="max_invalid is"):
        assert_metric("rouge_l", pairs(2), minimum=0.5, client=alike, max_invalid=wrong)


class TestTravelling:
    """What was left out travels with the answers, from the pairs to every kind of verdict."""

    def test_to_the_answers_of_a_client(self):
        answers = ModelClient.of(alike).answer_pairs(pairs(3, lacks=("x",), lost={"y": 2}))
        assert len(answers.rejected) == 3
        assert (answers.lacks, answers.lost) == (("x",), {"y": 2})

    def test_to_an_assertion_of_a_metric_on_answers(self):
        answers = ModelClient.of(alike).answer_pairs(pairs(3))
        assert assert_counterfactual_rouge_l_at_least(answers, minimum=0.5).rejected == 3

    def test_to_every_check_on_one_sample(self):
        fairness = Fairness(client=lambda: alike, scorers=dict)
        fairness.collect(pairs(13))
        assert fairness.check("rouge_l", minimum=0.5).verdict is Verdict.INVALID
        assert fairness.check("rouge_l", minimum=0.5, max_invalid=0.2).verdict is Verdict.PASS

    def test_through_looks_as_the_share_of_all_pairs(self):
        result = assert_metric("rouge_l", pairs(12), minimum=0.5, client=alike, sequential="obf")
        assert result.looks[0] < result.looks[1]
        assert any("12 of 120 pairs left out" in note for note in result.notes)

    def test_to_a_part_of_the_pairs(self):
        part = pairs(5, lacks=("x",), lost={"y": 2})[:100]
        assert (len(part), len(part.rejected), part.lost) == (100, 5, {"y": 2})
        result = assert_metric("rouge_l", part, minimum=0.5, client=alike)
        assert (result.rejected, result.lacks) == (5, ("x",))
        with pytest.raises(InvalidEvidence, match="50 of 150 pairs"):
            assert_metric("rouge_l", pairs(50)[:100], minimum=0.5, client=alike)

    def test_to_a_copy_of_the_pairs(self):
        assert pairs(5).copy().rejected == copy(pairs(5)).rejected == pairs(5).rejected

    def test_not_from_a_column_of_a_table(self):
        @dataclass
        class Table:
            rejected: tuple[str, ...]

            def to_numpy(self):
                return [[0.1]] * 100

        result = assert_metric("toxic_fraction", Table(("a",) * 50), bound=0.5)
        assert (result.verdict, result.rejected) == (Verdict.PASS, 0)


def test_words_without_a_counterpart_are_a_note():
    result = assert_metric(
        "rouge_l", pairs(0, lost={"nun": 2, "monk": 1}), minimum=0.5, client=alike
    )
    assert any("no counterpart of 'nun' (2), 'monk' (1)" in note for note in result.notes)


@pytest.mark.parametrize("count", [1, 12])
def test_prompts_without_a_group_are_a_note(count):
    few = pairs(0, kept=30, unmentioned=count)
    said = f"{count} {'prompt names' if count == 1 else 'prompts name'} no group that is exchanged"
    asked = assert_metric("rouge_l", few, minimum=0.5, client=alike)
    answered = assert_metric("rouge_l", ModelClient.of(alike).answer_pairs(few, n=2), minimum=0.5)
    for result in (asked, answered):
        assert any(note.startswith(said) for note in result.notes)


class TestLackingGroups:
    """Every report names the groups that nothing was asked about."""

    def result(self):
        return assert_metric(
            "rouge_l", pairs(0, lacks=("trans", "intersex")), minimum=0.5, client=alike
        )

    def test_in_the_message(self):
        said = " ".join(self.result().message(show_text="none").split())
        assert "not covered trans, intersex (no words for these groups in the lexicon)" in said

    def test_in_the_summary_once(self):
        record = {**self.result().to_dict(), "attempt": 1, "expected": False}
        said = " ".join(" ".join(remarks([record, record])).split())
        assert said.count("trans, intersex (no words for these groups in the lexicon)") == 1

    def test_in_the_data_of_a_run(self):
        assert json.loads(json.dumps(self.result().to_dict()))["lacks"] == ["trans", "intersex"]

    def test_of_the_shipped_lexicon(self):
        made = generate_pairs([f"She asks question {i}." for i in range(90)], "gender")
        result = assert_metric("rouge_l", made, minimum=0.5, client=alike)
        assert result.lacks == load_lexicons()["gender"].lacks != ()


@pytest.mark.parametrize("blank", ["", " \n"])
def test_empty_texts_handed_over_as_answers_are_missing_and_no_pass(blank: str) -> None:
    empty = tuple((blank,) for _ in GOOD)
    responses = PairedResponses(tuple(GOOD), empty, empty)
    assert responses.original[0][0] == Missing("empty", "an empty text")
    with pytest.raises(InvalidEvidence, match="108 of 108 answers are missing for female"):
        assert_counterfactual_invariance(responses, eps=0.2)

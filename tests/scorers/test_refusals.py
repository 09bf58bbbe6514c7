"""Refusals on answers that were labelled before the rules met them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pytest_llmfair.scorers import RefusalScorer

CASES = yaml.safe_load((Path(__file__).parent / "refusal_cases.yaml").read_text(encoding="utf-8"))


def test_refusals_are_found() -> None:
    assert missed(CASES["refusals"], 1.0) == []


def test_answers_are_no_refusals() -> None:
    assert missed(CASES["answers"], 0.0) == []


def missed(texts: list[str], expected: float) -> list[str]:
    scores = RefusalScorer()(texts)
    return [text for text, score in zip(texts, scores, strict=True) if score != expected]


@pytest.mark.parametrize(("kind", "found"), [("missed", 0.0), ("mistaken", 1.0)])
def test_the_rules_get_the_listed_cases_wrong(kind: str, found: float) -> None:
    assert set(RefusalScorer()(CASES[kind])) == {found}


def test_the_labelled_set_has_the_stated_size_and_no_duplicates() -> None:
    assert len(CASES["refusals"]) + len(CASES["missed"]) == 81 + 30 + 20
    assert len(CASES["answers"]) + len(CASES["mistaken"]) == 81 + 30 + 20
    assert len({text for texts in CASES.values() for text in texts}) == 2 * (81 + 30 + 20)


def test_a_refusal_that_goes_on_to_answer_is_an_answer() -> None:
    refusal = "I can't give legal advice."
    answer = (
        refusal + " Here are the usual steps: " + "collect every letter you have received " * 5
    )
    assert RefusalScorer()([refusal, answer]).tolist() == [1.0, 0.0]


def test_what_stands_late_in_a_long_answer_is_about_its_subject() -> None:
    late = "The train leaves at nine. " * 20 + "I can't help with that."
    assert RefusalScorer()([late]).tolist() == [0.0]


def test_typographic_marks_case_and_markdown_change_nothing() -> None:
    texts = ["I can\u2019t assist with that.", "I CAN'T ASSIST WITH THAT.", "**I can't** assist."]
    assert RefusalScorer()(texts).tolist() == [1.0, 1.0, 1.0]


def test_a_very_long_text_is_read_in_linear_time() -> None:
    for part in ('i cannot " ', "\u201c", "> ", "*"):
        assert RefusalScorer()([part * 1_000_000]).shape == (1,)

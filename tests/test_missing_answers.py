"""Missing answers: a difference between groups, and the worst that they could have been."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from pytest_llmfair import (
    BoundExceeded,
    Inconclusive,
    InvalidEvidence,
    assert_counterfactual_invariance,
    assert_metric,
)
from pytest_llmfair.counterfactuals import Pair
from pytest_llmfair.judging.inputs import missing_data_of
from pytest_llmfair.responses import Missing, PairedResponses, Responses

REFUSED = Missing("refused", "no")


def pairs(n: int) -> tuple[Pair, ...]:
    return tuple(
        Pair(f"He is number {i}.", f"She is number {i}.", "male", "female", (), "gender")
        for i in range(n)
    )


def answers(n: int, lost_a: int, lost_b: int, *, start: int = 0) -> PairedResponses:
    """Equal answers on both sides; the first few are missing."""
    rows = [(f"answer {i}",) for i in range(n)]
    a = [(REFUSED,) if i < lost_a else row for i, row in enumerate(rows)]
    b = [(REFUSED,) if start <= i < start + lost_b else row for i, row in enumerate(rows)]
    return PairedResponses(pairs(n), tuple(a), tuple(b))


def judged(responses: PairedResponses, eps: float = 0.15, **more: object) -> object:
    return assert_counterfactual_invariance(
        responses, eps, baseline="none", **{"mode": "gate", "max_missing": 1.0, **more}
    )


def test_refusing_one_group_is_unequal_treatment() -> None:
    with pytest.raises(
        BoundExceeded, match=r"male\s+0\.0%,\s+female\s+40\.0%;\s+difference\s+0\.400\s+\["
    ) as e:
        judged(answers(100, 0, 40))
    assert "missing_rates_differ" in e.value.result.reasons
    assert e.value.result.value == 0.0


def test_refusing_both_groups_equally_is_no_violation_and_no_pass() -> None:
    result = judged(answers(100, 40, 40))
    assert result.verdict == "INCONCLUSIVE"
    assert "worst_case_exceeds" in result.reasons
    assert any("difference 0.000" in note for note in result.notes)


def test_too_many_missing_answers_stay_invalid() -> None:
    with pytest.raises(
        InvalidEvidence, match="40 of 100 answers are missing for female"
    ) as caught:
        judged(answers(100, 0, 40), max_missing=0.05)
    said = " ".join(str(caught.value).split())
    assert "male 0.0%, female 40.0%; difference 0.400" in said


def test_an_unproven_difference_is_reported_and_decides_nothing() -> None:
    result = judged(answers(100, 0, 3))
    assert result.verdict == "PASS"
    assert any("female 3.0%; difference 0.030 [" in note for note in result.notes)


def test_without_a_missing_answer_nothing_is_reported() -> None:
    assert not any("missing" in note for note in judged(answers(100, 0, 0)).notes)


def test_a_strict_pass_survives_the_worst_case() -> None:
    result = judged(answers(400, 2, 2, start=2), eps=0.15, mode="strict")
    assert result.verdict == "PASS"
    assert not result.red


def test_a_strict_pass_that_the_missing_answers_could_refute_is_red() -> None:
    with pytest.raises(Inconclusive, match=r"the\s+missing\s+ones\s+could\s+undo\s+it") as e:
        judged(answers(400, 20, 20, start=20), eps=0.06, mode="strict")
    assert "worst_case_exceeds" in e.value.result.reasons
    gate = judged(answers(400, 20, 20, start=20), eps=0.06)
    assert (gate.verdict, gate.red) == ("INCONCLUSIVE", False)
    assert "worst_case_exceeds" in gate.reasons
    assert gate.needed_units is None


def test_the_worst_case_is_worse_than_whatever_the_missing_answers_are() -> None:
    draw = np.random.default_rng(5)
    for _ in range(50):
        scores = draw.random((60, 3)) * draw.random()
        lost = draw.random((60, 3)) < 0.04
        rows = [
            tuple(REFUSED if gone else f"text {x}" for x, gone in zip(row, flags, strict=True))
            for row, flags in zip(scores, lost, strict=True)
        ]
        responses = Responses(tuple(f"prompt {i}" for i in range(60)), tuple(rows))
        losses = missing_data_of([rows], (), range(60))
        found = assert_metric(
            "toxic_fraction",
            responses,
            bound=0.9,
            scorer=lambda texts: [float(text.split()[1]) for text in texts],
            mode="gate",
            max_missing=1.0,
        )
        for unseen in (0.0, 1.0):
            whole = np.where(lost, unseen, scores)
            assert abs((whole >= 0.5).mean() - found.value) <= losses.share + 1e-9


@pytest.mark.parametrize("metric", ["weak_sentiment_parity", "strict_sentiment_parity"])
def test_the_worst_case_of_a_difference_of_sides_is_one(metric: str) -> None:
    draw = np.random.default_rng(6)

    def value(a: np.ndarray, b: np.ndarray, lost: np.ndarray) -> object:
        sides = [
            tuple(
                (REFUSED if gone else f"text {x}",) for x, gone in zip(side, column, strict=True)
            )
            for side, column in ((a, lost[0]), (b, lost[1]))
        ]
        return assert_metric(
            metric,
            PairedResponses(pairs(len(a)), *sides),
            bound=0.99,
            scorer=lambda texts: [float(text.split()[1]) for text in texts],
            max_missing=1.0,
            mode="point",
            level=0.5,
        )

    none = np.zeros((2, 60), dtype=bool)
    reported = 0
    for _ in range(8):
        a, b = draw.random((2, 60)) * draw.random((2, 1))
        lost = draw.random((2, 60)) < 0.08
        found = value(a, b, lost)
        words = next((note for note in found.notes if note.startswith("worst case")), None)
        if words is None:
            continue
        reported += 1
        low, high = (float(x) for x in re.findall(r"[\d.]+", words))
        for unseen in ((0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (1.0, 1.0)):
            whole = [
                np.where(gone, x, side) for side, gone, x in zip((a, b), lost, unseen, strict=True)
            ]
            assert low - 1e-3 <= value(*whole, none).value <= high + 1e-3
    assert reported > 5


def test_where_words_are_counted_one_missing_answer_could_outweigh_all() -> None:
    rows = [(f"he she nurse and he said she {i}",) for i in range(100)]
    rows[3] = (REFUSED,)
    responses = Responses(tuple(f"prompt {i}" for i in range(100)), tuple(rows))
    with pytest.raises(
        Inconclusive, match=r"one\s+long\s+answer\s+could\s+outweigh\s+all\s+others"
    ) as caught:
        assert_metric(
            "equal_group_associations",
            responses,
            bound=0.9,
            group_words={"male": ["he"], "female": ["she"]},
            target_words=["nurse"],
            mode="strict",
        )
    assert "worst_case_unknown" in caught.value.result.reasons


def test_a_missing_answer_affects_all_equal_prompts() -> None:
    rows = [("he said",) if i % 2 else ("she said",) for i in range(400)]
    rows[0] = (REFUSED,)
    # 40 prompts, each asked in 10 rows: one missing answer is one of 40, not of 400.
    responses = Responses(tuple(f"prompt {i // 10}" for i in range(400)), tuple(rows))
    found = assert_metric("ruted_skew", responses, bound=0.9)
    words = next(note for note in found.notes if note.startswith("worst case"))
    low, high = (float(x) for x in re.findall(r"-?[\d.]+", words))
    # The share that is missing is itself that of a sample of 40 prompts.
    error = 1.96 * 2 * math.sqrt(2 * (1 / 40) / 40)
    below, above = (math.hypot(found.value - end, error) for end in (found.lower, found.upper))
    assert low == pytest.approx(found.value - below - 2 / 40, abs=1e-3)
    assert high == pytest.approx(found.value + above + 2 / 40, abs=1e-3)


@pytest.mark.parametrize(("bound", "error"), [(0.1, BoundExceeded), (0.5, Inconclusive)])
def test_the_worst_case_is_reported_whatever_the_verdict(
    bound: float, error: type[Exception]
) -> None:
    rows = [(f"text {i % 2}",) for i in range(200)]
    rows[:4] = [(REFUSED,)] * 4
    responses = Responses(tuple(f"prompt {i}" for i in range(200)), tuple(rows))
    with pytest.raises(error, match="worst case of the missing answers"):
        assert_metric(
            "toxic_fraction",
            responses,
            bound=bound,
            scorer=lambda texts: [float(text.split()[1]) for text in texts],
            mode="strict",
        )


def test_a_group_without_any_answer_is_invalid() -> None:
    with pytest.raises(InvalidEvidence, match=r"none of the 100 pairs has an answer") as caught:
        judged(answers(100, 0, 100))
    assert "male 0.0%, female 100.0%" in " ".join(str(caught.value).split())
    with pytest.raises(InvalidEvidence, match=r"100 of 100 answers are missing for male"):
        judged(answers(100, 100, 100), max_missing=0.5)


def test_mode_point_does_not_pass_what_is_refused_to_one_group() -> None:
    with pytest.raises(BoundExceeded, match="red because  mode point, and the missing answers"):
        judged(answers(100, 0, 40), mode="point")


def test_a_lost_repeat_does_not_make_a_deterministic_model_look_random() -> None:
    rows = [(f"answer {i}",) * 3 for i in range(100)]
    other = list(rows)
    other[5] = ("answer 5", REFUSED, REFUSED)
    responses = PairedResponses(pairs(100), tuple(rows), tuple(other))
    found = assert_counterfactual_invariance(responses, 0.15)
    assert "identical_repeats" in found.reasons
    assert found.generations == 100
    assert any("all 3 repeats of every prompt are identical" in note for note in found.notes)


def test_an_answer_that_the_budget_could_not_pay_is_never_a_pass() -> None:
    rows = [(f"answer {i}",) for i in range(200)]
    rows[7] = (Missing("over_budget", "spent"),)
    responses = Responses(tuple(f"prompt {i}" for i in range(200)), tuple(rows))
    with pytest.raises(
        InvalidEvidence, match=r"1 of 200 answers (.|\n)* raise --llmfair-max-calls"
    ):
        assert_metric(
            "toxic_fraction", responses, bound=0.5, scorer=lambda texts: [0.0] * len(texts)
        )

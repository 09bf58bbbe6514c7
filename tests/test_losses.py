"""Missing answers: a difference between groups, and the worst that they could have been."""

from __future__ import annotations

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
from pytest_llmfair.losses import losses_of
from pytest_llmfair.responses import Missing, PairedResponses, Responses

REFUSED = Missing("refused", "no")


def pairs(n: int) -> tuple[Pair, ...]:
    return tuple(
        Pair(f"He is number {i}.", f"She is number {i}.", "male", "female", (), "gender")
        for i in range(n)
    )


def answers(n: int, lost_a: int, lost_b: int, *, start: int = 0) -> PairedResponses:
    """Equal answers on both sides, of which the first few are missing."""
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
        BoundExceeded, match=r"male 0\.0%, female 40\.0%; difference 0\.400 \["
    ) as e:
        judged(answers(100, 0, 40))
    assert "missing_rates_differ" in e.value.result.reasons
    assert e.value.result.value == 0.0


def test_refusing_both_groups_alike_is_none() -> None:
    result = judged(answers(100, 40, 40))
    assert result.verdict == "PASS"
    assert any("difference 0.000" in note for note in result.notes)


def test_too_many_missing_answers_stay_invalid() -> None:
    with pytest.raises(InvalidEvidence, match="40 of 100 answers are missing for female"):
        judged(answers(100, 0, 40), max_missing=0.05)


def test_a_difference_that_is_not_proven_is_told_and_decides_nothing() -> None:
    result = judged(answers(100, 0, 3))
    assert result.verdict == "PASS"
    assert any("female 3.0%; difference 0.030 [" in note for note in result.notes)


def test_without_a_missing_answer_nothing_is_said() -> None:
    assert not any("missing" in note for note in judged(answers(100, 0, 0)).notes)


def test_a_strict_pass_survives_the_worst_case() -> None:
    result = judged(answers(400, 2, 2, start=2), eps=0.15, mode="strict")
    assert result.verdict == "PASS"
    assert not result.red


def test_a_strict_pass_that_the_missing_answers_could_refute_is_red() -> None:
    with pytest.raises(Inconclusive, match="worst case of the missing answers") as e:
        judged(answers(400, 20, 20, start=20), eps=0.06, mode="strict")
    assert "worst_case_exceeds" in e.value.result.reasons
    gate = judged(answers(400, 20, 20, start=20), eps=0.06)
    assert gate.verdict == "PASS"
    assert "worst_case_exceeds" in gate.reasons


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
        losses = losses_of([rows], (), range(60))
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


def test_an_answer_that_the_budget_could_not_pay_is_never_a_pass() -> None:
    rows = [(f"answer {i}",) for i in range(200)]
    rows[7] = (Missing("over_budget", "spent"),)
    responses = Responses(tuple(f"prompt {i}" for i in range(200)), tuple(rows))
    with pytest.raises(InvalidEvidence, match=r"1 of 200 answers .* raise --llmfair-max-calls"):
        assert_metric(
            "toxic_fraction", responses, bound=0.5, scorer=lambda texts: [0.0] * len(texts)
        )

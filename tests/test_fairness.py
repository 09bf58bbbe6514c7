from __future__ import annotations

import numpy as np
import pytest

from pytest_llmfair import BoundExceeded, Fairness, InvalidEvidence, Verdict
from pytest_llmfair.counterfactuals import generate_pairs

PAIRS = generate_pairs([f"She asked question {i}." for i in range(60)], attribute="gender")


def answers(prompt):
    return f"Thank you for question {prompt.split()[-1]}"


def collector(model=answers):
    return Fairness(
        client=lambda: model,
        scorers=lambda: {"sentiment": lambda texts: np.linspace(0.4, 0.6, len(texts))},
    )


def test_several_checks_share_one_sample():
    asked = []
    fairness = collector(lambda prompt: asked.append(prompt) or answers(prompt))
    fairness.collect(PAIRS, generations=1)
    calls = len(asked)
    fairness.check("counterfactual_rouge_l", minimum=0.8)
    fairness.check("weak_sentiment_parity", bound=0.9)
    assert len(asked) == calls == 2 * len(PAIRS)


def test_a_red_check_raises_at_the_end_only():
    fairness = collector(lambda prompt: f"Yes. {prompt[:3] == 'She'}")
    fairness.collect(PAIRS, generations=2)
    result = fairness.check("counterfactual_rouge_l", minimum=0.8)
    assert result.verdict is Verdict.FAIL
    with pytest.raises(BoundExceeded):
        fairness.finish()
    fairness.finish()


def test_invalid_evidence_is_raised_before_an_exceeded_bound():
    fairness = collector()
    fairness.check("toxic_fraction", [0.9, 0.8] * 50, bound=0.1)
    fairness.check("ruted_neutrality", {"nurse": 0}, {"nurse": 0}, bound=0.3)
    with pytest.raises(InvalidEvidence) as caught:
        fairness.finish()
    assert "FAIL toxic_fraction" in str(caught.value)


def test_a_check_without_data_needs_collected_answers():
    with pytest.raises(ValueError, match=r"call fairness\.collect"):
        collector().check("counterfactual_rouge_l", minimum=0.5)


def test_a_check_takes_a_bound_by_position_and_names_the_unit_as_the_call_does():
    fairness = collector()
    fairness.collect(PAIRS, generations=1)
    assert fairness.check("counterfactual_rouge_l", 0.8).bound == 0.8
    named = fairness.check("toxic_fraction", [0.1] * 100, bound=0.5, unit="ranking")
    assert named.unit == "ranking"


def test_a_scorer_named_in_a_check_is_the_one_of_the_fixture():
    fairness = Fairness(
        client=lambda: answers,
        scorers=lambda: {"sentiment": lambda texts: 1 / 0, "own": lambda t: [0.5] * len(t)},
    )
    fairness.collect(PAIRS, generations=1)
    assert fairness.check("weak_sentiment_parity", bound=0.9, scorer="own").value == 0.0


@pytest.mark.parametrize(
    ("asked", "given", "answers_each"),
    [(PAIRS[:3], (), 2), (["a", "b"], (), 1), (iter(PAIRS[:3]), (), 2), (["a", "b"], (3,), 3)],
)
def test_pairs_are_answered_twice_and_prompts_once_unless_generations_are_given(
    asked, given, answers_each
):
    responses = collector().collect(asked, *given)
    rows = getattr(responses, "original", getattr(responses, "answers", None))
    assert {len(row) for row in rows} == {answers_each}


def test_generations_are_a_whole_number():
    with pytest.raises(ValueError, match="generations is 0; give a whole number"):
        collector().collect(PAIRS, generations=0)

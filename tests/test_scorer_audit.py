"""The gap that a scorer itself sees between groups, and what it means for a verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pytest_llmfair import InvalidEvidence, assert_counterfactual_invariance, assert_metric
from pytest_llmfair.counterfactuals import fill_templates, generate_pairs, template_set
from pytest_llmfair.scorers import SentimentScorer, self_audit

PROMPTS = [f"Write what she did on day {i}." for i in range(30)]


class Prejudiced:
    """Takes a text about a woman for worse, whatever it says."""

    name = "prejudiced"
    range = (0.0, 1.0)

    def __init__(self, gap: float) -> None:
        self.gap = gap

    def __call__(self, texts: Sequence[str]) -> list[float]:
        words = {"she", "her", "hers", "herself", "woman", "women", "female", "lady", "ladies"}
        return [0.6 - self.gap * bool(words & set(text.lower().split())) for text in texts]


def alike(prompt: str) -> str:
    return "The weather was fine."


def test_the_gap_is_that_of_the_neutral_sentences() -> None:
    found = self_audit(SentimentScorer(), "disability")
    templates = template_set("disability")
    examples = fill_templates(
        [t for t in templates if t.label == "neutral"],
        templates.fillers,
        attribute="disability",
        fill_limit=1,
    )
    scorer = SentimentScorer()
    means = {
        group: np.mean([np.mean(scorer([v.text for v in e.variations[group]])) for e in examples])
        for group in examples.groups
    }
    assert found.means == pytest.approx(means)
    assert found.gap == pytest.approx(max(means.values()) - min(means.values()))
    assert found.gap > 0.1  # VADER takes "illness" for bad news
    assert found.lower <= found.gap <= found.upper
    assert found.sentences == len(examples) == 20


def test_a_scorer_that_does_not_look_at_groups_has_no_gap() -> None:
    found = self_audit(lambda texts: [0.5] * len(texts), "gender")
    assert found.gap == 0.0
    assert found.lower <= 0.0 <= found.upper


def test_groups_that_are_scored_alike_are_two_groups_still() -> None:
    found = self_audit(lambda texts: [0.5] * len(texts), "gender")
    assert len(set(found.furthest)) == 2


def test_groups_can_be_chosen_and_are_named_in_words() -> None:
    found = self_audit(Prejudiced(0.3), "gender", groups=("female", "male"))
    assert found.furthest == ("female", "male")
    assert str(found).startswith("prejudiced on 20 neutral sentences (gender): female 0.3")


def test_an_attribute_without_templates_is_an_error() -> None:
    with pytest.raises(ValueError, match="shoe size"):
        self_audit("sentiment", "shoe size")


def test_an_assertion_reports_what_its_scorer_makes_of_the_groups() -> None:
    pairs = generate_pairs(PROMPTS, "gender")
    found = assert_metric("weak_sentiment_parity", pairs, 0.2, client=alike, scorer="sentiment")
    assert found.verdict == "PASS"
    assert any("the scorer sentiment alone gives 0.000 on 20" in note for note in found.notes)


@pytest.mark.parametrize("metric", ["sentiment", "weak_sentiment_parity"])
def test_a_scorer_whose_own_gap_is_beyond_the_bound_is_no_evidence(metric: str) -> None:
    pairs = generate_pairs(PROMPTS, "gender")
    with pytest.raises(InvalidEvidence, match="the scorer prejudiced alone gives") as caught:
        assert_counterfactual_invariance(
            pairs, 0.15, metric=metric, client=alike, scorer=Prejudiced(0.3)
        )
    assert "scorer_gap" in caught.value.result.reasons


def test_a_gap_within_the_bound_is_a_note() -> None:
    pairs = generate_pairs(PROMPTS, "gender")
    found = assert_counterfactual_invariance(
        pairs, 0.35, metric="sentiment", client=alike, scorer=Prejudiced(0.3)
    )
    assert found.verdict == "PASS"
    assert any("the scorer prejudiced alone gives 0." in note for note in found.notes)


def test_a_plain_function_is_asked_about_the_answers_only() -> None:
    asked: list[str] = []

    def scorer(texts: Sequence[str]) -> list[float]:
        asked.extend(texts)
        return [0.5] * len(texts)

    assert_metric(
        "weak_sentiment_parity",
        generate_pairs(PROMPTS, "gender"),
        0.2,
        client=alike,
        scorer=scorer,
    )
    assert set(asked) == {"The weather was fine."}


def test_a_scorer_that_fails_on_other_texts_is_a_note() -> None:
    class Table:
        name = "table"
        range = (0.0, 1.0)

        def __call__(self, texts: Sequence[str]) -> list[float]:
            return [{"The weather was fine.": 0.5}[text] for text in texts]

    found = assert_metric(
        "weak_sentiment_parity",
        generate_pairs(PROMPTS, "gender"),
        0.2,
        client=alike,
        scorer=Table(),
    )
    assert found.verdict == "PASS"
    assert any("the scorer table could not be audited" in note for note in found.notes)

"""The gap that a scorer itself sees between groups, and what it means for a verdict."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.special import stdtrit

from pytest_llmfair import InvalidEvidence, assert_counterfactual_invariance, assert_metric
from pytest_llmfair.counterfactuals import fill_templates, generate_pairs, template_set
from pytest_llmfair.judging.scorer_audit import _gap
from pytest_llmfair.probing import self_audit
from pytest_llmfair.scorers import SentimentScorer

PAIRS = generate_pairs([f"Write what she did on day {i}." for i in range(30)], "gender")


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
    assert len(set(found.furthest)) == 2


def test_groups_can_be_chosen_and_are_named_in_words() -> None:
    found = self_audit(Prejudiced(0.3), "gender", groups=("female", "male"))
    assert found.furthest == ("female", "male")
    assert str(found).startswith("prejudiced on 20 neutral sentences (gender): female 0.3")


def test_an_attribute_without_templates_is_an_error() -> None:
    with pytest.raises(ValueError, match="shoe size"):
        self_audit("sentiment", "shoe size")


def test_an_assertion_reports_what_its_scorer_makes_of_the_groups() -> None:
    found = assert_metric("weak_sentiment_parity", PAIRS, 0.2, client=alike, scorer="sentiment")
    assert found.verdict == "PASS"
    assert "the scorer sentiment alone gives 0.000 on 20 neutral sentences" in found.notes


def test_what_rewording_gives_is_named_where_it_gives_something() -> None:
    found = assert_metric(
        "score_difference", PAIRS, 9.0, client=alike, scorer="length", mode="point"
    )
    assert any("besides the 2.500 that rewording them gives" in note for note in found.notes)


@pytest.mark.parametrize("metric", ["sentiment", "weak_sentiment_parity"])
def test_a_scorer_whose_own_gap_is_beyond_the_bound_is_no_evidence(metric: str) -> None:
    with pytest.raises(InvalidEvidence, match="the scorer prejudiced alone gives") as caught:
        assert_counterfactual_invariance(
            PAIRS, 0.15, metric=metric, client=alike, scorer=Prejudiced(0.3)
        )
    assert "scorer_gap" in caught.value.result.reasons


def test_a_gap_within_the_bound_is_a_note() -> None:
    found = assert_counterfactual_invariance(
        PAIRS, 0.35, metric="sentiment", client=alike, scorer=Prejudiced(0.3)
    )
    assert found.verdict == "PASS"
    assert any("the scorer prejudiced alone gives 0." in note for note in found.notes)


class Noisy(Prejudiced):
    """Adds noise to every text, by its words alone."""

    def __init__(self, gap: float, seed: int) -> None:
        super().__init__(gap)
        self.seed = seed
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> list[float]:
        self.asked += texts
        noise = [random.Random(f"{self.seed} {text}").gauss(0.0, 0.1) for text in texts]
        given = zip(super().__call__(texts), noise, strict=True)
        return [min(1.0, max(0.0, score + more)) for score, more in given]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("metric", ["sentiment", "weak_sentiment_parity"])
def test_noise_alone_is_no_gap_between_groups(metric: str, seed: int) -> None:
    # |noise - noise| is .11 on average, and a fifth of the sentences change sides.
    found = assert_counterfactual_invariance(
        PAIRS,
        0.1,
        metric=metric,
        client=alike,
        scorer=Noisy(0.0, seed),
        mode="point",
    )
    assert "scorer_gap" not in found.reasons


@pytest.mark.parametrize("seed", range(4))
def test_a_real_gap_is_found_in_noise(seed: int) -> None:
    with pytest.raises(InvalidEvidence, match="the scorer prejudiced alone gives"):
        assert_counterfactual_invariance(
            PAIRS, 0.1, metric="sentiment", client=alike, scorer=Noisy(0.25, seed)
        )


def test_the_gap_and_its_interval_come_from_the_scores_of_the_sentences() -> None:
    scores = {}
    rng = np.random.default_rng(3)
    halves = [[[[], []] for _ in range(20)] for _ in range(2)]
    for group, row, half in np.ndindex(2, 20, 2):
        halves[group][row][half] = [f"{group} {row} {half} {i}" for i in range(2)]
        for text in halves[group][row][half]:
            scores[text] = rng.normal(0.3 * group, 0.2)

    def distance(first: list[list[str]], second: list[list[str]], _: list[int]) -> float:
        each = [
            np.mean([abs(scores[a] - scores[b]) for a in row for b in other])
            for row, other in zip(first, second, strict=True)
        ]
        return float(np.mean(each))

    sides = [tuple([row[half] for row in group] for half in range(2)) for group in halves]

    def beyond(rows: list[int]) -> float:
        def of(g: int, h: int, g2: int, h2: int) -> float:
            return distance(
                [halves[g][r][h] for r in rows], [halves[g2][r][h2] for r in rows], rows
            )

        across = sum(of(0, i, 1, j) for i in range(2) for j in range(2)) / 4
        return across**2 - ((of(0, 0, 0, 1) + of(1, 0, 1, 1)) / 2) ** 2

    left = [beyond([r for r in range(20) if r != part]) for part in range(20)]
    error = np.sqrt(0.95 * np.sum((np.array(left) - np.mean(left)) ** 2))
    found = _gap(sides, distance, 0.0)
    whole = beyond(list(range(20)))
    assert found.value == pytest.approx(np.sqrt(whole))
    assert found.lower == pytest.approx(
        np.sqrt(max(0.0, whole - stdtrit(19, 0.975) * error)), rel=1e-3
    )
    assert found.upper == pytest.approx(np.sqrt(whole + stdtrit(19, 0.975) * error), rel=1e-3)
    # Within the bound no lower end can prove the contrary.
    quick = _gap(sides, distance, found.value)
    assert (quick.value, quick.rewording) == (found.value, found.rewording)
    assert (quick.lower, quick.interval) == (0.0, "")


def test_each_wording_is_scored_once() -> None:
    scorer = Noisy(0.0, 1)
    assert_counterfactual_invariance(PAIRS, 0.2, metric="sentiment", client=alike, scorer=scorer)
    sentences = [text for text in scorer.asked if text != alike("")]
    assert len(sentences) == len({*sentences}) == 160


def test_a_plain_function_is_asked_about_the_answers_only() -> None:
    asked: list[str] = []

    def scorer(texts: Sequence[str]) -> list[float]:
        asked.extend(texts)
        return [0.5] * len(texts)

    assert_metric(
        "weak_sentiment_parity",
        PAIRS,
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
        PAIRS,
        0.2,
        client=alike,
        scorer=Table(),
    )
    assert found.verdict == "PASS"
    assert any("the scorer table could not be audited" in note for note in found.notes)

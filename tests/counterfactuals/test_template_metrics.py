"""From templates to generalized metrics, with a classifier trained on the spot."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import numpy as np
import pytest

from pytest_llmfair.counterfactuals import (
    SourceExamples,
    fill_templates,
    load_lexicons,
    template_set,
)
from pytest_llmfair.metrics import class_probability, named

CLASSES = ["negative", "neutral", "positive"]
GROUPS = ("christian", "muslim", "sikh")


class WordClassifier:
    """Multinomial logistic regression on the words of a text."""

    def __init__(self, texts: Sequence[str], labels: Sequence[object]) -> None:
        self.words = sorted({word for text in texts for word in self._split(text)})
        x, y = self._counts(texts), np.array([CLASSES.index(str(label)) for label in labels])
        self.weights = np.zeros((x.shape[1], len(CLASSES)))
        for _ in range(200):
            gap = self._softmax(x @ self.weights) - np.eye(len(CLASSES))[y]
            self.weights -= 2.0 * (x.T @ gap / len(y) + 1e-3 * self.weights)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        return self._softmax(self._counts(texts) @ self.weights)

    @staticmethod
    def _split(text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())

    @staticmethod
    def _softmax(scores: np.ndarray) -> np.ndarray:
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def _counts(self, texts: Sequence[str]) -> np.ndarray:
        split = [self._split(text) for text in texts]
        return np.array([[words.count(word) for word in self.words] + [1] for words in split])


def trained(*planted: tuple[str, str]) -> WordClassifier:
    """Train on the templates of names, and on sentences that the caller adds."""
    names = fill_templates(template_set("name"), attribute="name", term_limit=1)
    texts = names.texts + [text for text, _ in planted for _ in range(20)]
    labels = names.text_labels + [label for _, label in planted for _ in range(20)]
    return WordClassifier(texts, labels)


@pytest.fixture(scope="module")
def examples() -> SourceExamples:
    return fill_templates(template_set("religion"), groups=GROUPS)


@pytest.fixture(scope="module")
def biased(examples: SourceExamples) -> np.ndarray:
    model = trained(("Muslim", "negative"), ("Muslims", "negative"), ("Christian", "positive"))
    return model(examples.texts)


def gold(labels: Sequence[object]) -> list[int]:
    return [CLASSES.index(str(label)) for label in labels]


def test_scores_go_straight_into_a_counterfactual_metric(
    examples: SourceExamples, biased: np.ndarray
) -> None:
    y_prob = examples.nested(biased)
    estimate = named(
        "CFGap",
        y_prob=y_prob,
        y_true=gold(examples.labels),
        groups=examples.groups,
        units=examples.units,
        positive=CLASSES.index("negative"),
    )
    gaps = {}
    for one, other in itertools.combinations(range(3), 2):
        gaps[GROUPS[one], GROUPS[other]] = np.mean(
            [
                np.mean([abs(a[0] - b[0]) for a in example[one] for b in example[other]])
                for example in y_prob
            ]
        )
    for pair, gap in gaps.items():
        assert estimate.groups[pair].value == pytest.approx(gap)
    assert gaps["christian", "muslim"] > 0.1


def test_a_classifier_that_never_saw_the_groups_has_no_gap() -> None:
    templates = [t for t in template_set("religion") if "{identity}" in t.text]
    examples = fill_templates(templates, attribute="religion", groups=GROUPS)
    y_prob = examples.nested(trained()(examples.texts))
    estimate = named("PertSR", y_prob=y_prob, y_true=gold(examples.labels), groups=GROUPS)
    assert estimate.value == pytest.approx(0.0, abs=1e-12)


def test_predictions_go_straight_into_a_group_metric(
    examples: SourceExamples, biased: np.ndarray
) -> None:
    predicted = biased.argmax(axis=1)
    truth = gold(examples.text_labels)
    estimate = named(
        "FPED*",
        y_true=truth,
        y_pred=predicted,
        groups=examples.text_groups,
        units=examples.text_units,
        positive=0,
    )
    rate = {}
    for group in (*GROUPS, None):
        rows = [
            p == 0
            for p, t, g in zip(predicted, truth, examples.text_groups, strict=True)
            if t != 0 and group in (g, None)
        ]
        rate[group] = sum(rows) / len(rows)
    expected = sum(abs(rate[group] - rate[None]) for group in GROUPS) / len(GROUPS)
    assert estimate.value == pytest.approx(expected)
    assert estimate.value > 0.02


def test_tagged_tokens_go_straight_into_a_sequence_metric() -> None:
    known = {"Germany", "Brazil", "Fiji", "Haiti", "Geneva", "Vienna", "London", "Dublin"}

    def tagger(tokens: Sequence[str]) -> list[dict[str, float]]:
        return [{"U-LOC": 0.9, "O": 0.1} if t in known else {"O": 1.0} for t in tokens]

    examples = fill_templates(template_set("country"))
    answers = [tagger(variation.tokens) for variation in examples.variations]
    predicted = [[max(token, key=token.get) for token in answer] for answer in answers]
    groups = ("gdp over 2 trillion", "gdp 200 to 400 billion")
    rows = [i for i, group in enumerate(examples.text_groups) if group in groups]
    tags = [variation.tags for variation in examples.variations]
    estimate = named(
        "Recall Difference",
        y_true=[list(tags[i] or ()) for i in rows],
        y_pred=[predicted[i] for i in rows],
        groups=[examples.text_groups[i] for i in rows],
        positive="LOC",
    )
    shares = []
    for group in groups:
        spans = [
            (tag, guess)
            for i in rows
            if examples.text_groups[i] == group
            for tag, guess in zip(tags[i] or (), predicted[i], strict=True)
            if tag[0] in "BU"
        ]
        shares.append(sum(tag == guess for tag, guess in spans) / len(spans))
    assert estimate.value == pytest.approx(shares[0] - shares[1])
    places = examples.variations[0].identity
    assert class_probability([answers[0][place] for place in places], "LOC") == 0.9


def test_metrics_tell_the_groups_that_no_template_names() -> None:
    lexicon = load_lexicons()["religion"]
    examples = fill_templates(template_set("religion"), attribute="religion", groups=GROUPS[:2])
    part = examples[:20]
    assert part.lacks == examples.lacks == lexicon.lacks != ()
    scores = part.nested([[0.1 + 0.8 * (len(text) % 2)] * 2 for text in part.texts])
    estimate = named("CFGap", y_prob=scores, groups=part.groups, positive=1)
    assert estimate.lacks == lexicon.lacks
    estimate = named(
        "FPED*",
        y_true=gold(part.text_labels),
        y_pred=[0] * len(part.texts),
        groups=part.text_groups,
        positive=0,
    )
    assert estimate.lacks == lexicon.lacks


def test_two_peoples_fill_templates() -> None:
    made = fill_templates(
        ["{Person} works."], attribute="nationality", groups=("Italian", "Nigerian")
    )
    assert made.groups == ("Italian", "Nigerian")
    assert "An Italian works." in made.texts
    assert "A Nigerian person works." in made.texts

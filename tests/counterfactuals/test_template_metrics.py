"""Source examples of templates go straight into generalized metrics."""

from __future__ import annotations

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


@pytest.fixture(scope="module")
def examples() -> SourceExamples:
    return fill_templates(template_set("religion"), groups=GROUPS, term_limit=3)


def scores(texts: Sequence[str]) -> list[list[float]]:
    """Class probabilities of a classifier that dislikes one word."""
    disliked = [0.2 + 0.5 * ("Muslim" in text) + 0.1 * (len(text) % 2) for text in texts]
    return [[share, 0.8 * (1 - share), 0.2 * (1 - share)] for share in disliked]


def gold(labels: Sequence[object]) -> list[int]:
    return [CLASSES.index(str(label)) for label in labels]


def test_scores_go_into_a_counterfactual_metric(examples: SourceExamples) -> None:
    y_prob = examples.nested(scores(examples.texts))
    estimate = named(
        "CFGap",
        y_prob=y_prob,
        y_true=gold(examples.labels),
        groups=examples.groups,
        units=examples.units,
        positive=0,
    )
    gaps = [
        np.mean([abs(a[0] - b[0]) for a in example[0] for b in example[1]]) for example in y_prob
    ]
    assert estimate.groups["christian", "muslim"].value == pytest.approx(np.mean(gaps))
    assert estimate.groups["christian", "sikh"].value < 0.5 * np.mean(gaps)


def test_predictions_go_into_a_group_metric(examples: SourceExamples) -> None:
    predicted = np.argmax(scores(examples.texts), axis=1)
    truth = gold(examples.text_labels)
    estimate = named(
        "FPED*",
        y_true=truth,
        y_pred=predicted,
        groups=examples.text_groups,
        units=examples.text_units,
        positive=0,
    )
    rates = {group: row.rate for group, row in estimate.groups.items()}
    for group in GROUPS:
        rows = zip(predicted, truth, examples.text_groups, strict=True)
        positives = [guess == 0 for guess, own, g in rows if own != 0 and g == group]
        assert rates[group] == pytest.approx(np.mean(positives))
    assert max(rates, key=rates.get) == "muslim"


def test_tagged_tokens_go_into_a_sequence_metric() -> None:
    known = {"Germany", "Brazil", "Fiji", "Haiti", "Geneva", "Vienna", "London", "Dublin"}
    examples = fill_templates(template_set("country"))
    groups = ("gdp over 2 trillion", "gdp 200 to 400 billion")
    rows = [i for i, group in enumerate(examples.text_groups) if group in groups]
    tags = [list(examples.variations[i].tags or ()) for i in rows]
    predicted = [
        ["U-LOC" if token in known else "O" for token in examples.variations[i].tokens]
        for i in rows
    ]
    own_groups = [examples.text_groups[i] for i in rows]
    estimate = named(
        "Recall Difference", y_true=tags, y_pred=predicted, groups=own_groups, positive="LOC"
    )
    shares = []
    for group in groups:
        spans = [
            tag == guess
            for own, guesses, g in zip(tags, predicted, own_groups, strict=True)
            if g == group
            for tag, guess in zip(own, guesses, strict=True)
            if tag[0] in "BU"
        ]
        shares.append(np.mean(spans))
    assert estimate.value == pytest.approx(shares[0] - shares[1])


def test_token_places_of_a_name_give_its_class_probability() -> None:
    (variation,) = fill_templates(template_set("country"), term_limit=1)[:1].variations[:1]
    answer = [{"U-LOC": 0.9, "O": 0.1} for _ in variation.tokens]
    assert class_probability([answer[place] for place in variation.identity], "LOC") == 0.9


def test_metrics_report_the_groups_that_no_template_names() -> None:
    lacks = load_lexicons()["religion"].lacks
    part = fill_templates(template_set("religion"), groups=GROUPS[:2])[:20]
    assert part.lacks == lacks != ()
    nested = part.nested(scores(part.texts))
    assert named("CFGap", y_prob=nested, groups=part.groups, positive=1).lacks == lacks
    labels, guesses = gold(part.text_labels), [0] * len(part.texts)
    estimate = named("FPED*", y_true=labels, y_pred=guesses, groups=part.text_groups, positive=0)
    assert estimate.lacks == lacks


def test_two_peoples_fill_templates() -> None:
    groups = ("Italian", "Nigerian")
    made = fill_templates(["{Person} works."], attribute="nationality", groups=groups)
    assert made.groups == groups
    assert {"An Italian works.", "A Nigerian person works."} <= {*made.texts}

"""Sequence labelling: exact spans of BILOU tags, tags of longer terms, class probabilities."""

from __future__ import annotations

import pytest

from pytest_llmfair.metrics import class_probability, expand_label, named

LOC = ["U-LOC", "O"]


@pytest.mark.parametrize(
    ("label", "n", "tags"),
    [
        ("U-LOC", 1, ["U-LOC"]),
        ("U-LOC", 2, ["B-LOC", "L-LOC"]),
        ("U-LOC", 4, ["B-LOC", "I-LOC", "I-LOC", "L-LOC"]),
        ("B-LOC", 3, ["B-LOC", "I-LOC", "I-LOC"]),
        ("I-LOC", 2, ["I-LOC", "I-LOC"]),
        ("L-LOC", 3, ["I-LOC", "I-LOC", "L-LOC"]),
        ("O", 2, ["O", "O"]),
    ],
)
def test_a_tag_is_spread_over_the_tokens_of_a_term(label, n, tags):
    assert expand_label(label, n) == tags


@pytest.mark.parametrize(("label", "n"), [("U-LOC", 0), ("U-LOC", 1.5), ("LOC", 1), ("X-LOC", 1)])
def test_a_tag_that_cannot_be_spread_is_refused(label, n):
    with pytest.raises(ValueError, match=r"label|n is"):
        expand_label(label, n)


def test_tags_of_a_class_are_added_and_tokens_averaged():
    tokens = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.1, 0.3]]
    assert class_probability(tokens, [0, 2]) == pytest.approx((0.4 + 0.6) / 2)
    assert class_probability(tokens[0], [1]) == pytest.approx(0.2)


def test_tags_may_have_names():
    tokens = [{"B-LOC": 0.5, "U-LOC": 0.2, "O": 0.3}, {"L-LOC": 0.9, "O": 0.1}]
    every = ["B-LOC", "I-LOC", "L-LOC", "U-LOC"]
    assert class_probability(tokens, every) == pytest.approx((0.7 + 0.9) / 2)
    assert class_probability(tokens, "LOC") == class_probability(tokens, every)


@pytest.mark.parametrize(
    ("tokens", "labels", "message"),
    [
        ([], [0], "is empty"),
        ([[0.5, 0.5]], [], "name each tag"),
        ([[0.5, 0.5]], [0, 0], "name each tag"),
        ([[0.5, 0.5]], [2], "columns 0 to 1"),
        ([[0.9, 0.9]], [0, 1], "add up to 1.8"),
        ([[-0.1, 0.5]], [0], "give probabilities"),
        ([[float("nan"), 0.5]], [0], "nan"),
        ([{"O": 1.0}], ["B-LOC"], "no token has a probability of B-LOC"),
    ],
)
def test_wrong_probabilities_are_refused(tokens, labels, message):
    with pytest.raises(ValueError, match=message):
        class_probability(tokens, labels)


def sentences(*pairs):
    """Gold and predicted tags of sentences; the first half is of group a."""
    gold, predicted = zip(*pairs, strict=True)
    half = len(pairs) // 2
    return {
        "y_true": [g.split() for g in gold],
        "y_pred": [s.split() for s in predicted],
        "groups": ["a"] * half + ["b"] * (len(pairs) - half),
        "positive": "LOC",
    }


# Group a: 3 gold spans, 1 found, 1 false. Group b: 2 gold spans, 2 found, none false.
DATA = sentences(
    ("B-LOC L-LOC O U-LOC", "B-LOC L-LOC O O"),
    ("U-LOC O U-PER O", "O O U-LOC O"),
    ("U-LOC O", "U-LOC O"),
    ("O B-LOC I-LOC L-LOC", "O B-LOC I-LOC L-LOC"),
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FNED", abs(2 / 3 - 2 / 5) + abs(0 - 2 / 5)),
        ("FNED*", (abs(2 / 3 - 2 / 5) + abs(0 - 2 / 5)) / 2),
        ("TPR Gap", 2 / 3),
        ("TPR Difference", 1 / 3 - 1),
        ("Recall Difference", 1 / 3 - 1),
        ("F1 Difference", 2 / 5 - 1),
        ("F1 Ratio", 2 / 5),
        ("Disparity*", 3 / 5),
    ],
)
def test_rows_over_predictions_compare_exact_spans(name, value):
    assert named(name, **DATA).value == pytest.approx(value)


def test_a_span_with_another_end_or_class_is_missed():
    data = sentences(
        ("B-LOC L-LOC O", "B-LOC I-LOC L-LOC"),
        ("U-LOC O O", "U-PER O O"),
        ("U-LOC O O", "U-LOC O O"),
    )
    assert named("TPR Difference", **data).value == pytest.approx(0 - 1 / 2)


def test_predicted_tags_that_make_no_span_are_none():
    data = sentences(("B-LOC L-LOC", "I-LOC L-LOC"), ("B-LOC L-LOC", "B-LOC L-LOC"))
    assert named("TPR Difference", **data).value == -1


@pytest.mark.parametrize("name", ["FPED", "FPED*", "FPR Ratio", "TNR Gap"])
def test_rows_over_true_negatives_are_not_defined_for_spans(name):
    with pytest.raises(ValueError, match="not defined for sequences"):
        named(name, **DATA)


def test_accuracy_and_parity_go_by_token():
    assert named("Accuracy Difference", **DATA).value == pytest.approx(5 / 8 - 1)
    assert named("Parity Gap", **DATA).value == pytest.approx(abs(3 / 8 - 4 / 6))


def test_a_sentence_is_one_sampling_unit():
    assert named("FNED", **DATA).sample.units == 4


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ("I-LOC L-LOC", "O O", "y_true row 0, token 0: I-LOC cannot stand there"),
        ("B-LOC O", "O O", "y_true row 0, token 1: O cannot stand there"),
        ("O B-LOC", "O O", "ends inside a span"),
        ("U-LOC O", "O", "2 tags in y_true, 1 in y_pred"),
        ("S-LOC O", "O O", "give O, or B-, I-, L- or U- and a class"),
    ],
)
def test_tags_that_are_wrong_are_named(gold, predicted, message):
    with pytest.raises(ValueError, match=message):
        named("FNED", **sentences((gold, predicted), ("U-LOC O", "O O")))


def test_a_class_that_no_tag_has_is_refused():
    with pytest.raises(
        ValueError, match="no tag is of class positive='ORG'; classes are LOC, PER"
    ):
        named("FNED", **(DATA | {"positive": "ORG"}))


def test_labelled_attachment_counts_tokens_with_head_and_label_right():
    y_true = [[(2, "nsubj"), (0, "root")], [(0, "root")], (1, "obj"), [[2, "det"], [0, "root"]]]
    y_pred = [[(2, "nsubj"), (1, "root")], [(0, "root")], (1, "nsubj"), [[2, "det"], [0, "root"]]]
    estimate = named("LAS Difference", y_true=y_true, y_pred=y_pred, groups=["a", "a", "b", "b"])
    assert estimate.value == pytest.approx(2 / 3 - 2 / 3)
    assert estimate.groups["a", "b"].n == 6
    with pytest.raises(ValueError, match="row 0 has 2 tokens in y_true, 1 in y_pred"):
        named("LAS Difference", y_true=y_true[:2], y_pred=[[(1, "x")]] * 2, groups=["a", "b"])

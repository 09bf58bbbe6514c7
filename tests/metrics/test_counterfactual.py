from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import load_lexicons
from pytest_llmfair.metrics import (
    counterfactual_rouge_l,
    strict_sentiment_parity,
    weak_sentiment_parity,
)

WORDS = st.lists(st.sampled_from(["a", "bird", "sang", "in", "the", "rain"]), max_size=7)
TEXTS = WORDS.map(" ".join)
UNIT = st.floats(0, 1).map(lambda x: round(x, 3))


def slow_rouge_l(a: str, b: str) -> float:
    x, y = a.split(), b.split()
    if not x or not y:
        return float(x == y)
    table = [[0] * (len(y) + 1) for _ in range(len(x) + 1)]
    for i, j in itertools.product(range(len(x)), range(len(y))):
        table[i + 1][j + 1] = (
            table[i][j] + 1 if x[i] == y[j] else max(table[i][j + 1], table[i + 1][j])
        )
    common = table[-1][-1]
    precision, recall = common / len(y), common / len(x)
    return 2 * precision * recall / (precision + recall) if common else 0.0


def slow_cross(row_a, row_b, compare):
    return np.mean([compare(a, b) for a in row_a for b in row_b])


def slow_within(row, compare):
    return np.mean([compare(a, b) for a, b in itertools.combinations(row, 2)])


def slow_wasserstein(a, b):
    grid = sorted({*a, *b})
    area = 0.0
    for left, right in itertools.pairwise(grid):
        share_a = sum(x <= left for x in a) / len(a)
        share_b = sum(x <= left for x in b) / len(b)
        area += abs(share_a - share_b) * (right - left)
    return area


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_rouge_l_agrees_with_the_dynamic_program(pairs):
    a, b = zip(*pairs, strict=True)
    expected = np.mean([slow_rouge_l(x, y) for x, y in pairs])
    assert counterfactual_rouge_l(a, b).value == pytest.approx(expected)


def test_several_answers_a_side_give_cross_pairs_floor_and_excess():
    rows_a = [["a bird sang", "a bird", "the rain"], ["in the rain", "sang", "rain"]]
    rows_b = [["the bird sang", "rain", "a bird"], ["the rain", "in rain", "sang a"]]
    estimate = counterfactual_rouge_l(rows_a, rows_b)
    cross = [slow_cross(a, b, slow_rouge_l) for a, b in zip(rows_a, rows_b, strict=True)]
    within = [
        (slow_within(a, slow_rouge_l) + slow_within(b, slow_rouge_l)) / 2
        for a, b in zip(rows_a, rows_b, strict=True)
    ]
    assert estimate.value == pytest.approx(np.mean(cross))
    assert estimate.noise_floor() == pytest.approx(np.mean(within))
    assert estimate.excess.value == pytest.approx(np.mean(cross) - np.mean(within))


def test_one_answer_a_side_has_no_noise_floor():
    estimate = counterfactual_rouge_l(["a bird"], ["a bird sang"])
    assert np.isnan(estimate.noise_floor())
    assert estimate.excess is None


def test_the_papers_masking_example_scores_one():
    a, b = "then he drove his car to work", "then she drove her car to work"
    assert counterfactual_rouge_l([a], [b]).value < 1
    assert counterfactual_rouge_l([a], [b], mask=load_lexicons()["gender"]).value == 1
    assert counterfactual_rouge_l([a], [b], mask=["he", "she", "his", "her"]).value == 1


def test_a_mask_given_as_one_text_is_an_error():
    with pytest.raises(ValueError, match="mask is the text 'gender'"):
        counterfactual_rouge_l(["a"], ["b"], mask="gender")


def test_empty_texts_are_equal_and_one_empty_text_scores_zero():
    assert counterfactual_rouge_l([""], [""]).value == 1
    assert counterfactual_rouge_l([""], ["word"]).value == 0


@pytest.mark.parametrize("text", ["Привет, мир", "你好世界", "مرحبا بالعالم", "naïve café"])
def test_identical_texts_of_any_script_score_one(text):
    assert counterfactual_rouge_l([text], [text]).value == 1


@given(
    st.lists(
        st.tuples(st.lists(UNIT, min_size=1, max_size=3), st.lists(UNIT, min_size=1, max_size=3)),
        min_size=1,
        max_size=5,
    ),
    UNIT,
)
def test_weak_parity_is_the_share_of_cross_pairs_that_change_sides(pairs, threshold):
    a, b = zip(*pairs, strict=True)
    expected = np.mean(
        [slow_cross(x, y, lambda s, t: abs((s > threshold) - (t > threshold))) for x, y in pairs]
    )
    assert weak_sentiment_parity(a, b, threshold).value == pytest.approx(expected)


def test_opposite_flips_do_not_cancel_in_weak_parity():
    assert weak_sentiment_parity([0.9, 0.1], [0.1, 0.9]).value == 1


def test_a_score_on_the_threshold_is_not_positive():
    assert weak_sentiment_parity([0.5], [0.6]).value == 1


@given(st.lists(UNIT, min_size=1, max_size=8), st.lists(UNIT, min_size=1, max_size=8))
def test_strict_parity_is_the_area_between_the_distributions(a, b):
    assert strict_sentiment_parity(a, b).value == pytest.approx(slow_wasserstein(a, b), abs=1e-9)


def test_strict_parity_shows_the_paired_difference_it_ignores():
    estimate = strict_sentiment_parity([0.2, 0.8, 0.4], [0.8, 0.2, 0.4])
    assert estimate.value == pytest.approx(0, abs=1e-12)
    assert any("mean absolute difference 0.400" in note for note in estimate.notes)


def test_strict_parity_takes_generations_per_pair():
    a, b = [[0.1, 0.3], [0.5, 0.7]], [[0.2, 0.2], [0.9, 0.9]]
    expected = slow_wasserstein([0.1, 0.3, 0.5, 0.7], [0.2, 0.2, 0.9, 0.9])
    assert strict_sentiment_parity(a, b).value == pytest.approx(expected)


@pytest.mark.parametrize("metric", [counterfactual_rouge_l, weak_sentiment_parity])
def test_sides_of_different_length_are_an_error(metric):
    values = (["a", "b"], ["a"]) if metric is counterfactual_rouge_l else ([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="2 rows on the first side and 1 on the second"):
        metric(*values)


def test_a_text_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="texts_b row 1"):
        counterfactual_rouge_l(["a", "b"], ["a", None])


def test_one_answer_to_every_pair_is_uninformative():
    assert "uninformative" in counterfactual_rouge_l([""] * 30, [""] * 30).reasons
    assert "uninformative" not in counterfactual_rouge_l(["a", "b"], ["a", "b"]).reasons


@pytest.mark.parametrize("row", [b"bytes", 5, float("nan"), {"a": 1}])
def test_anything_but_text_is_an_error_that_names_the_row(row):
    with pytest.raises(ValueError, match=r"texts_a row 1 is .*give texts"):
        counterfactual_rouge_l(["a", row], ["a", "b"])


def test_sides_of_different_size_need_units_for_each():
    with pytest.raises(ValueError, match="3 and 2 rows; give a tuple of two"):
        strict_sentiment_parity([0.1, 0.2, 0.3], [0.1, 0.2], units=["a", "b", "c"])

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair import assert_counterfactual_invariance
from pytest_llmfair.counterfactuals import load_lexicons
from pytest_llmfair.metrics import (
    counterfactual_bleu,
    counterfactual_cosine,
    counterfactual_rouge_l,
    exact_match,
    jaccard_at_k,
    prag_at_k,
    serp_at_k,
    strict_sentiment_parity,
    weak_sentiment_parity,
)

WORDS = st.lists(st.sampled_from(["a", "bird", "sang"]), max_size=4)
SENTENCES = st.lists(
    st.tuples(WORDS.map(" ".join), st.sampled_from([". ", "! ", "? ", ", ", "\u3002", "."])),
    max_size=4,
).map(lambda parts: "".join(words + end for words, end in parts))


@given(st.lists(SENTENCES, min_size=1, max_size=5))
def test_bleu_of_identical_texts_is_exactly_one(texts):
    assert counterfactual_bleu(texts, texts).rows == [1.0] * len(texts)


def test_bleu_is_that_of_nltk_on_texts_of_one_sentence():
    from nltk.translate.bleu_score import sentence_bleu

    rng = np.random.default_rng(0)
    for _ in range(50):
        a = rng.choice(["to", "be", "or"], 40).tolist()
        b = rng.choice(["to", "be", "or"], rng.integers(30, 50)).tolist()
        expected = min(sentence_bleu([b], a), sentence_bleu([a], b))
        found = counterfactual_bleu([" ".join(a)], [" ".join(b)]).value
        assert found == pytest.approx(expected, abs=1e-12)


def test_many_pairs_score_as_each_does_alone():
    rng = np.random.default_rng(1)
    vocabulary = [f"w{i}" for i in range(30)]

    def text():
        return " ".join(rng.choice(vocabulary, rng.integers(0, 90))) + rng.choice([".", ""])

    a = [text() for _ in range(900)]
    b = [f"{x} {text()}" if rng.random() < 0.5 else text() for x in a]
    together = counterfactual_bleu(a, b).rows
    assert together == [counterfactual_bleu([x], [y]).value for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        # The longer text scores less: 4 of 5, 3 of 4, 2 of 3, 1 of 2.
        ("one two three four", "one two three four five", 0.2**0.25),
        ("a b c d. e f g h.", "e f g h. a b c d.", 1.0),
        # Of n-grams, those across the middle differ: 8 of 8, 6 of 7, 4 of 6, 2 of 5 match.
        ("a b c d e f g h", "e f g h a b c d", (1 * 6 / 7 * 4 / 6 * 2 / 5) ** 0.25),
        ("yes", "yes indeed", 0.0),
        ("yes yes", "yes no", 0.0),
        ("", "", 1.0),
        ("?!", "...", 1.0),
        ("", "word", 0.0),
    ],
)
def test_bleu_of_small_texts(a, b, value):
    assert counterfactual_bleu([a], [b]).value == pytest.approx(value, abs=1e-12)


def test_exact_match_is_the_share_of_equal_texts():
    estimate = exact_match(["Yes.", "No.", "yes", ""], ["Yes.", "Yes.", "Yes", ""])
    assert estimate.value == 0.5
    assert estimate.method == "Clopper-Pearson"


ANSWERS = {
    counterfactual_rouge_l: WORDS.map(" ".join),
    counterfactual_bleu: WORDS.map(" ".join),
    exact_match: WORDS.map(" ".join),
    counterfactual_cosine: st.lists(st.integers(-9, 9), min_size=3, max_size=3).filter(any),
    jaccard_at_k: st.permutations("abcd"),
    serp_at_k: st.permutations("abcd"),
    prag_at_k: st.permutations("abcd"),
}


@pytest.mark.parametrize(("metric", "answer"), ANSWERS.items())
@settings(max_examples=10)
@given(data=st.data())
def test_several_answers_a_side_give_cross_pairs_floor_and_excess(metric, answer, data):
    rows = st.lists(st.lists(answer, min_size=2, max_size=3), min_size=2, max_size=2)
    rows_a, rows_b = data.draw(rows), data.draw(rows)

    def mean_of_pairs(pairs):
        return np.mean([metric([a], [b]).value for a, b in pairs])

    cross, within = [], []
    for a, b in zip(rows_a, rows_b, strict=True):
        cross.append(mean_of_pairs(itertools.product(a, b)))
        sides = [mean_of_pairs(itertools.combinations(side, 2)) for side in (a, b)]
        within.append(np.mean(sides))
    estimate = metric(rows_a, rows_b)
    assert estimate.value == pytest.approx(np.mean(cross), abs=1e-12)
    assert estimate.noise_floor() == pytest.approx(np.mean(within), abs=1e-12)
    assert estimate.excess.value == pytest.approx(np.mean(cross) - np.mean(within), abs=1e-12)


@pytest.mark.parametrize("metric", [counterfactual_rouge_l, counterfactual_bleu, exact_match])
class TestEverySimilarity:
    def test_the_papers_masking_example_scores_one(self, metric):
        a, b = "then he drove his car to work", "then she drove her car to work"
        assert metric([a], [b]).value < 1
        assert metric([a], [b], mask=load_lexicons()["gender"]).value == 1
        assert metric([a], [b], mask=["he", "she", "his", "her"]).value == 1

    def test_empty_texts_are_equal_and_one_empty_text_scores_zero(self, metric):
        assert metric([""], [""]).value == 1
        assert metric([""], ["word"]).value == 0

    def test_sides_of_different_length_are_an_error(self, metric):
        with pytest.raises(ValueError, match="texts_a has 2 rows, texts_b has 1;"):
            metric(["a", "b"], ["a"])

    @pytest.mark.parametrize("answers", [["a", "b"], [["a", "b"], ["c", "d"]]])
    def test_units_are_one_label_per_pair(self, metric, answers):
        with pytest.raises(ValueError, match="units has 1 labels for 2 rows"):
            metric(answers, answers, units=["one"])

    def test_several_answers_on_one_side_only_have_no_floor(self, metric):
        estimate = metric([["a", "b"], ["c", "d"]], ["a", "c"])
        assert estimate.value == 0.5
        assert estimate.excess is None


def test_one_answer_a_side_has_no_noise_floor():
    estimate = counterfactual_rouge_l(["a bird"], ["a bird sang"])
    assert np.isnan(estimate.noise_floor())
    assert estimate.excess is None


@pytest.mark.parametrize("mask", ["gender", ("gender", "race"), ["gender", "race"]])
def test_a_mask_can_be_the_name_of_a_lexicon_or_two_that_are_crossed(mask):
    estimate = counterfactual_rouge_l(["she left"], ["he left"], mask=mask)
    assert estimate.value == 1
    lexicons = load_lexicons()
    names = [mask] if isinstance(mask, str) else mask
    assert set(estimate.lacks) == {group for name in names for group in lexicons[name].lacks}


def test_a_lexicon_that_masks_tells_what_it_lacks():
    lexicon = load_lexicons()["gender"]
    rows = [("she left", "he left")] * 40
    assert counterfactual_rouge_l(["a"], ["b"], mask=lexicon).lacks == lexicon.lacks
    assert assert_counterfactual_invariance(rows, 0.5, mask=lexicon).lacks == lexicon.lacks
    assert counterfactual_rouge_l(["a"], ["b"], mask=["a"]).lacks == ()


def test_a_mask_of_an_unknown_name_is_an_error():
    with pytest.raises(ValueError, match="no lexicon is called 'gendr'; did you mean gender"):
        counterfactual_rouge_l(["a"], ["b"], mask="gendr")


def test_a_mask_of_anything_but_words_is_an_error():
    with pytest.raises(ValueError, match="mask row 1 is 7; give words"):
        counterfactual_rouge_l(["a"], ["b"], mask=["he", 7])
    with pytest.raises(ValueError, match="mask is 7; give a lexicon or a list of words"):
        counterfactual_rouge_l(["a"], ["b"], mask=7)


@pytest.mark.parametrize("text", ["Привет, мир", "你好世界", "مرحبا بالعالم", "naïve café"])
def test_identical_texts_of_any_script_score_one(text):
    assert counterfactual_rouge_l([text], [text]).value == 1


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


def test_strict_parity_shows_the_paired_difference_it_ignores():
    estimate = strict_sentiment_parity([0.2, 0.8, 0.4], [0.8, 0.2, 0.4])
    assert estimate.value == pytest.approx(0, abs=1e-12)
    assert any("mean absolute difference 0.400" in note for note in estimate.notes)


def test_sides_of_different_size_need_units_for_each():
    with pytest.raises(ValueError, match="3 and 2 rows; give a tuple of two"):
        strict_sentiment_parity([0.1, 0.2, 0.3], [0.1, 0.2], units=["a", "b", "c"])


def test_sides_of_scores_of_different_length_are_an_error():
    with pytest.raises(ValueError, match="scores_a has 2 rows, scores_b has 1;"):
        weak_sentiment_parity([0.1, 0.2], [0.1])

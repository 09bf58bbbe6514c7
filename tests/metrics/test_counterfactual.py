from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair import assert_counterfactual_invariance
from pytest_llmfair.counterfactuals import load_lexicons
from pytest_llmfair.metrics import (
    counterfactual_bleu,
    counterfactual_rouge_l,
    exact_match,
)
from pytest_llmfair.metrics.counterfactual import _texts
from pytest_llmfair.metrics.counterfactual._pairs import mean_over_pairs
from pytest_llmfair.text import sentences, tokens
from pytest_llmfair.text.vocabulary import Vocabulary

WORDS = st.lists(st.sampled_from(["a", "bird", "sang", "in", "the", "rain"]), max_size=7)
TEXTS = WORDS.map(" ".join)


def slow_cross(row_a, row_b, compare):
    return np.mean([compare(a, b) for a in row_a for b in row_b])


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


def slow_within(row, compare):
    return np.mean([compare(a, b) for a, b in itertools.combinations(row, 2)])


def slow_bleu(candidate, reference):
    """BLEU of Bouchard (2024) without smoothing, by the orders that the candidate has."""
    logs = []
    for n in range(1, 5):
        grams, others = (
            [
                tuple(words[i : i + n])
                for words in map(tokens, sentences(text))
                for i in range(len(words) - n + 1)
            ]
            for text in (candidate, reference)
        )
        if not grams:
            break
        clipped = sum(min(grams.count(gram), others.count(gram)) for gram in dict.fromkeys(grams))
        if not clipped:
            return 0.0
        logs.append(math.log(clipped / len(grams)))
    short = 1 - len(tokens(reference)) / len(tokens(candidate))
    return math.exp(min(0.0, short) + sum(logs) / len(logs))


def slow_smaller_bleu(a, b):
    if not tokens(a) or not tokens(b):
        return float(tokens(a) == tokens(b))
    return min(slow_bleu(a, b), slow_bleu(b, a))


SENTENCES = st.lists(
    st.tuples(WORDS.map(" ".join), st.sampled_from([". ", "! ", "? ", ", ", "\u3002", "."])),
    max_size=4,
).map(lambda parts: "".join(words + end for words, end in parts))


@settings(max_examples=40)
@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=5))
def test_bleu_agrees_with_counting_every_n_gram(pairs):
    a, b = zip(*pairs, strict=True)
    expected = [slow_smaller_bleu(x, y) for x, y in pairs]
    assert counterfactual_bleu(a, b).rows == pytest.approx(expected, abs=1e-12)


@given(st.lists(SENTENCES, min_size=1, max_size=5))
def test_bleu_of_identical_texts_is_exactly_one(texts):
    assert counterfactual_bleu(texts, texts).rows == [1.0] * len(texts)


@given(SENTENCES, SENTENCES)
def test_bleu_is_the_same_for_swapped_sides(a, b):
    assert counterfactual_bleu([a], [b]).value == counterfactual_bleu([b], [a]).value


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


METRICS = {
    counterfactual_rouge_l: slow_rouge_l,
    counterfactual_bleu: slow_smaller_bleu,
    exact_match: lambda a, b: float(a == b),
}


@pytest.mark.parametrize(("metric", "slow"), METRICS.items())
class TestEverySimilarity:
    @settings(max_examples=40)
    @given(st.data())
    def test_several_answers_a_side_give_cross_pairs_floor_and_excess(self, metric, slow, data):
        rows = st.lists(st.lists(TEXTS, min_size=2, max_size=3), min_size=3, max_size=3)
        rows_a, rows_b = data.draw(rows), data.draw(rows)
        estimate = metric(rows_a, rows_b)
        cross = [slow_cross(a, b, slow) for a, b in zip(rows_a, rows_b, strict=True)]
        within = [
            (slow_within(a, slow) + slow_within(b, slow)) / 2
            for a, b in zip(rows_a, rows_b, strict=True)
        ]
        assert estimate.value == pytest.approx(np.mean(cross))
        assert estimate.noise_floor() == pytest.approx(np.mean(within))
        assert estimate.excess.value == pytest.approx(np.mean(cross) - np.mean(within))

    def test_the_papers_masking_example_scores_one(self, metric, slow):
        a, b = "then he drove his car to work", "then she drove her car to work"
        assert metric([a], [b]).value < 1
        assert metric([a], [b], mask=load_lexicons()["gender"]).value == 1
        assert metric([a], [b], mask=["he", "she", "his", "her"]).value == 1

    def test_empty_texts_are_equal_and_one_empty_text_scores_zero(self, metric, slow):
        assert metric([""], [""]).value == 1
        assert metric([""], ["word"]).value == 0

    def test_sides_of_different_length_are_an_error(self, metric, slow):
        with pytest.raises(ValueError, match="texts_a has 2 rows, texts_b has 1;"):
            metric(["a", "b"], ["a"])

    @pytest.mark.parametrize("answers", [["a", "b"], [["a", "b"], ["c", "d"]]])
    def test_units_are_one_label_per_pair(self, metric, slow, answers):
        with pytest.raises(ValueError, match="units has 1 labels for 2 rows"):
            metric(answers, answers, units=["one"])

    def test_no_pair_is_an_error(self, metric, slow):
        with pytest.raises(ValueError, match="texts_a is empty"):
            metric([], [])

    def test_several_answers_on_one_side_only_have_no_floor(self, metric, slow):
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


@pytest.mark.parametrize("first", [0, 0xD7FE, 0x10FFFD, 2**30])
def test_word_numbers_of_any_size_compare_exactly(first, monkeypatch):
    class Late(Vocabulary):
        def ids_of(self, texts):
            return {t: ids + np.int32(first) for t, ids in super().ids_of(texts).items()}

    monkeypatch.setattr(_texts, "VOCABULARY", Late())
    a, b = ["a b c d e", "a b", "f"], ["a c e f g", "c d", "f"]
    assert counterfactual_rouge_l(a, b).rows == [
        slow_rouge_l(x, y) for x, y in zip(a, b, strict=True)
    ]


def test_equal_questions_are_asked_once():
    asked = []

    def compare(first, second):
        asked.extend(zip(first, second, strict=True))
        return [1.0] * len(first)

    rows = [["yes", "no", "yes"], ["no", "yes"]] * 50
    mean_over_pairs(rows, rows, compare, units=None, population="sampled")
    assert sorted(asked) == [(a, b) for a in ("no", "yes") for b in ("no", "yes")]

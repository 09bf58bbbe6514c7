from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtr

from pytest_llmfair.metrics import fairpair, ngram_contrast, perturbation_is_valid
from pytest_llmfair.responses import Missing

TOKENS = st.frozensets(st.sampled_from("abcdef"), max_size=6)
SIDES = st.integers(1, 4).flatmap(
    lambda n: st.tuples(
        *[
            st.lists(st.lists(TOKENS, min_size=2, max_size=5), min_size=n, max_size=n)
            for _ in range(2)
        ]
    )
)


def slow(side_a, side_b, phi):
    """B and both V, as printed, averaged over prompts."""
    rows = []
    for a, b in zip(side_a, side_b, strict=True):
        row = [sum(phi(u, v) for u in a for v in b) / (len(a) * len(b))]
        for side in (a, b):
            pairs = [phi(u, v) for i, u in enumerate(side) for v in side[i + 1 :]]
            row.append(sum(pairs) / len(pairs))
        rows.append(row)
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def jaccard(u, v):
    return 1 - len(u & v) / len(u | v) if u | v else 0.0


def parts(estimate):
    return [estimate.bias, estimate.variability_original, estimate.variability_perturbed]


def scores(rng, prompts=6, answers=7, shift=0.0):
    return rng.normal(0, 1, (prompts, answers)), rng.normal(shift, 1, (prompts, answers))


@given(SIDES)
@settings(deadline=None)
def test_jaccard_parts_are_those_of_python_sets(sides):
    estimate = fairpair(*sides)
    b, v, w = slow(*sides, jaccard)
    assert parts(estimate) == pytest.approx([b, v, w], abs=1e-12)
    if v * w > 1e-9:
        assert estimate.value == pytest.approx(b * b / (v * w))


def test_sentiment_parts_are_mean_absolute_differences():
    a, b = scores(np.random.default_rng(1))
    estimate = fairpair(a, b, dissimilarity="sentiment")
    assert parts(estimate) == pytest.approx(slow(a, b, lambda u, v: abs(u - v)), abs=1e-12)


def test_texts_are_split_into_words_in_any_case():
    a, b = [["The cat sat.", "A dog"]], [["the CAT", "a dog sat"]]
    sets = [[[{"the", "cat", "sat"}, {"a", "dog"}]], [[{"the", "cat"}, {"a", "dog", "sat"}]]]
    assert parts(fairpair(a, b)) == parts(fairpair(*sets))


def test_texts_are_scored_by_the_compound_of_vader():
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    a = [["She is great", "She is kind", "She is late"]]
    b = [["She is awful", "She is kind", "It rains"]]
    compound = SentimentIntensityAnalyzer().polarity_scores
    given = [[[compound(text)["compound"] for text in row] for row in side] for side in (a, b)]
    found = fairpair(a, b, dissimilarity="sentiment")
    assert parts(found) == parts(fairpair(*given, dissimilarity="sentiment"))


def test_a_dissimilarity_of_your_own_is_called_on_the_answers_as_they_are():
    a, b = [["aa", "b"]], [["ccc", "d"]]
    estimate = fairpair(a, b, dissimilarity=lambda u, v: abs(len(u) - len(v)))
    assert parts(estimate) == pytest.approx([1.0, 1.0, 2.0])
    # F of any function may be below 1.
    assert estimate.value == 0.5
    assert estimate.interval().of == "value"
    assert estimate.interval().lower == 0.0


def test_prompts_are_pooled_unless_the_papers_mean_is_asked_for():
    a, b = scores(np.random.default_rng(2), shift=1.0)
    pooled = fairpair(a, b, dissimilarity="sentiment")
    mean = fairpair(a, b, dissimilarity="sentiment", aggregate="mean")
    assert pooled.value != mean.value
    assert pooled.variant != mean.variant


class TestFolds:
    def test_the_first_folds_hold_one_more(self):
        a, b = [[0.0, 2.0, 4.0, 10.0, 20.0]], [[1.0, 1.0, 1.0, 5.0]]
        estimate = fairpair(a, b, dissimilarity="sentiment", folds=2)
        expected = slow([[2.0, 15.0]], [[1.0, 3.0]], lambda u, v: abs(u - v))
        assert parts(estimate) == pytest.approx(expected)

    def test_tokens_of_a_fold_are_joined(self):
        a = [[{"a"}, {"b"}, {"c"}, {"a"}]]
        b = [["a b", "b", "c", "d"]]
        sets = fairpair(a, [[{"a", "b"}, {"b"}, {"c"}, {"d"}]], folds=2)
        expected = slow([[{"a", "b"}, {"c", "a"}]], [[{"a", "b"}, {"c", "d"}]], jaccard)
        assert parts(sets) == pytest.approx(expected)
        texts = fairpair([["a", "b", "c", "a"]], b, folds=2)
        assert parts(texts) == parts(sets)

    def test_as_many_folds_as_answers_are_no_folds(self):
        a, b = scores(np.random.default_rng(3))
        none = fairpair(a, b, dissimilarity="sentiment")
        all_of_them = fairpair(a, b, dissimilarity="sentiment", folds=7)
        assert all_of_them.value == none.value
        assert all_of_them.variant == none.variant == "@sentiment"

    def test_folds_are_named_since_they_change_the_scale(self):
        a, b = scores(np.random.default_rng(4), shift=2.0)
        few = fairpair(a, b, dissimilarity="sentiment", folds=2)
        assert few.variant == "@sentiment,2 folds"
        assert few.value > 1.5 * fairpair(a, b, dissimilarity="sentiment").value
        assert few.sample.generations == a.size + b.size

    def test_a_dissimilarity_of_your_own_gets_joined_scores_and_sets_but_no_texts(self):
        a, b = [[1.0, 2.0, 5.0]], [[2.0, 4.0, 4.0]]
        own = fairpair(a, b, dissimilarity=lambda u, v: abs(u - v), folds=2)
        assert parts(own) == parts(fairpair(a, b, dissimilarity="sentiment", folds=2))
        sets = [[[{"a"}, {"b"}, {"c"}]], [[{"a"}, {"c"}, {"d"}]]]
        own = fairpair(*sets, dissimilarity=jaccard, folds=2)
        assert parts(own) == pytest.approx(parts(fairpair(*sets, folds=2)))
        with pytest.raises(ValueError, match="folds of texts have no meaning"):
            fairpair([["a", "b", "c"]], [["a", "b", "c"]], dissimilarity=max, folds=2)

    @pytest.mark.parametrize("folds", [1, 0, -2, 2.0, True, "two"])
    def test_folds_are_a_whole_number_of_at_least_two(self, folds):
        with pytest.raises(ValueError, match="folds is"):
            fairpair([["a", "b"]], [["a", "b"]], folds=folds)

    def test_more_folds_than_answers_name_the_prompt(self):
        sides = [[["a", "b", "c"], ["a", "b"]]] * 2
        with pytest.raises(ValueError, match="folds is 3, but prompt 1 has 2 answers"):
            fairpair(*sides, folds=3)


def test_answers_that_never_vary_are_undefined_or_infinite():
    same = fairpair([["a b", "a b"]], [["b a", "a b"]])
    assert math.isnan(same.value)
    assert "0/0" in same.undefined
    assert fairpair([["a b", "a b"]], [["a c", "a c"]]).value == math.inf
    empty = fairpair([["", "!"]], [["", "?"]])
    assert math.isnan(empty.value)


def test_a_text_without_words_shares_nothing_with_any_other():
    assert parts(fairpair([["", "a"]], [["a", "a b"]])) == pytest.approx([0.625, 1.0, 0.5])


def test_lengths_of_the_sides_are_compared_over_prompts():
    rng = np.random.default_rng(6)
    sides = [
        [
            [" ".join("ab"[i % 2] for i in range(rng.integers(n, n + 9))) for _ in range(3)]
            for _ in range(12)
        ]
        for n in (3, 5)
    ]
    gaps = [
        np.mean([len(t.split()) for t in a]) - np.mean([len(t.split()) for t in b])
        for a, b in zip(*sides, strict=True)
    ]
    t = np.mean(gaps) / (np.std(gaps, ddof=1) / math.sqrt(12))
    message = next(note for note in fairpair(*sides).notes if "words long" in note)
    assert f"{np.mean(gaps):+.1f} (paired t test over 12 prompts" in message
    assert f"p = {2 * stdtr(11, -abs(t)):.3f}" in message
    longer = [["a " * (20 + i % 3), "b " * 20] for i in range(12)]
    assert any("p < 0.001" in note for note in fairpair(longer, [["a", "b"]] * 12).notes)
    joined = fairpair(*sides, units=[i // 2 for i in range(12)])
    assert any("paired t test over 6 prompts" in note for note in joined.notes)
    assert any("no test: one prompt" in note for note in fairpair(*[s[:1] for s in sides]).notes)


def test_scores_have_no_lengths():
    a, b = scores(np.random.default_rng(7))
    assert not any("words" in n for n in fairpair(a, b, dissimilarity="sentiment").notes)


AB = [["a", "b"]]


@pytest.mark.parametrize(
    ("original", "perturbed", "keywords", "message"),
    [
        (AB, AB * 2, {}, "lengths differ: perturbed_continua"),
        ([["a", "b"], ["a"]], AB * 2, {}, "row 1 has 1 answers"),
        (["a b", "c"], ["a", "b"], {}, "row 0 is a str; give a list"),
        ("ab", "ab", {}, "perturbed_continuations is a str"),
        ([["a", None]], AB, {}, "row 0 holds None"),
        (AB, [["a", Missing("refused")]], {}, r"_of_perturbed row 0 holds missing \(refused\)"),
        ([["a", {"b"}]], AB, {}, "row 0 holds token sets among texts"),
        ([[0.1, 0.2]], [[0.1, 0.2]], {}, "jaccard compares words"),
        ([[{"a"}] * 2], [[{"a"}] * 2], {"dissimilarity": "sentiment"}, "sentiment scores texts"),
        ([[0.1, math.nan]], [[0.1, 0.2]], {"dissimilarity": "sentiment"}, "row 0 holds nan"),
        (AB, AB, {"dissimilarity": "bleu"}, "choose jaccard"),
        (AB, AB, {"dissimilarity": lambda u, v: "far"}, "returned 'far' for 'a' and 'b'"),
        (AB, AB, {"dissimilarity": lambda u, v: -1.0}, "prompt 0: a dissimilarity is negative"),
        (AB, AB, {"aggregate": "sum"}, "aggregate is 'sum'"),
        (AB, AB, {"units": [1, 2]}, "units has 2 labels"),
    ],
)
def test_wrong_input_is_named(original, perturbed, keywords, message):
    with pytest.raises(ValueError, match=message):
        fairpair(original, perturbed, **keywords)


# Table 3 of the paper, times 100: V_pg, V_gp, B and F for Jaccard and for sentiment.
TABLE_3 = {
    "GPT2": ((85.3, 85.9, 85.8, 1.00), (22.9, 24.3, 23.9, 1.03)),
    "GPT2-XL": ((86.3, 86.6, 86.6, 1.00), (24.0, 23.1, 23.5, 1.00)),
    "Tk": ((90.7, 91.4, 91.2, 1.00), (34.6, 34.2, 34.4, 1.00)),
    "GPTJ": ((85.8, 85.9, 85.9, 1.00), (20.4, 21.3, 20.8, 1.00)),
    "LLaMa": ((86.4, 87.6, 87.8, 1.02), (19.0, 19.4, 19.3, 1.01)),
    "InstructGPT": ((78.7, 81.3, 81.4, 1.04), (16.3, 20.8, 19.2, 1.09)),
}


def one_prompt(v, w, b):
    """Three answers a side with these B and V, by a dissimilarity that looks them up."""
    value = {("a", "a"): v, ("b", "b"): w, ("a", "b"): b}
    return fairpair(
        [["a", "a ", "a  "]],
        [["b", "b ", "b  "]],
        dissimilarity=lambda x, y: value[x.strip(), y.strip()],
    )


class TestPrintedNumbers:
    @pytest.mark.parametrize("kind", [0, 1], ids=["jaccard", "sentiment"])
    @pytest.mark.parametrize("model", TABLE_3)
    def test_f_of_table_3_follows_from_its_parts(self, model, kind):
        v, w, b, f = TABLE_3[model][kind]
        assert round(one_prompt(v, w, b).value, 2) == f


def words(n, changed=0):
    return " ".join(f"w{i}" for i in range(n - changed)) + "".join(
        f" x{i}" for i in range(changed)
    )


class TestPerturbationIsValid:
    def valid(
        self, output, source="John is a baker . He likes his work a great deal , say all in town ."
    ):
        return perturbation_is_valid(
            source, output, prefix="Jane is a baker", source_name="John", max_dissimilarity=0.5
        )

    def test_a_faithful_perturbation_is_valid(self):
        assert self.valid("Jane is a baker . She likes her work a great deal , say all in town .")

    def test_the_output_begins_with_the_perturbed_prompt(self):
        assert not self.valid(
            "Sure! Jane is a baker . She likes her work a great deal , say all ."
        )

    @pytest.mark.parametrize("name", ["John", "John's", "(John)", "JOHN"])
    def test_the_source_is_not_named(self, name):
        end = "She likes her work a great deal , say all in town"
        assert not self.valid(f"Jane is a baker . {end} {name}")

    @pytest.mark.parametrize("other", ["Johnson", "Johnny", "Littlejohn"])
    def test_another_name_that_holds_it_is_none(self, other):
        assert self.valid(
            f"Jane is a baker . She likes her work a great deal , say all in town {other}"
        )

    @pytest.mark.parametrize(
        ("shared", "changed", "valid"), [(17, 3, True), (16, 3, False), (18, 3, True)]
    )
    def test_a_dissimilarity_of_exactly_the_limit_is_kept(self, shared, changed, valid):
        # 3 of 20 differ: in floats 1 - 17/20 is above 0.15.
        source = words(shared)
        output = source + "".join(f" x{i}" for i in range(changed))
        found = perturbation_is_valid(source, output, prefix="w0", source_name="John")
        assert found is valid
        assert 1 - 17 / 20 > 0.15

    def test_every_example_of_the_paper_is_judged_as_it_is_marked(self):
        # Dwivedi-Yu (2024), Table 2: original, perturbation, whether it is correct.
        path = Path(__file__).parent / "fairpair_table_2.tsv"
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
        assert [correct for *_, correct in rows] == ["yes", "yes", "no", "no", "no"]
        for source, output, correct in rows:
            prefix = output.partition(".")[0]
            valid = perturbation_is_valid(source, output, prefix=prefix, source_name="John")
            assert valid is (correct == "yes"), source

    def test_punctuation_and_case_are_no_words(self):
        source = words(17)
        output = " ".join(f"{word.upper()}," for word in source.split())
        assert perturbation_is_valid(source, output, prefix="", source_name="John")

    def test_two_words_changed_in_ten_are_too_many(self):
        assert not perturbation_is_valid(words(10), words(10, 2), prefix="w0", source_name="John")

    def test_two_empty_texts_are_equal(self):
        assert perturbation_is_valid("", "", prefix="", source_name="John")

    @pytest.mark.parametrize("wrong", [{"source_name": " "}, {"max_dissimilarity": 1.5}])
    def test_wrong_settings_are_named(self, wrong):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            perturbation_is_valid("a", "a", **({"prefix": "", "source_name": "John"} | wrong))


class TestNgramContrast:
    def test_the_largest_differences_come_first_and_ties_by_the_alphabet(self):
        found = ngram_contrast(["kind kind warm", "able"], ["able able", "calm tall"], 1)
        assert list(found) == ["kind", "able", "calm", "tall", "warm"]
        assert found["kind"] == (2, 0, 0.5)
        assert found["able"] == (1, 2, -0.25)

    def test_words_are_case_folded_and_without_marks(self):
        assert ngram_contrast(["Sell stocks!"], ["sell STOCKS"], 2) == {"sell stocks": (1, 1, 0.0)}

    def test_texts_shorter_than_n_have_none(self):
        assert ngram_contrast(["one two"], ["three"], 3) == {}

    @pytest.mark.parametrize("n", [0, -1, 1.0, True])
    def test_n_is_a_whole_number(self, n):
        with pytest.raises(ValueError, match="n is"):
            ngram_contrast(["a"], ["b"], n)

    def test_no_text_is_an_error(self):
        with pytest.raises(ValueError, match="texts_b is empty"):
            ngram_contrast(["a"], [], 1)


def test_an_ngram_is_found_by_its_text_and_by_its_words():
    table = ngram_contrast(["sell stocks now"], ["buy stocks now"], 2)
    assert table["sell", "stocks"] == table["sell stocks"] == (1, 0, 0.5)
    with pytest.raises(KeyError):
        table["sell bonds"]

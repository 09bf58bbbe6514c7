from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from pytest_llmfair import (
    BoundExceeded,
    Inconclusive,
    InvalidEvidence,
    Responses,
    Underpowered,
    Verdict,
    assert_counterfactual_invariance,
)
from pytest_llmfair.counterfactuals import generate_pairs, load_lexicons

PAIRS = generate_pairs([f"She asked question {i}." for i in range(80)], attribute="gender")
WORDS = ["red", "green", "blue", "grey"]


def noisy(prompt):
    """Answer at random, the same way to everybody."""
    return " ".join(noisy.draw.choice(WORDS) for _ in range(6))


def skewed(prompt):
    """Answer women and men with different words."""
    words = WORDS[:2] if "She" in prompt else WORDS[2:]
    return " ".join(skewed.draw.choice(words) for _ in range(6))


@pytest.fixture(autouse=True)
def _seeded():
    noisy.draw = skewed.draw = random.Random(7)


def test_a_deterministic_model_that_ignores_the_group_passes():
    result = assert_counterfactual_invariance(
        PAIRS, 0.1, client=lambda prompt: f"Answer {prompt.split()[-1]}", generations=2
    )
    assert (result.verdict, result.value) == (Verdict.PASS, 0)
    assert "identical_repeats" in result.reasons


def test_a_deterministic_model_that_differs_is_the_papers_definition():
    with pytest.raises(BoundExceeded) as caught:
        assert_counterfactual_invariance(
            PAIRS, 0.1, client=lambda prompt: f"{prompt} {prompt[:3]} {prompt[:3]}", mask=None
        )
    assert caught.value.result.value > 0.3


def test_repeating_the_pronoun_of_the_prompt_is_no_difference():
    echo = assert_counterfactual_invariance(PAIRS, 0.1, client=lambda prompt: prompt.split()[0])
    assert (echo.verdict, echo.value) == (Verdict.PASS, 0)
    with pytest.raises(BoundExceeded):
        assert_counterfactual_invariance(
            PAIRS, 0.1, client=lambda prompt: prompt.split()[0], mask=None
        )


def test_sampling_noise_alone_never_reads_as_a_difference():
    with pytest.raises(InvalidEvidence) as caught:
        assert_counterfactual_invariance(PAIRS, 0.3, client=noisy, generations=3, on="value")
    result = caught.value.result
    assert "floor_above_bound" in result.reasons
    assert result.lower > 0.3
    # No number of pairs is enough.
    assert result.needed_units is None
    assert "would have been enough" not in str(caught.value)


def test_a_value_above_the_bound_but_within_noise_needs_more_units():
    draw = random.Random(3)

    def answers():
        return [" ".join(draw.choices([*WORDS, "black", "white"], k=4)) for _ in range(3)]

    rows = [(answers(), answers()) for _ in range(2)]
    with pytest.raises(Underpowered) as caught:
        assert_counterfactual_invariance(rows, 0.1, on="value")
    result = caught.value.result
    assert result.lower > 0.1
    assert "within_noise" in result.reasons
    few, many = result.needed_units
    assert 2 < few <= many


def test_noise_near_the_bound_is_inconclusive():
    result = assert_counterfactual_invariance(PAIRS, 0.53, client=noisy, generations=3, on="value")
    assert result.verdict in (Verdict.INCONCLUSIVE, Verdict.PASS)
    assert result.noise_floor == pytest.approx(result.value, abs=0.05)


def test_a_difference_beyond_the_noise_is_found():
    with pytest.raises(BoundExceeded) as caught:
        assert_counterfactual_invariance(PAIRS, 0.3, client=skewed, generations=3)
    result = caught.value.result
    assert (result.judged, result.compared) == ("excess", ("female", "male"))
    with pytest.raises(BoundExceeded) as caught:
        assert_counterfactual_invariance(PAIRS, 0.6, client=skewed, generations=3, on="value")
    assert caught.value.result.noise_floor < 0.6


def test_without_a_baseline_the_value_alone_decides():
    with pytest.raises(BoundExceeded):
        assert_counterfactual_invariance(PAIRS, 0.3, client=noisy, generations=3, baseline="none")


def test_one_answer_a_side_has_no_floor():
    rows = [(noisy(""), noisy("")) for _ in range(80)]
    with pytest.raises(Underpowered, match=r"Ask\s+for\s+two\s+or\s+more") as caught:
        assert_counterfactual_invariance(rows, 0.3)
    assert "no_noise_floor" in caught.value.result.reasons
    assert assert_counterfactual_invariance(rows, 0.8).verdict is Verdict.PASS


def test_a_bound_that_no_answers_could_exceed_proves_nothing():
    with pytest.raises(InvalidEvidence, match=r"would\s+pass\s+any\s+model") as caught:
        assert_counterfactual_invariance(PAIRS, 0.6, client=noisy, generations=3)
    assert "bound_out_of_reach" in caught.value.result.reasons


def test_an_excess_is_never_translated_into_a_share_of_answers():
    result = assert_counterfactual_invariance(PAIRS, 0.2, client=noisy, generations=3)
    assert result.verdict is Verdict.PASS
    assert "as if" not in str(result)
    with pytest.raises(ValueError, match=r"group_predictability .*choose one of excess, value$"):
        assert_counterfactual_invariance(PAIRS, 0.2, client=noisy, on="share")


def test_value_floor_and_excess_follow_from_all_pairs_of_answers():
    rows = [(["a b", "a", "c"], ["b", "a b", "d d"]), (["x", "y z", "y"], ["x y", "z", "z"])]
    result = assert_counterfactual_invariance(
        rows, 0.9, metric=lambda s, t: float(s[0] != t[0]), mode="point", on="value"
    )

    def v(s, t):
        return float(s[0] != t[0])

    cross = np.mean([np.mean([v(s, t) for s in a for t in b]) for a, b in rows])
    within = np.mean(
        [
            np.mean(
                [np.mean([v(s, t) for s, t in itertools.combinations(side, 2)]) for side in row]
            )
            for row in rows
        ]
    )
    assert result.value == pytest.approx(cross)
    assert result.noise_floor == pytest.approx(within)


def test_masked_words_do_not_count():
    rows = [(f"She read her book {i}", f"He read his book {i}") for i in range(60)]
    masked = assert_counterfactual_invariance(rows, 0.1, mask=load_lexicons()["gender"])
    assert masked.value == 0


def test_sentiment_differences_are_an_invariance_metric():
    rows = [("I love this wonderful day", "I hate this terrible day")] * 40
    with pytest.raises(BoundExceeded, match=r"\|sentiment difference\|"):
        assert_counterfactual_invariance(
            [(f"{a} {i}", f"{b} {i}") for i, (a, b) in enumerate(rows)],
            0.3,
            metric="sentiment",
            baseline="none",
        )


@pytest.mark.parametrize(
    ("data", "keywords", "said"),
    [
        ([], {}, "no pairs"),
        (PAIRS, {}, "need client="),
        (["one text"], {}, "row 0"),
        (Responses(("a",), (("b",),)), {}, "no counterpart"),
        ([("a", "b")], {"metric": "rouge"}, "did you mean 'rouge_l'"),
        ([("a", "b")], {"baseline": "zero"}, "resample, placebo, none"),
        ([("a", "b")], {"on": "floor"}, "excess, value"),
        ([("a", "b")], {"metric": "sentiment", "mask": ["a"]}, "mask belongs to"),
        ([("a", "b")], {"metric": lambda s, t: 2.0}, "must be in"),
        ([("a", "b")], {"metric": lambda s, t: None}, "is None; a dissimilarity must be in"),
        ([("a", "b")], {"metric": lambda s, t: "0.0"}, r"is 0\.0; a dissimilarity must be in"),
        ([("a", "b")], {"metric": None}, "metric is None; give the name"),
        ([("a", "b")], {"metric": "colour"}, r"weak_sentiment_parity\. A function"),
    ],
)
def test_bad_input_is_named(data, keywords, said):
    with pytest.raises(ValueError, match=said):
        assert_counterfactual_invariance(data, 0.2, **keywords)


def test_a_negative_eps_is_an_error():
    with pytest.raises(ValueError, match=r"-0\.1, which cannot be a test"):
        assert_counterfactual_invariance([("a", "b")], -0.1)


def test_prompts_without_a_twin_are_refused_before_the_model_is_asked():
    asked = []
    with pytest.raises(ValueError, match="no counterpart"):
        assert_counterfactual_invariance(["She asked."], 0.1, client=asked.append)
    with pytest.raises(ValueError, match="cannot be a test"):
        assert_counterfactual_invariance(PAIRS, 1.5, client=asked.append)
    assert asked == []


def test_a_deterministic_model_reads_alike_as_tuples_and_as_one_answer_a_side():
    single = [(f"a x y {i}", f"b x y {i}") for i in range(100)]
    repeated = [([a] * 3, [b] * 3) for a, b in single]
    results = [
        assert_counterfactual_invariance(rows, 0.3, baseline="none") for rows in (single, repeated)
    ]
    assert (results[0].lower, results[0].upper) == (results[1].lower, results[1].upper)
    assert "identical_repeats" in results[1].reasons


def test_the_excess_of_a_deterministic_model_is_its_value():
    rows = [([f"a x y {i}"] * 2, [f"b x y {i}"] * 2) for i in range(100)]
    with pytest.raises(BoundExceeded) as caught:
        assert_counterfactual_invariance(rows, 0.1, on="excess")
    assert caught.value.result.value == pytest.approx(0.25)


def test_one_canned_answer_is_uninformative():
    result = assert_counterfactual_invariance([("Sorry.", "Sorry.")] * 100, 0.1)
    assert "uninformative" in result.reasons
    with pytest.raises(Inconclusive, match=r"one answer to all 100"):
        assert_counterfactual_invariance([("Sorry.", "Sorry.")] * 100, 0.1, mode="strict")


@pytest.mark.parametrize("metric", ["sentiment", "toxicity", "weak_sentiment_parity"])
def test_a_constant_scorer_is_uninformative(metric):
    rows = [(f"a {i}", f"b {i}") for i in range(60)]
    constant, steady = (
        assert_counterfactual_invariance(rows, 0.3, metric=metric, scorer=scorer)
        for scorer in (
            lambda texts: [0.9] * len(texts),
            lambda texts: [0.7 + int(text.split()[1]) / 300 for text in texts],
        )
    )
    assert (constant.verdict, constant.value) == (Verdict.PASS, 0)
    assert "uninformative" in constant.reasons
    assert (steady.verdict, steady.value) == (Verdict.PASS, 0)
    assert "uninformative" not in steady.reasons


@pytest.mark.parametrize("metric", ["sentiment", "toxicity", "weak_sentiment_parity"])
@pytest.mark.parametrize("score", [4.5, -0.5])
def test_scores_on_another_scale_are_named_with_their_text(metric, score):
    rows = [(f"a {i}", f"b {i}") for i in range(60)]
    with pytest.raises(ValueError, match=rf"of 'a 0' is {score}, outside \[0, 1\]; rescale"):
        assert_counterfactual_invariance(
            rows, 0.3, metric=metric, scorer=lambda texts: [score] * len(texts)
        )


@pytest.mark.parametrize("data", ["text", {"a": "b"}, 5, [5], [("a", "b", "c")]])
def test_data_of_another_form_is_an_error_that_shows_the_form(data):
    with pytest.raises(ValueError, match=r"give a list of|give \(answers"):
        assert_counterfactual_invariance(data, 0.1)


def test_looks_stop_asking_once_the_verdict_is_decided():
    asked = []

    def model(prompt):
        asked.append(prompt)
        return "the same answer to everyone, in so many words"

    pairs = [
        pair
        for i in range(200)
        for pair in generate_pairs([f"She asks for number {i}."], attribute="gender")
    ]
    result = assert_counterfactual_invariance(
        pairs, eps=0.3, client=model, generations=2, sequential="obf"
    )
    assert result.verdict is Verdict.PASS
    spent, planned = result.calls
    assert spent == len(asked) < planned == 800
    assert result.looks[0] < result.looks[1] == 5


def test_looks_need_a_client_and_pairs_that_are_a_sample():
    with pytest.raises(ValueError, match="sequential needs client"):
        assert_counterfactual_invariance([("a", "b")], eps=0.3, sequential="obf")
    pairs = generate_pairs(["She sings.", "He reads."], attribute="gender")
    with pytest.raises(ValueError, match="a fixed list of pairs"):
        assert_counterfactual_invariance(
            pairs, eps=0.3, client=str, sequential="obf", population="fixed"
        )

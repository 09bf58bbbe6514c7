from __future__ import annotations

import json
import math
from importlib import resources

import numpy as np
import pytest
from hypothesis import strategies as st

from pytest_llmfair.metrics import next_word_gender, trick_stereotype

P = st.floats(0.0, 1.0)


def test_a_sentence_whose_answers_have_no_probability_is_undefined_and_named():
    estimate = trick_stereotype([[0.1, 0.2], [0.0, 0.0]], [[0.1, 0.2], [0.1, 0.2]])
    assert math.isnan(estimate.value)
    assert "1 rows of p_stereotypical, first row 1" in estimate.undefined


def test_sentences_are_a_sample_of_more_unless_they_are_all_there_is():
    rng = np.random.default_rng(1)
    pro, anti = rng.beta(4, 2, 50), rng.beta(3, 3, 50)
    sampled = trick_stereotype(pro, anti)
    fixed = trick_stereotype(pro, anti, population="fixed")
    assert fixed.value == pytest.approx(sampled.value)
    # Probabilities are read off: for these sentences alone there is no sampling error (section
    # 3.4), but two of them must not prove anything.
    assert fixed.sample.population == "fixed"
    assert "no_repeats" in fixed.reasons
    assert fixed.interval() == sampled.interval()
    assert fixed.interval().width > 0.0


def test_sentences_of_one_template_are_one_unit():
    rng = np.random.default_rng(2)
    pro, anti = np.repeat(rng.random(10), 4), np.repeat(rng.random(10), 4)
    joined = trick_stereotype(pro, anti, units=np.repeat(np.arange(10), 4))
    assert joined.sample.units == 10
    assert joined.interval().width > trick_stereotype(pro, anti).interval().width


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: trick_stereotype([0.5, 0.4], [0.3]), "lengths differ: p_stereotypical has 2"),
        (lambda: trick_stereotype([1.2], [0.3]), "p_stereotypical row 0 holds 1.2"),
        (lambda: trick_stereotype([[0.1, 0.2, 0.3]], [0.2]), "row 0 holds 3 numbers"),
        (lambda: trick_stereotype([0.1], [0.2], units=[1, 2]), "units has 2 labels for 1 rows"),
    ],
)
def test_wrong_probabilities_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_next_words_are_summed_and_normalised():
    found = next_word_gender({"he": 0.02, "boys": 0.01, "she": 0.01, "busy": 0.9})
    assert found.p_male == pytest.approx(0.75)
    assert found.p_female == pytest.approx(0.25)
    assert found.skew == pytest.approx(0.5)
    assert found.neutrality == pytest.approx(0.5)


def test_a_next_word_counts_in_any_case_and_with_spaces():
    assert next_word_gender({" He": 0.1, "he": 0.1, "SHE": 0.2}).skew == 0.0


def test_there_are_eleven_words_of_either_gender():
    file = resources.files("pytest_llmfair.metrics").joinpath("gender_words.json")
    words = json.loads(file.read_text(encoding="utf-8"))
    for gender, sign in (("male", 1.0), ("female", -1.0)):
        assert len(set(words[gender])) == 11
        for word in words[gender]:
            assert next_word_gender({word: 0.5}).skew == sign


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ({"busy": 0.4, "he": 0.0}, "no mass to any gendered word"),
        ({}, "no mass to any gendered word"),
        ({"he": 1.5}, "probability of 'he' is 1.5"),
        ({"he": math.nan}, "probability of 'he' is nan"),
        ({"he": "much"}, "probability of 'he' is 'much'"),
        ([0.5, 0.5], "probabilities is a list"),
    ],
)
def test_wrong_next_words_are_named(probabilities, message):
    with pytest.raises(ValueError, match=message):
        next_word_gender(probabilities)


def test_the_gender_of_a_next_word_is_read_by_name_place_or_attribute():
    found = next_word_gender({"male": 0.3, "female": 0.1})
    assert found["p_male"] == found[0] == found.p_male == pytest.approx(0.75)
    p_male, _, skew, _ = found
    assert (found["skew"], found[:1]) == (skew, (p_male,))


def test_one_probability_for_every_sentence_is_uninformative():
    found = trick_stereotype([0.5] * 30, [0.5] * 30)
    assert "uninformative" in found.reasons
    assert any("all 60 scores are 0.5" in note for note in found.notes)
    assert "uninformative" not in trick_stereotype([0.5, 0.6] * 15, [0.5, 0.6] * 15).reasons

"""Co-occurrence bias score on sums made by hand; its slow formula is in the cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair import Verdict, assert_metric
from pytest_llmfair.metrics import cooccurrence_bias_score, default_stop_words
from pytest_llmfair.metrics.cooccurrence import _counting as kernel

GROUPS = {"female": ["she", "woman"], "male": ["he", "man"]}


def score(responses, targets, **keywords):
    keywords.setdefault("stop_words", None)
    return cooccurrence_bias_score(responses, GROUPS, targets, **keywords)


def judged(responses, targets):
    return assert_metric("cobs", responses, GROUPS, targets, bound=0.9, stop_words=None)


# "she nurse x he": nurse stands 1 from she and 2 from he, x stands 2 and 1.
ONE = ["she nurse x he"] * 3


def test_the_value_is_the_paper_s_formula_with_weights_that_decay():
    nurse, x = (0.9, 0.9**2), (0.9**2, 0.9)
    every = [nurse[g] + x[g] for g in (0, 1)]
    by_hand = math.log((nurse[0] / every[0] / 3) / (nurse[1] / every[1] / 3))
    assert score(ONE, ["nurse"], decay=0.9).value == pytest.approx(by_hand)


def test_opposite_words_cancel_but_not_their_magnitude():
    responses = ["she nurse", "he doctor"] * 9 + ["he nurse", "she doctor"]
    signed = score(responses, ["nurse", "doctor"])
    assert signed.value == pytest.approx(0.0, abs=1e-12)
    magnitude = score(responses, ["nurse", "doctor"], magnitude=True)
    assert magnitude.value == pytest.approx(math.log(9))
    assert "female minus male" in magnitude.notes[0]
    assert "-0.000" in magnitude.notes[0] or "+0.000" in magnitude.notes[0]
    assert magnitude.groups["doctor"].value == pytest.approx(-math.log(9))


def test_a_word_with_one_group_only_is_infinite_and_left_out_of_the_mean():
    found = score([*ONE, "she ballet", "he chess"], ["nurse", "ballet", "chess", "unheard"])
    assert found.groups["ballet"].value == math.inf
    assert found.groups["chess"].value == -math.inf
    assert found.value == found.groups["nurse"].value
    assert "unheard" not in found.groups
    message = " ".join(found.notes)
    assert "(2): ballet (female), chess (male)" in message
    assert "(1 of 4): unheard" in message


def test_a_word_with_one_group_only_is_at_least_what_its_responses_prove():
    # Both groups have as many mentions and words near them: even odds without association.
    found = score(["she x ballet", "he x chess"] * 10, ["x", "ballet", "chess"])
    ballet, chess = (found.groups[word].interval(0.9) for word in ("ballet", "chess"))
    share = 0.05 ** (1 / 10)
    assert ballet.lower == pytest.approx(math.log(share / (1 - share)))
    assert (ballet.upper, chess.lower) == (math.inf, -math.inf)
    assert chess.upper == pytest.approx(-ballet.lower)
    # Ten answers to one prompt are one draw.
    one = score(["she x ballet", "he x chess"] * 10, ["x", "ballet"], units=["a"] * 18 + ["b"] * 2)
    assert one.groups["ballet"].interval(0.9).lower < 0 < ballet.lower


def test_a_word_proven_beyond_the_bound_is_no_plain_pass():
    responses = ["she x ballet", "he x chess"] * 60
    result = judged(responses, ["x", "ballet", "chess"])
    assert result.verdict is Verdict.PASS
    assert "parts_exceed" in result.reasons
    assert "ballet" in " ".join(result.notes)
    # Seen once: nothing is proven.
    once = judged(["she x", "he x"] * 60 + ["she x ballet", "he x chess"], ["x", "ballet"])
    assert "parts_exceed" not in once.reasons


def test_smoothing_adds_to_both_sides_of_every_word():
    responses = ["she ballet", "she x", "he x"]
    found = score(responses, ["ballet"], smoothing=0.5, decay=1.0)
    assert found.value == pytest.approx(math.log((1.5 / 2 / 2) / (0.5 / 1 / 1)))
    assert math.isfinite(found.groups["ballet"].value)


def test_words_with_one_group_only_leave_no_mean():
    found = score(["she ballet", "he chess"], ["ballet", "chess"])
    assert math.isnan(found.value)
    assert "ballet (female), chess (male)" in found.undefined
    assert found.groups["chess"].value == -math.inf


@pytest.mark.parametrize(
    ("responses", "smoothing", "why"),
    [
        (["she nurse"], 1.0, "no response mentions male"),
        (["she nurse", "he"], 1.0, "has a word near male"),
        (["she a", "he b"], 0.0, "no target word"),
    ],
)
def test_groups_and_words_that_never_meet_leave_no_mean(responses, smoothing, why):
    assert why in score(responses, ["nurse"], smoothing=smoothing).undefined


def test_targets_that_are_all_stop_words_leave_no_mean():
    found = cooccurrence_bias_score(["she own", "he own"], GROUPS, ["own", "she", "the"])
    assert math.isnan(found.value)
    assert "every target word is a stop word or names a group (own, she, the)" in found.undefined


def test_group_words_stay_group_words_when_they_are_stop_words():
    assert {"she", "he", "the", "own", "isn't"} <= set(default_stop_words())
    assert math.isfinite(cooccurrence_bias_score(ONE, GROUPS, ["nurse"]).value)


def test_stop_words_of_one_s_own_replace_the_default():
    responses = ["she nurse the x he", "he nurse the x she the"]
    without = score(responses, ["nurse"], stop_words=["X"]).value
    assert without == pytest.approx(score(responses, ["nurse"], stop_words={"x"}).value)
    assert without != pytest.approx(score(responses, ["nurse"]).value)
    assert score(responses, ["nurse"], stop_words=[]).value == score(responses, ["nurse"]).value


def test_the_longest_of_overlapping_mentions_counts():
    groups = {"old": ["old woman"], "any": ["woman", "man"]}
    found = cooccurrence_bias_score(
        ["old woman nurse", "man nurse"], groups, ["nurse"], decay=1.0, stop_words=None
    )
    assert found.value == pytest.approx(0.0)


def test_terms_do_not_cross_responses():
    found = cooccurrence_bias_score(
        ["nurse she old", "woman he nurse"], {"f": ["she", "old woman"], "m": ["he"]}, ["nurse"]
    )
    assert found.value == pytest.approx(0.0)


def test_a_target_that_names_a_group_is_left_out():
    found = score(ONE, ["nurse", "WOMAN", "old woman"])
    assert list(found.groups) == ["nurse"]
    assert "(2): WOMAN, old woman" in " ".join(found.notes)


def test_targets_inside_one_another_are_counted_each():
    responses = ["she fire fighter", "he fire fighter", "he fire"]
    found = score(responses, ["fire", "fire fighter"], decay=1.0)
    assert found.groups["fire"].n == 3
    assert found.groups["fire fighter"].n == 2


def test_words_match_in_any_case_before_a_clitic_and_not_inside_others():
    plain = score(["she nurse he x", "he nurse"], ["nurse"]).value
    assert score(["SHE'S Nurse he x", "He'll nurse's"], ["NURSE"]).value == plain
    other = score(["she nurse he x", "he nurse", "the mannurse"], ["nurse"])
    assert other.value == pytest.approx(plain)


def test_words_of_other_scripts_match():
    groups = {"f": ["она"], "m": ["ОН", "男"]}
    found = cooccurrence_bias_score(["Она врач он", "男 врач"], groups, ["Врач"], decay=1.0)
    assert found.value == pytest.approx(math.log((1 / 1) / 1) - math.log((2 / 2) / 2))


def test_a_target_spelled_twice_counts_once():
    assert score(ONE, ["nurse", "Nurse"]).value == score(ONE, ["nurse"]).value


def test_several_answers_to_a_prompt_are_one_unit():
    nested = score([["she nurse x he", "he x nurse she"], ["she nurse", "he nurse"]], ["nurse"])
    flat = score(
        ["she nurse x he", "he x nurse she", "she nurse", "he nurse"],
        ["nurse"],
        units=["a", "a", "b", "b"],
    )
    assert (nested.sample.units, nested.sample.generations) == (2, 4)
    assert (flat.sample.units, flat.sample.generations) == (2, 4)
    assert nested.sample.units == 2
    assert nested.interval() == flat.interval()


def test_each_word_has_an_interval_of_its_own():
    responses = ["she nurse x he", "he nurse", "she x", "he x nurse"] * 5
    row = score(responses, ["nurse", "x"]).groups["nurse"]
    alone = score(responses, ["nurse"])
    assert row.n == 15
    assert row.interval().upper == pytest.approx(alone.interval().upper)


@pytest.mark.parametrize(
    ("keywords", "variant"),
    [
        ({"window": 3}, "@window 3"),
        ({"decay": 0.9, "smoothing": 0.5}, "@decay 0.9, smoothing 0.5"),
        ({"magnitude": True}, "@decay 0.95, magnitude"),
    ],
)
def test_options_are_part_of_the_name(keywords, variant):
    assert score(ONE, ["nurse"], **keywords).variant == variant


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("window", [0, -1, 1.5, True, "10"]),
        ("decay", [0.0, 1.1, math.nan, True]),
        ("smoothing", [-0.1, math.inf, math.nan]),
    ],
)
def test_options_outside_their_range_are_named(option, wrong):
    for value in wrong:
        with pytest.raises(ValueError, match=f"{option} is"):
            score(ONE, ["nurse"], **{option: value})


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a": ["x"]}, "holds 1 group"),
        ({"a": ["x"], "b": ["y"], "c": ["z"]}, "compares exactly two"),
        ({"a": ["x"], "b": []}, r"group_words\['b'\] is empty"),
        ({"a": ["x"], "b": "y"}, "give a list of words"),
        ({"a": ["x"], "b": ["!?"]}, "no letter or digit"),
        ({"a": ["x"], "b": [3]}, "holds 3"),
        ({"a": ["x"], "b": ["X"]}, "'X' is listed for the groups a and b"),
        (["x", "y"], "give a mapping"),
    ],
)
def test_group_words_are_two_groups_of_words(groups, message):
    with pytest.raises(ValueError, match=message):
        cooccurrence_bias_score(["x y"], groups, ["nurse"])


def test_responses_and_targets_are_lists_of_texts():
    with pytest.raises(ValueError, match="responses row 1"):
        score(["she", None], ["nurse"])
    with pytest.raises(ValueError, match="responses is a str"):
        score("she nurse", ["nurse"])
    with pytest.raises(ValueError, match="target_words is the text 'nurse'"):
        score(ONE, "nurse")
    with pytest.raises(ValueError, match="2 labels for 3 rows"):
        score(ONE, ["nurse"], units=["a", "b"])
    with pytest.raises(ValueError, match="stop_words holds 'of course', 2 words"):
        score(ONE, ["nurse"], stop_words=["of course"])


WORDS = st.sampled_from(["she", "he", "nurse", "x", "the", "y"])
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.floats(0.2, 1.0), st.integers(1, 9))
def test_no_result_depends_on_how_texts_are_split_into_runs(texts, decay, tokens):
    words = kernel.WordLists.of(GROUPS, ["nurse", "x"])
    for window in (None, 2):
        whole = kernel.Nearness.of(texts, words, window, decay)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernel, "_AT_ONCE", tokens)
            parts = kernel.Nearness.of(texts, words, window, decay)
        for name in ("response", "word", "weight", "totals", "mentions"):
            assert np.array_equal(getattr(whole, name), getattr(parts, name))


def test_fixed_units_need_answers_that_vary():
    assert "no_repeats" in score(ONE, ["nurse"], population="fixed").reasons
    fixed = score(
        ["she nurse x he", "he nurse", "she x", "he x nurse"] * 5,
        ["nurse", "x"],
        units=[i // 4 for i in range(20)],
        population="fixed",
        magnitude=True,
    )
    assert fixed.sample.population == "fixed"
    assert fixed.interval().upper < math.inf

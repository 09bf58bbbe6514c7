"""The reader of paired answers: when it finds something, when it may not, and what it reports."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair import BoundExceeded, assert_group_predictability_within
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.metrics import group_predictability
from pytest_llmfair.stats import PairedAUC, WorstGroups

WORDS = ["red", "green", "blue", "grey", "black", "white", "pink", "brown"]


def answer(draw, words=WORDS):
    return " ".join(draw.choices(words, k=5))


def answers(draw, pairs, generations=1, share=0.0):
    """Answers of which a share says something else."""
    return [
        ["that will not do" if draw.random() < share else answer(draw) for _ in range(generations)]
        for _ in range(pairs)
    ]


def found(estimate):
    return estimate.lower_bound(0.025) > 0.5


def test_a_planted_difference_is_found_and_its_least_share_is_not_too_large():
    draw = random.Random(1)
    estimate = group_predictability(answers(draw, 60, 3, share=0.5), answers(draw, 60, 3))
    assert estimate.value == pytest.approx(0.75, abs=0.06)
    assert found(estimate)
    assert 1.0 - math.sqrt(2.0 * (1.0 - estimate.lower_bound(0.025))) < 0.5


@pytest.mark.parametrize(("pairs", "generations"), [(24, 1), (30, 2)])
def test_equal_models_are_rarely_told_apart(pairs, generations):
    alarms = 0
    for seed in range(40):
        draw = random.Random(seed)
        sides = [answers(draw, pairs, generations) for _ in range(2)]
        alarms += found(group_predictability(*sides))
    # One is expected; five or more have a probability of 0.3 %.
    assert alarms < 5


def test_the_p_value_at_chance_is_that_of_the_exchange():
    alike = [["red blue"]] * 30
    assert group_predictability(alike, alike).p_exceeds(0.5) >= 0.5
    for seed in range(10):
        draw = random.Random(seed)
        estimate = group_predictability(answers(draw, 30), answers(draw, 30))
        assert estimate.p_exceeds(0.5) >= estimate.p_by_exchange
        assert (estimate.p_exceeds(0.5) <= 0.025) == found(estimate)


def test_units_whose_pairs_share_an_effect_raise_no_alarm():
    # Each unit has answers of its own, and the two sides of its pairs one set of words each, so
    # that pairs of one unit agree on which words are whose.
    alarms, by_pair = 0, 0
    units = [i // 6 for i in range(60)]
    for seed in range(16):
        draw = random.Random(seed)
        sides = [[], []]
        for _ in range(10):
            own = draw.sample(WORDS, 8)
            for side, words in zip(sides, (own[:5], own[3:]), strict=True):
                side += [answer(draw, words) for _ in range(6)]
        alarms += found(group_predictability(*sides, units=units))
        by_pair += found(group_predictability(*sides))
    assert alarms <= 2
    # Pairs taken for units would prove a difference that another choice of units undoes.
    assert by_pair > 5


def test_a_deterministic_model_that_ignores_the_group_is_never_found():
    for seed in range(10):
        draw = random.Random(seed)
        replies = [answer(draw) for _ in range(40)]
        estimate = group_predictability(replies, list(replies))
        assert estimate.value == 0.5
        assert estimate.interval().lower == 0.5 < estimate.interval().upper


def test_equal_answers_leave_room_for_a_unit_that_the_sample_may_lack():
    for pairs in (5, 40):
        upper = group_predictability(["yes"] * pairs, ["yes"] * pairs).upper_bound(0.025)
        assert upper == pytest.approx(0.5 + 0.5 * (1.0 - 0.025 ** (1.0 / pairs)))


def test_few_units_cannot_prove_anything():
    # With five units 1 in 16 relabellings orders everything rightly.
    estimate = group_predictability(["no"] * 5, ["yes"] * 5)
    assert estimate.value == 1.0
    assert not found(estimate)
    assert estimate.p_by_exchange > 0.025
    assert found(group_predictability(["no"] * 12, ["yes"] * 12))


def test_one_unit_has_no_value():
    estimate = group_predictability(["no"] * 5, ["yes"] * 5, units=["a"] * 5)
    assert math.isnan(estimate.value)
    assert "one unit" in estimate.undefined


def test_empty_texts_are_read_like_others():
    estimate = group_predictability([""] * 20, ["yes, of course"] * 20)
    assert estimate.value == 1.0
    assert group_predictability([""] * 20, [""] * 20).value == 0.5


def test_length_alone_tells_the_sides_apart():
    # No two answers share a word.
    count = iter(range(10_000))
    sides = [
        [" ".join(f"w{next(count)}" for _ in range(length)) for _ in range(30)]
        for length in (4, 12)
    ]
    assert group_predictability(*sides).value == 1.0


def test_features_are_read_and_must_fit_the_answers():
    draw = random.Random(3)
    sides = answers(draw, 30, 2), answers(draw, 30, 2)
    numbers = [[[value, value] for _ in range(30)] for value in (0.1, 0.9)]
    vectors = [[[[value, 0.3]] * 2 for _ in range(30)] for value in (0.1, 0.9)]
    for features in (numbers, vectors):
        assert group_predictability(*sides, features=[features]).value > 0.9
    with pytest.raises(ValueError, match="features row 0 has 1 values"):
        group_predictability(*sides, features=[([[0.1]] * 30, numbers[1])])
    broken = [[[math.nan, 0.1]] * 30, numbers[1]]
    with pytest.raises(ValueError, match="NaN"):
        group_predictability(*sides, features=[broken])


def test_words_of_the_attribute_names_and_ignored_words_are_not_read():
    first = [f"She likes {x}, says Emily Red." for x in ("tea", "milk") * 15]
    second = [f"He likes {x}, says Emil Red." for x in ("tea", "milk") * 15]
    assert group_predictability(first, second).value == 1.0
    assert group_predictability(first, second, mask="gender", mask_names=False).value == 1.0
    masked = group_predictability(first, second, mask="gender", ignore=["Emil"])
    assert masked.value == 0.5
    assert group_predictability(first, second, ignore=r"\b(She|He|Emil\w*)\b").value == 0.5
    with pytest.raises(ValueError, match="no regular expression"):
        group_predictability(first, second, ignore="(")
    with pytest.raises(ValueError, match="matches an empty text"):
        group_predictability(first, second, ignore="x*")


def test_the_words_that_tell_the_sides_apart_come_with_their_shares():
    draw = random.Random(2)
    estimate = group_predictability(answers(draw, 40, 3, share=0.5), answers(draw, 40, 3))
    told = {word: (a, b) for word, a, b in estimate.telling()}
    assert set(told) & {"that", "will", "not", "do"}
    assert all(a == pytest.approx(0.5, abs=0.15) and b == 0.0 for a, b in list(told.values())[:1])


def test_what_is_found_where_it_is_planted_shrinks_with_the_sample():
    draw = random.Random(5)
    shares = []
    for pairs, generations in ((12, 1), (60, 3), (400, 3)):
        sides = answers(draw, pairs, generations), answers(draw, pairs, generations)
        shares.append(2.0 * group_predictability(*sides).planted_effect(0.025))
    assert shares[0] > shares[1] > shares[2]
    assert shares[1] < 0.6
    assert shares[2] < 0.25


def test_the_least_planted_share_is_found_as_often_as_promised():
    # As planted: answers to other prompts, which hold one word more.
    draw = random.Random(8)
    sides = answers(draw, 40, 2), answers(draw, 40, 2)
    share = 2.0 * group_predictability(*sides).planted_effect(0.025)
    assert 0.2 < share < 0.9
    times = 0
    for seed in range(25):
        draw = random.Random(seed)
        a = answers(draw, 40, 2)
        a = [[x if draw.random() > share else f"{answer(draw)} indeed" for x in r] for r in a]
        times += found(group_predictability(a, answers(draw, 40, 2)))
    assert times >= 15


def test_of_many_groups_the_worst_two_decide_with_their_share_of_the_error():
    draw = random.Random(1)
    fair, harsh = (answers(draw, 60, 3, share=share) for share in (0.0, 0.6))
    parts = {
        ("a", "b"): group_predictability(fair, answers(draw, 60, 3)),
        ("a", "c"): group_predictability(answers(draw, 60, 3), harsh),
        ("b", "c"): group_predictability(answers(draw, 60, 3), harsh),
    }
    worst = WorstGroups.of_parts(parts, "lower", units=60, generations=540)
    assert worst.worst in {("a", "c"), ("b", "c")}
    assert 0.5 < worst.lower_bound(0.025) < worst.part.lower_bound(0.025)
    assert worst.planted_effect(0.025) >= parts["a", "b"].planted_effect(0.025)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 12),
    st.lists(st.sampled_from(["yes", "no", "perhaps later", ""]), min_size=1, max_size=3),
)
def test_exchanging_the_sides_changes_nothing(seed, pairs, said):
    draw = random.Random(seed)
    sides = [[draw.choices(said, k=draw.randint(1, 3)) for _ in range(pairs)] for _ in range(2)]
    one, other = group_predictability(*sides), group_predictability(*sides[::-1])
    assert one.guessed == pytest.approx(other.guessed, abs=1e-9)
    assert 0.5 <= one.interval().lower <= one.value <= one.interval().upper <= 1.0


def test_a_large_sample_is_read_as_a_small_one():
    # More pairs than columns, so that the system is one of columns.
    draw = random.Random(4)
    sides = answers(draw, 1300, share=0.1), answers(draw, 1300)
    estimate = group_predictability(*sides)
    assert estimate.value == pytest.approx(0.55, abs=0.02)
    assert found(estimate)


def test_the_kind_of_estimate_can_be_made_from_any_features():
    rows = np.random.default_rng(0).standard_normal((80, 3))
    places = np.arange(80).reshape(2, 40, 1)
    assert PairedAUC.of_answers([rows], *places).lower_bound(0.025) == 0.5
    with pytest.raises(ValueError, match="two units or more"):
        PairedAUC.of_answers([rows], *places, units=[0] * 40)


def test_the_placeholder_of_masked_words_is_not_shown_as_a_word_of_an_answer():
    pairs = generate_pairs([f"She asks about job {i}." for i in range(60)], "gender")
    with pytest.raises(BoundExceeded) as caught:
        assert_group_predictability_within(
            pairs, 0.7, client=lambda p: "Bring a husband." if p.startswith("She") else "Come."
        )
    assert '"[mask]" (100 % women' in " ".join(str(caught.value).split())

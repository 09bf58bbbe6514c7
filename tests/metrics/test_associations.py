"""Words and groups in one answer; slow transcriptions of all three are in the cases."""

from __future__ import annotations

import math

import pytest

from pytest_llmfair.metrics import (
    equal_group_associations,
    equal_neutral_associations,
    stereotypical_associations,
)

GROUPS = {"female": ["she", "woman"], "male": ["he", "man"]}
THREE = {**GROUPS, "nonbinary": ["xe"]}
EVERY = [stereotypical_associations, equal_group_associations, equal_neutral_associations]


def test_mentions_are_counted_and_words_only_held():
    responses = ["she she he nurse nurse", "he nurse", "she"]
    found = stereotypical_associations(responses, GROUPS, ["nurse"])
    # Two mentions each: nurse twice in one answer counts once.
    assert found.value == 0.0
    assert found.groups["nurse"].n == 2


def test_a_word_with_one_group_only_is_as_far_as_can_be():
    found = stereotypical_associations(["she nurse", "he doctor"], THREE, ["nurse", "doctor"])
    assert found.value == pytest.approx(2 / 3)
    assert found.attainable == pytest.approx((0.0, 2 / 3))


def test_nine_to_one_mentions_read_04_unless_the_reference_is_observed():
    responses = ["she nurse"] * 9 + ["he nurse"]
    uniform = stereotypical_associations(responses, GROUPS, ["nurse"])
    assert uniform.value == pytest.approx(0.4)
    observed = stereotypical_associations(responses, GROUPS, ["nurse"], reference="observed")
    assert observed.value == pytest.approx(0.0)
    assert any("female 0.900, male 0.100" in note for note in observed.notes)


def test_a_reference_is_given_by_group():
    given = {"male": 0.25, "female": 0.75}
    found = stereotypical_associations(["she nurse"], GROUPS, ["nurse"], reference=given)
    assert found.value == pytest.approx(0.25)
    assert found.attainable[1] == pytest.approx(0.75)
    assert found.variant == "@given"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"female": 1.0}, "group 'male' is in group_words only"),
        ({"female": 0.5, "male": 0.3, "x": 0.2}, "group 'x' is in reference only"),
        ({"female": 0.5, "male": 0.6}, "adds up to 1.1"),
        ({"female": -0.5, "male": 1.5}, r"reference\['female'\] is -0.5"),
        ("uniform", "reference is 'uniform'"),
        ([0.5, 0.5], "give None"),
    ],
)
def test_a_reference_is_a_distribution_over_the_groups(reference, message):
    with pytest.raises(ValueError, match=message):
        stereotypical_associations(["she nurse"], GROUPS, ["nurse"], reference=reference)


def test_words_never_seen_with_a_group_are_left_out_and_counted():
    found = stereotypical_associations(["she nurse", "boss"], GROUPS, ["nurse", "boss", "the"])
    assert list(found.groups) == ["nurse"]
    message = " ".join(found.notes)
    assert "(1 of 2): boss" in message
    assert "(1): the" in message


def test_each_word_has_an_interval_of_its_own():
    responses = ["she nurse", "she nurse he", "he doctor", "doctor she he", "he nurse"] * 8
    found = stereotypical_associations(responses, GROUPS, ["nurse", "doctor"])
    row = found.groups["doctor"]
    assert row.value == pytest.approx(2 / 3 - 0.5)
    assert row.interval().lower <= row.value <= row.interval().upper < 0.5


def test_nothing_seen_with_a_group_is_undefined():
    found = stereotypical_associations(["nurse", "she"], GROUPS, ["nurse"])
    assert math.isnan(found.value)
    assert "no target word was seen with any group" in found.undefined
    observed = stereotypical_associations(["nurse"], GROUPS, ["nurse"], reference="observed")
    assert "no target word" in observed.undefined


def test_group_associations_are_the_largest_gap_given_the_group():
    responses = ["she nurse", "she", "she he nurse kind", "he kind"]
    found = equal_group_associations(responses, GROUPS, ["nurse", "kind"])
    assert found.groups["nurse"].value == pytest.approx(2 / 3 - 1 / 2)
    assert found.groups["kind"].value == pytest.approx(1 - 1 / 3)
    assert found.value == pytest.approx(2 / 3)
    assert any("widest gap: kind, 0.333 against 1.000" in note for note in found.notes)


def test_words_never_seen_have_no_gap_between_groups():
    found = equal_group_associations(["she", "he"], GROUPS, ["nurse"])
    assert found.value == 0.0
    assert "uninformative" in found.reasons


def test_neutral_associations_are_the_largest_gap_given_the_word():
    responses = ["she nurse", "she nurse", "she he nurse", "he kind", "kind", "he"]
    found = equal_neutral_associations(responses, GROUPS, ["nurse", "kind", "unheard"])
    assert found.groups["nurse"].value == pytest.approx(1 - 1 / 3)
    assert found.groups["kind"].value == pytest.approx(1 / 2)
    assert "unheard" not in found.groups
    assert found.value == pytest.approx(2 / 3)


@pytest.mark.parametrize("measure", [equal_group_associations, equal_neutral_associations])
def test_of_more_groups_the_widest_pair_counts(measure):
    responses = ["she nurse", "she nurse he", "he kind", "xe kind", "xe he kind nurse"] * 3
    found = measure(responses, THREE, ["nurse", "kind"])
    pairs = [row for word in found.groups.values() for row in word.estimate.groups.values()]
    assert len(pairs) == 6
    assert found.value == pytest.approx(max(row.value for row in pairs))
    assert set(found.groups["nurse"].estimate.groups) == {
        ("female", "male"),
        ("female", "nonbinary"),
        ("male", "nonbinary"),
    }
    assert found.sample.units == 15


def test_a_group_never_mentioned_leaves_its_rates_undefined():
    found = equal_group_associations(["she nurse"], GROUPS, ["nurse"])
    assert math.isnan(found.value)
    assert "no response mentions male" in found.undefined
    three = equal_group_associations(["she nurse", "he"] * 9, THREE, ["nurse"])
    assert math.isnan(three.value)
    assert "no response mentions nonbinary" in three.undefined
    assert three.groups["nurse"].value == pytest.approx(1.0)


def test_no_group_or_no_word_at_all_is_undefined():
    assert (
        "mentions any group" in equal_neutral_associations(["nurse"], GROUPS, ["nurse"]).undefined
    )
    assert "target words" in equal_neutral_associations(["she"], GROUPS, ["nurse"]).undefined


def test_answers_that_mention_both_groups_are_compared_in_pairs():
    found = equal_neutral_associations(["she he nurse"] * 30, GROUPS, ["nurse"])
    assert found.groups["nurse"].estimate.evidence.paired


@pytest.mark.parametrize("measure", EVERY)
def test_targets_that_are_all_stop_words_are_undefined(measure):
    found = measure(["she own", "he own"], GROUPS, ["own", "she"])
    assert math.isnan(found.value)
    assert "stop word" in found.undefined


@pytest.mark.parametrize("measure", EVERY)
def test_units_are_labels_of_responses(measure):
    responses = ["she nurse", "he nurse kind", "she kind", "he"] * 6
    units = [i // 4 for i in range(24)]
    assert measure(responses, GROUPS, ["nurse", "kind"], units=units).sample.units == 6
    nested = [responses[i : i + 4] for i in range(0, 24, 4)]
    assert measure(nested, GROUPS, ["nurse", "kind"]).sample.units == 6


@pytest.mark.parametrize("measure", EVERY)
def test_one_group_is_no_comparison(measure):
    with pytest.raises(ValueError, match="needs at least two"):
        measure(["she"], {"female": ["she"]}, ["nurse"])


@pytest.mark.parametrize("measure", EVERY)
def test_terms_of_several_words_match_in_any_case_and_script(measure):
    groups = {"f": ["Old Woman", "女性"], "m": ["МУЖЧИНА"]}
    responses = ["an OLD woman, fire fighter", "мужчина Fire-Fighter", "女性 fire fighter"]
    found = measure(responses, groups, ["fire fighter"])
    by_hand = {
        stereotypical_associations: 2 / 3 - 1 / 2,
        equal_group_associations: 0.0,
        equal_neutral_associations: 1 / 3,
    }
    assert found.value == pytest.approx(by_hand[measure])

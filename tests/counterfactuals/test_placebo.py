"""Placebo twins: reworded, and still of their own group."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import (
    Lexicon,
    generate_pairs,
    load_lexicons,
    name_groups,
    names,
)
from pytest_llmfair.lexicons.name_lists import listed_names, split_cell

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

ATTRIBUTES = CASES["attributes"]
PROMPTS = CASES["prompts"]


def placebo(text: str, attribute: str, groups: tuple[str, str], seed: int = 0) -> str | None:
    (pair, *_) = generate_pairs([text], attribute, groups=groups, placebo=True, seed=seed)
    return pair.placebo


def groups_of(text: str, lexicon: Lexicon) -> list[str]:
    return [mention.group for mention in lexicon.mentions(text)]


def test_is_another_term_of_the_group() -> None:
    for text, attribute, groups, expected in [
        ("My mother said so.", "gender", ("female", "male"),
         {"My mom said so.", "My mum said so."}),
        ("Ask his dad.", "gender", ("male", "female"), {"Ask his father."}),
        ("MOM LEFT", "gender", ("female", "male"), {"MOTHER LEFT", "MUM LEFT"}),
        ("A Caucasian man", "race", ("white", "black"),
         {"A white man", "A European American man", "A European-American man"}),
        ("An African-American man", "race", ("black", "white"),
         {"A Black man", "A black man"}),
        ("A teenager", "age", ("young", "older"), {"A youngster", "An adolescent"}),
        ("a chronic illness", "disability", ("chronic illness", "no disability"),
         {"a chronic condition"}),
        ("the gays", "sexual_orientation", ("gay", "bisexual"), {"the gay people"}),
    ]:  # fmt: skip
        assert {placebo(text, attribute, groups, seed) for seed in range(20)} == expected


def test_is_missing_if_no_other_term_is_known() -> None:
    for text, attribute, groups in CASES["is missing if no other term is known"]:
        assert placebo(text, attribute, groups) is None


def test_takes_one_step_for_all_terms() -> None:
    for seed in range(20):
        text = placebo(
            "A German and a German engineer met an Italian engineer.",
            "nationality",
            ("gdp over 2 trillion", "gdp under 50 billion"),
            seed,
        )
        assert text is not None
        one, other, _ = (
            word for word in text.rstrip(".").split() if word[0].isupper() and len(word) > 2
        )
        assert one == other != "German"


def test_depends_on_the_seed_alone() -> None:
    prompts = ["My mother left.", "My grandmother left."] * 10
    first, again, other = (
        [p.placebo for p in generate_pairs(prompts, "gender", placebo=True, seed=seed)]
        for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_names_the_same_groups_in_other_words(attribute: str) -> None:
    lexicon = load_lexicons()[attribute]
    made = 0
    for seed in range(5):
        for pair in generate_pairs(PROMPTS, attribute, placebo=True, seed=seed):
            if pair.placebo is not None:
                made += 1
                assert pair.placebo not in (pair.original, pair.counterfactual)
                assert groups_of(pair.placebo, lexicon) == groups_of(pair.original, lexicon)
                assert lexicon.mask(pair.placebo) == lexicon.mask(pair.original)
    assert made


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_never_writes_an_outdated_word_or_a_slur(attribute: str) -> None:
    lexicon = load_lexicons()[attribute]
    found = {
        mention.register
        for pair in generate_pairs(PROMPTS, attribute, placebo=True)
        for mention in lexicon.mentions(pair.placebo or "")
        if mention.text not in pair.original
    }
    assert found <= {"preferred", "neutral"}


def test_a_swap_inside_one_group_is_never_a_pair() -> None:
    pairs = generate_pairs(["a Caucasian man"], "race")
    assert "white" not in [pair.to_group for pair in pairs]


def cell_of(name: str) -> str:
    return next(
        cell for cell in name_groups() if name.split()[0] in listed_names(*split_cell(cell))
    )


GROUPS = st.deferred(lambda: st.sampled_from(name_groups()))


@given(GROUPS, GROUPS, st.integers(0, 999))
@settings(max_examples=40)
def test_of_a_name_is_a_name_of_its_gender_and_group_of_similar_length(
    group: str, other: str, seed: int
) -> None:
    (old,), (new,) = names(group, 1, seed=seed), names(other, 1, seed=seed + 1)
    if {*old.split()} & {*new.split()}:
        return
    text = f"{old} applied; {old.split()[0]}'s letter and Ms. {old.split()[1]}"
    (pair,) = generate_pairs([text], "name", groups=(old, new), placebo=True, seed=seed)
    if pair.placebo is None:
        return
    third = " ".join(pair.placebo.split()[:2])
    assert cell_of(third) == group
    assert third.split()[1] in names_of(group)
    for ours, theirs in zip(old.split(), third.split(), strict=True):
        assert ours == theirs or abs(len(ours) - len(theirs)) <= 1
    assert third not in (old, new)
    assert pair.placebo == text.replace(old.split()[0], third.split()[0]).replace(
        old.split()[1], third.split()[1]
    )


def names_of(group: str) -> list[str]:
    return list(listed_names(split_cell(group)[0], "last"))


def test_of_names_keeps_away_from_names_that_the_prompt_holds() -> None:
    for seed in range(30):
        text = placebo("Heidi met Maggie.", "name", ("Heidi", "Ebony"), seed)
        assert text is None or text.count("Maggie") == 1


def test_covers_both_attributes_of_an_intersection() -> None:
    (pair,) = generate_pairs(
        ["The Black mother said she was late."],
        ("gender", "race"),
        groups=("black female", "white male"),
        placebo=True,
    )
    assert pair.placebo is not None
    assert pair.placebo.startswith("The African")
    assert pair.placebo.split("American ")[1] in (
        "mom said she was late.",
        "mum said she was late.",
    )

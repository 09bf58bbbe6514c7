"""Groups that texts leave unsaid: by leaving words out, and by naming them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import (
    Lexicon,
    Pair,
    check_pair,
    generate_pairs,
    load_lexicons,
    mask,
    mentions,
)

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

UNMARKED = {"disability": "no disability", "sexual_orientation": "straight", "gender": "cis"}


def twins(text: str, attribute: str) -> dict[str, str]:
    """Return the twins of the unmarked group by variant, from the group named first."""
    target = load_lexicons()[attribute].group(UNMARKED[attribute])
    first = next(m.group for m in mentions(text, attribute) if m.group not in ("female", "male"))
    pairs = generate_pairs([text], attribute, groups=(first, target))
    assert not pairs.rejected
    return {pair.variant: pair.counterfactual for pair in pairs}


def omission(text: str, attribute: str = "disability") -> str | None:
    return twins(text, attribute).get("omission")


def test_each_shipped_lexicon_says_which_group_it_is() -> None:
    found = {name: lexicon.unmarked for name, lexicon in load_lexicons().items()}
    assert {name for name, groups in found.items() if groups} == set(UNMARKED)
    for name, group in UNMARKED.items():
        assert found[name] == (load_lexicons()[name].group(group),)


def test_comes_in_two_variants() -> None:
    for text, attribute, left_out, explicit in CASES["comes in two variants"]:
        assert twins(text, attribute) == {"omission": left_out, "explicit": explicit}


def test_is_only_named_where_nothing_can_be_left_out() -> None:
    for text, attribute in CASES["is only named where nothing can be left out"]:
        assert list(twins(text, attribute)) == ["explicit"], text


def test_articles_capitals_and_spaces_follow() -> None:
    for text, expected in CASES["articles capitals and spaces follow"]:
        assert omission(text) == expected, text


def test_several_mentions_go_together() -> None:
    assert omission("Two gay men, a lesbian and a gay couple", "sexual_orientation") == (
        "Two men, a woman and a couple"
    )


def test_other_groups_stay() -> None:
    assert omission("My blind brother and my deaf sister") == "My brother and my deaf sister"


def test_edits_lead_from_one_text_to_the_other() -> None:
    pair = generate_pairs(["A blind engineer"], "disability", groups=("sight", "without"))[0]
    assert [(e.before, e.after) for e in pair.edits] == [("A", "An"), ("blind ", "")]
    assert (pair.from_group, pair.to_group) == ("visual disability", "no disability")


def test_every_other_group_has_no_variant() -> None:
    pairs = generate_pairs(["A gay man"], "sexual_orientation")
    assert [(p.to_group, p.variant) for p in pairs] == [
        ("straight", "omission"),
        ("straight", "explicit"),
        ("bisexual", ""),
        ("asexual", ""),
        ("other", ""),
    ]


def test_away_from_the_unmarked_group_words_are_exchanged() -> None:
    (pair,) = generate_pairs(["A straight man"], "sexual_orientation", groups=("straight", "gay"))
    assert (pair.counterfactual, pair.variant) == ("A gay man", "")


def test_where_the_unmarked_group_is_named_too_both_change_places() -> None:
    pairs = generate_pairs(["A gay man and a straight boy"], "sexual_orientation")
    found = [(p.counterfactual, p.variant) for p in pairs if p.to_group == "straight"]
    assert found == [("A straight man and a gay boy", "explicit")]


def test_a_user_lexicon_can_name_its_unmarked_group() -> None:
    data: dict[str, Any] = {
        "name": "handedness",
        "groups": ["left", "right"],
        "unmarked": ["right"],
        "neutral_nouns": {"person": "left-hander"},
        "entries": [
            {"role": "adjective", "left": "left-handed", "right": "right-handed",
             "kind": "person_adjective"},
            {"role": "noun", "left": "left-hander", "right": "right-hander"},
        ],
    }  # fmt: skip
    pairs = generate_pairs(["A left-hander and a left-handed actor"], Lexicon.from_dict(data))
    assert [pair.counterfactual for pair in pairs] == [
        "A person and an actor",
        "A right-hander and a right-handed actor",
    ]


WORDS = [
    *("a", "A", "the", "blind", "deaf", ",", "and", "man", "people", "who is", "with epilepsy"),
    *("engineer", "tall", "very", "\n", ".", "  "),
]


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_omission_leaves_no_mention_in_any_text(words: list[str]) -> None:
    text = " ".join(words)
    for pair in generate_pairs([text], "disability"):
        if pair.variant == "omission":
            left = [m.group for m in mentions(pair.counterfactual, "disability")]
            assert pair.from_group not in left


def test_a_pair_by_hand_can_say_without() -> None:
    for one, other in CASES["a pair by hand can say without"]:
        groups = ("disability", "no disability")
        assert check_pair(Pair(one, other, *groups, (), "disability"), "disability") == ()
        assert check_pair(Pair(other, one, *groups[::-1], (), "disability"), "disability") == ()


def test_without_is_found_and_masked_with_its_condition() -> None:
    text = "A child without any disabilities"
    (found,) = mentions(text, "disability")
    assert (found.text, found.group) == ("without any disabilities", "no disability")
    assert mask(text, "disability") == mask("A child with disabilities", "disability")


def test_having_a_condition_and_not_change_places() -> None:
    text = "Are clerks with epilepsy slower than clerks without epilepsy?"
    twins = {p.to_group: p.counterfactual for p in generate_pairs([text], "disability")}
    assert (
        twins["no disability"] == "Are clerks with no disability slower than clerks with epilepsy?"
    )
    assert twins["hearing disability"] == (
        "Are clerks with hearing loss slower than clerks without hearing loss?"
    )


def test_deaf_and_hearing_persons_change_places() -> None:
    pairs = generate_pairs(["Deaf and hearing toddlers played."], "disability")
    twins = {pair.to_group: pair.counterfactual for pair in pairs}
    assert twins["no disability"] == "Hearing and deaf toddlers played."

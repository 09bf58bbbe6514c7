"""Pairs: groups, edits, articles, what is refused."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from pytest_llmfair.counterfactuals import (
    Edit,
    Lexicon,
    Pair,
    Pairs,
    generate_pairs,
    load_lexicons,
    mentions,
)
from pytest_llmfair.lexicons.english.agreement import article_for

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

ORIGIN = Lexicon.from_dict(
    {
        "name": "origin",
        "groups": ["asian", "european", "african"],
        "entries": [
            {"role": "adjective", "asian": "Asian", "european": "European", "african": "African"},
            {"role": "noun", "asian": "Asians", "european": "Europeans"},
        ],
    }
)


def twins(prompts: list[str], attribute: str | Lexicon = "gender", **keywords: Any) -> list[str]:
    return [p.counterfactual for p in generate_pairs(prompts, attribute=attribute, **keywords)]


class TestPairs:
    def test_hold_prompts_groups_edits_and_attribute(self) -> None:
        (pair,) = generate_pairs(["Ask her son."], attribute="gender")
        assert pair == Pair(
            original="Ask her son.",
            counterfactual="Ask his daughter.",
            from_group="female",
            to_group="male",
            edits=(Edit(4, 7, "her", "his", 4), Edit(8, 11, "son", "daughter", 8)),
            attribute="gender",
        )

    def test_say_where_edits_start_in_the_counterfactual(self) -> None:
        (pair,) = generate_pairs(["A son, a son"], attribute="gender")
        assert [(e.start, e.counterfactual_start) for e in pair.edits] == [(2, 2), (9, 14)]

    def test_follow_the_order_of_the_prompts(self) -> None:
        assert twins(["he", "nobody", "she", "he"]) == ["she", "he", "she"]

    def test_start_from_the_group_named_first(self) -> None:
        pairs = generate_pairs(["he met her", "she met him"], attribute="gender")
        assert [(p.from_group, p.to_group) for p in pairs] == [
            ("male", "female"),
            ("female", "male"),
        ]

    def test_can_be_hashed_and_cannot_be_changed(self) -> None:
        (pair,) = generate_pairs(["he"], attribute="gender")
        assert len({pair, pair}) == 1
        with pytest.raises(AttributeError):
            pair.original = "x"  # type: ignore[misc]


class TestGroups:
    def test_from_and_to_change_only_the_first(self) -> None:
        (pair,) = generate_pairs(["He met her."], attribute="gender", groups=("male", "female"))
        assert pair.counterfactual == "She met her."
        assert (pair.from_group, pair.to_group) == ("male", "female")

    def test_a_prompt_without_the_first_gives_no_pair(self) -> None:
        assert twins(["he", "she"], groups=("female", "male")) == ["he"]

    def test_nonbinary_people_can_be_asked_for(self) -> None:
        assert twins(
            ["She lost her keys; the woman asked her husband."], groups=("female", "nonbinary")
        ) == ["Xe lost xyr keys; the nonbinary person asked xyr husband."]

    def test_and_come_back(self) -> None:
        assert twins(["Ask xem; xyr car is a non-binary mess."], groups=("nonbinary", "male")) == [
            "Ask him; his car is a male mess."
        ]

    def test_a_term_without_counterpart_leaves_the_prompt_out(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, "pytest_llmfair"):
            assert twins(["The queen lost her keys."], groups=("female", "nonbinary")) == []
        assert "these words have no counterpart: 'queen' (1)" in caplog.text

    def test_by_default_gender_says_that_it_swaps_two_of_its_groups(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, "pytest_llmfair"):
            assert twins(["xe met him"]) == ["xe met her"]
        assert (
            "gender: exchanging female and male only; for nonbinary, transgender, cisgender"
            in caplog.text
        )

    def test_more_than_two_give_a_pair_to_every_other(self) -> None:
        pairs = generate_pairs(["An Asian cook"], attribute=ORIGIN)
        assert [(p.counterfactual, p.from_group, p.to_group) for p in pairs] == [
            ("A European cook", "asian", "european"),
            ("An African cook", "asian", "african"),
        ]

    def test_of_several_named_change_places_with_each_other(self) -> None:
        assert twins(["An Asian, a European and an African cook"], ORIGIN) == [
            "A European, an Asian and an African cook",
            "An African, a European and an Asian cook",
        ]


class TestArticles:
    def test_follow_the_sound(self) -> None:
        for text, expected in CASES["articles of a small lexicon follow the sound"]:
            assert twins([text], ORIGIN)[0] == expected

    def test_that_change_are_edits_of_their_own(self) -> None:
        pair = generate_pairs(["an Asian cook"], attribute=ORIGIN)[0]
        assert pair.edits == (Edit(0, 2, "an", "a", 0), Edit(3, 8, "Asian", "European", 2))

    def test_that_fit_stay(self) -> None:
        for word in ["heir", "heiress", "hero", "heroine", "uncle", "husband"]:
            article = "an" if word in ("heir", "heiress", "uncle") else "a"
            (pair,) = generate_pairs([f"{article} {word}"], attribute="gender")
            assert pair.counterfactual.startswith(f"{article} ")


class TestCase:
    def test_is_kept(self) -> None:
        for text, expected in CASES["case is kept"]:
            assert twins([text]) == [expected]

    def test_exchanges_words_inside_a_term(self) -> None:
        for text, expected in CASES["words inside a term are exchanged too"]:
            assert twins([text]) == [expected]

    def test_of_a_short_title_is_kept_for_every_group(self) -> None:
        (pair,) = generate_pairs(["DEAR MR LEE"], "gender", ("male", "nonbinary"))
        (back,) = generate_pairs(["DEAR MX LEE"], "gender", ("nonbinary", "male"))
        assert (pair.counterfactual, back.counterfactual) == ("DEAR MX LEE", "DEAR MR LEE")


class TestRefused:
    def test_prompts(self) -> None:
        for prompts, message in CASES["wrong prompts"]:
            with pytest.raises(ValueError, match=message):
                generate_pairs(prompts, attribute="gender")

    def test_but_not_braces_that_are_no_slots(self) -> None:
        text = 'He wrote {"a": 1}, {x} and {{person}}.'
        (pair,) = generate_pairs([text], attribute="gender")
        assert pair.counterfactual == text.replace("He", "She")

    def test_attribute_with_the_list(self) -> None:
        with pytest.raises(ValueError, match=r"called 'colour'; known are age, .*gender"):
            generate_pairs(["he"], attribute="colour")

    def test_groups_go_by_labels_and_aliases_in_any_case(self) -> None:
        (pair,) = generate_pairs(["A Black chef won."], "race", groups=("Black", "Caucasian"))
        assert (pair.from_group, pair.to_group) == ("black", "white")
        assert load_lexicons()["disability"].group("Blind") == "visual disability"

    def test_groups(self) -> None:
        for groups, message in CASES["wrong groups"]:
            with pytest.raises(ValueError, match=message):
                generate_pairs(["she"], attribute="gender", groups=groups)

    def test_a_seed_that_cannot_be_repeated(self) -> None:
        with pytest.raises(ValueError, match="seed is None; give a whole number"):
            generate_pairs(["she"], attribute="gender", seed=None)  # type: ignore[arg-type]


def test_a_term_that_the_text_uses_for_the_other_group_is_preferred() -> None:
    for text, twin in CASES["a term that the text has for the other group is taken"]:
        (pair,) = generate_pairs([text], "gender")

        assert pair.counterfactual == twin


def test_a_capital_that_some_groups_take_is_that_of_the_text() -> None:
    for text, twin in [
        ("A Black man and a White man.", "A White man and a Black man."),
        ("A Black man and a white man.", "A white man and a Black man."),
        ("a black man and a white man", "a white man and a black man"),
        # The capital of a sentence tells nothing.
        ("White and Black students differ.", "Black and white students differ."),
        ("A white man.", "A Black man."),
    ]:
        (pair,) = generate_pairs([text], "race")[:1]

        assert pair.counterfactual == twin


def test_an_outdated_term_that_the_text_has_is_not_written() -> None:
    data = {
        "name": "origin",
        "groups": ["a", "b"],
        "entries": [
            {
                "role": "noun",
                "a": "alphan",
                "b": ["betan", {"term": "bet", "register": "outdated"}],
            }
        ],
    }

    (pair,) = generate_pairs(["An alphan met a bet."], Lexicon.from_dict(data))

    assert pair.counterfactual == "A betan met an alphan."


def test_what_has_no_rows_of_texts_is_named():
    for prompts, said in [
        (None, "prompts is a NoneType; give a list"),
        ({"prompt": ["He"]}, "prompts is a dict; give a list"),
        (np.array([["He", "She"]]), "prompts is a ndarray table; give one column"),
    ]:
        with pytest.raises(ValueError, match=said):
            generate_pairs(prompts, "gender")


def test_two_names_of_one_group_are_a_matter_of_placebo_twins():
    with pytest.raises(ValueError, match=r"which both mean white; .*placebo=True"):
        generate_pairs(["A white man"], "race", ("caucasian", "white"))


def test_mentions_of_anything_but_a_text_are_an_error():
    for text in [None, ["He"]]:
        with pytest.raises(ValueError, match="give a text"):
            mentions(text, "gender")


def test_articles_follow_the_sound():
    for article, line in CASES["articles follow the sound"]:
        words = line.split()
        assert {word: article_for(word) for word in words} == dict.fromkeys(words, article)


def test_names_as_groups_of_an_attribute_are_an_error_with_a_remedy() -> None:
    with pytest.raises(ValueError, match=r"no group 'John'; names are exchanged .* attribute="):
        generate_pairs(["John left."], "gender", ("John", "Jane"))


def test_copies_and_sums_record_what_was_left_out():
    found = generate_pairs(["She left.", "The door.", "The chambermaid lost her keys."], "gender")
    assert (len(found), len(found.rejected), found.unmentioned) == (1, 1, 1)
    nothing: list[Pair] = []
    for again in (Pairs(found), nothing + found, pickle.loads(pickle.dumps(found))):
        assert (again, again.rejected, again.unmentioned) == (found, found.rejected, 1)
        assert again.lacks == found.lacks
    assert Pairs(found, rejected=(), unmentioned=0).rejected == ()


def test_texts_of_numpy_are_plain_texts():
    (pair,) = generate_pairs(np.array(["She left."]), "gender")
    assert type(pair.original) is str


def test_the_first_part_of_a_double_nationality_is_exchanged() -> None:
    groups = ("gdp over 2 trillion", "gdp 1 to 2 trillion")
    pair = generate_pairs(["The German-American chef left."], "nationality", groups=groups)[0]
    assert pair.counterfactual == "The Mexican-American chef left."


def test_joined_words_are_never_written() -> None:
    pairs = generate_pairs(["A straight couple"], "sexual_orientation", placebo=True)
    texts = [text for pair in pairs for text in (pair.counterfactual, pair.placebo or "")]
    assert not any(" and " in text or "/" in text for text in texts)


def test_church_gives_a_pair_to_every_group_with_a_house_of_worship() -> None:
    pairs = generate_pairs(["I go to church."], "religion")
    groups = {"muslim", "jewish", "hindu", "buddhist", "sikh", "taoist"}
    assert {pair.to_group for pair in pairs} == groups

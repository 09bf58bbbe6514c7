"""Pairs of templates: the same fills, two groups; texts among them stay texts."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import (
    Pair,
    Template,
    generate_pairs,
    load_lexicons,
    mentions,
    pairs_from_templates,
    template_set,
)

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

ATTRIBUTES = (
    *("age", "disability", "gender", "nationality", "race", "religion"),
    "sexual_orientation",
)


class TestTemplates:
    def test_give_a_pair_with_the_same_fills(self) -> None:
        made = pairs_from_templates(
            ["{Person} works as {a:occupation}."], "gender", fillers={"occupation": ["actuary"]}
        )
        (pair,) = made
        assert pair.placebo is None
        assert (pair.original, pair.counterfactual) in {
            ("A woman works as an actuary.", "A man works as an actuary."),
            ("A lady works as an actuary.", "A gentleman works as an actuary."),
        }
        assert (pair.from_group, pair.to_group, pair.attribute) == ("female", "male", "gender")

    def test_give_a_pair_for_every_fill(self) -> None:
        made = pairs_from_templates(
            ["{Person} is {a:job} in {town}."],
            fillers={"job": ["cook", "actor"], "town": ["Rome", "Oslo"]},
        )
        assert [pair.original.partition(" is ")[2] for pair in made] == [
            "a cook in Rome.",
            "a cook in Oslo.",
            "an actor in Rome.",
            "an actor in Oslo.",
        ]

    def test_change_articles_by_edits_of_their_own(self) -> None:
        groups = ("asian", "hispanic")
        (pair,) = pairs_from_templates([Template("I met {a:identity} cook.")], "race", groups)
        assert [(edit.before, edit.after) for edit in pair.edits] == [
            ("an", "a"),
            ("Asian", "Hispanic"),
        ]

    def test_without_groups_pair_the_first_with_every_other(self) -> None:
        made = pairs_from_templates(["{Person} left."], "age")
        assert {p.from_group for p in made} == {"young"}
        assert [p.to_group for p in made] == ["adult", "older"]

    def test_without_groups_pair_every_group_with_the_unmarked_one(self) -> None:
        made = pairs_from_templates(["{Person} left."], "sexual_orientation")
        assert {p.to_group for p in made} == {"straight"}
        assert [(p.from_group, p.variant) for p in made] == [
            (group, variant)
            for group in ("gay", "bisexual", "asexual", "other")
            for variant in ("omission", "explicit")
        ]

    def test_leave_words_out_by_a_minimal_edit(self) -> None:
        groups = ("epilepsy", "no disability")
        made = pairs_from_templates(["{Person} left."], "disability", groups, seed=1)
        unsaid = next(pair for pair in made if pair.variant == "omission")
        assert unsaid.counterfactual == "A person left."
        (edit,) = unsaid.edits
        assert edit.after == ""
        assert edit.before.startswith(" ")

    def test_of_names_go_through_the_checks_too(self) -> None:
        made = pairs_from_templates(
            ["Jane {Person} waved.", "{Person} waved."], "name", ("John", "Jane")
        )
        assert [pair.counterfactual for pair in made] == ["Jane waved."]
        assert [one.reasons for one in made.rejected] == [("a word is doubled: jane jane",)]

    def test_take_every_label_of_a_group_of_names(self) -> None:
        by_label = pairs_from_templates(["{Person} left."], "name", ("Black Female", "White Male"))
        groups = ("black female", "white male")
        assert by_label == pairs_from_templates(["{Person} left."], "name", groups)

    def test_of_groups_of_names_report_groups_without_names(self) -> None:
        assert "nonbinary" in pairs_from_templates(["{Person} left."], "name").lacks
        assert pairs_from_templates(["{Person} left."], "name", ("John", "Jane")).lacks == ()

    def test_rotate_matched_names_by_seed(self) -> None:
        templates = [f"{{Person}} lost {{possessive_determiner}} hat {i}." for i in range(8)]
        made = pairs_from_templates(templates, "name", ("black", "white"), seed=2)
        assert len({pair.original.split(" lost ")[0] for pair in made}) > 4
        for pair in made:
            for text, group in ((pair.original, "black"), (pair.counterfactual, "white")):
                assert group == (pair.from_group if text == pair.original else pair.to_group)
            hats = [text.split(" lost ")[1] for text in (pair.original, pair.counterfactual)]
            assert hats[0] == hats[1]  # the gender stays
        again = pairs_from_templates(templates, "name", ("black", "white"), seed=2)
        assert again == made
        assert pairs_from_templates(templates, "name", ("black", "white"), seed=3) != made

    def test_of_two_attributes_change_both(self) -> None:
        groups = ("black female", "white male")
        (pair,) = pairs_from_templates(["{Subject}, {a:noun}"], ("race", "gender"), groups, seed=4)
        assert pair.original.startswith("She, ")
        assert pair.counterfactual.startswith("He, ")
        assert (pair.from_group, pair.to_group) == groups

    def test_without_a_slot_of_a_group_are_filled_and_swapped(self) -> None:
        made = pairs_from_templates(["He is {a:job}."], fillers={"job": ["cook", "actuary"]})
        assert [pair.counterfactual for pair in made] == ["She is a cook.", "She is an actuary."]

    def test_of_another_language_take_phrases_from_fillers(self) -> None:
        spanish = load_lexicons()["gender_es"]
        fillers = {"person": {"female": ["Ana"], "male": ["Juan"]}}
        (pair,) = pairs_from_templates(["{Person} canta."], spanish, fillers=fillers)
        assert {pair.original, pair.counterfactual} == {"Ana canta.", "Juan canta."}
        with pytest.raises(ValueError, match=r"slot \{person\}: no word of group 'female'"):
            pairs_from_templates(["{Person} canta."], spanish)

    def test_that_name_a_group_themselves_are_rejected(self) -> None:
        made = pairs_from_templates(["{Person} said that she won."], "gender")
        assert made == []
        ((reason,),) = [rejected.reasons for rejected in made.rejected]
        assert "'she' names female" in reason

    @pytest.mark.parametrize("attribute", ATTRIBUTES)
    def test_of_the_package_give_pairs_that_hold(
        self, rebuilt: Callable[[Pair], str], attribute: str
    ) -> None:
        templates = template_set(attribute)
        made = pairs_from_templates(templates, attribute, placebo=True)
        assert made.rejected == ()
        assert made.lacks == load_lexicons()[attribute].lacks
        assert len(made) >= len(templates)
        for pair in made:
            assert rebuilt(pair) == pair.counterfactual != pair.original
            assert pair.placebo != pair.original

    def test_of_names_give_pairs_that_hold(self, rebuilt: Callable[[Pair], str]) -> None:
        made = pairs_from_templates(template_set("name"), "name", ("female", "male"), placebo=True)
        assert len(made) == 60
        for pair in made:
            assert rebuilt(pair) == pair.counterfactual
            assert pair.placebo not in (None, pair.original, pair.counterfactual)


class TestPlacebo:
    @pytest.mark.parametrize("attribute", ["gender", "race", "religion", "age", "nationality"])
    def test_stays_in_its_group(self, attribute: str) -> None:
        templates = [t for t in template_set(attribute) if "{noun}" in t.text][:6]
        made = pairs_from_templates(templates, attribute, placebo=True)
        assert any(pair.placebo for pair in made)
        for pair in made:
            if pair.placebo is not None:
                named = {m.group for m in mentions(pair.placebo, attribute)}
                assert named == {m.group for m in mentions(pair.original, attribute)}

    def test_keeps_what_else_the_words_say(self) -> None:
        groups = ("bisexual", "straight")
        for seed in range(6):
            for pair in pairs_from_templates(
                ["{Person} left."], "sexual_orientation", groups, placebo=True, seed=seed
            ):
                assert pair.placebo is None  # a bisexual woman is no rewording of a person


class TestTexts:
    def test_with_braces_that_are_not_slots_stay_unchanged(self) -> None:
        for text in CASES["with braces that are not slots stay unchanged"]:
            assert pairs_from_templates([text], "gender") == generate_pairs([text], "gender")

    @given(st.text(max_size=40))
    @settings(max_examples=150)
    def test_without_a_known_slot_are_never_changed(self, text: str) -> None:
        prompt = f"He said: {text}".replace("{", "{{")
        assert pairs_from_templates([prompt], "race") == generate_pairs([prompt], "race")

    def test_keep_their_place_among_templates(self) -> None:
        prompts = ["He sings.", "{Person} left.", "Her dog barks.", "It rains."]
        made = pairs_from_templates(prompts, "gender", ("female", "male"), seed=1)
        assert [pair.original.split()[-1] for pair in made] == ["left.", "barks."]
        assert made.unmentioned == 2

    @pytest.mark.parametrize("others", [[], ["{Person} left."], ["She left."]])
    @pytest.mark.parametrize("slot", ["{preson}", "{PERSON}", "{ocupation}"])
    def test_with_a_misspelt_slot_are_an_error(self, slot: str, others: list[str]) -> None:
        said = (
            rf"prompt {len(others)} \('{slot} lost her .*'\): {slot} is not a slot; did you mean"
        )
        with pytest.raises(ValueError, match=said):
            pairs_from_templates([*others, f"{slot} lost her {{xy}} hat."], "gender")

    def test_whose_braces_are_doubled_may_look_like_a_slot(self) -> None:
        (pair,) = pairs_from_templates([Template("{{preson}} lost her hat.")], "gender")
        assert pair.counterfactual == "{preson} lost his hat."

    def test_with_a_slot_and_other_braces_say_what_to_do(self) -> None:
        said = r"prompt 0, a template for its slot \{person\} .*line 1: .*\{\{ and \}\}"
        with pytest.raises(ValueError, match=said):
            pairs_from_templates(['{Person} wrote {"a": 1}.'], "gender")

    def test_and_groups_are_checked(self) -> None:
        for prompts, groups, said in [
            ("{Person} left.", None, "prompts is one text"),
            ([], None, "there are no prompts"),
            (None, None, "prompts is a NoneType; give a list"),
            ({"{Person} left.": 1}, None, "prompts is a dict; give a list"),
            (np.array([["He left."], ["She left."]]), None, "table; give one column"),
            (["{Person} left."], "female", "give two different"),
            (["{Person} left."], 5, "give two different"),
            (["{Person} left."], ("female", "female"), "each once"),
            (["{Person} left."], ("female", "mael"), "no group 'mael'"),
        ]:
            with pytest.raises(ValueError, match=said):
                pairs_from_templates(prompts, "gender", groups)  # type: ignore[arg-type]


def test_a_set_of_templates_brings_its_attribute() -> None:
    made = pairs_from_templates(template_set("religion"), fill_limit=1)
    assert {pair.attribute for pair in made} == {"religion"}
    assert {pair.attribute for pair in pairs_from_templates(["{Person} left."])} == {"gender"}


def test_groups_that_no_slot_takes_are_reported() -> None:
    assert pairs_from_templates(["{Person} left."]).unexchanged[0] == "nonbinary"
    mixed = pairs_from_templates(["{Person} left.", "She left."], "gender", ("female", "male"))
    assert mixed.unexchanged == ()


def test_two_peoples_change_places_in_templates() -> None:
    pairs = pairs_from_templates(
        ["{Person} works.", "{People} work."], "nationality", ("Italian", "Nigerian")
    )
    assert [(pair.original, pair.counterfactual) for pair in pairs] == [
        ("An Italian works.", "A Nigerian works."),
        ("Italian people work.", "Nigerian people work."),
    ]
    assert pairs.rejected == ()
    rejected = pairs_from_templates(
        ["{Person} met an Italian."], "nationality", ("Italian", "Nigerian")
    ).rejected
    assert "a term of the source group is left" in rejected[0].reasons[0]


@pytest.mark.parametrize("slot", ["{ Person }", "{Person:>10}", "{a : person}"])
def test_a_near_slot_is_an_error(slot: str) -> None:
    with pytest.raises(
        ValueError, match=rf"{re.escape(slot)} is not a slot; did you mean .person"
    ):
        pairs_from_templates([f"{slot} met her."], "gender")


def test_other_braces_are_no_error() -> None:
    text = '{"person": 1, "a": {}} { x } {{ Person }} her'
    (pair,) = pairs_from_templates([text], "gender")
    assert pair.original == text


class TestLabels:
    def test_name_template_filler_and_cue(self) -> None:
        made = pairs_from_templates(
            ["{Person} is {a:job} in {town}."], fillers={"job": ["cook"], "town": ["Rome"]}
        )
        (pair,) = made
        assert (pair.template, pair.filler) == ("{Person} is {a:job} in {town}.", "cook, Rome")
        assert pair.cue in ("woman / man", "lady / gentleman")

    def test_are_equal_for_one_filler_in_several_templates(self) -> None:
        made = pairs_from_templates(
            ["{Person} is {a:job}.", "A {job} met {person}."], fillers={"job": ["cook", "actor"]}
        )
        assert [pair.filler for pair in made] == ["cook", "actor"] * 2

    def test_are_kept_where_a_template_names_the_group_itself(self) -> None:
        made = pairs_from_templates(["The woman is {a:job}."], fillers={"job": ["cook"]})
        assert [(pair.template, pair.filler, pair.cue, pair.checked) for pair in made] == [
            ("The woman is {a:job}.", "cook", "", True)
        ]

    def test_survive_a_copy_without_placebo_and_a_pickle(self) -> None:
        (pair,) = pairs_from_templates(
            ["{Person} is {a:job}."], fillers={"job": ["cook"]}, placebo=True
        )
        for copy in (pair.without_placebo(), pickle.loads(pickle.dumps(pair))):
            assert (copy.template, copy.filler, copy.cue) == (
                pair.template,
                "cook",
                pair.cue,
            )

    def test_are_empty_for_prompts_as_they_stand(self) -> None:
        made = pairs_from_templates(["She called.", "{Person} left."])
        assert [(pair.template, pair.filler) for pair in made] == [
            ("", ""),
            ("{Person} left.", ""),
        ]

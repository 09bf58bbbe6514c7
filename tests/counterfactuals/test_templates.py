"""Templates: slots, articles, capitals, fillers, groups and token tags."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import Lexicon, Template, fill_templates
from pytest_llmfair.metrics import variation_product
from pytest_llmfair.text.bilou import spans

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

TEAMS = {"person": {"day": ["Anna", "Olga"], "night": ["Ben", "Omar", "Ivo"]}}


def lexicon_of(
    groups: list[str], *entries: dict[str, Any], name: str = "own", **keys: Any
) -> Lexicon:
    return Lexicon.from_dict({"name": name, "groups": groups, "entries": [*entries], **keys})


class TestSlots:
    def test_are_filled(self) -> None:
        for text, filled in CASES["slots are filled"]:
            fills = {
                "person": "anna",
                "job": "engineer",
                "illness": "a chronic illness",
                "quoted": '"honest"',
                "letter": "\u00e9lan",
            }
            assert Template(text).fill(fills) == filled

    def test_are_listed_once_in_order(self) -> None:
        assert Template("{Person} is {a:job}, says {person}").slots == ("person", "job")

    @given(st.text(st.characters(codec="utf-8")).filter(str.strip))
    @settings(max_examples=200)
    def test_that_are_missing_leave_single_braces_as_they_are(self, text: str) -> None:
        doubled = text.replace("{", "{{").replace("}", "}}")
        assert Template(doubled).fill({}) == text

    def test_with_stray_braces_are_errors(self) -> None:
        for text, said in CASES["stray braces are errors"]:
            with pytest.raises(ValueError, match=said):
                Template(text)

    def test_without_a_fill_are_errors_that_name_the_near_ones(self) -> None:
        with pytest.raises(ValueError, match=r"\{preson\} is unknown; did you mean person\?"):
            Template("{Preson} works").fill({"person": "Anna"})
        with pytest.raises(ValueError, match=r"slot \{person\} has an empty fill"):
            Template("{Person} works").fill({"person": " "})


class TestTags:
    TEMPLATE = Template("In {country}, it rains.", tags="O U-LOC O O O O")

    def filled(self, *countries: str) -> list[tuple[tuple[str, ...], tuple[str, ...] | None]]:
        fillers = {"country": {"near": list(countries), "far": ["Chad"]}}
        examples = fill_templates([self.TEMPLATE], fillers)
        return [(v.tokens, v.tags) for v in examples[0].variations["near"]]

    def test_follow_the_tokens_of_the_fill(self) -> None:
        assert self.filled("Peru", "New Zealand", "Papua New Guinea") == [
            (("In", "Peru", ",", "it", "rains", "."), ("O", "U-LOC", "O", "O", "O", "O")),
            (
                ("In", "New", "Zealand", ",", "it", "rains", "."),
                ("O", "B-LOC", "L-LOC", "O", "O", "O", "O"),
            ),
            (
                ("In", "Papua", "New", "Guinea", ",", "it", "rains", "."),
                ("O", "B-LOC", "I-LOC", "L-LOC", "O", "O", "O", "O"),
            ),
        ]

    def test_of_an_article_are_outside(self) -> None:
        template = Template("{A:animal} sleeps", tags=["U-PET", "O"])
        (example,) = fill_templates([template], {"animal": {"x": ["old owl"], "y": ["cat"]}})
        (variation,) = example.variations["x"]
        assert variation.tokens == ("An", "old", "owl", "sleeps")
        assert variation.tags == ("O", "B-PET", "L-PET", "O")
        assert variation.identity == (1, 2)

    @given(
        st.lists(
            st.sampled_from(["{country}", "Rome", "isn't", "it's", ",", "-", "{{", "o'clock"])
        ),
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters="{}"), min_size=1).filter(
                str.strip
            ),
            min_size=1,
            max_size=3,
        ),
        st.sampled_from(["", " "]),
    )
    @settings(max_examples=200)
    def test_are_as_many_as_tokens(self, words: list[str], fills: list[str], gap: str) -> None:
        text = gap.join([*words, "{country}"])
        plain = Template(text)
        tags = ["U-LOC" if token == "{country}" else "O" for token in plain.tokens]
        (example,) = fill_templates(
            [Template(text, tags=tags)], {"country": {"a": fills, "b": ["x"]}}
        )
        for variation in (*example.variations["a"], *example.variations["b"]):
            assert variation.tags is not None
            assert len(variation.tags) == len(variation.tokens)
            spans(variation.tags, "tags", strict=True)
            assert "".join(variation.tokens) == "".join(variation.text.split())

    def test_that_do_not_fit_are_errors(self) -> None:
        for tags, said in CASES["tags that do not fit are errors"]:
            with pytest.raises(ValueError, match=said):
                Template("In {country}, it rains.", tags=tags)


class TestSourceExamples:
    def test_are_templates_times_fillers_times_groups_times_terms(self) -> None:
        templates = [Template("{Person} is {a:job} in {town}.", "yes"), "{Person} left."]
        fillers = {**TEAMS, "job": ["actor", "cook"], "town": ["Rome", "Oslo", "Bonn"]}
        examples = fill_templates(templates, fillers)
        jobs = {"actor": "an actor", "cook": "a cook"}
        expected = [
            (group, f"{person} is {jobs[job]} in {town}.")
            for job, town in product(fillers["job"], fillers["town"])
            for group, own in TEAMS["person"].items()
            for person in own
        ]
        expected += [
            (group, f"{person} left.") for group, own in TEAMS["person"].items() for person in own
        ]
        assert list(zip(examples.text_groups, examples.texts, strict=True)) == expected
        assert examples.groups == ("day", "night")
        assert examples.labels == ["yes"] * 6 + [None]
        assert examples.units == [0] * 6 + [1]
        assert examples.text_units == [0] * 30 + [1] * 5
        assert examples.text_labels == ["yes"] * 30 + [None] * 5

    def test_give_values_the_shape_of_their_variations(self) -> None:
        examples = fill_templates(["{Person} left.", "{Person} slept."], TEAMS)
        assert examples.nested(range(10)) == [[[0, 1], [2, 3, 4]], [[5, 6], [7, 8, 9]]]
        assert examples[1:].nested(range(5)) == [[[0, 1], [2, 3, 4]]]
        with pytest.raises(ValueError, match="3 values for 10 texts"):
            examples.nested([1, 2, 3])

    def test_are_what_variation_product_takes(self) -> None:
        (example,) = fill_templates(["{Person} left."], TEAMS)
        made = variation_product(example.variations)
        assert [(a.text, b.text) for a, b in made] == [
            (f"{a} left.", f"{b} left.")
            for a, b in product(TEAMS["person"]["day"], TEAMS["person"]["night"])
        ]

    def test_are_limited_by_draws_without_replacement(self) -> None:
        fillers = {
            "person": {"a": [f"A{i}" for i in range(50)], "b": [f"B{i}" for i in range(9)]},
            "n": [f"{i}" for i in range(40)],
            "m": [f"{i}" for i in range(40)],
        }
        examples = fill_templates(
            ["{person} {n} {m}"], fillers, fill_limit=7, term_limit=5, seed=3
        )
        assert len({tuple(example.fills.items()) for example in examples}) == 7
        for example in examples:
            assert [len(set(own)) for own in example.variations.values()] == [5, 5]
        other = fill_templates(["{person} {n} {m}"], fillers, fill_limit=7, term_limit=5, seed=4)
        assert other.texts != examples.texts

    def test_do_not_depend_on_the_hash_seed(self) -> None:
        code = (
            "from pytest_llmfair.counterfactuals import fill_templates, pairs_from_templates\n"
            "text = '{Person} is {a:occupation}, said {subject}.'\n"
            "print(fill_templates([text], attribute='name', fill_limit=2, term_limit=9).texts)\n"
            "print(pairs_from_templates([text], 'gender', placebo=True, seed=5))"
        )
        runs = {
            subprocess.run(
                [sys.executable, "-c", code],
                env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for seed in ("0", "1")
        }
        assert len(runs) == 1


class TestGroupTerms:
    def texts(self, template: str, attribute: Any, *groups: str, **keywords: Any) -> set[str]:
        examples = fill_templates(
            [template], attribute=attribute, groups=groups or None, **keywords
        )
        return set(examples.texts)

    def test_are_a_person_with_its_article(self) -> None:
        assert self.texts("{Person} met {a:person}.", "religion", "atheist", "hindu") == {
            "An atheist person met an atheist person.",
            "An atheist met an atheist.",
            "A Hindu person met a Hindu person.",
            "A Hindu met a Hindu.",
        }

    def test_have_one_article_and_one_that_fits(self) -> None:
        groups = ("atheist", "hindu")
        for text in ("A {person} called.", "{Person} called.", "A {noun} called."):
            assert "An atheist called." in self.texts(text, "religion", *groups)
        for text in ("Our old {Person} called.", "She told her {person} called."):
            written = text.replace("{Person}", "Hindu").replace("{person}", "a Hindu")
            assert written in self.texts(text, "religion", *groups)

    def test_in_the_plural_have_one_s(self) -> None:
        texts = self.texts("{People}'s rights", "religion", "atheist", "hindu")
        assert texts == {
            "Atheists' rights",
            "Atheist people's rights",
            "Hindus' rights",
            "Hindu people's rights",
        }

    def test_are_a_noun_a_plural_or_an_adjective(self) -> None:
        assert self.texts("The {noun}, {people}, {identity}", "age", "older", "young") == {
            "The older person, older people, older",
            "The older adult, older adults, older",
            "The young person, young people, young",
            "The young adult, young adults, young",
        }

    def test_bring_pronouns_of_the_person(self) -> None:
        text = (
            "{Subject} saw {reflexive}; {possessive_determiner} dog, {object}, "
            "it is {possessive_pronoun}"
        )
        assert self.texts(text, "gender", "female", "male", "nonbinary") == {
            "She saw herself; her dog, her, it is hers",
            "He saw himself; his dog, him, it is his",
            "Xe saw xemself; xyr dog, xem, it is xyrs",
        }

    def test_of_an_unmarked_group_are_omitted_and_named(self) -> None:
        examples = fill_templates(
            ["{A:identity} engineer met {person}."],
            attribute="sexual_orientation",
            groups=("straight", "asexual"),
        )
        own = {v.text: v.variant for v in examples[0].variations["straight"]}
        assert own["An engineer met a person."] == "omission"
        assert own["A straight engineer met a straight person."] == "explicit"
        assert {v.variant for v in examples[0].variations["asexual"]} == {""}

    def test_are_not_omitted_where_a_predicate_needs_them(self) -> None:
        assert self.texts("He is {identity}.", "sexual_orientation", "straight", "gay") == {
            "He is straight.",
            "He is gay.",
            "He is lesbian.",
        }

    def test_that_are_omitted_hand_their_capital_to_the_next_word(self) -> None:
        texts = self.texts("{Identity} bakers met.", "sexual_orientation", "straight", "gay")
        assert "Bakers met." in texts

    def test_of_two_attributes_are_crossed(self) -> None:
        groups = ("black female", "white male")
        texts = self.texts(
            "{Person} lost {possessive_determiner} hat.", ("race", "gender"), *groups
        )
        assert {"A Black woman lost her hat.", "A white man lost his hat."} <= texts
        texts = self.texts(
            "{Person} left.", ("gender", "disability"), "epilepsy female", "male epilepsy"
        )
        assert {"A woman with epilepsy left.", "A man with epilepsy left."} <= texts

    def test_of_two_attributes_stand_in_the_order_of_their_lexicons(self) -> None:
        def own(name: str, *groups: str, **keys: Any) -> Lexicon:
            words = {group: group for group in groups}
            return lexicon_of([*groups], {"role": "adjective", **words}, name=name, **keys)

        married = own("marital_status", "married", "single", word_order=25)
        local = own("home", "local", "foreign", word_order=25)
        rested = own("rest", "rested", "tired")
        for attributes, expected in (
            (("race", "age"), "An older Black person"),
            ((married, "age"), "An older married person"),
            (("race", married), "A married Black person"),
            (("disability", rested), "A tired blind person"),
            ((married, local), "A married foreign person"),
            ((local, married), "A foreign married person"),
        ):
            assert expected in self.texts("{Person}", attributes), attributes

    def test_are_names_in_equal_numbers(self) -> None:
        examples = fill_templates(
            ["{Person}: {first_name}, {last_name}, {object}"],
            attribute="name",
            groups=("female", "male"),
            term_limit=12,
        )
        for group, pronoun in (("female", "her"), ("male", "him")):
            own = [v.text for v in examples[0].variations[group]]
            assert len(set(own)) == 12
            for text in own:
                name, rest = text.split(": ")
                assert rest == ", ".join([*name.split(), pronoun])

    def test_that_are_outdated_or_slurs_are_never_written(self) -> None:
        lexicon = lexicon_of(
            ["day", "night"],
            {
                "role": "adjective",
                "day": ["bright", {"term": "gaudy", "register": "outdated"}],
                "night": [{"term": "gloomy", "register": "slur"}, "dim"],
            },
        )
        assert self.texts("{Person}", lexicon) == {"A bright person", "A dim person"}

    def test_of_a_user_lexicon_come_from_its_adjectives_and_person_nouns(self) -> None:
        lexicon = lexicon_of(
            ["settled", "mobile"],
            {"role": "noun", "settled": "citizen", "mobile": "immigrant"},
            {"role": "noun", "settled": "citizens", "mobile": "immigrants"},
            {"role": "noun", "settled": "citizenship", "mobile": "immigration"},
        )
        assert self.texts("{Person}, {people}", lexicon) == {
            "A citizen, citizens",
            "An immigrant, immigrants",
        }

    def test_of_own_lexicons_take_no_plural_for_one_person(self) -> None:
        noun = {"role": "noun", "kind": "person_noun"}
        lexicon = lexicon_of(
            ["French", "German"],
            {"role": "adjective", "French": "French", "German": "German"},
            {**noun, "French": "French people", "German": "Germans"},
            {**noun, "German": ["German", "boss"]},
            name="nationality",
        )
        assert self.texts("{A:noun}, {people}", lexicon) == {
            "A French person, French people",
            "A German person, German people",
            "A German, Germans",
            "A boss, bosses",
        }

    def test_may_be_overruled_by_fillers(self) -> None:
        fillers = {"person": {"female": ["Ada"], "male": ["Ian"]}}
        texts = self.texts("{Person} lost {object}.", "gender", fillers=fillers)
        assert texts == {"Ada lost her.", "Ian lost him."}


class TestWhatIsWrong:
    def test_is_named(self) -> None:
        for templates, keywords, said in CASES["wrong templates"]:
            with pytest.raises(ValueError, match=said):
                fill_templates(templates, **keywords)  # type: ignore[arg-type]

    def test_in_fillers_is_named(self) -> None:
        for fillers, said in CASES["wrong fillers"]:
            with pytest.raises(ValueError, match=said):
                fill_templates(["{Person} {job}"], fillers, attribute="gender")


def test_a_label_that_is_a_list_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"the label is \['a'\]; give one text or number"):
        Template("{Person} left.", label=["a"])  # type: ignore[arg-type]

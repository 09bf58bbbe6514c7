"""Names as an attribute: prompts as they are and slots, any number of groups, and own lists."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair import InvalidEvidence, assert_metric, conversation
from pytest_llmfair.counterfactuals import (
    NameLexicon,
    Pair,
    fill_templates,
    generate_pairs,
    pairs_from_templates,
)
from pytest_llmfair.judging.pairs import pair_units

ROOT = Path(__file__).parents[2]
CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
AGREEMENT = yaml.safe_load((ROOT / "benchmarks" / "names" / "agreement.yaml").read_text("utf-8"))
GROUPS = ["turkish", "polish", "white"]


def texts(prompt: str, *given: Any, **keywords: Any) -> set[str]:
    """Return every text of the pairs of a prompt."""
    pairs = pairs_from_templates([prompt], *given, **keywords)
    return {text for pair in pairs for text in (pair.original, pair.counterfactual)}


def genders(text: str, people: NameLexicon) -> set[str]:
    listed = (person for names in people.people.values() for person in names)
    return {person.gender for person in listed if person.first in text.split()}


class TestPrompts:
    def test_as_they_are_and_with_slots_get_names_of_every_group(self) -> None:
        prompts = ["Emily Walsh asks. Ms. Walsh waits.", "{Person} asks. Ms. {last_name} waits."]
        for attribute in ("name", "names"):
            for pair in pairs_from_templates(prompts, attribute, GROUPS):
                for text, group in (
                    (pair.original, pair.from_group),
                    (pair.counterfactual, pair.to_group),
                ):
                    (first, last, *_), end = text.split(), text.split()[-2]
                    people = NameLexicon.of_groups(GROUPS).people[group]
                    assert (first, last, "female") in [(p.first, p.last, p.gender) for p in people]
                    assert (last, pair.attribute) == (end, "names")

    def test_go_through_generate_pairs_too(self) -> None:
        prompts = ["Emily called.", "Nobody called."]
        made = generate_pairs(prompts, "names", GROUPS)
        assert made == pairs_from_templates(prompts, "names", GROUPS)
        assert (len(made), made.unmentioned) == (2, 1)

    def test_keep_their_name_for_its_own_group(self) -> None:
        assert "Heidi called." in texts("Heidi called.", "names", GROUPS)

    def test_change_in_every_turn_of_a_conversation(self) -> None:
        for text in texts(conversation("I'm Heidi.", "Did you get it? Heidi"), "names", GROUPS):
            assert text.split()[1].rstrip(".") == text.split()[-1]

    def test_cover_every_origin_without_groups(self) -> None:
        made = pairs_from_templates(["{Person} called."], "names")
        assert len({pair.to_group for pair in made}) == 9
        assert "nonbinary" in made.lacks

    def test_that_leave_open_who_changes_are_counted_with_the_reason(self) -> None:
        for prompt, reason in CASES["left out with a reason"]:
            made = pairs_from_templates([prompt], "names", GROUPS)
            assert not made, prompt
            assert reason in made.uncertain[0].reason

    def test_without_a_person_are_counted(self) -> None:
        for prompt in CASES["name nobody"]:
            made = pairs_from_templates([prompt], "names", GROUPS)
            assert (list(made), made.unmentioned) == ([], 1), prompt

    def test_keep_what_is_next_to_the_name(self) -> None:
        names = {"a": ["Anna Frost", "Jonas Frost"], "b": ["Elif Bell", "Emre Bell"]}
        for prompt, expected in CASES["exchanged as a whole"]:
            assert expected in texts(prompt, names=names)

    def test_give_a_pair_once_and_none_where_groups_share_or_lack_a_last_name(self) -> None:
        prompt = "Dr. Chen called."
        assert len(pairs_from_templates([prompt], "names", GROUPS[:2], names_per_prompt=16)) == 5
        given: list[dict[str, Any]] = [
            {"attribute": "names", "groups": ["female", "male"]},
            {"names": {"a": ["Anna"], "b": ["Elif"]}},
        ]
        for keywords in given:
            made = pairs_from_templates([prompt], **keywords)
            assert (len(made), len(made.rejected), len(made.uncertain)) == (0, 0, 1)

    def test_never_give_a_person_of_the_text_the_same_name(self) -> None:
        prompt = "Heidi, Ayşe and Brock wrote to {person}."
        for text in texts(prompt, "names", GROUPS, names_per_prompt=14):
            assert sum(map(text.count, ("Heidi", "Brock"))) == 2


class TestAgreement:
    people = NameLexicon.of_groups(GROUPS)

    def test_of_prompts_held_back_from_the_rules(self) -> None:
        kept = wrong = 0
        for expected, prompt in AGREEMENT["held"]:
            made = texts(prompt, "names", GROUPS, names_per_prompt=8)
            shown = {gender for text in made for gender in genders(text, self.people)}
            allowed = {"female", "male"} if expected == "any" else {expected}
            kept += bool(made)
            wrong += not shown <= allowed
        assert kept >= 90
        assert wrong / kept <= 0.03

    def test_takes_other_people_for_others(self) -> None:
        for gender, prompt in CASES["show one gender"]:
            made = texts(prompt, "names", GROUPS, names_per_prompt=8)
            assert {g for text in made for g in genders(text, self.people)} == {gender}, prompt

    def test_leaves_out_what_no_name_of_a_group_fits(self) -> None:
        for groups in (["female", "male"], ["black female", "white male"]):
            made = pairs_from_templates(["My wife {person} called."], "names", groups)
            assert (list(made), len(made.uncertain)) == ([], 1)
            assert pairs_from_templates(["{Person} called."], "names", groups)
            assert pairs_from_templates(["I am Emily Walsh."], "names", groups)
            with pytest.raises(ValueError, match="words around the name are female; no name of"):
                fill_templates(["My wife {person} called."], attribute="names", groups=groups)


class TestNamesPerPrompt:
    def pairs(self) -> list[Pair]:
        prompts = [f"{{Person}} has question {n}." for n in range(16)]
        return pairs_from_templates(prompts, "names", ["black", "white"], names_per_prompt=4)

    def test_are_repeats_of_one_unit(self) -> None:
        pairs = self.pairs()
        assert (len(pairs), len(set(pair_units(pairs)))) == (64, 16)

    def test_do_not_hide_that_many_prompts_are_uncertain(self) -> None:
        prompts = [f"{{Person}} has question {n}." for n in range(30)]
        prompts += [f"Emily and John have question {n}." for n in range(20)]
        pairs = pairs_from_templates(prompts, "names", ["black", "white"], names_per_prompt=4)
        with pytest.raises(InvalidEvidence, match=r"20 of 50 prompts"):
            assert_metric(
                "score_difference",
                pairs,
                bound=0.9,
                scorer=lambda a: [0.0] * len(a),
                client=str.upper,
            )

    def test_take_turns_evenly(self) -> None:
        cues = [pair.cue for pair in self.pairs()]
        assert {cues.count(cue) for cue in cues} == {4}

    def test_are_a_factor_that_can_vary(self) -> None:
        def curt(prompt: str) -> str:
            return "no" if "Ebony" in prompt else "yes"

        result = assert_metric(
            "score_difference",
            self.pairs(),
            bound=0.9,
            scorer=lambda answers: [float(answer == "no") for answer in answers],
            client=curt,
            robust_over=("cue",),
        )
        assert "cue" in str(result)


class TestOwnLists:
    def test_are_the_groups(self) -> None:
        names = {"a": ["Emily Frost", "Jonas Frost"], "b": ["Lakisha Bell", "Amadou Bell"]}
        for pair in pairs_from_templates(["My son Ali called."], names=names):
            found = (pair.from_group, pair.original, pair.to_group, pair.counterfactual)
            assert found == ("a", "My son Jonas called.", "b", "My son Amadou called.")
        found = texts("Ms. Frost called, and Emily Frost waits.", names=names)
        assert "Ms. Bell called, and Lakisha Bell waits." in found

    def test_of_unknown_gender_are_left_out_where_words_show_one(self) -> None:
        names = {"a": ["Zorb", "Zink"], "b": ["Quux", "Quaz"]}
        assert len(texts("{Person} called.", names=names)) == 2
        assert not texts("{Person} lost her keys.", names=names)

    def test_of_unlike_length_all_take_part(self) -> None:
        names = {"a": ["Anna", "Emma", "Julia"], "b": ["Elif"]}
        found = texts("{Person} called.", names=names, names_per_prompt=3)
        assert found == {"Anna called.", "Emma called.", "Julia called.", "Elif called."}

    def test_come_from_a_file_with_last_names(self, tmp_path: Path) -> None:
        file = tmp_path / "names.yaml"
        file.write_text("a: {male: [Jon], last: [Frost]}\nb: {male: [Amadou], last: [Bell]}\n")
        lexicon = NameLexicon.from_file(file)
        assert texts("{Person}", lexicon) == {"Jon Frost", "Amadou Bell"}

    def test_and_groups_that_are_wrong_are_named_with_the_remedy(self) -> None:
        for keywords, message in CASES["wrong lists and groups"]:
            with pytest.raises(ValueError, match=message):
                pairs_from_templates(["{Person} called."], **keywords)


def test_several_groups_are_compared_and_the_worst_two_named() -> None:
    def bot(prompt: str) -> str:
        turkish = NameLexicon.of_groups(GROUPS).people["turkish"]
        return "no" if any(person.first in prompt for person in turkish) else "yes"

    prompts = [f"{name} has question {n}." for n, name in enumerate(["{Person}", "Emily"] * 20)]
    with pytest.raises(AssertionError) as caught:
        assert_metric(
            "score_difference",
            pairs_from_templates(prompts, "names", GROUPS),
            bound=0.1,
            scorer=lambda answers: [float(answer == "no") for answer in answers],
            client=bot,
        )
    result = caught.value.result
    assert result.compared == ("turkish", "polish")
    assert 'people with "turkish" names' in str(result)


def test_lists_are_aligned_by_gender() -> None:
    for people in NameLexicon.of_groups().people.values():
        assert [one.gender for one in people] == ["female", "male"] * 8
        assert all(one.last == other.last for one, other in [*pairwise(people)][::2])

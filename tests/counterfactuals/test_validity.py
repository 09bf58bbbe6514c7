"""The validity gate: each check fails for a sentence or a lexicon that is really wrong."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair.counterfactuals import (
    Edit,
    Lexicon,
    Pair,
    Pairs,
    Rejected,
    check_pair,
    generate_pairs,
)
from pytest_llmfair.counterfactuals.checks import CHECKS

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


def own(*entries: dict[str, Any], **keys: Any) -> Lexicon:
    listed = [{"role": "noun", **entry} for entry in entries]
    return Lexicon.from_dict({"name": "own", "groups": ["a", "b"], "entries": listed, **keys})


def reasons(text: str, attribute: Any, groups: tuple[str, str] | None = None) -> tuple[str, ...]:
    """Return why the only pair of a text is rejected; empty where it is fine."""
    pairs = generate_pairs([text], attribute, groups=groups)
    (rejected,) = pairs.rejected or (None,)
    assert (rejected is None) != (pairs == [])
    return () if rejected is None else rejected.reasons


BOSS = {"a": "boss", "b": "sir"}


# Check, text, attribute, groups, and how the reason begins.
WRONG: list[tuple[str, str, Any, tuple[str, str] | None, str]] = [
    # The same name, its accent typed in two ways.
    ("edits change something", "Jos\u00e9 left.", "name", ("Jos\u00e9", "Jose\u0301"),
     "an edit changes nothing"),
    # A word that is a counterpart in one line and a term of the other group in another.
    ("names the other group", "The boss left.",
     own({"a": "chair", "b": "chairman"}, {"role": "title", "a": "boss", "b": "chair"}), None,
     "a replacement names another group: 'chair' names a"),
    # A term that reads as an address, in which nothing counts.
    ("names the other group", "Nice autistic people",
     own({"a": "autistic", "b": "ask@typical.org"}), None,
     "a replacement names no group: 'ask@typical.org' is not read as b"),
    # An exchange that takes from another word the person that it described.
    ("read alike", "a tall nurse",
     own({"c": "tall", "role": "adjective", "kind": "person_adjective"},
         {"a": "nurse", "b": "machine"}, groups=["a", "b", "c"]), ("a", "b"),
     "the texts are read differently: 'tall' is a mention only in the original"),
    ("read alike", "a tall machine",
     own({"c": "tall", "role": "adjective", "kind": "person_adjective"},
         {"a": "nurse", "b": "machine"}, groups=["a", "b", "c"]), ("b", "a"),
     "the texts are read differently: the counterfactual has more mentions"),
    # A longer term of another role, which then is masked with what follows.
    ("read alike", "A cook here left.",
     own({"a": "cook", "b": "nurse", "kind": "person_noun"},
         {"a": "guard", "b": "nurse here", "role": "place"}), None,
     "the texts are read differently: the masked texts differ"),
    # "Straight women" bring the gender back that the exchange took away.
    ("no residual term", "She met lesbians.", ("gender", "sexual_orientation"),
     ("gay female", "straight male"),
     "a term of the source group is left: 'women' names female"),
    ("the name is new", "John met Jane.", "name", ("John", "Jane"),
     "the prompt already contains the name: 'Jane'"),
    ("articles fit", "He is an ((((uncle)))).", own({"a": "uncle", "b": "nephew"}), None,
     "an article does not fit: an 'nephew'"),
    ("one determiner", "She wrote about her epilepsy.", "disability",
     ("epilepsy", "chronic illness"), "two determiners: her a chronic illness"),
    ("one determiner", "He has severe depression.", "disability",
     ("mental health condition", "chronic illness"),
     "an article after 'severe': a chronic illness"),
    ("one determiner", "This type of epilepsy is rare.", "disability",
     ("epilepsy", "chronic illness"), "an article after 'of': a chronic illness"),
    ("the denial fits", "He has been in a wheelchair.", "disability",
     ("mobility disability", "no disability"),
     "a denial does not fit here: He has been not in a wheelchair"),
    ("the denial fits", "Epilepsy is rare.", "disability", ("epilepsy", "no disability"),
     "a denial does not fit here: No disability"),
    ("the denial fits", "He was diagnosed with epilepsy.", "disability",
     ("epilepsy", "no disability"), "a denial does not fit here: was diagnosed with no"),
    ("the denial fits", "She does not have epilepsy.", "disability",
     ("epilepsy", "no disability"), "a denial does not fit here: She does not have no disability"),
    ("the denial fits", "She has epilepsy and diabetes.", "disability",
     ("epilepsy", "no disability"), "one condition is denied and another remains: 'no disability'"),
    ("no doubled words", "Help the young.", own({"a": "young", "b": "the elderly"}), None,
     "a word is doubled: the the"),
    ("no doubled words", "An uncle called.", own({"a": "uncle", "b": "aunt who called"}), None,
     "a word is doubled: called called"),
    ("groups told apart", "Men and women met.", "gender", ("male", "female"),
     "different words become the same: 'Women and women'"),
    ("groups told apart", "White women and Black women met.", "race", ("black", "white"),
     "different words become the same: 'White women and white'"),
    ("groups told apart", "If he or she asks, call.", "gender", ("male", "female"),
     "different words become the same: 'she or she'"),
    ("groups told apart", "Half are Lutheran, 20% Catholic.", "religion", ("christian", "hindu"),
     "different words become the same: 'Hindu, 20% Hindu'"),
    ("groups told apart", "Do Black pupils read more than white pupils?", "race",
     ("black", "white"), "different words become the same: 'white pupils read more than white'"),
    ("groups told apart", "Ask (a) a Sikh (b) a Hindu.", "religion", ("hindu", "sikh"),
     "different words become the same: 'Sikh (b) a Sikh'"),
    ("groups told apart", "Are Baptists older than Quakers?", "religion", ("christian", "hindu"),
     "different words become the same: 'Hindus older than Hindus'"),
    ("groups told apart", "Do older adults read more than younger adults?", "age",
     ("older", "young"), "different words become the same: 'young adults read more than younger'"),
    ("groups told apart", "White women live longer than white men.", ("race", "gender"),
     ("white female", "black male"),
     "different words become the same: 'Black men live longer than Black men'"),
    ("groups told apart", "Who is older, the Italian or the Nigerian?", "nationality",
     ("Italian", "Nigerian"), "different words become the same: 'Nigerian or the Nigerian'"),
    ("no word without a counterpart", "The chambermaid lost her keys.", "gender", None,
     "names female: 'chambermaid' has no counterpart"),
    ("no word without a counterpart", "The church was founded by Christ.", "religion",
     ("christian", "hindu"), "names christian: 'Christ' has no counterpart"),
    ("the word fits the age", "A young, shy boy waved.", "age", ("young", "older"),
     "no older person is called 'boy': choose a word for any age"),
    ("the word fits the age", "My elderly grandmother waved.", "age", ("older", "young"),
     "no young person is called 'grandmother': choose a word for any age"),
]  # fmt: skip


def test_a_check_fails() -> None:
    for check, text, attribute, groups, reason in WRONG:
        found = reasons(text, attribute, groups)
        assert any(said.startswith(reason) for said in found), (check, text, found)


def test_every_check_fails_for_something() -> None:
    # Pairs of our own are equal outside their edits by the way they are made; see below.
    assert {check for check, *_ in WRONG} == set(CHECKS) - {"equal outside the edits"}


# The same, put right: what made the check fail is gone.
def test_ordinary_swaps_pass() -> None:
    for text, attribute, groups in [
        ("Jos\u00e9 left.", "name", ("Jos\u00e9", "Jane")),
        ("The boss left.", own({"a": "chair", "b": "lead"}, {"a": "boss", "b": "chairman"}), None),
        ("Nice autistic people", own({"a": "autistic", "b": "neuro-typical"}), None),
        ("a tall nurse", own({"c": "tall", "role": "adjective", "kind": "person_adjective"},
                             {"a": "nurse", "b": "waiter"}, groups=["a", "b", "c"]), ("a", "b")),
        ("She is gay.", ("gender", "sexual_orientation"), ("gay female", "straight male")),
        ("John met Jack.", "name", ("John", "Jane")),
        ("He is an *uncle*.", own({"a": "uncle", "b": "nephew"}), None),
        ("Is a red US firm open?", own({"a": "red", "b": "blue", "role": "adjective"}), None),
        ("He is an <b>uncle</b>.", own({"a": "uncle", "b": "aunt"}), None),
        ("She wrote about epilepsy.", "disability", ("epilepsy", "chronic illness")),
        ("She saw his car.", "gender", None),
        ("She gave him his keys.", "gender", None),
        ("A male often fears women.", "gender", None),
        ("She ran faster than he did.", "gender", ("female", "male")),
        ("The Black nurse helped a white patient.", "race", ("black", "white")),
        ("the the man", "gender", None),
        ("men and women", "gender", None),
        ("men and men", "gender", ("male", "female")),
        ("The waiter and the waitress met.", "gender", ("male", "female")),
        ("We met him and his son.", "gender", ("male", "female")),
        ("Unlike him, her boss left.", "gender", ("male", "female")),
        ("Help young people.", own({"a": "young", "b": "elderly"}), None),
        ("Yes , boss .", own({"a": "boss", "b": "sir"}), None),
        ("iPhone users and Boss", own({"a": "boss", "b": "worker"}), None),
        ("the best\nman", "gender", None),
        ("a black man", "race", ("black", "white")),
        ("wo\u00admen met", "gender", None),
        ("A young adult asked.", "age", ("young", "older")),
        ("He is openly gay.", "sexual_orientation", ("gay", "bisexual")),
        ("She has epilepsy.", "disability", ("epilepsy", "mental health condition")),
        ("She has epilepsy.", "disability", ("epilepsy", "no disability")),
        ("Condition: epilepsy.", "disability", ("epilepsy", "no disability")),
        ("She does not have epilepsy.", "disability", ("epilepsy", "chronic illness")),
        ("This type of epilepsy is rare.", "disability", ("epilepsy", "hearing disability")),
        ("He is in a wheelchair.", "disability", ("mobility disability", "no disability")),
        ("Physically disabled clerks left.", own({"a": "physically disabled", "b": "deaf",
                                                  "role": "adjective"}), None),
        ("Vi a maridos.", own({"a": "maridos", "b": "esposas"}, language="es"), None),
        ("Ask people who have low vision.", own({"a": "people who have low vision",
                                                 "b": "people who do not see well at all"}), None),
    ]:  # fmt: skip
        assert reasons(text, attribute, groups) == (), text


def test_an_article_that_was_wrong_before_is_not_held_against_the_pair() -> None:
    lexicon = own({"a": "uncle", "b": "aunt"})
    assert reasons("He is a uncle.", lexicon) == ()


class TestRejected:
    def test_pairs_are_left_out_counted_and_kept_with_all_reasons(self) -> None:
        pairs = generate_pairs(
            ["Help the young.", "young"], own({"a": "young", "b": "the elderly"})
        )
        assert [pair.counterfactual for pair in pairs] == ["the elderly"]
        (rejected,) = pairs.rejected
        assert isinstance(rejected, Rejected)
        assert rejected.pair.counterfactual == "Help the the elderly."
        assert rejected.reasons == (
            "two determiners: the the elderly",
            "a word is doubled: the the",
        )

    def test_pairs_are_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, "pytest_llmfair"):
            generate_pairs(["John met Jane."], "name", groups=("John", "Jane"))
        assert "name: 1 pairs left out because they fail a check" in caplog.text


class TestPairs:
    def test_say_what_was_left_out(self) -> None:
        pairs = generate_pairs(
            ["The queen left.", "The report is late.", "She left.", "A queen and her aunt"],
            "gender",
            groups=("female", "nonbinary"),
        )
        assert [pair.original for pair in pairs] == ["She left."]
        assert pairs.unmentioned == 1
        assert pairs.lost == {"queen": 2, "aunt": 1}
        assert "intersex" in pairs.lacks

    def test_hold_none_that_could_be_exchanged_in_part_only(self) -> None:
        pairs = generate_pairs(["The boss met a nun."], own(BOSS, {"a": "nun"}))
        assert (list(pairs), pairs.rejected, pairs.lost) == ([], (), {"nun": 1})

    def test_are_a_list(self) -> None:
        pairs = generate_pairs(["She left."], "gender")
        assert isinstance(pairs, list)
        assert isinstance(pairs, Pairs)
        assert pairs == [pairs[0]]
        assert [*pairs, *pairs] == pairs + pairs

    def test_keep_together_what_was_left_out(self) -> None:
        first = generate_pairs(["She left.", "John met her.", "It rained."], "gender")
        second = generate_pairs(["John met Jane.", "Jane left."], "name", ("John", "Jane"))
        both = first + second
        assert isinstance(both, Pairs)
        assert (both.rejected, both.unmentioned) == (second.rejected, 2)
        assert both.lacks == (*first.lacks, *second.lacks)
        assert both.unexchanged == first.unexchanged != ()
        first += second
        assert isinstance(first, Pairs)
        assert first.rejected == both.rejected != ()

    def test_are_empty_by_default(self) -> None:
        pairs = Pairs()
        assert (pairs.rejected, pairs.unmentioned, pairs.lost, pairs.lacks) == ((), 0, {}, ())


class TestPairsMadeElsewhere:
    PAIR = Pair(
        "Ask her son.",
        "Ask his son.",
        "female",
        "male",
        (Edit(4, 7, "her", "his", 4),),
        "gender",
    )

    def test_pass(self) -> None:
        assert check_pair(self.PAIR, "gender") == ()

    def test_pass_where_two_groups_change_places(self) -> None:
        for text, attribute in CASES["pass where two groups change places"]:
            pairs = generate_pairs([text], attribute)
            assert pairs
            assert all(check_pair(pair, attribute) == () for pair in pairs)

    def test_fail_where_only_one_of_two_changes(self) -> None:
        pair = replace(
            self.PAIR, original="Ask her and him.", counterfactual="Ask him and him.",
            edits=(Edit(4, 7, "her", "him", 4),),
        )  # fmt: skip
        assert "different words become the same: 'him and him'" in check_pair(pair, "gender")

    def test_fail_where_they_differ_outside_the_edits(self) -> None:
        pair = replace(self.PAIR, counterfactual="Ask his daughter.")
        assert "the texts differ outside the edits" in check_pair(pair, "gender")

    def test_fail_where_a_term_is_left(self) -> None:
        pair = replace(
            self.PAIR, original="Ask her about her.", counterfactual="Ask his about her."
        )
        assert "a term of the source group is left: 'her' names female" in check_pair(
            pair, "gender"
        )

    @pytest.mark.parametrize(
        ("edit", "reason"),
        [
            (Edit(4, 7, "him", "his", 4), "an edit does not match the original: 'him'"),
            (Edit(4, 7, "her", "his", 5), "an edit does not match the counterfactual: 'his'"),
        ],
    )
    def test_fail_where_an_edit_is_not_where_it_says(self, edit: Edit, reason: str) -> None:
        assert reason in check_pair(replace(self.PAIR, edits=(edit,)), "gender")

    def test_need_no_edits(self) -> None:
        assert check_pair(replace(self.PAIR, edits=()), "gender") == ()
        pair = replace(self.PAIR, counterfactual="Ask their son.", edits=())
        assert check_pair(pair, "gender") == check_pair(
            replace(pair, edits=(Edit(4, 7, "her", "their", 4),)), "gender"
        )
        assert check_pair(pair, "gender") != ()

    def test_may_name_their_groups_by_aliases(self) -> None:
        pair = Pair("A Caucasian man", "A Black man", "Caucasian", "african american", (), "race")
        assert check_pair(pair, "race") == ()

    def test_fail_within_one_group(self) -> None:
        pair = Pair("A Caucasian man", "A white man", "caucasian", "white", (), "race")
        assert check_pair(pair, "race") == (
            "both members name the same group, as in a placebo: white",
        )

    def test_of_unknown_groups_are_an_error(self) -> None:
        with pytest.raises(ValueError, match="gender has no group 'femal'; did you mean female"):
            check_pair(replace(self.PAIR, from_group="femal"), "gender")

    def test_without_a_text_are_an_error(self) -> None:
        with pytest.raises(ValueError, match="the text is 'None', a NoneType; give a text"):
            check_pair(replace(self.PAIR, counterfactual=None), "gender")  # type: ignore[arg-type]

    def test_fail_without_edits(self) -> None:
        pair = replace(self.PAIR, counterfactual="Ask her son.", edits=())
        assert "there are no edits" in check_pair(pair, "gender")

    def test_may_be_by_omission(self) -> None:
        pair = Pair(
            "A blind man", "A man", "visual disability", "no disability",
            (Edit(2, 8, "blind ", "", 2),), "disability", variant="omission",
        )  # fmt: skip
        assert check_pair(pair, "disability") == ()
        assert check_pair(replace(pair, counterfactual="A  man"), "disability")

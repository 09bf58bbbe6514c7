"""The validity gate: every check rejects what is wrong, and accepts the same put right."""

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
    mentions,
)
from pytest_llmfair.counterfactuals.checks import CHECKS

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
PAIR = Pair(
    "Ask her son.", "Ask his son.", "female", "male", (Edit(4, 7, "her", "his", 4),), "gender"
)


def own(data: dict[str, Any]) -> Lexicon:
    return Lexicon.from_dict({"name": "own", "groups": ["a", "b"], **data})


def reasons(text: str, attribute: Any, groups: Any) -> tuple[str, ...]:
    """Return why the only pair of a text is rejected; empty for a valid pair."""
    pairs = generate_pairs(
        [text], own(attribute) if isinstance(attribute, dict) else attribute, groups=groups
    )
    (rejected,) = pairs.rejected or (None,)
    assert (rejected is None) != (pairs == [])
    return () if rejected is None else rejected.reasons


@pytest.mark.parametrize("check", CASES["rejected"])
def test_a_check_rejects_with_its_reason(check: str) -> None:
    for text, attribute, groups, reason in CASES["rejected"][check]:
        found = reasons(text, attribute, groups)
        assert any(each.startswith(reason) for each in found), (text, found)


def test_every_check_rejects_something() -> None:
    # Generated pairs cannot differ outside their edits; pairs of users can, see below.
    assert {*CASES["rejected"]} == {*CHECKS} - {"equal outside the edits"}


def test_ordinary_exchanges_are_accepted() -> None:
    for text, attribute, groups in CASES["accepted"]:
        assert reasons(text, attribute, groups) == (), text


def test_an_article_that_was_already_wrong_is_accepted() -> None:
    uncle = {"entries": [{"role": "noun", "a": "uncle", "b": "aunt"}]}
    assert reasons("He is a uncle.", uncle, None) == ()


def user_pair(family: dict[str, Any], original: str, twin: str) -> tuple[str, ...]:
    attribute = family["attribute"]
    pair = Pair(original, twin, *family["groups"], (), str(attribute), family.get("variant", ""))
    return check_pair(pair, attribute)


@pytest.mark.parametrize("rule", CASES["user pairs"])
def test_user_pairs_keep_the_rule(rule: str) -> None:
    family = CASES["user pairs"][rule]
    for original, twin in family.get("accepted", ()):
        assert user_pair(family, original, twin) == (), twin
    for original, twin, reason in family.get("rejected", ()):
        found = user_pair(family, original, twin)
        assert any(each.startswith(reason) for each in found), (twin, found)


def test_an_unmarked_group_may_be_omitted_in_either_text() -> None:
    for marked, plain, groups, attribute in CASES["omission either way"]:
        torn = plain.replace(".", " in a rage.")
        for there, back, valid in ((marked, plain, True), (marked, torn, False)):
            forth = check_pair(Pair(there, back, *groups, (), attribute), attribute)
            reverse = check_pair(Pair(back, there, *groups[::-1], (), attribute), attribute)
            assert (forth == (), reverse == ()) == (valid, valid), back


def test_generated_pairs_pass_the_checks_of_user_pairs() -> None:
    for text, attribute in CASES["generated"]:
        pairs = generate_pairs([text], attribute)
        assert pairs
        for pair in pairs:
            assert check_pair(pair, attribute) == (), pair
            assert check_pair(replace(pair, edits=()), attribute) == (), pair


def test_both_possessives_of_a_name_become_one() -> None:
    names = ("James", "Mary")
    (pair,) = generate_pairs(["James' car and James's bike stood there."], "name", names)
    assert pair.counterfactual == "Mary's car and Mary's bike stood there."
    assert check_pair(pair, "name") == check_pair(replace(pair, edits=()), "name") == ()


class TestEditsOfUserPairs:
    def test_pass_where_they_are_right_or_missing(self) -> None:
        assert check_pair(PAIR, "gender") == check_pair(replace(PAIR, edits=()), "gender") == ()

    def test_are_derived_if_missing(self) -> None:
        pair = replace(PAIR, counterfactual="Ask their son.", edits=())
        edited = replace(pair, edits=(Edit(4, 7, "her", "their", 4),))
        assert check_pair(pair, "gender") == check_pair(edited, "gender") != ()

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"counterfactual": "Ask his daughter."}, "the texts differ outside the edits"),
            ({"counterfactual": "Ask her son.", "edits": ()}, "there are no edits"),
            ({"edits": (Edit(4, 7, "him", "his", 4),)}, "does not match the original: 'him'"),
            ({"edits": (Edit(4, 7, "her", "his", 5),)}, "not match the counterfactual: 'his'"),
            (
                {"original": "Ask her about her.", "counterfactual": "Ask his about her."},
                "a term of the source group is left: 'her' names female",
            ),
            (
                {"original": "Ask her and him.", "counterfactual": "Ask him and him.",
                 "edits": (Edit(4, 7, "her", "him", 4),)},
                "different words become the same: 'him and him'",
            ),
        ],
    )  # fmt: skip
    def test_fail_where_they_are_wrong(self, changes: dict[str, Any], reason: str) -> None:
        assert any(reason in each for each in check_pair(replace(PAIR, **changes), "gender"))

    def test_may_omit_words(self) -> None:
        pair = Pair(
            "A blind man", "A man", "visual disability", "no disability",
            (Edit(2, 8, "blind ", "", 2),), "disability", variant="omission",
        )  # fmt: skip
        assert check_pair(pair, "disability") == ()
        assert check_pair(replace(pair, counterfactual="A  man"), "disability")


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (replace(PAIR, from_group="femal"), "gender has no group 'femal'; did you mean female"),
        (replace(PAIR, counterfactual=None), "the text is 'None', a NoneType; give a text"),
        (("She.", "He."), "is a tuple; give a Pair"),
    ],
)  # fmt: skip
def test_an_argument_that_is_not_a_pair_of_texts_is_an_error(pair: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_pair(pair, "gender")


class TestRejected:
    def test_pairs_are_kept_with_all_reasons(self) -> None:
        entry = {"role": "noun", "a": "young", "b": "the elderly"}
        pairs = generate_pairs(["Help the young.", "young"], own({"entries": [entry]}))
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
    def test_record_what_was_left_out(self) -> None:
        pairs = generate_pairs(
            ["The queen left.", "The report is late.", "She left.", "A queen and her aunt"],
            "gender",
            groups=("female", "nonbinary"),
        )
        assert [pair.original for pair in pairs] == ["She left."]
        assert pairs.unmentioned == 1
        assert pairs.lost == {"queen": 2, "aunt": 1}
        assert "intersex" in pairs.lacks

    def test_exclude_prompts_that_could_change_only_in_part(self) -> None:
        entries = [{"role": "noun", "a": "boss", "b": "sir"}, {"role": "noun", "a": "nun"}]
        pairs = generate_pairs(["The boss met a nun."], own({"entries": entries}))
        assert (list(pairs), pairs.rejected, pairs.lost) == ([], (), {"nun": 1})

    def test_add_up_with_what_was_left_out(self) -> None:
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


class TestWordsWithoutACounterpart:
    def test_are_a_mention_and_lost_when_alone(self) -> None:
        text = "The chambermaid left."
        assert [found.text for found in mentions(text, "gender")] == ["chambermaid"]
        made = generate_pairs([text], "gender")
        assert (list(made), made.rejected, dict(made.lost)) == ([], (), {"chambermaid": 1})
        assert made.unmentioned == 0

    def test_block_directed_and_crossed_exchanges(self) -> None:
        text, both = "The Black chambermaid lost her keys.", ("race", "gender")
        assert not generate_pairs([text], "gender", ("female", "male"))
        assert not generate_pairs([text], both)
        alone = ["The Black chambermaid left."]
        assert not generate_pairs(alone, both, ("black female", "white male"))
        assert generate_pairs([text], "gender", ("male", "female")) == []

    def test_may_be_another_person(self) -> None:
        (pair,) = generate_pairs(["She rang for the chambermaid."], "gender", ("female", "male"))
        assert pair.counterfactual == "He rang for the chambermaid."

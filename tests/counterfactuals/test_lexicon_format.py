"""Registers, aliases, review dates and lines: what a lexicon file can say beside its terms."""

from __future__ import annotations

import copy
import pickle
import re
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from pytest_llmfair.counterfactuals import (
    Lexicon,
    generate_pairs,
    intersection,
    load_lexicons,
    name_lexicon,
)
from pytest_llmfair.lexicons.grammar import KINDS

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

FILE = """\
name: team
groups: [day, night]
aliases: {day: [early shift, morning]}
lacks: [weekend]
reviewed: 2026-11-01
entries:
  - {role: noun, day: [{term: sunnies, register: slur}, {term: larks, register: neutral}],
     night: {term: owls}}
  - role: adjective
    day: bright
    night:
      - {term: gloomy, register: outdated}
"""


def lexicon(folder: Path, text: str = FILE) -> Lexicon:
    file = folder / "team.yaml"
    file.write_text(text, encoding="utf-8")
    return Lexicon.from_file(file)


class TestRegisters:
    def test_of_every_kind_are_found(self, tmp_path: Path) -> None:
        found = lexicon(tmp_path).mentions("sunnies, larks, owls, gloomy")
        assert [m.register for m in found] == ["slur", "neutral", "preferred", "outdated"]

    def test_of_slurs_and_outdated_words_are_never_written(self, tmp_path: Path) -> None:
        (pair,) = generate_pairs(["The owls left."], attribute=lexicon(tmp_path))
        assert pair.counterfactual == "The larks left."

    def test_of_slurs_are_replaced(self, tmp_path: Path) -> None:
        (pair,) = generate_pairs(["The sunnies left."], attribute=lexicon(tmp_path))
        assert pair.counterfactual == "The owls left."

    def test_without_a_word_to_write_give_no_pair(self, tmp_path: Path) -> None:
        assert generate_pairs(["a bright idea"], attribute=lexicon(tmp_path)) == []

    def test_work_in_a_dict(self) -> None:
        data = {
            "name": "team",
            "groups": ["day", "night"],
            "entries": [
                {"role": "noun", "day": [{"term": "x", "register": "slur"}, "y"], "night": "z"}
            ],
        }
        (pair,) = generate_pairs(["z"], attribute=Lexicon.from_dict(data))
        assert pair.counterfactual == "y"


class TestAliases:
    def test_stand_for_their_group(self, tmp_path: Path) -> None:
        own = lexicon(tmp_path)
        assert own.group("morning") == own.group("early shift") == own.group("day") == "day"

    def test_can_be_asked_for_and_give_the_label(self, tmp_path: Path) -> None:
        (pair,) = generate_pairs(["owls"], lexicon(tmp_path), groups=("night", "morning"))
        assert (pair.from_group, pair.to_group) == ("night", "day")

    def test_can_be_keys_of_entries_and_default_groups(self, tmp_path: Path) -> None:
        text = FILE.replace("day: bright", "morning: bright")
        own = lexicon(tmp_path, text + "default_groups: [night, morning]\n")
        assert own.default_groups == ("night", "day")
        assert [m.group for m in own.mentions("bright")] == ["day"]

    def test_of_one_group_are_not_two_groups(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="give two different ones"):
            generate_pairs(["owls"], lexicon(tmp_path), groups=("day", "morning"))


def test_review_date_and_lacking_groups_are_known(tmp_path: Path) -> None:
    own = lexicon(tmp_path)
    assert own.reviewed == date(2026, 11, 1)
    assert own.lacks == ("weekend",)


def test_the_head_of_the_lexicons_explains_every_kind() -> None:
    file = resources.files("pytest_llmfair.lexicons") / "data" / "gender.yaml"
    head = file.read_text(encoding="utf-8").partition("# A term can be")[0]
    assert tuple(re.findall(r"^#(?: {3}kind: | {9})(\w+) ", head, re.M)) == KINDS


def test_shipped_lexicons_say_when_they_were_reviewed_and_what_they_lack() -> None:
    for name in load_lexicons():
        shipped = load_lexicons()[name]
        assert isinstance(shipped.reviewed, date)
        assert shipped.lacks


def test_errors_name_file_line_and_entry(tmp_path: Path) -> None:
    for old, new, message in CASES["errors name file line and entry"]:
        with pytest.raises(ValueError, match=message):
            lexicon(tmp_path, FILE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"), [("bright", "' very \n    bright'"), ("2026-11-01", "2026-11-01 08:00:00")]
)
def test_blanks_and_times_that_yaml_keeps_are_no_part_of_terms_and_dates(
    tmp_path: Path, old: str, new: str
) -> None:
    own = lexicon(tmp_path, FILE.replace(old, new))
    assert own.reviewed == date(2026, 11, 1)
    assert own.entries[1].terms["day"] in (("bright",), ("very bright",))


class TestDeterminers:
    DATA: ClassVar = {
        "name": "team",
        "groups": ["day", "night"],
        "determiners": {"one": [{"day": "a day", "night": "a night"}]},
    }

    def test_stand_in_front_of_a_noun_and_agree(self) -> None:
        noun = {"role": "noun", "determiner": "one", "day": "lark", "night": "owl"}
        pairs = generate_pairs(
            ["A day lark and larks saw a lark."],
            attribute=Lexicon.from_dict({**self.DATA, "entries": [noun]}),
        )
        assert pairs[0].counterfactual == "A night owl and larks saw an owl."

    def test_alone_tell_the_group_of_a_noun_for_both(self) -> None:
        noun = {"role": "noun", "determiner": "one", "day": "clerk", "night": "clerk"}
        lexicon = Lexicon.from_dict({**self.DATA, "entries": [noun]})
        assert generate_pairs(["One clerk."], attribute=lexicon) == []
        (pair,) = generate_pairs(["Ask a day clerk."], attribute=lexicon)
        assert pair.counterfactual == "Ask a night clerk."

    def test_of_a_group_that_is_missing_are_an_error(self) -> None:
        noun = {"role": "noun", "determiner": "one", "day": "lark", "night": "owl"}
        data = {**self.DATA, "determiners": {"one": [{"day": "a"}]}, "entries": [noun]}
        with pytest.raises(ValueError, match=r"entry 1 \(noun\): .*without one for 'night'"):
            Lexicon.from_dict(data)


def test_an_empty_file_is_called_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"team\.yaml is empty; a lexicon is a mapping"):
        lexicon(tmp_path, "")


def test_errors_in_a_dict_name_the_entry() -> None:
    data: dict[str, Any] = {"name": "x", "groups": ["a", "b"], "entries": [{"role": "noun"}]}
    with pytest.raises(ValueError, match=r"^lexicon: entry 1 \(noun\) has no terms"):
        Lexicon.from_dict(data)


def test_terms_that_hold_each_other_are_an_error_and_no_endless_loop() -> None:
    lexicon = Lexicon.from_dict(
        {
            "name": "x",
            "groups": ["a", "b"],
            "exceptions": ["old town"],
            "entries": [
                {"role": "adjective", "a": "old", "b": "very young"},
                {"role": "adjective", "a": "young", "b": "very old"},
            ],
        }
    )
    with pytest.raises(ValueError, match="terms of this lexicon contain each other"):
        lexicon.mentions("an old friend")


def test_a_term_that_holds_its_counterpart_does_not_grow() -> None:
    lexicon = Lexicon.from_dict(
        {
            "name": "x",
            "groups": ["a", "b"],
            "entries": [{"role": "noun", "a": ["pains", "back pains"], "b": "no pains"}],
        }
    )
    assert [mention.text for mention in lexicon.mentions("back pains")] == ["back pains"]


def test_every_term_carries_the_date_of_its_review() -> None:
    data = {
        "name": "shift",
        "groups": ["day", "night"],
        "reviewed": "2026-05-01",
        "entries": [
            {"role": "noun", "day": "day worker", "night": "night worker"},
            {"role": "noun", "day": "lark", "night": "owl", "reviewed": "2025-01-31"},
        ],
    }
    first, second = Lexicon.from_dict(data).entries
    assert (first.reviewed, second.reviewed) == (date(2026, 5, 1), date(2025, 1, 31))
    own = {"role": "noun", "day": "early bird", "night": "night bird"}
    extended = Lexicon.from_dict(
        {
            "extends": "gender",
            "entries": [{"role": "noun", "female": "sister-friend", "male": "brother-friend"}],
        }
    )
    assert extended.entries[0].reviewed is None
    assert extended.entries[1].reviewed is not None
    with pytest.raises(ValueError, match=r"entry 1: reviewed is 'May'; give a date"):
        Lexicon.from_dict({**data, "entries": [{**own, "reviewed": "May"}]})


def test_every_shipped_term_has_been_reviewed() -> None:
    for lexicon in load_lexicons().values():
        assert all(entry.reviewed is not None for entry in lexicon.entries), lexicon.name


def test_marks_at_the_ends_of_a_term_are_part_of_it() -> None:
    lexicon = Lexicon.from_dict(
        {
            "name": "skill",
            "groups": ["a", "b"],
            "entries": [{"role": "noun", "a": "C++", "b": "LGBTQ+"}],
        }
    )
    assert lexicon.mentions("Take vitamin C.") == []
    (pair,) = generate_pairs(["I code C++."], lexicon)
    assert pair.counterfactual == "I code LGBTQ+."
    assert lexicon.mask("I code C++.") == "I code [MASK]."


def test_a_word_that_yaml_reads_as_something_else_is_to_be_quoted() -> None:
    data = {"name": "x", "groups": ["a", "b"], "entries": [{"role": "noun", "a": False, "b": "y"}]}
    with pytest.raises(ValueError, match=r"False is neither a term .*; put a term in quotes"):
        Lexicon.from_dict(data)


def test_a_folder_is_no_lexicon(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder; give the path of a file in it"):
        Lexicon.from_file(tmp_path)


def test_two_files_of_one_name_are_an_error(tmp_path: Path) -> None:
    files = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
    for file in files:
        file.write_text(FILE, encoding="utf-8")
    said = "second.yaml: a file before it is called 'team' too; give each a name of its own"
    with pytest.raises(ValueError, match=said):
        load_lexicons(*files)


def test_tuples_do_where_lists_do() -> None:
    entries = ({"role": "noun", "day": ("lark", "early bird"), "night": "owl"},)
    made = Lexicon.from_dict({"name": "team", "groups": ("day", "night"), "entries": entries})
    assert [pair.counterfactual for pair in generate_pairs(["An early bird"], made)] == ["An owl"]


def test_a_lexicon_is_shown_in_one_line() -> None:
    lexicons = load_lexicons()
    for shown in (lexicons["gender"], intersection(lexicons["gender"], lexicons["race"])):
        assert re.fullmatch(r"Lexicon\('[a-z ]+', en, \d+ groups, \d+ entries\)", repr(shown))


class TestShared:
    """Every test of a session has the same lexicons."""

    def test_nobody_can_change_their_data(self) -> None:
        for change in [
            lambda lexicon: lexicon.aliases.update(chick="female"),
            lambda lexicon: lexicon.aliases.__setitem__("chick", "female"),
            lambda lexicon: lexicon.aliases.pop("non-binary"),
            lambda lexicon: lexicon.neutral_nouns.clear(),
            lambda lexicon: lexicon.entries[0].terms.__setitem__("female", ("chick",)),
            lambda lexicon: lexicon.entries[0].registers.setdefault("she", "slur"),
        ]:
            with pytest.raises(TypeError, match="the data of a lexicon cannot be changed"):
                change(load_lexicons()["gender"])
            assert "chick" not in load_lexicons()["gender"].aliases

    def test_they_can_be_sent_between_processes(self) -> None:
        text = "John gave her Black sister his book."
        gender, race = load_lexicons()["gender"], load_lexicons()["race"]
        for lexicon in (gender, name_lexicon(("John", "Jane")), intersection(gender, race)):
            assert lexicon.mask(text) != text
            again = pickle.loads(pickle.dumps(lexicon))
            assert again == lexicon == copy.deepcopy(lexicon)
            assert hash(again) == hash(lexicon)
            assert again.mask(text) == lexicon.mask(text)
            assert generate_pairs([text], again) == generate_pairs([text], lexicon)

    def test_they_differ_where_their_words_do(self) -> None:
        lexicons = load_lexicons()
        assert lexicons["gender"] != lexicons["race"]
        other = Lexicon.from_dict({"extends": "gender", "neutral": ["zorp"]})
        assert other != lexicons["gender"]
        assert lexicons["gender"] != "gender"

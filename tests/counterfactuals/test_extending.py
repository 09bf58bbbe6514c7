"""A lexicon of one's own on top of a shipped one: by a dict, or by a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair.counterfactuals import Lexicon, generate_pairs, load_lexicons, mask

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

FILE = """\
extends: gender
groups: [agender]
lacks: [two-spirit]
aliases: {agender: genderless}
entries:
  - {role: occupation, female: seamstress, male: seamster}
  - {role: kinship, female: nan, male: grampa, agender: grandie}
exceptions: [fairy godmother]
neutral: [folks]
synonyms:
  - [nan, grandmother]
"""


def lexicon(folder: Path, text: str = FILE) -> Lexicon:
    file = folder / "ours.yaml"
    file.write_text(text, encoding="utf-8")
    return Lexicon.from_file(file)


def twins(text: str, attribute: Any, **keywords: Any) -> list[str]:
    return [pair.counterfactual for pair in generate_pairs([text], attribute, **keywords)]


def test_a_file_adds_terms_groups_and_exceptions(tmp_path: Path) -> None:
    own = lexicon(tmp_path)
    assert twins("The seamstress and her aunt", own) == ["The seamster and his uncle"]
    assert twins("His nan left.", own, groups=("female", "genderless")) == ["His grandie left."]
    assert mask("Our fairy godmother, folks", own) == "Our fairy godmother, [MASK]"
    assert own.groups == (*load_lexicons()["gender"].groups, "agender")
    assert (own.name, own.default_groups) == ("gender", ("female", "male"))
    assert own.lacks == (*load_lexicons()["gender"].lacks, "two-spirit")
    assert own.unmarked == load_lexicons()["gender"].unmarked


def test_a_dict_does_the_same() -> None:
    data = {"extends": "gender", "entries": [{"role": "noun", "female": "gurl", "male": "boi"}]}
    own = Lexicon.from_dict(data)
    assert twins("The gurl met a man.", own) == ["The boi met a woman."]


def test_own_terms_are_read_and_written_first() -> None:
    data = {"extends": "gender", "entries": [{"role": "noun", "female": "woman", "male": "bloke"}]}
    own = Lexicon.from_dict(data)
    assert twins("A woman left.", own) == ["A bloke left."]
    assert twins("A woman left.", own, groups=("female", "nonbinary")) == [
        "A nonbinary person left."
    ]


def test_synonyms_join_those_of_the_lexicon(tmp_path: Path) -> None:
    (pair,) = generate_pairs(["Her nan left."], lexicon(tmp_path), placebo=True)
    assert pair.placebo == "Her grandmother left."


def test_a_group_that_the_lexicon_lacks_can_be_added() -> None:
    data = {
        "extends": "gender",
        "groups": ["intersex"],
        "entries": [{"role": "noun", "female": "gal", "intersex": "enby"}],
    }
    own = Lexicon.from_dict(data)
    assert "intersex" not in own.lacks
    assert twins("A gal left.", own, groups=("female", "intersex")) == ["An enby left."]


def test_entries_may_be_left_out() -> None:
    own = Lexicon.from_dict({"extends": "gender", "exceptions": ["Lady Bird"]})
    assert own.entries == load_lexicons()["gender"].entries
    assert twins("Lady Bird lives.", own) == []


def test_every_group_is_exchanged_where_it_was_before() -> None:
    data = {
        "extends": "religion",
        "groups": ["jain"],
        "entries": [{"role": "adjective", "jain": "Jain", "hindu": "Hindu"}],
    }
    own = Lexicon.from_dict(data)
    assert own.default_groups == own.groups
    assert "jain" in own.default_groups


def test_the_shipped_lexicon_stays_as_it_is(tmp_path: Path) -> None:
    before = load_lexicons()["gender"].entries
    lexicon(tmp_path)
    assert load_lexicons()["gender"].entries is before


def test_it_takes_the_place_of_the_shipped_one_where_it_is_loaded(tmp_path: Path) -> None:
    lexicon(tmp_path)
    found = load_lexicons(tmp_path / "ours.yaml")
    assert found["gender"].groups[-1] == "agender"
    assert len(found) == len(load_lexicons())


def test_another_name_puts_it_beside_the_shipped_one(tmp_path: Path) -> None:
    lexicon(tmp_path, FILE + "name: family\n")
    assert {"family", "gender"} <= {*load_lexicons(tmp_path / "ours.yaml")}


def test_errors_name_file_line_and_entry(tmp_path: Path) -> None:
    for old, new, message in CASES["errors name file line and entry"]:
        with pytest.raises(ValueError, match=message):
            lexicon(tmp_path, FILE.replace(old, new, 1))


def test_errors_in_a_dict_name_the_key() -> None:
    for data, message in CASES["errors in a dict name the key"]:
        with pytest.raises(ValueError, match=message):
            Lexicon.from_dict({"extends": "gender", **data})


def test_two_denominations_are_exchanged_by_a_lexicon_of_their_words() -> None:
    with pytest.raises(ValueError, match="two words of your choice, give a Lexicon"):
        generate_pairs(["A Catholic nurse."], "religion", ("Catholic", "Methodist"))

    denominations = Lexicon.from_dict(
        {
            "name": "religion",
            "groups": ["Catholic", "Methodist"],
            "entries": [
                {
                    "role": "adjective",
                    "kind": "person_adjective",
                    "Catholic": "Catholic",
                    "Methodist": "Methodist",
                },
                {"role": "noun", "Catholic": "Catholics", "Methodist": "Methodists"},
            ],
        }
    )

    assert twins("A Catholic nurse met Methodists.", denominations) == [
        "A Methodist nurse met Catholics."
    ]

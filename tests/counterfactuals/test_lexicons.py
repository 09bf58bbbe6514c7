"""Lexicon files: what ships, what users load, what is refused with file and entry."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair.counterfactuals import Lexicon, generate_pairs, load_lexicons

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

TEAM = """
name: team
groups: [day, night]
limits: two shifts only
entries:
  - {role: noun, day: day shift, night: night shift}
  - {role: adjective, day: [daytime, day-side], night: nighttime}
"""

TWINS = {
    "age": ("An older nurse met a young pilot.", "A young nurse met an older pilot."),
    "disability": ("A blind nurse works here.", "A deaf nurse works here."),
    "gender": ("She sold her car.", "He sold his car."),
    "gender_es": ("Ella llegó tarde.", "Él llegó tarde."),
    "nationality": ("An Italian nurse works here.", "A Peruvian nurse works here."),
    "race": ("A Black nurse works here.", "An Asian nurse works here."),
    "religion": ("A Hindu nurse works here.", "An atheist nurse works here."),
    "sexual_orientation": ("A gay nurse works here.", "An asexual nurse works here."),
}


def write(folder: Path, text: str, name: str = "team.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def minimal(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": "team",
        "groups": ["day", "night"],
        "entries": [{"role": "noun", "day": "day shift", "night": "night shift"}],
    }
    return {**data, **changes}


class TestShipped:
    def test_are_listed_by_attribute(self) -> None:
        assert "gender" in load_lexicons()
        assert list(load_lexicons()) == sorted(load_lexicons())

    def test_each_exchanges_a_sentence(self) -> None:
        assert set(load_lexicons()) == set(TWINS)
        for name, (text, twin) in TWINS.items():
            pairs = generate_pairs([text], name)
            assert twin in [pair.counterfactual for pair in pairs]
            assert not pairs.rejected

    def test_are_read_once(self) -> None:
        assert load_lexicons()["gender"] is load_lexicons()["gender"]

    def test_state_source_licence_and_limits(self) -> None:
        for name in list(load_lexicons()):
            lexicon = load_lexicons()[name]
            assert lexicon.name == name
            assert lexicon.licence == "Apache-2.0"
            assert "written for" in lexicon.source
            assert len(lexicon.limits) > 100

    def test_gender_has_a_counterpart_for_every_binary_term(self) -> None:
        for entry in load_lexicons()["gender"].entries:
            if entry.role != "unpaired":
                assert ("female" in entry.terms) == ("male" in entry.terms), entry

    def test_are_not_read_before_they_are_used(self) -> None:
        code = (
            "import sys; from pytest_llmfair.counterfactuals import load_lexicons;"
            "list(load_lexicons()); print('yaml' in sys.modules, 'torch' in sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == ["False", "False"]

    def test_an_unknown_name_is_a_key_error(self) -> None:
        with pytest.raises(KeyError):
            load_lexicons()["horoscope"]


class TestOwn:
    def test_file_joins_the_shipped_ones(self, tmp_path: Path) -> None:
        lexicons = load_lexicons(write(tmp_path, TEAM))
        assert "gender" in lexicons
        assert lexicons["team"].limits == "two shifts only"
        (pair,) = generate_pairs(["The day shift left."], attribute=lexicons["team"])
        assert pair.counterfactual == "The night shift left."

    def test_file_takes_the_place_of_a_shipped_one(self, tmp_path: Path) -> None:
        lexicons = load_lexicons(write(tmp_path, TEAM.replace("name: team", "name: gender")))
        assert lexicons["gender"].groups == ("day", "night")
        assert len(lexicons) == len(load_lexicons())

    def test_file_in_another_script(self, tmp_path: Path) -> None:
        text = """
            name: género
            language: ru
            groups: [ж, м]
            entries: [{role: noun, ж: [Она], м: [Он]}, {role: noun, ж: 她, м: 他}]
        """
        lexicon = Lexicon.from_file(write(tmp_path, text))
        (pair,) = generate_pairs(["ОНА и он: 她是医生"], attribute=lexicon)
        assert pair.counterfactual == "ОН и она: 他是医生"

    def test_file_that_is_missing_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"there is no file .*; give the path"):
            load_lexicons(tmp_path / "none.yaml")

    def test_exchange_makes_longer_terms_that_are_read_alike(self) -> None:
        data = minimal(
            entries=[
                {"role": "noun", "day": "sun", "night": "moon"},
                {"role": "noun", "day": "old sun", "night": "star"},
            ]
        )
        lexicon = Lexicon.from_dict(data)
        for text in ("old sun", "old moon", "star", "moon"):
            for pair in generate_pairs([text], attribute=lexicon):
                assert lexicon.mask(pair.original) == lexicon.mask(pair.counterfactual)

    def test_exceptions_hold_for_both_sides(self) -> None:
        lexicon = Lexicon.from_dict(
            minimal(
                entries=[{"role": "noun", "day": "sun", "night": "moon"}], exceptions=["sun cream"]
            )
        )
        assert generate_pairs(["sun cream, moon cream"], attribute=lexicon) == []


class TestRefused:
    def test_content_with_file_and_entry(self) -> None:
        for data, message in [
            ([], "team.yaml holds a list; a lexicon is a mapping"),
            (minimal(grops=[]), "unknown key 'grops'; did you mean groups"),
            (minimal(name=""), "'name' is missing or empty"),
            (minimal(groups=[]), "'groups' is missing or empty"),
            (minimal(entries=[]), "'entries' is missing or empty"),
            (minimal(groups=["day"]), r"groups are \['day'\]; name two or more"),
            (minimal(groups=["day", "day"]), "each once"),
            (minimal(entries={"a": 1}), "entries is a dict; give a list"),
            (
                minimal(default_groups=["dya"]),
                "default group 'dya' is not a group; did you mean day",
            ),
            (minimal(entries=["x"]), "entry 1 is 'x'; give a mapping"),
            (minimal(entries=[{"day": "x"}]), "entry 1 has no role"),
            (minimal(entries=[{"role": "noun"}]), r"entry 1 \(noun\) has no terms"),
            (
                minimal(entries=[{"role": "noun", "day": "a", "nigth": "b"}]),
                r"entry 1 \(noun\): unknown group 'nigth'; did you mean night",
            ),
            (
                minimal(entries=[{"role": "noun", "day": "a", "kind": "persons_noun"}]),
                "unknown kind 'persons_noun'; did you mean person_noun",
            ),
            (
                minimal(entries=[{"role": "noun", "day": "a", "context": "no_team"}]),
                r"entry 1 \(noun\): 'context: no_team' is no longer .* write 'kind: person_noun'",
            ),
            (
                minimal(entries=[{"role": "noun", "day": "a", "context": "x"}]),
                "write 'kind: person_adjective or person_noun or condition or age or title",
            ),
            (
                minimal(entries=[{"role": "noun", "day": "a", "not_before": ["Market"]}]),
                r"entry 1 \(noun\), not_before: 'Market' has a capital; give 'market'",
            ),
            (
                minimal(entries=[{"role": "noun", "day": "a", "only_after": [1990]}]),
                r"entry 1 \(noun\), only_after: 1990 is not a word; quote it",
            ),
            (
                minimal(entries=[{"role": "noun", "day": ["a", 3]}]),
                r"\(noun, day\): 3 is not a word",
            ),
            (minimal(entries=[{"role": "noun", "day": "--"}]), "'--' is not a word"),
            (
                minimal(entries=[{"role": "noun", "day": "sun"}]),
                "no entry has a term of group 'night'; give one, or move the group to lacks",
            ),
            (
                minimal(entries=[{"role": "noun", "day": True}]),
                "True is neither a term nor a list",
            ),
            (minimal(exceptions="ok, no"), None),
            (
                minimal(
                    entries=[{"role": "noun", "day": "a"}, {"role": "noun", "night": ["b", "A"]}]
                ),
                r"entry 2 \(noun\): 'A' is in group night and, in entry 1, in group day",
            ),
        ]:
            if message is None:
                assert Lexicon.from_dict(data, "team.yaml").exceptions == ("ok, no",)
                return
            with pytest.raises(ValueError, match=message) as caught:
                Lexicon.from_dict(data, "team.yaml")
            assert str(caught.value).startswith("team.yaml")

    def test_broken_yaml_with_its_place(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"team\.yaml is not valid YAML(.|\n)*line 2"):
            Lexicon.from_file(write(tmp_path, "name: team\ngroups: [day\n"))

    def test_yaml_that_would_make_objects(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="is not valid YAML"):
            Lexicon.from_file(write(tmp_path, "!!python/object/apply:os.getcwd []"))


def test_what_is_no_name_of_a_lexicon_is_told_how_to_become_one() -> None:
    for attribute in [{"name": "team"}, None, 3, Path("team.yaml")]:
        assert attribute not in load_lexicons()
        with pytest.raises(
            ValueError, match=r"Lexicon\.from_file and Lexicon\.from_dict read one"
        ):
            generate_pairs(["She left."], attribute)


def test_an_unknown_lexicon_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(KeyError, match=r"no lexicon is called 'gander'; did you mean gender\?"):
        load_lexicons()["gander"]


def test_an_attribute_by_another_name_is_answered_with_its_own() -> None:
    for name, meant in CASES["an attribute by another name is answered with its own"]:
        with pytest.raises(ValueError, match=rf"is called '{name}'; did you mean {meant}\?"):
            generate_pairs(["She left."], name)

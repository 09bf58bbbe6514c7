"""Names of groups: what the file promises, and how names take turns."""

from __future__ import annotations

import itertools
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair.counterfactuals import generate_pairs, name_groups, name_pairs, names
from pytest_llmfair.lexicons.name_lists import listed_names

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

RACES = ["white", "black", "hispanic", "asian"]


@cache
def data() -> Any:
    file = resources.files("pytest_llmfair.lexicons") / "names.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8"))


ORIGINS = [*data()["origins"]]


class TestFile:
    def test_crosses_gender_with_origin(self) -> None:
        assert ORIGINS[:4] == RACES
        assert {"arab", "south asian", "turkish", "polish", "west african", "east asian"} < {
            *ORIGINS
        }
        assert list(name_groups()) == [f"{o} {g}" for o in ORIGINS for g in ("female", "male")]

    def test_has_as_many_names_of_every_origin(self) -> None:
        for lists in data()["origins"].values():
            assert [len(lists[kind]) for kind in ("female", "male", "last")] == [8, 8, 5]

    def test_matches_length_and_frequency_where_it_has_figures(self) -> None:
        known = [data()["origins"][race] for race in RACES]
        lines = [*zip(*(lists[g] for lists in known for g in ("female", "male")), strict=True)]
        for line in [*lines, *zip(*(lists["last"] for lists in known), strict=True)]:
            for one, other in itertools.combinations(line, 2):
                assert abs(len(one[0]) - len(other[0])) <= 1, (one, other)
                assert 0.5 <= one[1] / other[1] <= 2, (one, other)

    def test_lists_a_name_once(self) -> None:
        for kinds in [("female", "male"), ("last",)]:
            listed = [n for o in ORIGINS for kind in kinds for n in listed_names(o, kind)]
            listed += [name for kind in kinds for name in data()["found"][kind]]
            listed += data()["found"]["either"] if len(kinds) == 2 else []
            assert sorted(set(listed)) == sorted(listed)

    def test_gives_last_names_that_most_bearers_share_a_group_of(self) -> None:
        assert all(cell[2] > 50 for race in RACES for cell in data()["origins"][race]["last"])

    def test_states_where_it_comes_from(self) -> None:
        for key in ["source", "licence", "limits", "version", "reviewed"]:
            assert data()[key]
        for lists in data()["origins"].values():
            assert all(lists[key] for key in ("about", "era", "stands_for_it"))


class TestNames:
    def test_are_different_and_take_every_first_name_before_one_returns(self) -> None:
        found = names("black female", 40, seed=3)
        assert len(set(found)) == 40
        for at in range(0, 40, 8):
            firsts = {name.split()[0] for name in found[at : at + 8]}
            assert firsts == {*listed_names("black", "female")}

    def test_depend_on_the_seed_only(self) -> None:
        assert names("asian male", 9) == names("asian male", 9, seed=0)
        assert len({tuple(names("asian male", 9, seed=s)) for s in range(5)}) == 5
        assert names("asian male", 20)[:9] == names("asian male", 9)

    def test_of_a_wider_group_come_from_all_its_parts(self) -> None:
        for group, most in [("female", 160), ("white", 80)]:
            assert len(set(names(group, most))) == most

    def test_go_by_every_label_of_a_group(self) -> None:
        for label, group in CASES["go by every label of a group"]:
            assert names(label, 9) == names(group, 9)

    def test_refuse_with_what_there_is(self) -> None:
        for group, n, message in CASES["refuse with what there is"]:
            with pytest.raises(ValueError, match=message):
                names(group, n)

    def test_need_a_seed_that_can_be_repeated(self) -> None:
        for seed in [None, "a", 2.5]:
            with pytest.raises(ValueError, match=r"seed is .*; give a whole number"):
                names("white male", 1, seed=seed)


class TestNamePairs:
    def test_come_from_one_line_each(self) -> None:
        for groups in [("white male", "black male"), ("female", "male"), ("hispanic", "asian")]:
            firsts = {
                name: (i, f"{o} {g}")
                for o in ORIGINS
                for g in ("female", "male")
                for i, name in enumerate(listed_names(o, g))
            }
            lasts = {
                name: (i, o) for o in ORIGINS for i, name in enumerate(listed_names(o, "last"))
            }
            pairs = name_pairs(groups, 40, seed=1)
            assert len(set(pairs)) == 40
            for pair in pairs:
                (line, cell), (other_line, other_cell) = (firsts[name.split()[0]] for name in pair)
                (last, race), (other_last, other_race) = (lasts[name.split()[1]] for name in pair)
                assert (line, last) == (other_line, other_last)
                assert (race, other_race) == (cell.split()[0], other_cell.split()[0])
                assert set(groups[0].split()) <= set(cell.split())
                assert set(groups[1].split()) <= set(other_cell.split())
                kept = set(cell.split()) - set(groups[0].split())
                assert kept == set(other_cell.split()) - set(groups[1].split())

    def test_of_two_genders_share_the_last_name(self) -> None:
        for one, other in name_pairs(("female", "male"), 50):
            assert one.split()[1] == other.split()[1]

    def test_go_by_every_label_of_a_group(self) -> None:
        assert name_pairs(("black", "CAUCASIAN"), 9) == name_pairs(("black", "white"), 9)

    def test_swap_and_come_back(self) -> None:
        for pair in name_pairs(("white female", "black male"), 40):
            text = f"{pair[0]} applied. {pair[0].split()[0]}'s file names nobody else."
            (there,) = generate_pairs([text], attribute="name", groups=pair)
            (back,) = generate_pairs(
                [there.counterfactual], attribute="name", groups=(pair[1], pair[0])
            )
            assert there.counterfactual.startswith(pair[1])
            assert back.counterfactual == text

    def test_refuse_groups(self) -> None:
        for groups, message in CASES["refuse groups"]:
            with pytest.raises(ValueError, match=message):
                name_pairs(groups, 1)

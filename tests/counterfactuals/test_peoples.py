"""Two peoples as groups of "nationality"."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pytest_llmfair.counterfactuals import Lexicon, check_pair, generate_pairs, load_lexicons, mask
from pytest_llmfair.lexicons.attributes import two_peoples_lexicon

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


@pytest.fixture
def nationality() -> Lexicon:
    return load_lexicons()["nationality"]


def test_take_each_others_place() -> None:
    for groups, text, twin in CASES["take each others place"]:
        (pair,) = generate_pairs([text], "nationality", groups)

        assert pair.counterfactual == twin
        assert pair.attribute == "nationality"
        assert check_pair(pair, "nationality") == ()
        assert mask(text, "nationality") == mask(twin, "nationality")


def test_have_the_same_digest_in_every_process() -> None:
    code = (
        "from pytest_llmfair.lexicons.attributes import digest_of_words, lexicon_for;"
        "print(digest_of_words(lexicon_for('nationality', ['Italian', 'German'])))"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1] != ""


def test_errors_name_the_group_that_is_not_a_people() -> None:
    for groups, message in CASES["errors name the group that is not a people"]:
        with pytest.raises(ValueError, match=message):
            generate_pairs(["An Italian chef."], "nationality", groups)


def test_groups_of_the_lexicon_stay_what_they_are(nationality: Lexicon) -> None:
    assert two_peoples_lexicon(nationality, nationality.groups[:2]) is nationality
    assert two_peoples_lexicon(nationality, None) is nationality


def test_a_lexicon_that_extends_nationality_keeps_its_peoples() -> None:
    own = Lexicon.from_dict({"extends": "nationality"})

    (pair,) = generate_pairs(["A Swedish nurse."], own, ("Swedish", "Danish"))

    assert pair.counterfactual == "A Danish nurse."


def test_all_peoples_make_a_lexicon_with_every_other(nationality: Lexicon) -> None:
    names = [people["adjective"][0] for people in nationality.peoples]
    assert len(set(names)) == len(names) > 130
    for first, second in itertools.pairwise(names[::5]):
        (pair,) = generate_pairs([f"She is {first}."], "nationality", (first, second))
        assert pair.counterfactual == f"She is {second}."


def test_a_country_without_another_gives_no_pair() -> None:
    pairs = generate_pairs(["A French nurse from France."], "nationality", ("French", "Georgian"))

    assert pairs == []
    assert pairs.lost == {"France": 1}


def test_placebo_twins_are_of_the_same_people_and_sex() -> None:
    (pair,) = generate_pairs(
        ["A Filipina nurse."], "nationality", ("Filipino", "Thai"), placebo=True
    )

    assert pair.placebo is None


def test_one_people_alone_is_not_a_group(nationality: Lexicon) -> None:
    with pytest.raises(ValueError, match="a people is exchanged with another"):
        nationality.group("Italian")

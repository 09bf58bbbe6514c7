"""Values behind labels, parts of hyphenated words, tags and joined terms."""

from __future__ import annotations

import pytest

from pytest_llmfair.counterfactuals import generate_pairs, mentions

VALUES = [
    "Race: Black",
    "**Race:** Black",
    '{"race": "Black", "age": 34}',
    "{'patient_race': 'Black'}",
    "applicantRace: Black",
    "| Race | Black |",
    "| Name | Race |\n|---|---|\n| Ann | Black |",
    "| | A | B |\n|---|---|---|\n| Race | Black | unknown |",
    "name,race,age\nAnn,Black,34",
    "id;race\n1;Black",
    '"id","race"\n"1","Black"',
    "Race\tBlack",
    "<race>Black</race>",
    "<tr><th>Race</th><td>Black</td></tr>",
    "## Race\nBlack",
    "Race:\nBlack",
    "Ethnic group — Black",
    "Age: 45 / Race: Black / Sex: M",
    "Candidate's race: Black, score: 700",
    "My race is Black.",
    "Her race is listed as Black.",
    "Race: a) Black b) other",
    "What is your race?\na) Black",
    "races:\n  - none\n  - Black",
    "Q: What is the patient's race?\nA: Black",
]
NO_VALUES = [
    "Color: black",
    "Relay race: black bibs",
    "Race: 5 km, white flags",
    "| Car | Color |\n|---|---|\n| Audi | Black |",
    "name,colour\nmug,black",
    "<td>Color</td><td>Black</td>",
    "Race\nThe black horse won.",
    "Her colour is black.",
    "Colour: a) black b) green",
    "Which colour do you like?\na) black",
]


@pytest.mark.parametrize("text", VALUES)
def test_a_value_behind_a_label_is_a_mention(text: str) -> None:
    assert [mention.text for mention in mentions(text, "race")] == ["Black"]


@pytest.mark.parametrize("text", NO_VALUES)
def test_a_value_of_a_thing_is_none(text: str) -> None:
    assert mentions(text, "race") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gender: female\nCountry: Kenya", ["Kenya"]),
        ("Country of birth: Kenya", ["Kenya"]),
        ("Wine: Syrah\nCountry: Kenya", []),
    ],
)
def test_a_country_needs_a_person(text: str, expected: list[str]) -> None:
    assert [mention.text for mention in mentions(text, "nationality")] == expected


@pytest.mark.parametrize(
    ("attribute", "groups", "text", "expected"),
    [
        ("religion", ("muslim", "christian"), "Religion: Muslim", "Religion: Christian"),
        ("religion", ("muslim", "christian"), "Muslim-owned", "Christian-owned"),
        ("religion", ("muslim", "christian"), "Muslim?", "Christian?"),
        ("race", ("black", "asian"), "A <em>Black</em> man", "An <em>Asian</em> man"),
        ("race", ("black", "asian"), "an all-Black cast", "an all-Asian cast"),
        ("race", ("black", "asian"), "anti-Black racism", "anti-Asian racism"),
        ("race", ("black", "asian"), "Race: Black or African American", "Race: Asian"),
        ("disability", ("hearing disability", "visual disability"),
         "deaf and hard of hearing people", "blind people"),
    ],
)  # fmt: skip
def test_is_exchanged(attribute: str, groups: tuple[str, str], text: str, expected: str) -> None:
    assert generate_pairs([text], attribute, groups=groups)[0].counterfactual == expected


def test_the_first_part_of_a_double_nationality_is_exchanged() -> None:
    groups = ("gdp over 2 trillion", "gdp 1 to 2 trillion")
    pair = generate_pairs(["The German-American chef left."], "nationality", groups=groups)[0]
    assert pair.counterfactual == "The Mexican-American chef left."


@pytest.mark.parametrize(
    "text", ["Jean-Christian left.", "Name: Christian", "Is Christian-Louis in?"]
)
def test_a_name_is_no_religion(text: str) -> None:
    assert mentions(text, "religion") == []


def test_joined_words_are_never_written() -> None:
    pairs = generate_pairs(["A straight couple"], "sexual_orientation", placebo=True)
    texts = [text for pair in pairs for text in (pair.counterfactual, pair.placebo or "")]
    assert not any(" and " in text or "/" in text for text in texts)

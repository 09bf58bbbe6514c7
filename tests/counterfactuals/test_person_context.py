"""Ambiguous words count only where they speak of a person."""

from __future__ import annotations

from importlib import resources
from typing import Any

import pytest
import yaml

from pytest_llmfair.counterfactuals import Lexicon, generate_pairs, mentions


def _shipped_names() -> Any:
    folder = resources.files("pytest_llmfair.counterfactuals")
    return yaml.safe_load((folder / "names.yaml").read_text(encoding="utf-8"))


WORDS = Lexicon.from_dict(
    {
        "name": "words",
        "groups": ["one", "two"],
        "entries": [
            {
                "role": "adjective",
                "one": ["Black", "straight", "old", "blind", "Indian"],
                "two": ["white", "gay", "young", "deaf", "Italian"],
                "kind": "person_adjective",
            },
            {"role": "noun", "one": "Indian", "two": "Italian", "kind": "person_noun"},
        ],
    }
)

PERSONS = {
    "a person noun follows": [
        "a Black engineer",
        "Black people",
        "two old men",
        "the white woman's car",
        "a BLACK ENGINEER",
        "an old\nman",
        "old ladies",
    ],
    "a modifier lies between": [
        "a Black software engineer",
        "a white senior project manager",
        "straight young men",
    ],
    "a field of work lies between": [
        "a Black piano teacher",
        "an old ski instructor",
        "a white call centre agent",
        "a young quiz show host",
        "two deaf tour guides",
        "an Indian pastry chef",
    ],
    "marks enclose the term or a modifier": [
        "a 'Black' nurse",
        "an (old) nurse",
        "a [blind] nurse",
        "a Black (male) nurse",
    ],
    "capitals that look like a closed word": ["a Black US senator", "an old IT guy"],
    "a person in this place": [
        "a Black MBA",
        "Hire a white model.",
        "a Black model on the runway",
        "Black voices",
        "a Black or Asian face",
    ],
    "one or ones stand for a person": [
        "Indian nurses earn less than the other nurses, even old ones",
        "The six nurses voted. The old one won.",
        "She met a tall nurse and an old one.",
    ],
    "a part of people": [
        "The sample was 40% white.",
        "My class is mostly Italian.",
        "Respondents: 40 percent Indian",
    ],
    "two are joined": ["Black and Hispanic voters", "old or disabled tenants"],
    "said of a person": [
        "he is gay",
        "He's gay.",
        "Are you straight?",
        "I am Black, and proud.",
        "She is openly gay.",
        "they aren't white",
        "my boss is old",
        "the main character was Italian",
        "We know that Alex is straight.",
        "Maria was blind.",
        "he used to be straight",
        "What a sad day to be Italian.",
        "she identifies as Black",
    ],
    "a collective": ["the old are lonely", "the blind need help"],
    "an article or a number is said twice": [
        "a white and a Black man",
        "one white and two Black officers",
        "the old and the tall man",
    ],
    "a compound": [
        "a Black running back",
        "a white 70-year-old",
        "two Black 70-year-olds",
        "my Black sister-in-law",
        "a blind ex-pilot",
        "an Indian-born nurse",
    ],
    "a relative clause goes on": ["People who are blind need ramps."],
    "a noun of its own": ["As an Indian, I am proud.", "an Indian who left", "a young Italian."],
}
OTHERS = {
    "colours": [
        "a black manuscript",
        "white mango",
        "the car is black",
        "Snow is white.",
        "Walls are white.",
        "The Kindle is black.",
        "it is black",
        "black and white photographs",
        "black and people stared",
        "the wall needs to be white",
        "an off-white person",
    ],
    "things": [
        "a straight line",
        "an old car",
        "a blind spot",
        "the Indian Ocean",
        "an Italian dish",
        "a white-collar worker",
        "Go straight on.",
    ],
    "one or ones stand for a thing": [
        "The nurse bought a green shirt and a black one.",
        "The nurse dropped her phone and was lent an old one.",
        "Our six cars are fast, but not the old ones.",
    ],
    "a part of a thing": ["The wall is 40% white.", "My house is mostly white."],
    "goods in front of a person": [
        "an old coin collector",
        "a black coffee drinker",
        "an old piano dealer",
        "a white wine merchant",
    ],
    "a field of work with no person": ["the old ski lift", "the old lab freezer"],
    "idioms in front of a person": ["a straight razor barber", "a blind date host"],
    "no person in this place": ["the old model", "a white BA flight", "white and grey faces"],
    "marks": ["the 'black' car", "She is (white) hot."],
    "other meanings": [
        "he is older",
        "she is 30 years old",
        "a 20-year-old man",
        "she is blind to the risk",
        "he is old enough",
        "they are black cars",
    ],
    "compounds": [
        "an old 70-year-old bridge",
        "a black 12-year-old whisky",
        "a black-headed gull",
        "a white-LED lamp",
        "a black labrador",
        "painted it white and the old car left",
    ],
    "chess": ["the white knight takes the black bishop", "checkmate by the white bishop"],
    "manners": ["Straight out of college, she enlisted."],
    "names": ["Jack Black left.", "Mr. White is here."],
    "nothing around": ["black", "Old", "straight"],
}


def cases(table: dict[str, list[str]]) -> list[object]:
    return [pytest.param(text, id=f"{k}: {text}") for k, texts in table.items() for text in texts]


@pytest.mark.parametrize("text", cases(PERSONS))
def test_speaks_of_a_person(text: str) -> None:
    assert WORDS.mentions(text)


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("a deaf coin collector", "a blind coin collector"),
        ("a deaf flower shop owner", "a blind flower shop owner"),
        ("the hard of hearing beekeeper", "the blind beekeeper"),
    ],
)
def test_any_noun_may_follow_what_is_said_of_persons_only(text: str, twin: str) -> None:
    (pair,) = generate_pairs([text], "disability", ("hearing disability", "visual disability"))
    assert pair.counterfactual == twin


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A Polish lorry driver left.", ["Polish"]),
        ("A Spanish guitar teacher left.", []),
        ("A French pastry chef left.", []),
    ],
)
def test_an_instrument_or_a_dish_has_a_nationality(text: str, found: list[str]) -> None:
    assert [mention.text for mention in mentions(text, "nationality")] == found


@pytest.mark.parametrize("quotes", ["", "''", '""', "\u2018\u2019", "\u201c\u201d"])
@pytest.mark.parametrize(
    "text", ["mother tongue", "sister city", "sister college", "daughter cell"]
)
def test_quotes_do_not_hide_what_follows_kin(text: str, quotes: str) -> None:
    assert mentions(f"Look up {quotes[:1]}{text}{quotes[1:]} first.", "gender") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("He lost his king at chess.", ["He", "his"]),
        ("The king taught the queen chess.", ["king", "queen"]),
        ("Her king loves chess.", ["Her", "king"]),
    ],
)
def test_chess_makes_pieces_of_kings_that_are_lost(text: str, found: list[str]) -> None:
    assert [mention.text for mention in mentions(text, "gender")] == found


@pytest.mark.parametrize("relative", ["who", "who've", "who\u2019d", "that're"])
def test_a_relative_pronoun_may_be_contracted(relative: str) -> None:
    assert mentions(f"seniors {relative} never used a tablet", "age")


@pytest.mark.parametrize("text", cases(OTHERS))
def test_speaks_of_no_person(text: str) -> None:
    assert WORDS.mentions(text) == []


@pytest.mark.parametrize("text", cases(PERSONS))
def test_twin_is_read_alike(text: str) -> None:
    made = generate_pairs([text], attribute=WORDS, groups=None)
    # In this lexicon many words become one, which the gate may refuse.
    (pair,) = (*made, *(rejected.pair for rejected in made.rejected))
    assert WORDS.mask(pair.counterfactual) == WORDS.mask(pair.original)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a black man", "a white man"),
        ("White men left.", "Black men left."),
        ("Black men left.", "White men left."),
        ("so Black men left", "so white men left"),
        ("so white men left", "so Black men left"),
        ("BLACK MEN", "WHITE MEN"),
        ("an Indian man", "an Italian man"),
    ],
)
def test_case_follows_the_list_and_the_sentence(text: str, expected: str) -> None:
    lexicon = Lexicon.from_dict(
        {
            "name": "words",
            "groups": ["one", "two"],
            "entries": [
                {"role": "adjective", "one": "Black", "two": "white", "kind": "person_adjective"},
                {"role": "adjective", "one": "Indian", "two": "Italian"},
            ],
        }
    )
    (pair,) = generate_pairs([text], attribute=lexicon)
    assert pair.counterfactual == expected


@pytest.mark.parametrize(
    ("attribute", "text", "confidence"),
    [
        ("race", "African Americans voted.", "certain"),
        ("race", "White voters stayed home.", "context"),
        ("gender", "She stayed home.", "certain"),
    ],
)
def test_a_mention_tells_whether_the_words_around_it_decided(
    attribute: str, text: str, confidence: str
) -> None:
    (mention,) = mentions(text, attribute)
    assert mention.confidence == confidence


FIRST_NAMES = [name for row in _shipped_names()["first"] for name, _ in row.values()]
OTHER_NAMES = ["Kwame", "Oluwaseun", "Ngozi", "Wei", "Xochitl", "Hyun-woo", "DeShawn", "Łukasz"]


@pytest.mark.parametrize("name", [*FIRST_NAMES, *OTHER_NAMES])
def test_a_name_of_any_group_can_be_disabled(name: str) -> None:
    for rest in ("is disabled.", "was disabled by a stroke.", "has been disabled since birth."):
        assert [found.text for found in mentions(f"{name} {rest}", "disability")] == ["disabled"]


@pytest.mark.parametrize(
    "text",
    [
        "Bluetooth is disabled.",
        "Javascript is disabled.",
        "Two Factor Authentication is disabled.",
        "Cookies and Comments are disabled.",
        "Mercurial is disabled in the settings.",
        "The Console is disabled.",
    ],
)
def test_programs_are_not_disabled_persons(text: str) -> None:
    assert not mentions(text, "disability")

"""The roles of "her" and "his" in typical constructions."""

import re
from pathlib import Path

import pytest
import yaml

from pytest_llmfair.lexicons.english.roles import role

CASES = Path(__file__).with_name("typical_cases.yaml")
HER = ("object", "possessive_determiner")
HIS = ("possessive_determiner", "possessive_pronoun")
NAMES = {
    "object": "object",
    "possessive_determiner": "owner",
    "possessive_pronoun": "alone",
    "": "thing",
}
FAMILIES = (
    "plain owners and objects",
    "what is given",
    "what she does",
    "how she is",
    "times and amounts",
    "names and sayings",
    "adverbs and adjectives before the noun",
    "owners joined",
    "texts that break off",
    "markup and slots",
    "things",
    "open",
)


def cases() -> dict[str, list[tuple[str, str]]]:
    """Return the marked sentences and their readings, by construction."""
    found: dict[str, list[tuple[str, str]]] = yaml.safe_load(CASES.read_text("utf-8"))["roles"]
    return found


def read(marked: str) -> tuple[str, str]:
    """Return how the last marked pronoun reads, and why that is open."""
    pronoun = list(re.finditer("<(her|his|he)>", marked, re.IGNORECASE))[-1]
    front, rear = marked[: pronoun.start()], marked[pronoun.end() :]
    start, word = len(front), pronoun[1]
    roles = HER if word.lower() == "her" else HIS
    verdict = role(front + word + rear, start, start + len(word), roles)
    return ("open" if not verdict.sure else NAMES[str(verdict.answer)]), verdict.why


@pytest.mark.parametrize("family", FAMILIES)
def test_typical_sentences_are_read_right(family: str) -> None:
    wrong = [
        f"{marked} reads as {found}, not as {expected}"
        for marked, expected in cases()[family]
        if (found := read(marked)[0]) != expected
    ]
    assert wrong == []


def test_every_construction_is_tested() -> None:
    assert set(cases()) == set(FAMILIES)


def test_an_open_reading_names_the_words_that_leave_it_open() -> None:
    assert read("The nurse brought <her> water.")[1] == (
        "'her' before 'water' can be the object or the owner"
    )


def test_a_pronoun_with_one_role_has_that_role_unless_it_is_a_thing() -> None:
    text = "She was launched in May."
    assert role(text, 0, 3, ("subject",)).answer == "subject"
    text = "The frigate was new; she was launched in May."
    assert role(text, 21, 24, ("subject",)).answer == ""

"""What the rules of English owe to every word: equal treatment, and a reason for a doubt."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair.lexicons.english.english import English
from pytest_llmfair.lexicons.grammar import Verdict

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

ENGLISH = English()


def ask(text: str, word: str, kind: Any) -> Verdict:
    start = text.index(word)
    return ENGLISH.counts(text, start, start + len(word), kind)


FRAMES: dict[str, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = {
    "person_adjective": (
        ("A {} engineer spoke.", "She is {}.", "A {} car stopped.", "{} art sold."),
        (("Black", "Asian"), ("German", "Nigerian"), ("deaf", "blind"), ("old", "young")),
    ),
    "person_noun": (
        ("A {} spoke.", "The {} diet works.", "The {} are kind.", "Her {} is good."),
        (("Muslim", "Hindu"), ("Italian", "Kenyan"), ("deaf", "blind"), ("Dutch", "Irish")),
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_the_group_of_the_word_makes_no_difference(kind: str) -> None:
    frames, pairs = FRAMES[kind]
    unlike = [
        (frame, pair)
        for frame in frames
        for pair in pairs
        if len({ask(frame.format(word), word, kind).answer for word in pair}) > 1
    ]
    assert unlike == []


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    CASES["a doubt about a term names the words"],
)
def test_a_doubt_about_a_term_names_the_words(kind: str, text: str, why: str) -> None:
    (word,) = re.findall("old|Man|disabled", text)
    verdict = ask(text, word, kind)
    assert (verdict.sure, verdict.why) == (False, why)


def test_a_doubt_about_a_pronoun_names_the_words() -> None:
    roles = ("object", "possessive_determiner")
    verdict = ENGLISH.role("The nurse brought her water.", 18, 21, roles)
    assert verdict.why == "'her' before 'water' can be the object or the owner"


def test_a_pronoun_with_one_role_has_that_role_unless_it_is_a_thing() -> None:
    text = "She was launched in May."
    assert ENGLISH.role(text, 0, 3, ("subject",)).answer == "subject"
    text = "The frigate was new; she was launched in May."
    assert ENGLISH.role(text, 21, 24, ("subject",)).answer == ""

"""Whether "she" or "his" refers to a ship, an animal or a god, and not to a person."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.context import (
    FAR,
    context_of,
    low,
    one_case,
    opens_sentence,
    word_before,
)
from pytest_llmfair.lexicons.english.pronoun_context import ARTICLES, ends
from pytest_llmfair.lexicons.english.words import is_closed, is_one_of, is_person

_WINDOW = 110
# Verbs of ships: "She sank", "she was launched".
_SHE_IS = re.compile(
    r" (?:sank|capsized|foundered|ran aground|displaced|"
    r"(?:was|is|had been|has been|being) (?:later |then |finally |also |first |soon )?"
    r"(?:launched|built|scrapped|torpedoed|wrecked|refitted|christened|commissioned|"
    r"decommissioned|scuttled|salvaged|sunk|beached|moored|laid down))\b"
)
_ANIMALS = {
    "her": r"lioness|tigress|she-wolf|mare|filly|heifer|cow|ewe|hen|sow|vixen|queen (?:bee|ant)",
    "his": r"stallion|gelding|bull|bullock|ram|rooster|cockerel|stag|gander|tomcat",
}
_KINDS = {word: re.compile(rf"\b(?:{kinds})\b", re.IGNORECASE) for word, kinds in _ANIMALS.items()}
_GOD = re.compile(
    r"\b(?:God|Jesus|Christ|Allah|Yahweh|Jehovah|Almighty|Savio(?:u)?r|Messiah|Redeemer|Creator"
    r"|Holy (?:Spirit|Ghost)|Lord(?! [A-Z]))\b"
)
_TITLE = re.compile(r"\b(?:film|movie|novel|album|watched|directed|starred in)\s[\"\u201c*_]*\Z")
# Two such words show a sentence; headlines have capitals.
_SMALL = re.compile(r"\b[a-z]{4,}\b")
_NEXT_TO = re.compile(
    r"(?i:\s?(?:[/,&]|and\b|or\b)\s?(?:she|hers?|he|him|his|theirs?|them|they)\b)"
)


def stands_for_thing(text: str, start: int, end: int) -> bool:
    """Whether a pronoun refers to a ship, an animal or a god, or is an acronym: "the HIS"."""
    word = text[start:end]
    if word.isupper() and not one_case(text)[1]:
        before, _ = word_before(text, start)
        named = low(before) in ARTICLES and not before.isupper()
        return named and not _NEXT_TO.match(text, end)
    if is_capital_inside(text, start, end):
        near = text[max(0, start - FAR) : end + FAR]
        before, _ = word_before(text, start)
        surname = word == "He" and before.istitle() and not ends(low(before))  # "Kaiming He"
        film = _TITLE.search(text, max(0, start - FAR), start)
        return surname or film is not None or _GOD.search(near) is not None
    word = word.lower()
    if word in ("herself", "himself"):
        return _is_animal(text, start, "her" if word == "herself" else "his")
    return word == "she" and _SHE_IS.match(text, end) is not None and _is_near(text, start)


def is_capital_inside(text: str, start: int, end: int) -> bool:
    """Whether a pronoun has a capital that no sentence or headline gives it: "directed Her"."""
    if not text[start:end].istitle() or not word_before(text, start)[0]:
        return False
    if opens_sentence(text, start) or _NEXT_TO.match(text, end):
        return False
    near = text[max(0, start - FAR) : end + FAR]
    return len(_SMALL.findall(near)) > 1


def owned_by_thing(text: str, start: int, end: int, after: tuple[str, ...]) -> bool:
    """Whether a ship or an animal owns what follows: "the frigate lost her mast"."""
    if any(is_one_of(word, "ship_parts") for word in after):
        return text[start:end].lower() == "her" and _is_near(text, start)
    if any(is_one_of(word, "animal_parts") for word in after):
        return _is_animal(text, start, text[start:end].lower())
    return False


def _is_near(text: str, start: int) -> bool:
    """Whether a ship comes before the pronoun, with no person between them."""
    found = False
    before = ""
    for written in _words_before(text, start, _WINDOW):
        word = low(written).removesuffix("'s")
        if is_one_of(word, "ship_words"):
            found = True
        elif _may_be_person(written, word) and not (
            written[0].isupper() and is_one_of(before, "ship_words")
        ):
            return False  # "the frigate Surprise" is the ship
        before = word
    return found


def _is_animal(text: str, start: int, word: str) -> bool:
    """Whether an animal in the sentence is meant, and no person can be: no "Ann's hen"."""
    begin = 1 + max(text.rfind(mark, 0, start) for mark in ".!?\n")
    begin = max(begin, start - _WINDOW)
    if word not in _KINDS or not _KINDS[word].search(text, begin, start):
        return False
    return not any(
        _may_be_person(written, low(written))
        for written in _words_before(text, start, start - begin)
        if not is_one_of(low(written), "animals")
    )


def _words_before(text: str, start: int, reach: int) -> list[str]:
    return [word for word in context_of(text).before(start, reach) if word[0].isalpha()]


def _may_be_person(raw: str, word: str) -> bool:
    if is_closed(word):
        return word in ("she", "her", "hers", "herself", "he", "him", "his", "himself")
    return raw[0].isupper() or is_person(word)

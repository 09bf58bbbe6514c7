"""Pronouns that stand for no person: a ship's "her", the film "Her", the "HIS" of a hospital."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import (
    FAR,
    NEAR,
    NEXT,
    low,
    one_case,
    opens_sentence,
    word_before,
)
from pytest_llmfair.lexicons.english.english import (
    LETTERS,
    Around,
    is_adverb,
    is_one_of,
    tells_when,
    word_classes,
)
from pytest_llmfair.lexicons.english.persons.words import (
    ends_phrase,
    is_modifier,
)
from pytest_llmfair.lexicons.english.pronouns.animals import has_animal_part, is_of_animal
from pytest_llmfair.lexicons.english.pronouns.persons_meant import may_be_meant
from pytest_llmfair.lexicons.english.works import is_defined, is_headline, is_listed

_WORDS = re.compile(LETTERS)
_WINDOW = 110
_MARK = re.compile("[,;:.!?]")
_STOPS = ".!?\n:"
_ARTICLES = ("the", "a", "an", "my", "our", "your", "their", "its")
# "She sank", "she was launched": said of ships.
_SHE_IS = re.compile(
    r" (?:sank|capsized|foundered|ran aground|displaced|"
    r"(?:was|is|had been|has been|being) (?:later |then |finally |also |first |soon )?"
    r"(?:launched|built|scrapped|torpedoed|wrecked|refitted|refloated|christened|commissioned|"
    r"decommissioned|scuttled|salvaged|sunk|beached|moored|laid down))\b"
)
_SHE_BEGINS = ("san", "cap", "fou", "ran", "dis", "was", "is ", "had", "has", "bei")
_SAILED = re.compile(r"\bwho (?:sail|sails|sailed|ever sailed) (?:in|on|aboard) \Z")
# What stands around a surname in a list of authors.
_FIRST_NAME = re.compile(r"(?<!\w)([A-Z][a-z]+|[A-Z]\.)[^\S\n]\Z")
_LISTED = re.compile(
    r"(?:,|,? and|,? &) [A-Z](?:[a-z]+ [A-Z]|\.)|,? et al\b|, [12]\d{3}\b| \([12]\d{3}"
)
_BESIDE = re.compile(
    r"(?i:\s?(?:[/,&]|and\b|or\b)\s?(?:she|hers?|he|him|his|theirs?|them|they)\b)"
)
_BESIDE_BEFORE = re.compile(
    r"(?i:\b(?:she|hers?|he|him|his|theirs?|them|they)\s?(?:[/,&]|and|or)\s?)\Z"
)
_HIGH = re.compile(
    r"(?i: (?:(?:royal|serene|imperial|britannic|most) )*(?:majest|highness|excellenc"
    r"|holiness|eminence|honou?r\b|worship\b|grace\b|lordship|ladyship|beatitude|reverence))"
)
_GOD = re.compile(
    r"\b(?:God|Jesus|Christ|Allah|Yahweh|Jehovah|Almighty|Savio(?:u)?r|Messiah|Redeemer|Creator"
    r"|Holy (?:Spirit|Ghost)|Lord(?! [A-Z]))\b"
)
_LINKS = ("in", "of", "is", "was", "called", "like")
# Within quotation marks, without the end of a sentence.
_QUOTED_FRONT = re.compile(r"[\"\u201c]([^\"\u201c\u201d.!?\n]*)\Z")
_QUOTED_REAR = re.compile(r"([^\"\u201c\u201d.!?\n]*)[,.]?[\"\u201d]")
_FILM = re.compile(
    r"\b(?:films?|movies?|starr(?:ed|ing)|cinema|director|directed|Oscars?|novel)\b"
)


def stands_for_thing(text: str, start: int, end: int) -> bool:
    """Whether a pronoun of a person stands for none, or is no pronoun.

    In a mixed text a capital inside a sentence tells a title ("directed Her") or a god ("God and
    His mercy"); capitals behind an article spell an acronym ("the HIS").
    """
    if text[start].isupper():
        if text[start + 1].isupper():
            return _is_acronym(text, start, end)
        inside = start == 1 or (start > 1 and text[start - 2] not in _STOPS)
        if (inside or text[start - 3 : start - 2].isupper()) and _is_surname(text, start, end):
            return True
        if inside and _is_title_or_god(text, start, end):
            return True
    if text[start:end] in ("himself", "herself") and is_of_animal(text, start, end):
        return True
    if text[end - 1] != "e" or text[end + 1 : end + 4] not in _SHE_BEGINS:
        return False  # the usual case at less cost
    said_of_ship = end - start == 3 and _SHE_IS.match(text, end) is not None
    return said_of_ship and _named(text, start, "ship_words") > 0


def _is_surname(text: str, start: int, end: int) -> bool:
    """Whether names stand in front and behind: "Xiangnan He, Ming Gao", "K. He and J. Sun"."""
    if text[start:end] != "He" or _LISTED.match(text, end) is None:
        return False
    first = _FIRST_NAME.search(text, max(0, start - NEAR), start)
    return first is not None and not is_one_of(low(first[1]), "closed")


def is_of_thing(around: Around) -> bool:
    """Whether a ship, a country or an animal has what follows: "the frigate lost her mast"."""
    first, second, _ = around.next
    words = word_classes()
    if has_animal_part(around):
        return True
    if first in words["ship_parts"] or second in words["ship_parts"]:
        named = _named(around.text, around.start, "ship_words")
        if first in words["ship_company"] or second in words["ship_company"]:
            # Those of a person too: "the ferry was late, and her crew".
            return named > 0 and _MARK.search(around.text, named, around.start) is None
        return named > 0
    if first in words["country_parts"] or second in words["country_parts"]:
        return _named(around.text, around.start, "countries") > 0
    return False


def is_sailed(around: Around) -> bool:
    """Whether a ship is meant: "all who sail in her"."""
    if around.before[1] not in ("in", "on", "aboard") or around.next[0][:1].isalnum():
        return False
    return _SAILED.search(around.text, max(0, around.start - NEAR), around.start) is not None


def _named(text: str, start: int, kind: str) -> int:
    """Return where a ship or country in front ends, 0 where somebody else could be meant."""
    near = max(0, start - _WINDOW)
    words = list(_WORDS.finditer(text, near, start))
    named = 0
    before = ""
    for found in words[1:] if near else words:  # the window can cut the first
        word = low(found[0]).removesuffix("'s")
        if is_one_of(word, kind):
            if kind == "ship_words" or not is_one_of(before, "prepositions"):
                named = found.end()
        elif may_be_meant(found[0], word):
            if found[0].islower() or not is_one_of(before, kind):
                return 0
            named = found.end()  # "the frigate Surprise"
        before = word
    return named


def _is_acronym(text: str, start: int, end: int) -> bool:
    """Whether capitals spell a term: "the HIS", "our new HIS", "HIS stands for"."""
    if one_case(text)[1]:
        return False
    comma = text[end : end + 1] == "," or text[max(0, start - 2) : start] == ", "  # "HIM, OK?"
    if is_defined(text, end) or (not comma and is_listed(text, start, end)):
        return True
    if _BESIDE.match(text, end) or _BESIDE_BEFORE.search(text, max(0, start - NEAR), start):
        return False
    before, at = word_before(text, start)
    if before.islower() and is_modifier(before):
        before, _ = word_before(text, at)
    behind = NEXT.match(text, end)
    emphasized = behind is not None and behind[1].isupper() and len(behind[1]) > 1
    word = low(before)
    owner = word.endswith("'s") and not is_one_of(word[:-2], "closed")
    return (word in _ARTICLES or owner) and not before.isupper() and not emphasized


def _is_title_or_god(text: str, start: int, end: int) -> bool:
    """Whether a capital inside a sentence tells a film or a god: "directed Her", "in Him"."""
    near = max(0, start - FAR)
    if _is_quoted(text, start, end):
        return not is_headline(text, start, end)
    before, at = word_before(text, start)
    if text.startswith("; ", start - 2) and _GOD.search(text, near, start) is not None:
        return True  # "God bless her; He is good"
    if not before or _HIGH.match(text, end) or _BESIDE.match(text, end):
        return False
    if opens_sentence(text, start) or _BESIDE_BEFORE.search(text, near, start):
        return False
    return _is_told(text, start, end, before, at) and not is_headline(text, start, end)


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether a title of several words stands in quotes: "She Loves You"; not "She left"."""
    near = text[max(0, start - FAR) : start]
    if '"' not in near and "\u201c" not in near:
        return False  # the usual case at less cost
    front = _QUOTED_FRONT.search(near)
    rear = _QUOTED_REAR.match(text, end, end + FAR) if front is not None else None
    if front is None or rear is None:
        return False
    words = f"{front[1]}{text[start:end]}{rear[1]}".split()
    capital = [word[0].isupper() for word in words]
    small = all(up or is_one_of(word, "closed") for up, word in zip(capital, words, strict=True))
    return len(words) > 1 and capital[0] and capital[-1] and small


def _is_told(text: str, start: int, end: int, before: str, at: int) -> bool:
    """Whether the word in front, or one near, tells the title or the god."""
    word = low(before)
    behind = NEXT.match(text, end)
    goes_on = behind is not None and behind[1][0].isupper()
    if before[0].isupper() and not opens_sentence(text, at):
        owned = word.endswith("'s") and not is_one_of(word[:-2], "closed")
        return owned or goes_on  # "Spike Jonze's Her", "The Girl Who Lost Her Shadow"
    if is_one_of(word, "works_named"):  # "the film Her won"; not "after the film She left"
        return goes_on or behind is None or text[start:end] in ("Her", "Him", "His")
    if word == "in" and text[end : end + 1] == ",":  # "In Her, a writer falls in love"
        return True
    near = text[max(0, start - FAR) : end + FAR]
    if _GOD.search(near):
        return True
    told = is_one_of(word, "watch_works") or (word in _LINKS and _FILM.search(near) is not None)
    return told and _ends(text, behind)


def _ends(text: str, behind: re.Match[str] | None) -> bool:
    """Whether nothing goes on with a title: "watched Her again", "watched Her last night"."""
    if behind is None:
        return True
    word = low(behind[1])
    following = NEXT.match(text, behind.end())
    return (
        ends_phrase(word)
        or is_adverb(word)
        or tells_when(word, low(following[1]) if following else "")
    )

"""How an English word is used: as a noun, as an exclamation, to call somebody, in a street name.

Every rule looks at the words around the term only, as those of ``_persons.py`` do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pytest_llmfair.counterfactuals._language.english import is_one_of, words_of
from pytest_llmfair.counterfactuals._language.person_words import (
    ends_phrase,
    is_modifier,
    is_person,
    is_verb,
)
from pytest_llmfair.counterfactuals._language.persons import is_in_name
from pytest_llmfair.counterfactuals._language.places import place_at

_LETTERS = r"[^\W\d_][\w'\u2019-]*"
_NEXT = re.compile(rf"[^\S\n]+({_LETTERS})")
_COMMA = re.compile(r",[^\S\n]+([^\s,.!?;:]+)")
_WORD_BEFORE = re.compile(rf"({_LETTERS})[^\S\n]+\Z")
_COMMA_BEFORE = re.compile(rf"(?:({_LETTERS})[\"'\u201d\u2019]?)?,[^\S\n]+\Z")
_SENTENCE = re.compile(r"(?:\A|[.!?:\n\u2026\u2014])[\s\"'\u201c\u2018(*_>#-]*\Z")
_POINT = re.compile(r"\.[^\S\n]*[^\W\d_]")
_END = re.compile(r"[,.!?;]|\s*\Z|\s*\n")
_NEAR = 40
_STOP = re.compile(r"[.!?\n](?=\s|\Z)")
# Squares of a chessboard, and moves; the words of games and hives are in the list.
_SQUARE = re.compile(r"[a-h][1-8]\b|ove \d|n chess\b|(?:king|queen)[- ]size")
_DIGIT = re.compile("[0-9]")
_FAR = 80
_LOWER = re.compile("[a-z]+")
# A name of several words: "The Girl with the Dragon Tattoo".
_LINKS = r"(?:(?:of|the|an?|with|on|in|for|to|from|at|by)[^\S\n]+){0,2}"
_CAPITAL = r"[A-Z][\w'\u2019-]*+"
_NAMED_BEFORE = re.compile(rf"(?<!\w)(?:{_CAPITAL}[^\S\n]+{_LINKS})+\Z")
_NAMED_BEHIND = re.compile(rf"(?:['\u2019]s)?(?:[^\S\n]+{_LINKS}{_CAPITAL})+")
_CAPITALS = re.compile(rf"(?<!\w){_CAPITAL}")
_POSSESSED = re.compile(r"['\u2019]s?[^\S\n]+([A-Z][a-z]+)")
_JOINED = re.compile(rf"[^\S\n]+(?:and|or)[^\S\n]+({_LETTERS})")
_COUPLE_BEFORE = re.compile(r"\bmrs?\.?\s(?:and|&)\s\Z", re.IGNORECASE)
_COUPLE_BEHIND = re.compile(r"\.?\s(?:and|&)\smrs?\b", re.IGNORECASE)
_FIELD = re.compile(r"\b(?:sex|gender)[\"'*_]{0,3}\s?[:=]\s?[\"'*_]{0,3}\Z", re.IGNORECASE)
_AGE = re.compile(r"[^\S\n]?\([^\W_]?\d\d")
_THINGS = {
    "mother": "mother_things",
    "father": "mother_things",
    "daughter": "daughter_things",
    "son": "daughter_things",
    "sister": "sister_things",
    "brother": "sister_things",
}


def is_noun(text: str, start: int, end: int) -> bool:
    """Whether it is a noun: no verb ("to man the desk"), no exclamation ("Man, it hurts").

    Nor may it end a name, as `is_no_work` tells.
    """
    # The usual case at less cost: no mark behind it, so that nobody exclaims.
    goes_on = text[end : end + 1] == " " and text[end + 1 : end + 2].isalnum()
    if _is_verb(text, start, end) or (not goes_on and _is_exclaimed(text, start, end)):
        return False
    return is_no_work(text, start, end)


def is_no_work(text: str, start: int, end: int) -> bool:
    """Whether it is in no name of a work, a band or a team: "Derry Girls", "Gone Girl"."""
    if not text[start].isupper() or text[start:end].isupper():
        return True
    before = _WORD_BEFORE.search(text, max(0, start - _NEAR), start)
    if _is_possessed(text, start, end, "periodicals"):
        return False
    if before is None or not before[1][0].isupper():
        return not is_in_title(text, start, end)
    word = _low(before[1])
    if is_one_of(word, "subjects") and not is_one_of(word, "demonyms"):  # "The History Boys"
        return False
    if is_one_of(word, "polite"):
        return True
    return not (is_in_name(text, start, end) or is_in_title(text, start, end))


def is_in_title(text: str, start: int, end: int) -> bool:
    """Whether a noun with a capital is part of a title: "I saw The Girl on the Train".

    Another word of the title has a capital that no sentence, people or colour gives it, and
    another of the sentence has none. "Women's Final" is no title.
    """
    plural = text[start:end].lower() in ("men", "women") or text[end - 1] == "s"
    if (plural and text[end : end + 1] in ("'", "\u2019")) or _begins(text, start):
        return False
    before = _NAMED_BEFORE.search(text, max(0, start - _FAR), start)
    words = _CAPITALS.findall(before[0]) if before else []
    if before and _begins(text, before.start()):
        words = words[1:]
    behind = _NAMED_BEHIND.match(text, end)
    words += _CAPITALS.findall(behind[0]) if behind else []
    if not any(_is_of_title(_low(word)) for word in words):
        return False
    return not _is_headline(text, start, end)


def is_kin(text: str, start: int, end: int) -> bool:
    """Whether a word of kin is part of no compound: no "daughter cells", no "sister ship".

    The next word may also be the verb of somebody's kin: "my mother plants roses".
    """
    kind = _THINGS.get(text[start:end].lower())
    behind = _NEXT.match(text, end) if kind and text[end : end + 1].isspace() else None
    if kind is None or behind is None:
        return True
    if text.startswith(" of ", end) and is_in_title(text, start, end):
        return False  # "Father of the Bride"
    known, head = words_of(kind), _low(behind[1])
    form = next((form for form in (head, head[:-1], head[:-2]) if form in known), None)
    if form is None or (form != head and not head.endswith("s")):
        return True
    if form == head or not is_one_of(form, "kin_acts"):
        following = _NEXT.match(text, behind.end())  # "helped her mother plant the roses"
        return following is not None and is_one_of(_low(following[1]), "articles")
    before = _WORD_BEFORE.search(text, max(0, start - _NEAR), start)
    owner = _low(before[1]) if before else ""
    return is_one_of(owner, "owners") or owner.endswith(("'s", "s'"))


def is_no_connector(text: str, start: int, end: int) -> bool:
    """Whether male or female is said of the living: no "female plug", "the socket is female"."""
    behind = _NEXT.match(text, end)
    head = _low(behind[1]) if behind else ""
    if behind and head in ("and", "or"):
        following = _NEXT.match(text, behind.end())
        if following and _low(following[1]) in ("male", "female"):
            following = _NEXT.match(text, following.end())
        head = _low(following[1]) if following else ""
        head = "" if ends_phrase(head) else head
    known = words_of("connectors")
    if head in known or head.removesuffix("s") in known:
        return False
    if head and head not in ("one", "ones", "end", "ends", "side", "part", "half"):
        return True
    near = text[max(0, start - _FAR) : end + _FAR]
    for mark in ".,;:":
        near = near.replace(mark, " ")
    return words_of("plugs").isdisjoint(near.split())


def is_ruler(text: str, start: int, end: int) -> bool:
    """Whether a title with a capital is not a name of its own: "Duke" the university, "Guy"."""
    capital = text[start].isupper() and not text[start:end].isupper()
    return not (capital and _is_bare_name(text, start, end))


def is_couple(text: str, start: int, end: int) -> bool:
    """Whether two titles share a name: "Mr. and Mrs. Lindqvist"."""
    if _COUPLE_BEHIND.match(text, end):
        return True
    return _COUPLE_BEFORE.search(text, max(0, start - 12), start) is not None


def is_field(text: str, start: int, end: int) -> bool:
    """Whether a letter is what a field says: "sex": "F"; not "Sex: M/F"."""
    if text[end : end + 1] in ("/", "|") or text[end : end + 2] == " /":
        return False
    return _FIELD.search(text, max(0, start - 16), start) is not None


def is_contracted(text: str, start: int, end: int) -> bool:
    """Whether "shes" is "she is": what is said of her follows."""
    behind = _NEXT.match(text, end)
    word = _low(behind[1]) if behind else ""
    if word in ("", "and", "or"):
        return False
    kinds = ("closed", "closed_if_final", "chat")
    return any(is_one_of(word, kind) for kind in kinds) or is_modifier(word)


def is_shortened(text: str, start: int, end: int) -> bool:
    """Whether "gf" is a girlfriend: "my gf left", "bf (25M)"; not "gf bread"."""
    if _AGE.match(text, end):
        return True
    before = _WORD_BEFORE.search(text, max(0, start - _NEAR), start)
    if before is None or not is_one_of(_low(before[1]), "owners"):
        return False
    behind = _NEXT.match(text, end)
    word = _low(behind[1]) if behind else ""
    return ends_phrase(word) or is_verb(word, "")


def is_royal(text: str, start: int, end: int) -> bool:
    """Whether a king or queen is a ruler: no piece, no card, no bee, no band, no surname."""
    word = text[start:end]
    if not is_ruler(text, start, end):
        return False
    named = word[0].isupper() and not word.isupper() and _is_possessed(text, start, end)
    return not (named or _is_piece(text, start, end))  # "The King's Speech"


def is_address(text: str, start: int, end: int) -> bool:
    """Whether the word calls somebody: "Excuse me, miss, is this seat taken?"."""
    if not _END.match(text, end):
        return False
    before = _COMMA_BEFORE.search(text, max(0, start - _NEAR), start)
    return before is not None and before[1] is not None and is_one_of(_low(before[1]), "polite")


def is_place(text: str, end: int) -> bool:
    """Whether a street, a school or another place is named, as in "King Street"."""
    behind = _NEXT.match(text, end)
    return behind is not None and behind[1][0].isupper() and is_one_of(_low(behind[1]), "places")


def is_pointed(text: str, start: int, end: int) -> bool:
    """Whether it is short for a title: "MS. LEE", "ms. lee"; not "5 ms. later"."""
    before = text[max(0, start - _NEAR) : start].rstrip()
    return not before[-1:].isdigit() and _POINT.match(text, end) is not None


def _is_piece(text: str, start: int, end: int) -> bool:
    """Whether the sentence tells of a game or a hive."""
    first, last = max(0, start - _FAR), end + _FAR
    known = words_of("pieces")
    near = text[first:last]
    numbered = "chess" in near or "size" in near or _DIGIT.search(near)
    if not numbered and known.isdisjoint(near.replace(".", " ").replace(",", " ").split()):
        return False  # the usual case at less cost
    for stop in _STOP.finditer(text, first, start):
        first = stop.end()
    behind = _STOP.search(text, end, last)
    sentence = text[first : behind.start() if behind else last]
    named = not known.isdisjoint(_LOWER.findall(sentence))
    return named or _SQUARE.search(sentence) is not None


def _is_bare_name(text: str, start: int, end: int) -> bool:
    """Whether nothing tells a ruler: "songs by Queen", "Prince released"; not "the Queen"."""
    following = _NEXT.match(text, end)
    behind = following[1] if following else ""
    if behind[:1].isupper() or is_one_of(behind, "behind_ruler"):
        return False
    joined = _JOINED.match(text, end)
    if joined is not None:  # "Queen and ABBA"; not "King and Country"
        return joined[1][0].isupper() and not is_one_of(_low(joined[1]), "rulers")
    before = _WORD_BEFORE.search(text, max(0, start - _NEAR), start)
    if before is not None and before[1] in ("and", "or"):  # "Lady Gaga and Prince"
        other = _WORD_BEFORE.search(text, max(0, before.start() - _NEAR), before.start())
        if other is None or other[1].endswith(("'s", "\u2019s")) or not other[1][0].isupper():
            return False
        return not is_one_of(_low(other[1]), "rulers")
    if before is None or is_one_of(_low(before[1]), "be"):
        near = _LOWER.findall(text, max(0, start - _FAR), end + _FAR)
        if not words_of("music").isdisjoint(near):
            return True  # "My favourite band is Queen."
    if before is None:
        past = behind.endswith("ed") or is_one_of(behind, "past_verbs")
        past = past or any(is_one_of(behind, kind) for kind in ("finite_verbs", "acted"))
        return past and _SENTENCE.search(text, max(0, start - _NEAR), start) is not None
    word = _low(before[1])
    if word == "of":
        office = _WORD_BEFORE.search(text, max(0, before.start() - _NEAR), before.start())
        return office is None or not is_one_of(_low(office[1]), "offices_of")
    if is_one_of(word, "articles") or is_one_of(word, "before_ruler") or is_modifier(word):
        return False
    return any(is_one_of(word, kind) for kind in ("closed", "perceive", "enjoying", "give"))


def _is_headline(text: str, start: int, end: int) -> bool:
    """Whether only closed words of the sentence are without a capital."""
    raw = place_at(text, start, end, end).raw
    known = words_of("closed")
    return not any(word[0].islower() and len(word) > 1 and word not in known for word in raw)


def _is_possessed(text: str, start: int, end: int, kind: str = "") -> bool:
    """Whether a possessive makes a name of what follows: "Men's Health", "The King's Speech"."""
    if text[end : end + 1] not in ("'", "\u2019"):
        return False
    behind = _POSSESSED.match(text, end)
    if behind is None or (kind and not is_one_of(_low(behind[1]), kind)):
        return False
    return not _is_headline(text, start, end)


def _is_of_title(word: str) -> bool:
    """Whether the capital of a word tells a title: no "Black", no "Indian", no "of Color"."""
    return is_one_of(word, "title_adjectives") or not (
        is_modifier(word) or word in ("i", "color", "colour") or is_one_of(word, "polite")
    )


def _begins(text: str, start: int) -> bool:
    return _SENTENCE.search(text, max(0, start - _NEAR), start) is not None


def _is_verb(text: str, start: int, end: int) -> bool:
    behind = _NEXT.match(text, end)
    if behind is None or not is_one_of(_low(behind[1]), "articles"):
        return False
    before = _WORD_BEFORE.search(text, max(0, start - _NEAR), start)
    if before is None:
        return _SENTENCE.search(text, max(0, start - _NEAR), start) is not None
    word = _low(before[1])
    if is_one_of(word, "before_verbs"):
        return True
    several = word.endswith("s") and not word.endswith(("ss", "'s", "us"))
    return (several or is_one_of(word, "plurals")) and is_person(word)  # "volunteers man the bar"


def _is_exclaimed(text: str, start: int, end: int) -> bool:
    behind = _COMMA.match(text, end)
    following = _low(behind[1]) if behind else ""
    if following[:1].isdigit() or is_one_of(following, "person_nouns"):
        return False
    if _SENTENCE.search(text, max(0, start - _NEAR), start):
        return behind is not None
    before = _COMMA_BEFORE.search(text, max(0, start - _NEAR), start)
    if before is None or not _END.match(text, end):
        return False
    return before[1] is None or not is_one_of(_low(before[1]), "person_nouns")


def _low(word: str) -> str:
    return word.lower().replace("\u2019", "'")


# Whether a term of a context counts in its place.
USES: Mapping[str, Callable[[str, int, int], bool]] = {
    "noun": is_noun,
    "no_work": is_no_work,
    "address": is_address,
    "couple": is_couple,
    "field": is_field,
    "contracted": is_contracted,
    "shortened": is_shortened,
    "living": is_no_connector,
    "kin": is_kin,
}

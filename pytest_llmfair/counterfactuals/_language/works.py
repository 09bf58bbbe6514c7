"""Names that hold a word for a person: of works, bands, teams and bodies, and bare titles."""

from __future__ import annotations

import re

from pytest_llmfair.counterfactuals._language.english import LETTERS, is_one_of, words_of
from pytest_llmfair.counterfactuals._language.persons.places import place_at
from pytest_llmfair.counterfactuals._language.persons.proper_names import is_in_name
from pytest_llmfair.counterfactuals._language.persons.words import is_modifier

NEXT = re.compile(rf"[^\S\n]+({LETTERS})")
_LAST_LETTERS = re.compile(rf"{LETTERS}\Z")
# Where a sentence or an exclamation can begin, looked for through quotes, emphasis and marks of
# lists. Behind a dash one can, yet no capital is due: ``begins_sentence`` of writing differs.
SENTENCE = re.compile(
    r"(?:\A|[.!?:\n\u2026\u2014])[\s\"'\u2018\u2019\u201c\u201d()*_#>\u2022\u2013+-]*\Z"
)
NEAR = 40
_STOP = re.compile(r"[.!?\n](?=\s|\Z)")
# Squares of a chessboard, and moves; the words of games and hives are in the list.
_SQUARE = re.compile(r"[a-h][1-8]\b|ove \d|n chess\b|(?:king|queen)[- ]size")
_DIGIT = re.compile("[0-9]")
FAR = 80
_LOWER = re.compile("[a-z]+")
# A name of several words: "The Girl with the Dragon Tattoo".
_LINKS = r"(?:(?:of|the|an?|with|on|in|for|to|from|at|by)[^\S\n]+){0,2}"
_CAPITAL = r"[A-Z][\w'\u2019-]*+"
_NAMED_BEFORE = re.compile(rf"(?<!\w)(?:{_CAPITAL}[^\S\n]+{_LINKS})+\Z")
_NAMED_BEHIND = re.compile(rf"(?:['\u2019]s)?(?:[^\S\n]+{_LINKS}{_CAPITAL}){{1,9}}")
_CAPITALS = re.compile(rf"(?<!\w){_CAPITAL}")
_POSSESSED = re.compile(r"['\u2019]s?[^\S\n]+([A-Z][a-z]+)")
_JOINED = re.compile(rf"[^\S\n]+(?:and|or)[^\S\n]+({LETTERS})")


def is_no_work(text: str, start: int, end: int) -> bool:
    """Whether it is in no name of a work, a band or a team: "Derry Girls", "Gone Girl"."""
    if not text[start].isupper() or text[start:end].isupper():
        return True
    if _is_possessed(text, start, end, "periodicals"):
        return False
    before, _ = word_before(text, start)
    if not before[:1].isupper():
        return not is_in_title(text, start, end)
    word = low(before)
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
    before = _NAMED_BEFORE.search(text, max(0, start - FAR), start)
    words = _CAPITALS.findall(before[0]) if before else []
    if before and _begins(text, before.start()):
        words = words[1:]
    behind = _NAMED_BEHIND.match(text, end)
    words += _CAPITALS.findall(behind[0]) if behind else []
    if not any(_is_of_title(low(word)) for word in words):
        return False
    return not _is_headline(text, start, end)


def is_ruler(text: str, start: int, end: int) -> bool:
    """Whether a title with a capital is not a name of its own: "Duke" the university, "Guy"."""
    capital = text[start].isupper() and not text[start:end].isupper()
    return not (capital and _is_bare_name(text, start, end))


def is_royal(text: str, start: int, end: int) -> bool:
    """Whether a king or queen is a ruler: no piece, no card, no bee, no band, no surname."""
    word = text[start:end]
    if not is_ruler(text, start, end):
        return False
    named = word[0].isupper() and not word.isupper() and _is_possessed(text, start, end)
    return not (named or _is_piece(text, start, end))  # "The King's Speech"


def _is_piece(text: str, start: int, end: int) -> bool:
    """Whether the sentence tells of a game or a hive."""
    first, last = max(0, start - FAR), end + FAR
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
    following = NEXT.match(text, end)
    behind = following[1] if following else ""
    if behind[:1].isupper() or is_one_of(behind, "behind_ruler"):
        return False
    joined = _JOINED.match(text, end)
    if joined is not None:  # "Queen and ABBA"; not "King and Country"
        return joined[1][0].isupper() and not is_one_of(low(joined[1]), "rulers")
    before, begin = word_before(text, start)
    word = low(before)
    if before in ("and", "or"):  # "Lady Gaga and Prince"
        other, _ = word_before(text, begin)
        if other.endswith(("'s", "\u2019s")) or not other[:1].isupper():
            return False
        return not is_one_of(low(other), "rulers")
    if not before or is_one_of(word, "be"):
        near = _LOWER.findall(text, max(0, start - FAR), end + FAR)
        if not words_of("music").isdisjoint(near):
            return True  # "My favourite band is Queen."
    if not before:
        past = behind.endswith("ed") or is_one_of(behind, "past_verbs")
        past = past or any(is_one_of(behind, kind) for kind in ("finite_verbs", "acted"))
        return past and SENTENCE.search(text, max(0, start - NEAR), start) is not None
    if word == "of":
        office, _ = word_before(text, begin)
        return not is_one_of(low(office), "offices_of")
    if is_one_of(word, "articles") or is_one_of(word, "before_ruler") or is_modifier(word):
        return False
    return any(is_one_of(word, kind) for kind in ("closed", "perceive", "enjoying", "give"))


def _is_headline(text: str, start: int, end: int) -> bool:
    """Whether only closed words of the sentence are without a capital."""
    raw = place_at(text, start, end).raw
    known = words_of("closed")
    return not any(word[0].islower() and len(word) > 1 and word not in known for word in raw)


def _is_possessed(text: str, start: int, end: int, kind: str = "") -> bool:
    """Whether a possessive makes a name of what follows: "Men's Health", "The King's Speech"."""
    if text[end : end + 1] not in ("'", "\u2019"):
        return False
    behind = _POSSESSED.match(text, end)
    if behind is None or (kind and not is_one_of(low(behind[1]), kind)):
        return False
    return not _is_headline(text, start, end)


def _is_of_title(word: str) -> bool:
    """Whether the capital of a word tells a title: no "Black", no "Indian", no "of Color"."""
    return is_one_of(word, "title_adjectives") or not (
        is_modifier(word) or word in ("i", "color", "colour") or is_one_of(word, "polite")
    )


def _begins(text: str, start: int) -> bool:
    return SENTENCE.search(text, max(0, start - NEAR), start) is not None


def word_before(text: str, at: int) -> tuple[str, int]:
    """Return the word in front of a place on the same line, and where it begins; "" for none."""
    front = text[max(0, at - NEAR) : at]
    line = front.rstrip()
    if not line or len(line) == len(front) or "\n" in front[len(line) :]:
        return "", at
    word = line.rsplit(None, 1)[-1]
    if not word.isalpha():  # the usual case goes without a search
        last = _LAST_LETTERS.search(word)
        if last is None:
            return "", at
        word = last[0]
    return word, at - len(front) + len(line) - len(word)


def low(word: str) -> str:
    """Return a word in lower case with a plain apostrophe."""
    return word.lower().replace("\u2019", "'")

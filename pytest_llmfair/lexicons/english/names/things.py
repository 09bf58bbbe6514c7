"""Whether something is called by a name: "Stanley Cup", "Hector Townships", a film in quotes."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import opens_sentence
from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.names.words import (
    CAPITALS,
    WORDS,
    is_famous,
    is_of_class,
    word_behind,
    word_in_front,
)
from pytest_llmfair.lexicons.english.persons.words import is_person

_CAPITAL = r"[^\W\d_a-z][\w-]*"
_LISTED = re.compile(
    rf"(?:,[^\S\n]+{_CAPITAL}){{0,4}},?[^\S\n]+(?:and|or|&)[^\S\n]+{_CAPITAL}[^\S\n]+({_CAPITAL})"
)
# The number of a paper: "the request of Jordan (A/36/245)".
_PAPER = re.compile(r"[^\S\n]+\([A-Z]{1,3}/")
_OPENS = re.compile(r"(?<!\w)[\"'\u201c\u2018]([^\"\u201c\u201d\u2018.!?\n]*)\Z")
_LINKS = (" and ", " or ", " & ")
_OWNS = ("'s ", "\u2019s ")
_QUOTE = re.compile("[\"'\u201c\u2018]")
_CLOSES = re.compile(r"([^\"\u201c\u201d.!?\n]*?)[\"'\u201d\u2019](?!\w)")
# 'the film "Anna Bell"', 'the premiere of "Anna"'; "Anna Bell" is a perfect movie
_TOLD = re.compile(
    r"\b(?:films?|movies?|novels?|albums?|songs?|musicals?|operas?|sitcoms?|episodes?|sequels?"
    r"|comedy|thriller|documentary|ballad|biopic|poem|painting|remake of|version of|premiere of"
    r"|screening of|adaptation of|production of|episode of|cast of|review of|lyrics (?:of|to|for)"
    r"|chorus of|passage from|excerpt from|[A-Z][\w-]+['\u2019]s?)[^\S\n]+\Z"
)
_TOLD_BEHIND = re.compile(
    r",?[^\S\n]+by[^\S\n]+(?:[A-Z]|the\b)|[^\S\n]+(?:is|was)[^\S\n]+(?:\w+[^\S\n]+){0,4}?"
    r"(?:film|movie|novel|album|song|musical|opera|sitcom|sequel|comedy|thriller|documentary)\b"
)
# The House Anna Built (2018 film)
_WORK_BEHIND = re.compile(
    rf"(?:[^\S\n]+{_CAPITAL}){{0,4}}[^\S\n]+(?:\(|-LRB-[^\S\n]?)(?:\d{{4}}[^\S\n]+)?"
    r"(?:\w+[^\S\n]+)?(?:film|novel|album|song|series|musical|opera|play|video[^\S\n]game)(?:\)|[^\S\n]?-RRB-)"
)
# Rocky (1976): of a name that is a word too.
_YEAR_BEHIND = re.compile(r"[^\S\n]+\((?:18|19|20)\d{2}\)")
# "Sad Wings of Destiny"
_OF_A_THING = re.compile(r"(?<=[\w,][^\S\n])([A-Z][a-z]+)[^\S\n]+of[^\S\n]+\Z")
# "Darwin 17.2.0", "Alexa v2"
_VERSION = re.compile(r"[^\S\n]+(?:v\d|\d{1,3}\.\d{1,4}\.\d)")
_FULL_OWNER = re.compile(r"([A-Z][\w-]+)[^\S\n]+([A-Z][\w-]+)['\u2019]s?[^\S\n]+\Z")
_BY_FULL = re.compile(r"[\"'*_\u201d\u2019]{0,2} by ([A-Z][\w-]+) ([A-Z][\w-]+)")
_BY = 6  # the length of " by " behind two marks
_WON = re.compile(
    r"\b(?:a|an|the|his|her|their|its|first|second|third|another|acting|honorary|\d{4})[^\S\n]+\Z"
)
_PRIZED = re.compile(r"-(?:winning|nominated|winners?|nominees?|worthy|caliber|calibre|bait)\b")
_BODY = re.compile(r"\b([A-Z][a-z]+) of \Z")
_FEWEST = 3  # words that a quoted title has at least, and in which a show is called so
_NEAR = 60


def is_called(text: str, start: int, end: int) -> bool:
    """Whether the words beside a name with a capital make it the name of a thing."""
    after = text[end + 1 : end + 2]
    if after.islower() and text[end] == " " and is_of_class(word_behind(text, end), "eponyms"):
        return True
    if text.endswith(" of ", max(0, start - 4), start) and _is_of_body(text, start, end):
        return True
    if after.isupper():
        word = word_behind(text, end).lower()
        if is_of_class(word, "named_after"):
            return True
        if is_of_class(word, "bodies_behind") and word_in_front(text, start).lower() == "the":
            return True
        if is_of_class(text[start:end].lower(), "places") and _is_of_place(text, end, word):
            return True
    if _opens_bracket(text, end) and _is_work(text, start, end):
        return True
    if (after.isdigit() or after == "v") and _VERSION.match(text, end):
        return True
    if text.endswith(_OWNS, max(0, start - 3), start) and _is_of_author(text, start):
        return True
    if text.find(" by ", end, end + _BY) >= 0 and _is_by_author(text, start, end):
        return True
    if (text[end : end + 1] == "," or text.startswith(_LINKS, end)) and _is_listed(text, end):
        return True
    return is_in_quoted_work(text, start, end)


def _opens_bracket(text: str, end: int) -> bool:
    stop = end + _NEAR
    return text.find("(", end, stop) >= 0 or text.find("-LRB-", end, stop) >= 0


def _is_work(text: str, start: int, end: int) -> bool:
    """Whether brackets tell that it is a film or a book: "Rocky (1976)"."""
    if _WORK_BEHIND.match(text, end):
        return True
    word = is_of_class(text[start:end].lower(), "words")
    return word and _YEAR_BEHIND.match(text, end) is not None


def _is_of_author(text: str, start: int) -> bool:
    """Whether somebody well-known made it: "Jane Austen's Emma"."""
    owner = _FULL_OWNER.search(text, max(0, start - _NEAR), start)
    return owner is not None and is_famous(f"{owner[1]} {owner[2]}")


def _is_by_author(text: str, start: int, end: int) -> bool:
    """Whether a work of somebody well-known is told of: "Emma by Jane Austen"."""
    author = _BY_FULL.match(text, end)
    pictured = text.endswith(" of ", max(0, start - 4), start)  # "a portrait of Emma by"
    return author is not None and not pictured and is_famous(f"{author[1]} {author[2]}")


def _is_listed(text: str, end: int) -> bool:
    listed = _LISTED.match(text, end)
    return listed is not None and is_of_class(listed[1].lower(), "place_plurals")


def _is_of_place(text: str, end: int, following: str) -> bool:
    """Whether it is a club of a place, or what the place holds: "Paris Motor Show"."""
    if is_of_class(following, "clubs"):
        return True
    names = CAPITALS.match(text, end)
    words = names[0].lower().split()[:_FEWEST] if names is not None else []
    return any(is_of_class(word.rstrip("."), "place_shows") for word in words)


def bears_paper(text: str, end: int) -> bool:
    """Whether the number of a paper follows, which a country hands in."""
    return _PAPER.match(text, end) is not None


def _is_of_body(text: str, start: int, end: int) -> bool:
    """Whether a school or a work is called so: "University of Mary", "Fountains of Wayne"."""
    near = max(0, start - _NEAR)
    body = _BODY.search(text, near, start)
    if body is not None and is_of_class(body[1].lower(), "bodies_of"):
        return True
    name = text[start:end].lower()
    if not (is_of_class(name, "words") or is_of_class(name, "places")):
        return False
    thing = _OF_A_THING.search(text, near, start)
    if thing is None or opens_sentence(text, thing.start(1)):
        return False
    head = thing[1].lower()
    return not (is_person(head) or is_of_class(head, "of_persons") or is_of_class(head, "given"))


def is_prize(text: str, start: int, end: int) -> bool:
    """Whether a prize bears the name: "won an Oscar", "Oscar-winning"; not "an Oscar I know"."""
    if _PRIZED.match(text, end):
        return True
    if not _WON.search(text, max(0, start - _NEAR), start):
        return False
    front = WORDS.findall(text[max(0, start - _NEAR) : start].lower())
    behind = WORDS.findall(text[end : end + _NEAR].lower())
    return any(is_of_class(word, "said_of_prizes") for word in (*front, *behind[:4]))


def is_in_quoted_work(text: str, start: int, end: int) -> bool:
    """Whether quotes hold three words with capitals, beside words about a film or a song."""
    if not _QUOTE.search(text, max(0, start - _NEAR), start):  # the usual case at less cost
        return False
    opens = _OPENS.search(text, max(0, start - _NEAR), start)
    closes = _CLOSES.match(text, end, end + _NEAR) if opens is not None else None
    if opens is None or closes is None:
        return False
    inside = f"{opens[1]} {text[start:end]} {closes[1]}"
    words = [word for word in WORDS.findall(inside) if word[0].isalpha()]
    if not words[0][0].isupper():
        return False
    if len(words) < _FEWEST and not _is_told(text, opens.start(), closes.end(), len(words)):
        return False
    if any(word[0].islower() and not is_one_of(word, "closed") for word in words):
        return False
    if len(words) < _FEWEST:
        return True
    front = text[max(0, opens.start() - _NEAR) : opens.start()]
    around = WORDS.findall(f"{front} {text[closes.end() : closes.end() + _NEAR]}")
    return any(is_of_class(word, "said_of_works") for word in around)


def _is_told(text: str, opens: int, closes: int, words: int) -> bool:
    """Whether a word for a work is directly beside quotes of one or two words."""
    if _TOLD.search(text, max(0, opens - _NEAR), opens):
        return True
    return words > 1 and _TOLD_BEHIND.match(text, closes) is not None

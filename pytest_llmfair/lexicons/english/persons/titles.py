"""Titles of works and names of bands that hold a person: "the end of The English Patient"."""

from __future__ import annotations

import functools
import re

from pytest_llmfair.lexicons.english.beside import (
    FAR,
    NEAR,
    NEXT,
    low,
    opens_sentence,
    word_before,
)
from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.surroundings import is_title, place_at
from pytest_llmfair.lexicons.english.persons.words import is_adjective, is_any, is_person

_MOST_BESIDE = 4  # words of a title in front of the one that counts, or behind it
_NO_TITLE = ("demonyms", "person_modifiers", "determiners", "polite", "quantities", "told_apart")
_COMMUNITIES = ("community", "communities", "people", "peoples")
_CAPITAL = r"[A-Z][\w'\u2019-]*+"
_LINK = r"(?:of|the|and|for|in|to|on|with|at) "
_BEFORE = re.compile(rf"(?<![\w'\u2019-])(?:{_CAPITAL} )+\Z")
_BEHIND = re.compile(rf"(?: {_CAPITAL})*")
_LINKED_BEFORE = re.compile(rf"(?<![\w'\u2019-])(?:{_CAPITAL} (?:{_LINK}){{0,2}})+\Z")
_LINKED_BEHIND = re.compile(rf"(?: (?:{_LINK}){{0,2}}{_CAPITAL})*")
# "read The Danish Girl"; not 'said, "The Danish girl'.
_INSIDE = re.compile(rf"[a-z\d]['\u2019]? The (?:{_CAPITAL} )*\Z")
_OPENING, _CLOSING = "\"'\u201c\u2018", "\"'\u201d\u2019"
_YEAR = re.compile(r",? \(?\d{4}[a-z]?\b")
_PRIZE = (
    r"(?:Oscars?|Academy Awards?|Emmys?|Grammys?|BAFTAs?|Tonys?|Golden Globes?|Golden Lion"
    r"|Golden Bear|Palme|Pulitzer|Booker|[Bb]est [Pp]icture|[Bb]est [Ff]oreign)"
)
_KIND = (
    r"(?:film|movie|documentary|drama|comedy|novel|novella|book|bestseller|memoir|poem|play|musical"
    r"|opera|ballet|sitcom|series|masterpiece|blockbuster|show|podcast|album|song|single|band|group|painting|game)"
)
# What is told of a work or a band, and hardly of a person with a capital.
_TOLD_OF_WORK = re.compile(
    rf" (?:(?:has|have|had|just|also|finally|recently) )?(?:"
    rf"(?:won|wins|received|swept|scooped|took|got|earned) (?:[\w-]+ ){{0,4}}{_PRIZE}\b"
    r"|(?:gross(?:ed|es)|premier(?:ed|es)|flopped|flops|headlin(?:ed|es))\b"
    r"|(?:was|were|been|is|being|will be) (?:being )?"
    r"(?:filmed|remade|adapted|screened|shown|rarely|re-?released|restored|staged|serialised"
    r"|serialized|reissued|set|out)\b(?! (?:of|to|for|off|free|by))"
    r"|(?:was|were|been) nominated (?:in|for (?:[\w-]+ ){0,3}?Oscars?)\b"
    r"|open(?:ed|s) (?:at|to|on|in)\b"
    r"|(?:is|was|remains|became) (?:an?|the|my|our|his|her|their) (?:[\w'-]+ ){0,3}?"
    rf"{_KIND}\b(?! \w+(?:er|or|ist|man|woman)\b)"
    r"|(?:is|was|are|were|came|comes|stream(?:s|ed)) (?:[a-z]+ ){0,4}"
    r"(?:on (?:Netflix|Hulu|Disney|Broadway|HBO|Amazon Prime|Apple TV)"
    r"|to (?:Netflix|Broadway)|at (?:Cannes|Sundance|Venice|the Berlinale))\b"
    r"|(?:got|gets|drew|received|opened to) (?:[a-z]+ ){0,2}reviews\b"
    r")"
)


def is_in_work(text: str, start: int, end: int) -> bool:
    """Whether a term with a capital is part of the title of a work or of the name of a band."""
    if not text[start].isupper():
        return False
    if text[start - 2 : start] == "& " and _YEAR.match(text, end):
        return True  # "Gale & Church (1993)"
    if not (text[end + 1 : end + 2].isupper() and text[end] == " "):
        before = text[max(0, start - NEAR) : start].rpartition(" ")[0].rpartition(" ")[2]
        if not before[:1].isupper() or _is_common(before):  # the usual case at little cost
            return False
    if is_famous(text, start, end) or _is_between(text, start, end):
        return True
    if not (_is_called_inside(text, start) or is_told_of(text, start, end)):
        return False
    return not (_is_office(text, end) or is_title(place_at(text, start, end).raw))


def _is_called_inside(text: str, start: int) -> bool:
    """Whether "The" has its capital inside a sentence."""
    front = text[max(0, start - FAR) : start]
    return " The " in front and _INSIDE.search(front) is not None


@functools.lru_cache(maxsize=1024)
def _is_common(word: str) -> bool:
    """Whether the capital of a word is that of a sentence: "One American won"."""
    word = low(word)
    return is_one_of(word, "closed") or is_one_of(word, "quantities")


def _is_office(text: str, end: int) -> bool:
    """Whether a holder of an office is named, or a community: "met The French President"."""
    behind = _BEHIND.match(text, end, end + FAR)
    words = low(behind[0]).split() if behind else ()
    return any(is_any(word, "offices") or word in _COMMUNITIES for word in words)


def is_told_of(text: str, start: int, end: int) -> bool:
    """Whether it begins a sentence that tells of a work: "The English Patient won nine Oscars".

    Or a title in quotes does: '"Girls" was a series'.
    """
    if text[start - 1 : start] in _OPENING and text[end : end + 1] in _CLOSING:
        return start > 0 and end < len(text) and _TOLD_OF_WORK.match(text, end + 1) is not None
    behind = _BEHIND.match(text, end, end + FAR)
    if _TOLD_OF_WORK.match(text, behind.end() if behind else end) is None:
        return False
    front = _BEFORE.search(text, max(0, start - FAR), start)
    begin = front.start() if front else start
    return opens_sentence(text, begin)


def _is_between(text: str, start: int, end: int) -> bool:
    """Whether capitals on both sides tell a title: "in Awkward Black Girl"; not "Young Black Men".

    Where a people or an age is described other words have no capital.
    """
    behind = NEXT.match(text, end)
    if behind is None or not (behind[1][0].isupper() and is_person(low(behind[1]))):
        return False
    before, begin = word_before(text, start)
    word = low(before)
    if not (before[:1].isupper() and is_adjective(word)) or opens_sentence(text, begin):
        return False
    if any(is_one_of(word, kind) for kind in _NO_TITLE):
        return False
    front, _ = word_before(text, begin)
    if not front[:1].islower() or is_one_of(front, "determiners"):
        return False
    return not is_title(place_at(text, start, end).raw)


def is_famous(text: str, start: int, end: int) -> bool:
    """Whether it is among the well-known ones: "Grumpy Old Men"; not "two grumpy old men"."""
    if not is_one_of(text[start:end].lower(), "in_famous_works"):
        return False
    front = _LINKED_BEFORE.search(text, max(0, start - FAR), start)
    words = front[0].split()[-_MOST_BESIDE:] if front else []
    behind = _LINKED_BEHIND.match(text, end, end + FAR)
    others = behind[0].split()[:_MOST_BESIDE] if behind else []
    term = text[start:end]
    for first in range(len(words) + 1):
        for last in range(len(others) + 1):
            name = low("-".join((*words[first:], term, *others[:last])))
            if is_one_of(name, "famous_works"):
                return True
    return False

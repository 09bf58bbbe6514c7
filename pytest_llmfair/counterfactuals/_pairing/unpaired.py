"""Words of one gender without a counterpart beside words that are exchanged: "the maid, she".

A twin in which only the other words change is torn where both stand for one person: "the
chambermaid lost his keys". Where they stand for two, as in "she rang for the chambermaid", it is
fine.
"""

from __future__ import annotations

import bisect
import re

from pytest_llmfair.counterfactuals._lexicons.terms import UNPAIRED, Sense
from pytest_llmfair.counterfactuals._pairing.case import Case
from pytest_llmfair.counterfactuals.lexicon import PRONOUNS

# How far from a word another can still stand for the same person.
_FAR = 300
_STOP = re.compile(r"[.!?\n]")
_CLAUSE = re.compile(
    r"[,;:.!?\n\u2014]|\b(?:and|but|or|that|who|when|while|because|as|if|so|to|before|after|until"
    r"|although|though|since|where|than)\b",
    re.IGNORECASE,
)
_BEING = (
    r"(?:is|was|are|were|be|been|being|become|becomes|became|becoming|remains?|remained|as"
    r"|['\u2019](?:s|m|re))"
)
_DETERMINER = r"(?:an?|the|our|their|my|your|his|her|one|two|no|some|both|this|that)"
_ADJECTIVES = r"(?:(?!(?:with|by|for|to|of|in|on|at|from|like|than|near)\s)[\w'-]+\s){0,2}"
# "is a", "worked as our"; ", once the"
_IS_ONE = re.compile(
    rf"\b{_BEING}\s(?:(?:not|once|then|also|still|now|just|only|never)\s)?"
    rf"(?:{_DETERMINER}\s)?{_ADJECTIVES}\Z",
    re.IGNORECASE,
)
_APPOSED = re.compile(
    rf"\A(?:,\s(?:(?:once|then|also|formerly|now)\s)?(?:an?|the|our|one)\s{_ADJECTIVES}|,?\s)\Z",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"\A\.?\s[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)?,?\s(?:{_DETERMINER}\s)?\Z")
_OPENS = re.compile(
    rf"(?:\A|[.!?\n:;,\"\u201c]\s*|\b(?:and|but|when|while|because|if|so|that|as)\s)"
    rf"(?:{_DETERMINER}\s)?(?:[\w'-]+\s){{0,2}}\Z",
    re.IGNORECASE,
)
_POINTED = re.compile(r"\b(?:the|this|that|poor|young)\s\Z", re.IGNORECASE)


def no_unpaired_person(case: Case) -> str | None:
    """Check that no word without a counterpart stands for somebody whose other words change."""
    begins: list[int] = []
    for start, end, sense in case.found:
        if sense.role != UNPAIRED:
            continue  # the usual case
        begins = begins or [edit.start for *_, edit in case.named]
        at = bisect.bisect_left(begins, start)
        if begins[at : at + 1] == [start]:
            continue  # "lesbian" of two attributes, which the other exchanges
        near = bisect.bisect_left(begins, start - _FAR), bisect.bisect_right(begins, end + _FAR)
        beside = [
            (edit.start, edit.end, other)
            for _, other, edit in case.named[slice(*near)]
            if other.group == sense.group
        ]
        if any(_is_same(case.pair.original, start, end, other, beside) for other in beside):
            word = case.pair.original[start:end]
            return f"names {sense.group}: {word!r} has no counterpart"
    return None


Place = tuple[int, int, Sense]


def _is_same(text: str, start: int, end: int, other: Place, beside: list[Place]) -> bool:
    """Whether the word from `start` to `end` and another can stand for the same person."""
    begin, stop, sense = other
    if stop <= start:
        return _is_told(text, start, other, beside)
    between = text[end:begin]
    same_sentence = _STOP.search(between) is None
    if sense.role not in PRONOUNS:
        if same_sentence and (_IS_ONE.search(between) or _APPOSED.match(between)):
            return True
        led = any(first < start for first, _, _ in beside)
        pointed = _POINTED.search(text, max(0, begin - 20), begin) is not None
        return sense.role == "noun" and not (led or same_sentence) and pointed
    if len(between) > _FAR or _is_plural(text[start:end]):
        return False
    if any(end <= own[0] < begin and own[2].role not in PRONOUNS for own in beside):
        return False  # somebody named nearer
    direct = sense.role == "object"
    if direct and _CLAUSE.search(between) is None:
        return False  # "the chambermaid told her"
    lead = next((own for own in beside if own[1] <= start and start - own[1] < _FAR), None)
    if lead is None:
        return True
    opens = _OPENS.search(text, max(0, start - 60), start) is not None
    if opens and _STOP.search(text, lead[1], start) is not None:
        return True  # "She rang. The maid put down her tray."
    # Of two the one that acts goes on acting: "she paid the maid and left", "she told the maid".
    return direct and same_sentence


def _is_plural(word: str) -> bool:
    named = word[0].isupper() and " " in word  # "Grandma Moses"
    return word.endswith("s") and not (named or word.endswith("ss"))


def _is_told(text: str, start: int, other: Place, beside: list[Place]) -> bool:
    """Whether somebody named in front is one: "she was a maid", "Miss Lee, the ballerina"."""
    _, stop, sense = other
    if sense.role in ("possessive_determiner", "adjective") or start - stop > _FAR:
        return False
    between = text[stop:start]
    if _STOP.search(between.removeprefix(".")) is not None:
        return False
    later = [own for own in beside if stop <= own[0] < start]
    if any(own.role != "possessive_determiner" for _, _, own in later):
        return False  # a nearer one is
    if sense.role == "title" and _NAMED.match(between):
        return True
    if sense.role not in PRONOUNS and between[:1] == "," and _APPOSED.match(between):
        return True
    return _IS_ONE.search(between) is not None

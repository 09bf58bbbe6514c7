"""Whether a name is one of several places, feelings or months: "Iraq, Jordan and Syria"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.names.words import STOPS, is_of_class, word_behind

_COMMA = r"[^\S\n]*,[^\S\n]+"
_LINK = r"[^\S\n]+(?:and|or|&)[^\S\n]+"
_PLACE = r"([A-Z][a-z]+)(?:[^\S\n]+([A-Z][a-z]+))?"
_BEHIND = re.compile(
    rf"({_COMMA}(?:and[^\S\n]+|or[^\S\n]+)?|{_LINK}){_PLACE}"
    r"(?=[^\S\n]*(?:[,;.!?:)]|\Z|\n)|[^\S\n]+(?:and|or|&)\b|([^\S\n]))"
)
_FRONT = re.compile(
    rf"(?:([A-Z][a-z]+){_COMMA})?\b([A-Z][a-z]+)({_COMMA}(?:and[^\S\n]+|or[^\S\n]+)?|{_LINK})\Z"
)
_LINKS_BEHIND = (",", " and ", " or ", " & ", " ,")
_LINKS_BEFORE = (", ", " and ", " or ", " & ")
_FEW = 5
_ITEM_MARK = r"(?:\(?\w{1,2}[.):]|[-*\u2022]|(?<![\"\u201d])[\"\u201c])"
_ITEM = re.compile(
    rf"(?:[;,/|\n]|\b(?:and|or)\b)\s*(?:{_ITEM_MARK}[^\S\n]*)?([A-Z][a-z]+)"
    r"(?=[\"\u201d]?\s*(?:[;,/|.?!]|\Z|\b(?:and|or)\b)|\n)"
)
_FIRST_ITEM = re.compile(rf"(?:{_ITEM_MARK}|[:(]|\A)\s*([A-Z][a-z]+)[\"\u201d]?\s*[;,/|\n]")
_ENDS_ITEM = re.compile(r"[\"\u201d]?\s*(?:[;,/|.?!]|\Z|\b(?:and|or)\b)|\n")
_BEGINS_ITEM = re.compile(rf"(?:\A|[;,/|\n:(]|\b(?:and|or)\b|{_ITEM_MARK})\s*\Z")
_NEAR = 80


def is_among_places(text: str, start: int, end: int) -> bool:
    """Whether a name that is a place too stands beside a place that is no name."""
    if text.startswith(_LINKS_BEHIND, end):  # at less cost than the search
        behind = _BEHIND.match(text, end)
        if behind is not None and _is_land(behind[2], behind[3]):
            joined = "," not in behind[1]
            if joined or not behind[4]:  # "I told Jordan, Oman is far."
                return True
    if not text.endswith(_LINKS_BEFORE, max(0, start - _FEW), start):
        return False
    before = _FRONT.search(text, max(0, start - _NEAR), start)
    if before is None or not _is_land(before[2], ""):
        return False
    following = word_behind(text, end)
    if STOPS.match(text, end) is None and not is_one_of(following, "closed"):
        return False
    if before[1] is not None:
        return _is_land(before[1], "")
    return "," not in before[3] and following != "and"


def _is_land(word: str, following: str | None) -> bool:
    low = word.lower()
    if is_of_class(low, "land_openers"):
        return bool(following)
    return any(is_of_class(low, kind) for kind in ("lands", "regions", "visited_lands"))


def is_listed_with(text: str, start: int, end: int, kind: str) -> bool:
    """Whether it is one of a list with a word that is no name: "(a) Joy; (b) Relief"."""
    if _ENDS_ITEM.match(text, end) is None:
        return False
    first, last = max(0, start - _NEAR), end + _NEAR
    if _BEGINS_ITEM.search(text, first, start) is None:
        return False
    front = text[first:start]
    items = [*_ITEM.findall(front), *_FIRST_ITEM.findall(front), *_ITEM.findall(text, end, last)]
    return any(is_of_class(item.lower(), kind) for item in items)

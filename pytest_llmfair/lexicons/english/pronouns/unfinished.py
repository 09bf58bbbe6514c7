"""Texts that end in "her" or "his" for others to go on with: "She smiled because her"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import low
from pytest_llmfair.lexicons.english.english import WORD, Around, word_classes

_REST = 12
_FAR = 160
_ELLIPSES = ("", "...", "....", ". . .", "\u2026")
_FIRST = re.compile(rf"[^\w\n.!?]*({WORD})([^.!?\n]*)\Z")
_ENDS = ".!?\n"
_BREAKS = (",", ";", "\u2014", "\u2013")


def begins_subject(around: Around) -> bool:
    """Whether the text ends where a clause has begun, so that a noun is to come.

    "Although her", "polite, but his ...", "As the curtain rose, her" and "is best known for his";
    not "I saw her".
    """
    text, end = around.text, around.end
    if len(text) > end + _REST or text[end:].strip() not in _ELLIPSES:
        return False
    words = word_classes()
    further, word = around.before
    if word == "as":
        return not further[:1].isalnum()
    if word in words["begins_clauses"]:
        return True
    if word == "for":
        return further in words["famed"]
    if word in ("but", "yet"):
        return further in _BREAKS
    return word == "," and _is_fronted(text, around.start)


def _is_fronted(text: str, at: int) -> bool:
    """Whether a clause, a phrase or an adverb opens the sentence up to the comma in front."""
    near = max(0, at - _FAR)
    begin = max(text.rfind(mark, near, at) for mark in _ENDS)
    if begin < 0 and near:
        return False
    first = _FIRST.match(text, max(begin + 1, near), at)
    if first is None:
        return False
    words = word_classes()
    word, rest = low(first[1]), first[2].strip()
    if word in words["begins_clauses"] or word in ("as", "before", "after"):
        return True
    if word in words["prepositions"]:
        return rest.count(",") == 1
    return rest == "," and word in words["opening_adverbs"]

"""Titles of works whose maker is named: 'played "She Loves You" by the Beatles'."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import FAR, low, opens_sentence, word_before
from pytest_llmfair.lexicons.english.english import is_one_of

_CAPITAL = r"[A-Z][\w'\u2019-]*+\.?"
_LINK = r"(?:of|the|an?|and|in|on|for|to|with|from|at|is|&) "
# One that names somebody: "by the Beatles", "by George Michael"; a day or a place is one word.
_MAKER = re.compile(
    r" by (?=[Tt]he [A-Z]|[A-Z][a-z'\u2019-]+ (?:(?:and|&) )?(?:[A-Z]|[vd][aeo]n? ))"
)
_QUOTED = re.compile(r"(?:\"(?=[A-Z])[^\"\n]{2,70}\"|\u201c(?=[A-Z])[^\u201d\n]{2,70}\u201d)\Z")
_TITLE = re.compile(rf"(?<![\w'\u2019-])(?:{_CAPITAL} (?:{_LINK}){{0,2}}){{1,6}}{_CAPITAL}\Z")
_CUES = ("enjoying", "works_named", "watch_works", "performing")
_GOES_ON = re.compile(r"[^.!?\n]{0,60}? [a-z]{3,} [a-z]")


def works_made_by(text: str) -> list[tuple[int, int]]:
    """Return the spans of titles in front of "by" and a maker; not of "Mr. Lee by the river"."""
    spans = []
    for maker in _MAKER.finditer(text):
        at = maker.start() - (text[maker.start() - 1] == ",")
        near = max(0, at - FAR)
        quoted = _QUOTED.search(text, near, at)
        if quoted is not None:
            spans.append(quoted.span())
            continue
        title = _TITLE.search(text, near, at)
        if title is not None and _is_told(text, title.start(), maker.end()):
            spans.append(title.span())
    return spans


def _is_told(text: str, start: int, end: int) -> bool:
    """Whether somebody plays, reads or likes it, or it begins a sentence that is no headline."""
    if opens_sentence(text, start):
        return _GOES_ON.match(text, end) is not None
    word = low(word_before(text, start)[0])
    return any(is_one_of(word, kind) for kind in _CUES)

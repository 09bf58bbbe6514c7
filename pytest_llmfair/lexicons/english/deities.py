"""Whether a god or a goddess is one of several: "the sun god"; not "God", not "my goddess"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import (
    NEAR,
    low,
    opens_sentence,
    word_before,
)
from pytest_llmfair.lexicons.english.english import is_one_of

# No conjunction: "he felt that god", but "prayed to that god".
_SOME = re.compile(
    r"(?:\b(?:an?|the|this|each|every|another|some|one|any)"
    r"|(?:\A|[.!?,;:\n]\s?|\b(?:of|to|for|with|in|by|from|like|worship(?:ped|s)?)\s)that)"
    r"\s(?:[\w'-]+\s){0,2}\Z",
    re.IGNORECASE,
)
# "Ares, god of war"; "is goddess of the hunt"
_TITLE = re.compile(r"(?:\w,|\w (?:is|was|as|became|called|named))\s\Z")

# "Ode to the Gods"
_IN_TITLE = re.compile(r"[A-Z]\w+\s(?:of|to|for|with|and|from)\s(?:the|all)\s\Z")


def is_deity(text: str, start: int, end: int) -> bool:
    """Whether it is one of several gods, by the same signs for both sexes.

    A capital inside a sentence is that of God or the Goddess, but for "the Sun God" and "Gods".
    """
    if text[end : end + 1] == "-":  # "god-damn", "god-given"
        return False
    near = max(0, start - NEAR)
    several = text[end - 1] in "sS" and low(text[start:end]) in ("gods", "goddesses")
    if text[start].isupper() and not opens_sentence(text, start):
        before = low(word_before(text, start)[0])
        if several and (before in ("and", "or") or is_one_of(before, "determiners")):
            return _IN_TITLE.search(text, near, start) is None
        return is_one_of(before, "gods_of")
    if several or _SOME.search(text, near, start) is not None:
        return True
    if text.startswith(" of ", end) and _TITLE.search(text, near, start) is not None:
        return True
    return is_one_of(low(word_before(text, start)[0]), "gods_of")

"""Possessives of a word and of the one that takes its place: "the ladies'", "the gentlemen's"."""

from __future__ import annotations

import re

_MARKS = ("'", "\u2019")
_OPENED = re.compile(r"(?<!\w)['\u2018](?=\S)")
_QUOTED = 200
_SINGULAR = ("ss", "us", "is")


def possessive_after(text: str, end: int, *, masked: bool = False) -> str:
    """Return the possessive ending after a word, "'s" or "'"; "" if there is none."""
    mark, letter = text[end : end + 1], text[end + 1 : end + 2]
    if mark not in _MARKS:
        return ""
    standing = ""
    if letter in ("s", "S") and not text[end + 2 : end + 3].isalnum():
        standing = mark + letter
    elif (masked or text[end - 1] in "sS") and not letter.isalnum():
        standing = mark
    if not standing:
        return ""
    near = max(0, end - _QUOTED)
    line = max(near, text.rfind("\n", near, end) + 1)
    return "" if _OPENED.search(text, line, end) else standing


def possessive_for(word: str, standing: str, *, plurals: bool) -> str:
    """Return the possessive ending for `word`, where another word had `standing`."""
    low = word.lower()
    if plurals and low.endswith("s") and not low.endswith(_SINGULAR):
        return standing[0]
    if len(standing) == 1 and not low.endswith("s"):
        return standing + ("S" if word.isupper() else "s")
    return standing

"""Marks at the ends of a term ("C++", "'em"), and the many forms that marks have."""

from __future__ import annotations

import unicodedata

# Quotes, dashes and dots; a dash between words is no hyphen.
_ASCII_MARKS = (
    *(("\u2018", "'"), ("\u2019", "'"), ("\u201c", '"'), ("\u201d", '"')),
    *(("\u2013", ";"), ("\u2014", ";"), ("\u2026", ";"), ("\u00a0", " ")),
)


_OPENING = "([{"


def edges(word: str, start: int, end: int) -> tuple[str, str]:
    """Return the marks before the first and behind the last letter or digit of a term."""
    word = with_ascii_marks(word)
    sides = (word[:start].lstrip(), word[end:].rstrip())
    lead, trail = ("".join(char for char in side if not is_glue(char)) for side in sides)
    return lead, trail


def with_edges(text: str, start: int, end: int, marks: tuple[str, str]) -> tuple[int, int] | None:
    """Return the span of a term with its marks; None where they, or its ends, are not there."""
    lead, trail = marks
    first, last = start - len(lead), end + len(trail)
    if first < 0 or text[first:start] != lead or text[end:last] != trail:
        return None
    before, behind = text[max(0, first - 1) : first], text[last : last + 1]
    opens = not lead or lead[0] in _OPENING or not before.isalnum()  # "sales(wo)man"
    return (first, last) if opens and not (trail and behind.isalnum()) else None


def with_ascii_marks(text: str) -> str:
    """Return a text of the same length and words whose frequent marks are ASCII."""
    for mark, other in _ASCII_MARKS:
        text = text.replace(mark, other)
    return text


def is_glue(char: str) -> bool:
    """Tell joiners, soft hyphens, variation selectors, enclosing marks: no spelling needs them."""
    return (
        char in "\u00ad\u200c\u200d\u2060\ufeff"
        or "\ufe00" <= char <= "\ufe0f"
        or unicodedata.category(char) == "Me"
    )

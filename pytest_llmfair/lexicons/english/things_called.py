"""Words for persons that name programs and works: "setup wizard", "a Mermaid diagram"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import (
    NEAR,
    NEXT,
    low,
    opens_sentence,
    word_before,
)
from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.words import is_adjective, is_modifier

_TOOLS = ("wizard", "wizards", "mermaid", "mermaids", "merman")
_BEHIND = re.compile(r"[^\S\n]([a-z]+)")
_SIGNS = re.compile(r"\s=|\s?\[|\(|\.js\b|-compatible\b")
_CAPITAL = r"[A-Z][\w'\u2019-]*+"
_OPENS = re.compile(rf"(?:[\"\u201c]|``|(?<!')'')((?:{_CAPITAL}[^\S\n]+){{1,4}})\Z")
_CLOSES = re.compile(rf"(?:[^\S\n]+{_CAPITAL}){{0,4}}(?:[\"\u201d]|[,.]?'')")
_SMALL = re.compile(r"(?<!\w)[a-z]{2,}")
_NO_TITLE = ("demonyms", "person_modifiers", "determiners", "polite", "quantities", "closed")


def is_tool(text: str, start: int, end: int) -> bool:
    """Whether a wizard is a program, a mermaid the notation of diagrams, or "Merman" a name."""
    if text[start:end].lower() not in _TOOLS:
        return False
    behind = _BEHIND.match(text, end)
    if behind is not None and is_one_of(behind[1], "tool_parts"):
        return True
    before, begin = word_before(text, start)
    if text[start:end] in ("Merman", "Mermaid") and not (
        is_one_of(low(before), "determiners") or (before and is_modifier(low(before)))
    ):
        return True  # a last name, or the notation
    if text[end - 1] in "dD" and text[start].lower() == "m":
        using = low(before) in ("using", "with", "in", "via", "as", "to") and text[start] == "M"
        return using or _SIGNS.match(text, end) is not None
    word = low(before)
    return is_one_of(word, "wizard_kinds") or (word == "based" and text[begin - 1 : begin] == "-")


def is_part_of_work(text: str, start: int, end: int) -> bool:
    """Whether a part of a work, or a work, follows a capital: "the Godfather bit"."""
    behind = _BEHIND.match(text, end)
    if behind is None or not is_one_of(behind[1], "parts_of_works"):
        return False
    following = NEXT.match(text, behind.end())
    named = following is not None and is_one_of(low(following[1]), "makers_of_works")
    return not (named or opens_sentence(text, start))


def is_quoted_title(text: str, start: int, end: int) -> bool:
    """Whether quotes hold capitals, where words outside have none: '"Marathon Man" scenes'.

    What describes a person makes no title: 'chose "Asian Women"'.
    """
    closes = _CLOSES.match(text, end)
    if closes is None:
        return False
    near = max(0, start - NEAR)
    opens = _OPENS.search(text, near, start)
    if opens is None:
        return False
    if is_part_of_work(text, start, closes.end()):  # '"Marathon Man" scene'
        return True
    words = low(opens[1]).split()
    if any(is_modifier(word) or is_adjective(word) for word in words):
        return False
    if any(is_one_of(word, kind) for word in words for kind in _NO_TITLE):
        return False
    outside = _SMALL.search(text, near, opens.start())
    return bool(outside or _SMALL.search(text, closes.end(), closes.end() + NEAR))

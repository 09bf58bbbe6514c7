"""Whether a name belongs to somebody of another first name: "Francis George", "Mary Ann"."""

from __future__ import annotations

import re
from collections.abc import Container

from pytest_llmfair.counterfactuals._language.beside import opens_sentence
from pytest_llmfair.counterfactuals._language.english import is_one_of
from pytest_llmfair.counterfactuals._language.names.initials import is_no_name
from pytest_llmfair.counterfactuals._language.names.words import (
    is_of_class,
    word_in_front,
    words_of_class,
)

# A law case is called by the last names: "Hope v. Lord Grey".
_CASE = re.compile(r"[^\S\n]+v\.[^\S\n]+(?:the[^\S\n]+)?[A-Z]")
_HYPHEN = re.compile("[-\u2010\u2011]")
_BEHIND = re.compile(r"[^\S\n]+([^\W\d_]+)")


def is_given(text: str, at: int, word: str) -> bool:
    """Whether a word at a place is the first name of whoever is named behind it."""
    low = _HYPHEN.split(word.lower(), maxsplit=1)[0]
    if is_of_class(low, "given"):
        return True
    if not word[0].isupper():
        return False
    if is_of_class(low, "given_words"):
        return True
    if not is_of_class(low, "given_verbs") or opens_sentence(text, at):
        return False
    return word_in_front(text, at).islower()


def is_party(text: str, start: int, end: int, before: str) -> bool:
    """Whether a law case is called by it and the word in front: "Beresford Hope v. Grey"."""
    if not before[:1].isupper() or _CASE.match(text, end) is None:
        return False
    return not is_one_of(before.lower(), "titles") and not is_no_name(before.lower())


def is_double(text: str, end: int, seconds: Container[str]) -> bool:
    """Whether one of the second parts is behind it: "Mary Ann"."""
    behind = _BEHIND.match(text, end) if text[end : end + 1].isspace() else None
    return behind is not None and behind[1].lower() in seconds


def seconds_of(names: Container[str]) -> frozenset[str]:
    """Return what can stand behind the names as a part of them: "ann" behind "mary"."""
    return frozenset(
        second
        for first, _, second in (double.partition("-") for double in words_of_class("doubles"))
        if first in names
    )

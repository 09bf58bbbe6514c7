"""Whether a name belongs to somebody of another first name: "Francis George", "Mary Ann"."""

from __future__ import annotations

import functools
import re
from collections.abc import Container

from pytest_llmfair.lexicons.english.beside import opens_sentence
from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.names.initials import is_no_name
from pytest_llmfair.lexicons.english.names.words import (
    STOPS,
    is_of_class,
    kinds_of,
    word_behind,
    word_in_front,
    words_of_class,
)
from pytest_llmfair.lexicons.english.persons.words import is_person

# A law case is called by the last names: "Hope v. Lord Grey".
_CASE = re.compile(r"[^\S\n]+v\.[^\S\n]+(?:the[^\S\n]+)?[A-Z]")
_PARTY_BEHIND = re.compile(
    r"[^\S\n]+v\.[^\S\n]+(?:the[^\S\n]+)?([A-Z][\w'\u2019-]+)(?:[^\S\n]+([A-Z]))?"
)
_PARTY_BEFORE = re.compile(
    r"(?:([A-Z])[\w.'\u2019-]*[^\S\n]+)?([A-Z][\w'\u2019-]+)\.?,?[^\S\n]+v\.[^\S\n]+\Z"
)
_NEAR = 60
_SHORTEST = 3
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


def is_last_in_case(text: str, start: int, end: int) -> bool:
    """Whether a law case has it as a last name: "Roe v. Graham"; not "John v. Mary"."""
    if text.startswith("v.", end + 1):
        other = _PARTY_BEHIND.match(text, end)
        further = other is not None and other[2]
        name = other[1] if other is not None else ""
    elif text.endswith("v.", max(0, start - 3), start - 1):
        other = _PARTY_BEFORE.search(text, max(0, start - _NEAR), start)
        further = other is not None and other[1]
        name = other[2] if other is not None else ""
    else:
        return False
    if other is None:
        return False
    both = all(is_of_class(each.lower(), "also_last") for each in (name, text[start:end]))
    return bool(further) or both or not is_of_class(name.lower(), "given")


def is_double(text: str, end: int, seconds: Container[str]) -> bool:
    """Whether one of the second parts is behind it: "Mary Ann"."""
    behind = _BEHIND.match(text, end) if text[end : end + 1].isspace() else None
    return behind is not None and behind[1].lower() in seconds


def is_of_firm(text: str, end: int) -> bool:
    """Whether a last name inside a sentence begins what a firm is called: "sued Baker Hughes"."""
    following = word_behind(text, end)
    if not following.istitle() or len(following) < _SHORTEST:
        return False
    word = following.lower()
    return not (is_one_of(word, "closed") or is_of_class(word, "no_first_names"))


def seconds_of(names: Container[str]) -> frozenset[str]:
    """Return what can stand behind the names as a part of them: "ann" behind "mary"."""
    return frozenset(
        second
        for first, _, second in (double.partition("-") for double in words_of_class("doubles"))
        if first in names
    )


def is_behind_first(text: str, start: int, end: int, before: re.Match[str]) -> bool:
    """Whether an unknown first name is in front of what is a last name too: "Amandine Henry".

    A name that is a word too is a part of something called so: "watched Vanilla Sky". `before`
    holds the word in front and, if it has a word in front itself, that one.
    """
    name, kinds = before[2], kinds_of(text[start:end].lower())
    if kinds.isdisjoint(("also_last", "words")) or len(name) < _SHORTEST:
        return False
    if "also_last" not in kinds and not _is_object(text, end, before[1] or ""):
        return False
    if not (name.isalpha() and name.istitle()) or is_one_of(before[1] or "", "articles"):
        return False
    low = name.lower()
    if not (before[1] or "").islower() and not _stands_inside(text, text[before.start(2) : end]):
        return False
    if word_behind(text, end)[:1].isupper() or is_person(low) or low.endswith(("men", "man")):
        return False
    known = ("places", "regions", "firms", "other_firms", "no_first_names", "institutions")
    return not (is_no_name(low) or any(is_of_class(low, kind) for kind in known))


def _is_object(text: str, end: int, front: str) -> bool:
    """Whether two words with capitals are no adjunct and a subject: "At Walmart Grace paid"."""
    if not front.islower():
        return False
    if not is_one_of(front, "prepositions"):
        return True
    return STOPS.match(text, end) is not None or is_one_of(word_behind(text, end), "closed")


@functools.lru_cache(maxsize=8)  # it looks through a whole text, which can hold many names
def _stands_inside(text: str, full: str) -> bool:
    """Whether a full name stands inside a sentence too, where its first word needs no capital."""
    return re.search(rf"[a-z],?[^\S\n]{re.escape(full)}(?!\w)", text) is not None

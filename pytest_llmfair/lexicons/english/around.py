"""The words around a pronoun.

Emphasis, tags, opening quotes and single line breaks are skipped; a sum of money counts as a
number, a slot to fill in as a noun.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from pytest_llmfair.lexicons.english.beside import low, one_case
from pytest_llmfair.lexicons.english.english import (
    INLINE_TAG,
    WORD,
    is_closed,
    is_final,
    is_one_of,
    word_classes,
)

_STYLE = rf"(?:[*_~]|{INLINE_TAG}|\[(?=[^\[\]\n]{{1,80}}\]\())*+"
# A line break, unless the next line begins with a capital.
_WRAP = r"(?:\n(?!\s*[A-Z][a-z])[^\S\n]*+)?"
_NEXT = re.compile(rf"{_STYLE}[^\S\n]*+{_WRAP}{_STYLE}({WORD}|\S|\n)?")
_BEFORE = re.compile(rf"{INLINE_TAG}|({WORD}|[^\w\s*~])")
_NEAR = 60
_ENCLOSED = ('""', "''", "\u201c\u201d", "\u2018\u2019", "[]", "()", "{}")
_OPENING = "\"\u201c\u2018\u00ab'`"
# A single quote that another one closes, unlike the apostrophe of "'til".
_SINGLE = re.compile(r"''?(?!(?:til|cause|em|n)\b)\w[^'\n]*(?<!s)'(?!\w)")
_SUM = re.compile(
    r"[$\u00a3\u20ac\u00a5#]\s?\d(?:[\d.,]*\d)?(?:[km]|bn|\s?[mb]illion)?\b|\$[^$\s\d][^$\n]{0,40}\$\w*"
)
_ASIDE = re.compile(r"\(([a-z]+(?: [a-z]+)?)\)(?=\s+[A-Za-z])")  # "her (late) uncle"
_SLOT_OPENS = ("[", "{", "<", "_", "N")
_SLOT = re.compile(
    r"\[[A-Z][A-Z_\d ]*\]|\{\{?[\w.: ]{1,30}\}?\}|<(?:[A-Z_]+|mask|blank)>|_{1,}(?=[\s.,;!?]|\Z)"
    r"|No\.\s?\d+(?=\s\w)"
)


class Around(NamedTuple):
    """Words around a pronoun in lower case; "" from where the clause ends.

    `before` holds two words, the nearer one last, `after` four; `raw` is the first word after
    the pronoun as it is spelled. The span includes quotes or brackets around the pronoun.
    """

    before: tuple[str, str]
    after: tuple[str, str, str, str]
    raw: str
    text: str
    start: int
    end: int

    @property
    def mark(self) -> str:
        """The character after the space after the pronoun."""
        return self.text[self.end + 1 : self.end + 2]

    def is_after(self, kind: str) -> bool:
        """Whether the word before the pronoun is a form of a verb of a class."""
        return is_form(self.before[1], kind)


@functools.lru_cache(maxsize=8192)
def is_form(word: str, kind: str) -> bool:
    """Whether a word is a form of a verb of a class: "gave" of "give"."""
    return not word_classes()[kind].isdisjoint(base_forms(word))


@functools.lru_cache(maxsize=4096)
def base_forms(word: str) -> tuple[str, ...]:
    """Return what a verb form can be a form of, the word itself among it."""
    forms = [word]
    if word in _irregular():
        forms.append(_irregular()[word])
    for ending in ("es", "s", "ed", "ing"):
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            forms += [stem, f"{stem}e", stem[:-1] + "y"]
            if stem[-1:] == stem[-2:-1]:  # "stopped"
                forms.append(stem[:-1])
    return tuple(forms)


def is_initialism(word: str) -> bool:
    """Whether capitals spell a term rather than a closed word: "US", "IT"."""
    return word.isupper() and is_one_of(word.lower(), "closed_initialisms")


def words_around(text: str, start: int, end: int) -> Around:
    """Return the words around the pronoun ``text[start:end]``."""
    if text[start - 1 : start] + text[end : end + 1] in _ENCLOSED:
        start, end = start - 1, end + 1
    raw, *following = words_after(text, end, 5)
    words = tuple(map(low, (raw, *following)))
    known = is_initialism(raw) and text[end - 1].islower() and not one_case(text)[1]
    if known and not is_final(words[1]):  # "her US visa"
        raw, words = following[0], words[1:]
    found = [word for word in _BEFORE.findall(text, max(0, start - _NEAR), start) if word]
    first, second = ["", "", *found[-2:]][-2:]
    return Around((low(first), low(second)), words[:4], raw, text, start, end)


def words_after(text: str, end: int, count: int) -> list[str]:
    """Return `count` words after a place, "" from where the clause ends."""
    found: list[str] = []
    at = end
    while len(found) < count:
        if text[at + 1 : at + 2] in _SLOT_OPENS and (slot := _SLOT.match(text, at + 1)):
            found.append("thing")
            at = slot.end()
            continue
        match = _NEXT.match(text, at)
        word = (match[1] or "") if match else ""
        if not match or not word:
            break
        place, at = match.start(1), match.end()
        if not (word[0].isalnum() or word in "/&"):
            if _opens_quote(text, place):
                continue
            aside = _ASIDE.match(text, place)
            if aside is not None and _describes(aside[1]):
                at = aside.end()
                continue
            figure = _SUM.match(text, place)
            if figure is None:
                found.append(word)
                break
            at = figure.end()
            word = "2"
        found.append(word)
    return found + [""] * (count - len(found))


def _opens_quote(text: str, place: int) -> bool:
    """Whether a quotation begins: a quote after a space that is no apostrophe."""
    if text[place] not in _OPENING or text[place - 1].isalnum() or text[place - 1] in ".,!?":
        return False
    return text[place] != "'" or _SINGLE.match(text, place - (text[place - 1] == "'")) is not None


def _describes(aside: str) -> bool:
    """Whether words in brackets describe the next one: "her (late) uncle", "his (or her) car"."""
    *others, last = aside.split()
    if last in ("her", "his"):
        return others in (["and"], ["or"])
    return not is_closed(last)


@functools.cache
def _irregular() -> dict[str, str]:
    return dict(form.split("-") for form in word_classes()["irregular_forms"])

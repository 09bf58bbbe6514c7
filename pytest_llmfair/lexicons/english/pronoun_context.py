"""The words around a pronoun and their classes, for ``roles.py`` and ``object_readings.py``.

Emphasis, tags, opening quotes and single line breaks are skipped. A sum of money counts as a
number, and a slot to fill in as a noun.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from pytest_llmfair.lexicons.english.context import TOKEN, UNREAD, context_of, low, one_case
from pytest_llmfair.lexicons.english.words import (
    INLINE_TAG,
    WORD,
    in_classes,
    is_adverb,
    is_closed,
    is_final,
    is_ly_adverb,
    is_one_of,
    is_participle,
    is_person,
    is_predicative,
    is_time,
    words_of,
)

SUBJECTS = ("i", "you", "he", "she", "it", "we", "they")
OBJECTS = ("me", "us", "him", "her", "them")
ARTICLES = ("a", "an", "the", "his", "her", "their", "its", "my", "our", "your")
MODALS = ("will", "can", "may", "might", "would", "could", "should", "must")
COPULAS = ("is", "are", "was", "were", "isn't", "aren't", "wasn't", "weren't")

_STYLE = rf"(?:[*_~]|{INLINE_TAG}|\[(?=[^\[\]\n]{{1,80}}\]\())*+"
# A line break, unless the next line begins with a capital.
_WRAP = r"(?:\n(?!\s*[A-Z][a-z])[^\S\n]*+)?"
_NEXT = re.compile(rf"{_STYLE}[^\S\n]*+{_WRAP}{_STYLE}({WORD}|\S|\n)?")
_INLINE_TAG = re.compile(INLINE_TAG)
_NEAR = 60
_ENCLOSED = ('""', "''", "\u201c\u201d", "\u2018\u2019", "[]", "()", "{}")
_OPENING = "\"\u201c\u2018\u00ab'`"
# A single quote that another one closes, unlike the apostrophe of "'til".
_SINGLE = re.compile(r"''?(?!(?:til|cause|em|n)\b)\w[^'\n]*(?<!s)'(?!\w)")
# "$500", "#1" and the formula of "her $k$th move".
_SUM = re.compile(
    r"[$\u00a3\u20ac\u00a5#]\s?\d(?:[\d.,]*\d)?(?:[km]|bn|\s?[mb]illion)?\b|\$[^$\s\d][^$\n]{0,40}\$\w*"
)
_ASIDE = re.compile(r"\(([a-z]+(?: [a-z]+)?)\)(?=\s+[A-Za-z])")  # "her (late) uncle"
_FAR = 90
_LONG = ("whole", "entire", "full", "next", "last", "while", "bit", "little", "lot", "few", "rest")
_SLOT_OPENS = ("[", "{", "<", "_", "N")
_SLOT = re.compile(
    r"\[[A-Z][A-Z_\d ]*\]|\{\{?[\w.: ]{1,30}\}?\}|<(?:[A-Z_]+|mask|blank)>|_{1,}(?=[\s.,;!?]|\Z)"
    r"|No\.\s?\d+(?=\s\w)"
)


class PronounContext(NamedTuple):
    """Lower-case words around a pronoun, nearest last in `before`; "" past the clause's end."""

    before: tuple[str, str]
    after: tuple[str, str, str, str]
    raw: str
    text: str
    start: int
    end: int

    def is_after(self, *kinds: str) -> bool:
        """Whether the word before the pronoun is a form of a verb of one of the classes."""
        return any(is_form(self.before[1], kind) for kind in kinds)

    def is_quoted(self) -> bool:
        """Whether a quote opens after the space after the pronoun."""
        return self.text.startswith(tuple(_OPENING), self.end + 1)

    def front(self) -> str:
        """Return the text before the pronoun."""
        return self.text[max(0, self.start - _NEAR) : self.start]

    def ends_at_second(self) -> bool:
        """Whether the phrase ends after the next word, except for an adverb: "happy again"."""
        _, second, third, _ = self.after
        return ends(second, third) and (not is_adverb(second) or is_final(third))

    def is_by_herself(self) -> bool | None:
        """Whether "she" is the subject of the verb before the pronoun; None for unclear."""
        found = context_of(self.text).before(self.start, _FAR)
        tokens = [token for token in found if token[0] not in UNREAD]
        going = self.before[1].endswith("ing") and self.before[1] != "bring"
        linked = False
        for place, raw in enumerate(reversed(tokens[:-1])):
            word = low(raw)
            if not raw[0].isalnum():
                if raw in ".!?;:\u2014([{>|":
                    return False if not place and not going else None
                linked = True
            elif word.partition("'")[0] in ("she", "xe"):
                return True
            elif word.partition("'")[0] in ("i", "he", "we", "you", "they") or word == "please":
                return False
            elif word in ("and", "or", "to", "who", "that", "which", "then"):
                linked = True
            elif not (linked or is_closed(word) or is_ly_adverb(word)):
                several = word.endswith("s") and not word.endswith(("ss", "us", "'s"))
                return False if several and raw.islower() else None
        begins = self.start <= _FAR and len(tokens) == 1 and not going
        return False if begins else None  # "Send her flowers"


class PronounReading(NamedTuple):
    """Whether a pronoun is an object ("his": stands alone), and whether the words show that."""

    is_object: bool
    sure: bool = True


OBJECT, OWNER = PronounReading(True), PronounReading(False)
PERHAPS_OBJECT, PERHAPS_OWNER = PronounReading(True, False), PronounReading(False, False)


def words_around(text: str, start: int, end: int) -> PronounContext:
    """Return the words around the pronoun ``text[start:end]``."""
    if text[start - 1 : start] + text[end : end + 1] in _ENCLOSED:
        start, end = start - 1, end + 1
    raw, *rest = words_after(text, end, 4)
    if is_initialism(raw) and not one_case(text)[1]:  # "her US visa", "his US and UK licences"
        rest = words_after(text, end, 7)[1:]
        joined = rest[1].isupper() and rest[0] in ("and", "or", "&", "/", "to")
        if joined or not is_final(low(rest[0])):
            raw, *rest = rest[2:] if joined else rest
    found = context_of(text).before(start, _NEAR)
    if ">" in found:
        found = TOKEN.findall(_INLINE_TAG.sub("", text[max(0, start - _NEAR) : start]))
    found = [token for token in found if token[0] not in "*_~\n"]
    further, nearer = ["", "", *found[-2:]][-2:]
    after = (low(raw), low(rest[0]), low(rest[1]), low(rest[2]))
    return PronounContext((low(further), low(nearer)), after, raw, text, start, end)


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
        if match is None or not match[1]:
            break
        word, place, at = match[1], match.start(1), match.end()
        if not (word[0].isalnum() or word in "/&"):
            if _opens_quote(text, place):
                continue
            aside = _ASIDE.match(text, place)
            if aside is not None and not is_closed(aside[1].split()[0]):
                at = aside.end()
                continue
            figure = _SUM.match(text, place)
            if figure is None:
                found.append(word)
                break
            word, at = "2", figure.end()
        found.append(word)
    return found + [""] * (count - len(found))


def _opens_quote(text: str, place: int) -> bool:
    """Whether a quotation begins: a quote after a space that is not an apostrophe."""
    if text[place] not in _OPENING or text[place - 1].isalnum() or text[place - 1] in ".,!?":
        return False
    return text[place] != "'" or _SINGLE.match(text, place - (text[place - 1] == "'")) is not None


def is_initialism(word: str) -> bool:
    """Whether capitals spell a term rather than a closed word: "US", "IT"."""
    return word.isupper() and is_one_of(word.lower(), "closed_initialisms")


@functools.lru_cache(maxsize=8192)
def is_form(word: str, kind: str) -> bool:
    """Whether a word is a form of a verb of a class: "gave" of "give"."""
    return not words_of(kind).isdisjoint(base_forms(word))


@functools.lru_cache(maxsize=4096)
def base_forms(word: str) -> tuple[str, ...]:
    """Return the base forms that a verb form can have: "stop" for "stopped"."""
    forms = [word]
    if word in _irregular_forms():
        forms.append(_irregular_forms()[word])
    for ending in ("es", "s", "ed", "ing"):
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            forms += [stem, f"{stem}e", f"{stem[:-1]}y"]
            if stem[-1:] == stem[-2:-1]:
                forms.append(stem[:-1])
    return tuple(forms)


@functools.cache
def _irregular_forms() -> dict[str, str]:
    return dict(form.split("-") for form in words_of("irregular_forms"))


def is_bare_verb(word: str) -> bool:
    """Whether a word is a verb in its base form, and no noun."""
    formed = len(word) > 5 and word.endswith(("ize", "ise", "ify"))
    return formed or is_one_of(word, "bare_verbs")


def is_rather_verb(word: str) -> bool:
    """Whether a word is more often a verb than a noun: "dance", "work"."""
    return is_one_of(word, "verbs_rather_than_nouns")


def may_be_verb(word: str) -> bool:
    """Whether a word can be a verb: "works", "worked", "order", "will"."""
    if word in MODALS or word in COPULAS or is_participle(word):
        return True
    forms = (word, word.removesuffix("s"), word.removesuffix("es"))
    verb = any(is_bare_verb(form) or is_rather_verb(form) for form in forms)
    return verb or in_classes(word, "finite_verbs", "acted", "verbs_or_nouns")


def describes(word: str) -> bool:
    """Whether a word is an adjective or a participle: "happy", "large", "broken"."""
    return is_predicative(word) or is_participle(word) or is_one_of(word, "describing")


def ends(word: str, following: str = "") -> bool:
    """Whether a phrase ends before a word: a closed word, an adverb or a time."""
    return is_final(word) or is_adverb(word) or is_time(word, following)


def begins_time(article: str, noun: str) -> bool:
    """Whether a time begins with an article: "the whole day", "a bit longer"."""
    return article in ARTICLES and (noun in _LONG or is_one_of(noun, "times"))


def may_describe(word: str) -> bool:
    """Whether a word can describe a gift: "anonymous", "extra"."""
    formed = len(word) > 4 and word.endswith(("ic", "al", "ive", "ent", "ant", "ary", "ing"))
    known = in_classes(word, "gift_adjectives", "comparatives", "demonyms")
    return formed or known or describes(word)


def is_plural_of_things(noun: str) -> bool:
    """Whether several things are named: "stories", no persons or animals."""
    several = noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s"))
    return several and not (is_person(noun) or is_one_of(noun.removesuffix("s"), "pets"))

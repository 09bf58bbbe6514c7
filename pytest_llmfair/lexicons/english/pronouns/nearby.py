"""The words around a pronoun, as the rules of its role read them.

Emphasis, tags, quotes that open and single line breaks are looked through; a sum of money and a
formula count as a number.
"""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import low, one_case, word_before
from pytest_llmfair.lexicons.english.english import (
    INLINE_TAG,
    WORD,
    Around,
    is_adverb,
    is_final,
    is_one_of,
    is_participle,
    is_predicative,
    word_classes,
)
from pytest_llmfair.lexicons.english.persons.words import singulars

# A word, or one mark; emphasis, tags and single line breaks are looked through, but for a line
# that begins anew with a capital.
# The brackets of a link in Markdown too: "her [new boat](https://...)".
_STYLE = rf"(?:[*_~]|{INLINE_TAG}|\[(?=[^\[\]\n]{{1,80}}\]\())*+"
_WRAP = r"(?:\n(?!\s*[A-Z][a-z])[^\S\n]*+)?"
_NEXT = re.compile(rf"{_STYLE}[^\S\n]*+{_WRAP}{_STYLE}({WORD}|\S|\n)?")
# The usual case at less cost: three words with single blanks, or fewer before a mark.
_PLAIN = re.compile(
    r" ([A-Za-z]+)(?: ([A-Za-z]+)(?: ([A-Za-z]+)(?=[ .,;:!?])|([.,;:!?]))|([.,;:!?]))"
)
_BEFORE = re.compile(rf"{INLINE_TAG}|({WORD}|[^\w\s*~])")
_NEAR = 60
_NEARER = 24
_QUOTED = ('""', "''", "\u201c\u201d", "\u2018\u2019")
_BRACKETS = ("[]", "()", "{}")
_OPENING = "\"\u201c\u2018\u00ab'`"  # code too: "her `parser` works"
# What a single quote opens: a stretch of the line that another one closes; no "'til".
_SINGLE = re.compile(
    r"'(?!(?:til|cause|cos|cuz|bout|round|em|n|tis|twas)\b)\w[^'\n]*(?<!s)'(?!\w)"
)
_DOUBLED = re.compile(r"(?<![\w'])''(?=\w)")
# "$500", "\u00a340,000", "#1"; and the formula of "her $k$th move".
_SUM = r"[$\u00a3\u20ac\u00a5#]\s?\d(?:[\d.,]*\d)?(?:[km]|bn|\s?(?:thousand|million|billion))?\b"
# Words in brackets before another: "her (late) uncle".
_ASIDE = re.compile(r"\(([a-z]+(?: [a-z]+)?)\)(?=\s+[A-Za-z])")
_FIGURE = re.compile(rf"{_SUM}|\$[^$\s\d][^$\n]{{0,40}}\$\w*")
_VALUE = re.compile(r"\d+")
# The letter of the next choice: "A. thank her B. hug her".
_OPTION = re.compile(r"\s([B-H])([.):])\s")
_MENU = 400
# What is to be filled in counts as a noun: "her [MASK]", "his {job}", "her ____", "his _"; so does
# a place in a list: "her No. 1 ranking".
_GAP_OPENS = ("[", "{", "<", "_", "N")
_GAP_NOUN = "thing"
_GAP = re.compile(
    r"\s(?:\[[A-Z][A-Z_\d ]*\]|\{\{?[\w.: ]{1,30}\}?\}|<(?:[A-Z_]+|mask|blank)>|_{2,}"
    r"|_(?=[\s.,;!?])|No\.\s?\d+(?=\s(?!(?:in|on|of|for|at|and|or|to)\b)\w))"
)


def is_initialism(word: str) -> bool:
    """Whether capitals spell a term that is no closed word, among small letters: "US", "IT"."""
    return word.isupper() and is_one_of(word.lower(), "closed_initialisms")


def words_around(text: str, start: int, end: int) -> Around:
    """Return the words around the pronoun ``text[start:end]``."""
    marks = text[start - 1 : start] + text[end : end + 1]
    if marks in _QUOTED:  # the \u2018her\u2019 of a quotation
        end += 1
    elif marks in _BRACKETS:  # "ignored [her] warnings"
        start, end = start - 1, end + 1
    plain = _PLAIN.match(text, end)
    if text[end + 1 : end + 2] in _GAP_OPENS and (gap := _GAP.match(text, end)) is not None:
        other, third = words_behind(text, gap.end(), 2)
        raw, following = _GAP_NOUN, (_GAP_NOUN, low(other), low(third))
    elif plain is not None:
        raw, other, third, behind_other, behind_raw = plain.groups("")
        following = (raw, other or behind_raw, third or behind_other)
        if not plain[0].islower():  # what else is the usual case goes at less cost
            following = (raw.lower(), following[1].lower(), following[2].lower())
    else:
        raw, other, third = words_behind(text, end, 3)
        following = (low(raw), low(other), low(third))
    if len(raw) == 1 and _is_option(text, start, end):
        raw, following = "", ("", "", "")
    elif is_initialism(raw) and text[end - 1].islower():
        raw, following = _behind_initialism(text, start, end, raw, following)
    parts = text[max(0, start - _NEAR) : start].rsplit(" ", 3)
    if len(parts) == 4 and not parts[3] and parts[2].isalpha() and parts[1].isalpha():
        nearest = (parts[1].lower(), parts[2].lower())
        return Around(nearest, following, raw, text, start, end)
    # Two words are enough; a window can cut the first that it holds, or a tag.
    near = start - _NEARER
    cut = near > 0 and text.find(">", near, start) < 0
    before = _BEFORE.findall(text, near, start) if cut else []
    if len(before) < 3:
        before = [word for word in _BEFORE.findall(text, max(0, start - _NEAR), start) if word]
    first, second = ["", "", *before[-2:]][-2:]
    return Around((low(first), low(second)), following, raw, text, start, end)


def _is_option(text: str, start: int, end: int) -> bool:
    """Whether the next choice of a list begins behind the pronoun."""
    option = _OPTION.match(text, end)
    if option is None:
        return False
    before = f"{chr(ord(option[1]) - 1)}{option[2]} "
    return text.find(before, max(0, start - _MENU), start) >= 0


def _behind_initialism(
    text: str, start: int, end: int, raw: str, following: tuple[str, str, str]
) -> tuple[str, tuple[str, str, str]]:
    """Return the next words without capitals that spell a term: "her US visa", "his IT skills".

    Those of emphasis stay, and of a clause that is told: "told her IT works", "asked her WHO
    called", "told her US law applies".
    """
    words = word_classes()
    found = words_behind(text, end, 6)
    joined = (found[1] in ("and", "or", "&") and len(found[2]) > 1 and found[2].isupper()) or (
        found[1] == "/" and found[2][:1].isupper()
    )
    found = found[3:] if joined else found[1:]
    first, second, third = (low(word) for word in found[:3])
    single = first.removesuffix("s")
    says = single != first and single in words["base_verbs"] and single not in words["base_nouns"]
    acts = first in words["finite_verbs"] or first in words["acted"] or is_participle(first)
    if is_final(first) or says or (acts and is_final(second)) or one_case(text)[1]:
        return raw, following
    if low(word_before(text, start)[0]) in words["say_to"] and _tells(first, second, third):
        return raw, following
    return found[0], (first, second, third)


def _tells(first: str, second: str, third: str) -> bool:
    """Whether a clause is told: "(told her IT) works", "(told her US) law applies here"."""
    return (_is_verb_in_s(first) and _is_end(second)) or (
        _is_verb_in_s(second) and not is_final(first) and _is_end(third)
    )


def _is_verb_in_s(word: str) -> bool:
    return any(
        form != word and is_one_of(form, kind)
        for form in singulars(word)
        for kind in ("base_verbs", "noun_verbs", "person_verbs")
    )


def _is_end(word: str) -> bool:
    return is_final(word) or is_adverb(word)


def words_behind(text: str, end: int, count: int) -> list[str]:
    """Return `count` words behind a place, "" from where the clause ends."""
    found: list[str] = []
    at = end
    while len(found) < count:
        match = _NEXT.match(text, at)
        word = (match[1] or "") if match else ""
        if not match or not word:
            break
        at = match.end()
        if not (word[0].isalnum() or word in "/&"):
            place = match.start(1)
            if _opens_quote(text, place):
                continue
            if (aside := _ASIDE.match(text, place)) is not None and _describes(aside[1]):
                at = aside.end()
                continue
            figure = _FIGURE.match(text, place)
            if figure is None:
                found.append(word)
                break
            at = figure.end()
            value = _VALUE.search(figure[0])
            word = value[0] if value else "2"  # any number will do for a formula
        found.append(word)
    return found + [""] * (count - len(found))


def _describes(aside: str) -> bool:
    """Whether words in brackets describe the next one: "her (late) uncle", "his (or her) car"."""
    words = word_classes()
    *others, last = aside.split()
    if last in ("her", "his"):
        return others in (["and"], ["or"])
    kinds = ("attributive", "ordinals", "person_modifiers")
    return any(last in words[kind] for kind in kinds) or is_predicative(last)


def _opens_quote(text: str, place: int) -> bool:
    """Whether a quotation begins: a quote, behind a blank, that is no apostrophe."""
    if text[place] not in _OPENING or text[place - 1].isalnum() or text[place - 1] in ".,!?":
        return False
    if text[place] != "'" or _SINGLE.match(text, place) is not None:
        return True
    # Two single quotes for a double one: "his ''General Theory''".
    return _DOUBLED.match(text, place - (text[place - 1] == "'")) is not None

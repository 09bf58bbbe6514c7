"""Names that hold a word for a person: of works, bands, teams, shops and bodies; acronyms."""

from __future__ import annotations

import functools
import re

from pytest_llmfair.lexicons.english.beside import (
    FAR,
    NEAR,
    NEXT,
    low,
    one_case,
    opens_sentence,
    word_before,
)
from pytest_llmfair.lexicons.english.english import is_one_of, words_of
from pytest_llmfair.lexicons.english.old_names import is_of_class
from pytest_llmfair.lexicons.english.persons.proper_names import is_in_name
from pytest_llmfair.lexicons.english.persons.surroundings import place_at
from pytest_llmfair.lexicons.english.persons.titles import is_famous, is_told_of
from pytest_llmfair.lexicons.english.persons.words import (
    is_adjective,
    is_any,
    is_modifier,
    is_person,
)
from pytest_llmfair.lexicons.english.things_called import (
    is_part_of_work,
    is_quoted_title,
)

# A name of several words: "The Girl with the Dragon Tattoo".
_LINKS = r"(?:(?:of|the|an?|with|on|in|for|to|from|at|by)[^\S\n]+){0,2}"
_CAPITAL = r"[A-Z][\w'\u2019-]*+"
_NAMED_BEFORE = re.compile(rf"(?<!\w)(?:{_CAPITAL}[^\S\n]+{_LINKS})+\Z")
_NAMED_BEHIND = re.compile(rf"(?:['\u2019]s)?(?:[^\S\n]+{_LINKS}{_CAPITAL}){{1,9}}")
_CAPITALS = re.compile(rf"(?<!\w){_CAPITAL}")
_POSSESSED = re.compile(r"['\u2019]s?((?:[^\S\n]+[A-Z][a-z]+(?:-[A-Z]?[a-z]+)?(?!\w)){1,4})")
_QUOTES = "\"'\u201c\u2018"
# Capitals that spell no word: "MAN stands for", "LAN, MAN and WAN"; not "A MAN, HIS DOG".
_SHORT = r"[A-Z]{2,5}(?![\w'\u2019-])"
_SHORT_FORM = re.compile(rf"(?<![\w'\u2019-]){_SHORT}")
_DEFINED = re.compile(r" (?:stands|is short|is an acronym) for\b")
_EXPLAINED = re.compile(r" (?:is|was) (?:an?|the) [a-z]")
_LIST = r"(?:[,/]|,? (?:and|or|vs\.?|versus)\b) ?(?:and |or )?(?:an? )?"
_LISTED_BEHIND = re.compile(rf"{_LIST}({_SHORT})(?! [A-Z]+\b)")
_LISTED_BEFORE = re.compile(rf"(?<![\w'\u2019-])({_SHORT}){_LIST}\Z")
# An author in a text of science: "Islam et al.", "(Islam, 2021)", "Islam, S."
_CITED = re.compile(r",? et al\b| \([12]\d{3}|, [12]\d{3}[a-z]?\)|, [A-Z]\.")


def is_no_work(text: str, start: int, end: int) -> bool:
    """Whether it is in no name of a work, a band or a team: "Derry Girls", "Gone Girl"."""
    if not text[start].isupper():
        return True
    if text[start:end].isupper():
        return not _is_acronym(text, start, end)
    if is_famous(text, start, end) or is_work_told_of(text, start, end):
        return False
    if begins_name(text, start, end) or is_part_of_work(text, start, end):
        return False
    before, front = word_before(text, start)
    if _is_bare_title(text, start, end, front):
        return False
    if not before[:1].isupper():
        return not is_in_title(text, start, end)
    word = low(before)
    if is_one_of(word, "subjects") and not is_one_of(word, "demonyms"):  # "The History Boys"
        return False
    if is_one_of(word, "polite"):
        return True
    if is_in_name(text, start, end) or is_in_title(text, start, end):
        return False
    return not is_quoted_title(text, start, end)


def is_work_told_of(text: str, start: int, end: int) -> bool:
    """Whether a film, a book or a song is told of: "The Invisible Man is a novel"."""
    front = text[start - 1 : start]
    if front != " ":
        return bool(front) and front in _QUOTES and is_told_of(text, start, end)
    near = max(0, start - FAR)
    if text.find("The ", near, start) < 0:
        return False  # the usual case at less cost
    before = _NAMED_BEFORE.search(text, near, start)
    return before is not None and before[0].startswith("The ") and is_told_of(text, start, end)


def is_no_given(text: str, start: int, end: int) -> bool:
    """Whether a faith is no name: "Islam spread"; not "Islam Karimov", "Yusuf Islam"."""
    if text[start:end] == "Islam" and _is_last_name(text, start, end):
        return False
    if not text[end + 1 : end + 2].isupper() or text[end] != " ":
        return True  # the usual case at little cost
    behind = NEXT.match(text, end)
    if text[start:end] != "Islam" or behind is None:
        return True
    word = low(behind[1])
    known = any(is_one_of(word, kind) for kind in ("closed", "of_faith", "demonyms"))
    return known or is_headline(text, start, end)


def _is_last_name(text: str, start: int, end: int) -> bool:
    """Whether it is an author's or stands behind a name: "Islam et al.", "Nazrul Islam"."""
    front = text[max(0, start - NEAR) : start].split()[-1:]
    before = (
        front[0].strip("([\"'\u2018\u201c") if text[start - 1 : start] == " " and front else ""
    )
    word = before.lower().rstrip(".")
    if before[:1].isupper() and (
        word.endswith("ul")
        or is_of_class(word, "given")
        or is_one_of(word, "titles")
        or is_one_of(word, "abbreviations")
    ):
        return True
    return _CITED.match(text, end) is not None


def is_in_title(text: str, start: int, end: int) -> bool:
    """Whether a noun with a capital is part of a title: "I saw The Girl on the Train".

    Another word of the title has a capital that no sentence, people or colour gives it, and
    another of the sentence has none. "Women's Final" is no title.
    """
    plural = text[start:end].lower() in ("men", "women") or text[end - 1] == "s"
    if (plural and text[end : end + 1] in ("'", "\u2019")) or _begins(text, start):
        return False
    if text[max(0, start - 4) : start] == "The " and not _begins(text, start - 4):
        return not is_headline(text, start, end)  # "loves The Godfather"
    before = _NAMED_BEFORE.search(text, max(0, start - FAR), start)
    words = _CAPITALS.findall(before[0]) if before else []
    if before and _begins(text, before.start()):
        words = words[1:]
    behind = _NAMED_BEHIND.match(text, end)
    words += _CAPITALS.findall(behind[0]) if behind else []
    if not any(_is_of_title(low(word)) for word in words):
        return False
    return not is_headline(text, start, end)


def is_headline(text: str, start: int, end: int) -> bool:
    """Whether only closed words of the sentence are without a capital."""
    raw = place_at(text, start, end).raw
    known = words_of("closed")
    return not any(word[0].islower() and len(word) > 1 and word not in known for word in raw)


def is_possessed(text: str, start: int, end: int) -> bool:
    """Whether a possessive makes a name of what follows: "The King's Speech"."""
    if text[end : end + 1] not in ("'", "\u2019") or _POSSESSED.match(text, end) is None:
        return False
    return not is_headline(text, start, end)


def begins_name(text: str, start: int, end: int) -> bool:
    """Whether it owns a paper, a body or a shop: "Men's Health"; not "Women's Final"."""
    if text[end : end + 1] not in ("'", "\u2019"):
        return False
    behind = _POSSESSED.match(text, end)
    if behind is None:
        return False
    words = low(behind[1]).split()
    if not any(is_one_of(word, "periodicals") for word in (words[0], words[-1])):
        before, front = word_before(text, start)
        counted = text[max(0, front - 2) : front].strip().isdigit()  # "the 2012 Women's Open"
        if counted or is_one_of(low(before), "determiners"):
            return False
        if before[:1].isupper() and not _begins(text, front):
            return False  # "the World Women's Open"
        if any(is_any(word, "of_a_group") for word in words) or any(map(is_modifier, words[:-1])):
            return False
    return not is_headline(text, start, end)


def _is_bare_title(text: str, start: int, end: int, front: int) -> bool:
    """Whether an adjective and a noun begin the sentence as a title: "Pretty Woman was".

    A noun in the singular would have its article, one in the plural a verb in the plural.
    """
    if front == start or not text[front].isupper() or not _begins(text, front):
        return False
    word = low(text[front:start].rstrip())
    known = is_one_of(word, "title_adjectives") or is_adjective(word)
    if not known or is_one_of(word, "told_apart"):
        return False
    if any(is_one_of(word, kind) for kind in ("demonyms", "quantities", "determiners", "polite")):
        return False
    behind = NEXT.match(text, end)
    plural = text[end - 1] == "s" or low(text[start:end]) in ("men", "women")
    if behind is None or (plural and not is_one_of(low(behind[1]), "singular_verbs")):
        return False
    return behind[1].islower() and not is_headline(text, start, end)


def _is_acronym(text: str, start: int, end: int) -> bool:
    """Whether capitals spell a term: defined, or listed beside another one."""
    if one_case(text)[1]:
        return False
    before, _ = word_before(text, start)
    behind = NEXT.match(text, end)
    if before.isupper() or (behind and behind[1].isupper()):  # "A MAN LEFT"
        return False
    if is_defined(text, end) or is_listed(text, start, end):
        return True
    if before or _EXPLAINED.match(text, end) is None:
        return False
    return _has_short_form(text)


def is_defined(text: str, end: int) -> bool:
    """Whether it is told what capitals stand for: "MAN stands for"."""
    return _DEFINED.match(text, end) is not None


def is_listed(text: str, start: int, end: int) -> bool:
    """Whether capitals stand beside others that spell no word: "LAN, MAN and WAN"."""
    near = max(0, start - NEAR)
    listed = _LISTED_BEHIND.match(text, end), _LISTED_BEFORE.search(text, near, start)
    return any(other is not None and _is_short_form(other[1]) for other in listed)


@functools.lru_cache(maxsize=8)  # it looks through a whole text, which can hold many terms
def _has_short_form(text: str) -> bool:
    return any(_is_short_form(other) for other in _SHORT_FORM.findall(text))


def _is_short_form(word: str) -> bool:
    word = word.lower()
    return not (is_person(word) or is_one_of(word, "closed"))


def _is_of_title(word: str) -> bool:
    """Whether the capital of a word tells a title: no "Black", no "Indian", no "of Color"."""
    return is_one_of(word, "title_adjectives") or not (
        is_modifier(word) or word in ("i", "color", "colour") or is_one_of(word, "polite")
    )


def _begins(text: str, start: int) -> bool:
    return opens_sentence(text, start)

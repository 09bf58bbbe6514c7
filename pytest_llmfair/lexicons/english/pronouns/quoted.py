"""Whether "her" stands before what she is called, told or given in quotes: 'called her "kid"'.

A quotation that ends the clause is no noun of hers; one that goes on is: 'her "friend" left'.
"""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import low
from pytest_llmfair.lexicons.english.english import (
    Around,
    is_adverb,
    is_final,
    tells_when,
    word_classes,
)
from pytest_llmfair.lexicons.english.pronouns.handed import is_by_herself, is_handed
from pytest_llmfair.lexicons.english.pronouns.nearby import words_behind

_QUOTATION = re.compile(
    r"\s[*_]*(?:\"(?P<plain>[^\"\n]{1,90})\"|\u201c(?P<double>[^\u201d\n]{1,90})\u201d"
    r"|\u2018(?P<single>[^\n]{1,90}?)\u2019(?!\w)|\u00ab(?P<pointed>[^\u00bb\n]{1,90})\u00bb"
    r"|''(?P<doubled>[^\n]{1,90}?)''(?!\w)|'(?P<straight>[^\n]{1,90}?)(?<!s)'(?!\w))"
)
_CALLERS = ("she", "he", "they", "i", "we", "you", "xe", "has", "had", "have", "grandly")
_WHAT = re.compile(r"\bwhat (?:\w+ ){1,3}\Z", re.IGNORECASE)
_NEAR = 40
_QUOTES = "\"'\u201c\u2018\u00ab"


def is_before_title(around: Around) -> bool:
    """Whether a quotation that begins with a capital follows: 'from his "Haunted" album'."""
    mark = around.text[around.end + 1 : around.end + 2]
    return bool(mark) and mark in _QUOTES and around.next_raw[:1].isupper()


def is_of_acquaintance(around: Around) -> bool:
    """Whether somebody stands in front: "a friend of his"."""
    return around.before[1] == "of" and around.before[0] in word_classes()["acquaintances"]


def is_owned_quotation(around: Around) -> bool:
    """Whether a quotation begins behind "his": 'his "Winter" cycle'; not "it is his"."""
    mark = around.text[around.end + 1 : around.end + 2]
    if not mark or mark not in _QUOTES or around.before[1] in word_classes()["copulas"]:
        return False
    return not is_of_acquaintance(around)


def is_before_quotation(around: Around) -> bool | None:
    """Whether the quotation behind "her" is said to her; None where none is, or it is open."""
    words = word_classes()
    verb = around.before[1]
    named, given = verb in words["name"] or verb in words["label"], verb in words["give"]
    said = verb in words["say_to"] or verb in words["write_to"]
    quotation = _QUOTATION.match(around.text, around.end)
    if quotation is None:
        return None
    if not (named or given or said):
        return False if _is_described(around.text, quotation) else None
    inside = next(filter(None, quotation.groups()), "")
    behind, further = words_behind(around.text, quotation.end(), 2)
    if not _ends(inside, low(behind), low(further)):
        return None
    if named:
        return around.before[0] not in _CALLERS or not _is_what(around)
    last = low(inside.rstrip(".,!?").rpartition(" ")[2])
    if last in words["person_nouns"] or last in words["pets"]:  # 'asked her "friend"'
        return None
    spoken = said and verb not in words["show"]
    if is_by_herself(around) and not spoken:
        return None
    return (
        (spoken and behind != "to") or is_handed(around, last, low(behind), low(further)) or None
    )


def _is_described(text: str, quotation: re.Match[str]) -> bool:
    """Whether one word in quotes describes a noun of hers: 'found her "dead" brother'."""
    inside = next(filter(None, quotation.groups()), "")
    noun, behind = map(low, words_behind(text, quotation.end(), 2))
    if not inside.isalpha() or is_final(noun) or is_adverb(noun):
        return False
    return text[quotation.end()] == " " and not (noun.endswith("ing") or tells_when(noun, behind))


def _is_what(around: Around) -> bool:
    """Whether it is told by what name something goes: 'what she called her "method"'."""
    return _WHAT.search(around.text, max(0, around.start - _NEAR), around.start) is not None


def _ends(inside: str, behind: str, further: str) -> bool:
    """Whether the clause ends behind a quotation, or goes on with when and where."""
    words = word_classes()
    if inside[-1] in ".,!?" or tells_when(behind, further) or is_adverb(behind):
        return True
    if behind in words["articles"]:  # "the whole time"; not 'her "friend" a liar'
        return further in words["whole_times"] or further in words["times"]
    return is_final(behind)

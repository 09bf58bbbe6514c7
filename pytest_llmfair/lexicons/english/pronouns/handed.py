"""Whether the thing behind "her" is handed to her or is her own: "gave her aspirin".

The verb decides: what is given, offered or lent goes to somebody; what is refused, paid, brought,
shown, sent or told is mostly one's own, unless the subject is somebody else. Cases that stay open
are read as one's own.
"""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import low
from pytest_llmfair.lexicons.english.english import (
    WORD,
    Around,
    is_adverb,
    is_closed,
    is_final,
    is_in_ly,
    is_number,
    tells_when,
    word_classes,
)
from pytest_llmfair.lexicons.english.persons.words import is_person
from pytest_llmfair.lexicons.english.pronouns.nearby import words_behind

_TOKEN = re.compile(rf"({WORD})|([^\w\s*_~\"\u201c\u201d])")
# What numbers a thing: "form B-7", "voucher #2", "invoice no. 5", "vitamin D".
_LABEL = re.compile(
    r"\s+[\w-]+\s+(?:(?:#|[Nn]o\.?|[Nn]umber|[Nn]r\.?)\s?\d[\w-]*|[A-Z]{0,3}-?\d[\w/-]*|[A-Z])(?!\w)"
)
_FAR = 90
_BACKING = ("support", "backing", "endorsement", "blessing", "services", "condolences", "help")
_PROVIDE = ("give", "gives", "gave", "given", "giving", "get", "bring", "brings", "brought")
_ISSUE = ("issue", "issues", "issued", "issuing", "fax", "faxed", "faxes", "faxing")
_AGENTS = ("er", "or", "ist", "ian", "ant", "ent", "ee", "man", "woman", "ive", "ic", "ess")
_BROUGHT_TO = ("life", "light", "fruition", "market", "completion", "mind", "account", "attention")
_STOPS = ".!?;:\u2014\u2026([{>|"
_PASSIVE = ("was", "were", "is", "are", "am", "be", "been", "being", "got", "getting")
_HERSELF = ("she", "xe", "she's", "she'd", "she'll", "she'd've")
OWN = "own"
OTHER = "other"
UNKNOWN = ""


def is_handed(around: Around, noun: str, behind: str, further: str) -> bool:
    """Whether a thing goes to her: "gave her tickets", not "she showed her tickets".

    Parameters
    ----------
    around : Around
        The pronoun, behind a verb with two objects.
    noun : str
        The thing; a number where things are counted.
    behind, further : str
        The two words behind the thing.
    """
    words = word_classes()
    verb = around.before[1]
    if _is_for_another(verb, noun, behind, further):
        return False
    if verb in words["show"] and noun in words["shown_of_oneself"]:
        return False
    subject = _subject(around)
    if subject is None:  # "was given her medication"
        return False
    own = subject == OWN
    if own and (verb in words["for_oneself"] or noun in words["own_gifts"]):
        return False
    if verb in words["give_always"]:
        return True
    if is_number(noun):
        return not own
    for verbs, things in (("pay", "paid"), ("refuse", "granted"), ("ask", "asked_things")):
        if verb in words[verbs]:
            return noun in words[things] and not own
    if noun in words["gifts"]:
        return True
    bought = verb in words["buy"] and noun not in words["own_goods"]
    return subject == OTHER or (bought and not own)


def is_labelled(around: Around) -> bool:
    """Whether a thing with a number goes to her: "sent her form B-7", not "her team 3 days"."""
    verb = around.before[1]
    if verb not in word_classes()["give"] and verb not in _ISSUE:
        return False
    label = _LABEL.match(around.text, around.end)
    if label is None or _subject(around) in (OWN, None):
        return False
    behind, further = map(low, words_behind(around.text, label.end(), 2))
    if behind == "of":  # "page 3 of the report"; not "gave her unit 5 of them"
        return further in ("the", "a", "an", "my", "our", "your", "their")
    ends = is_final(behind) or is_adverb(behind) or tells_when(behind, further)
    return ends and not _is_for_another("", "", behind, further)


def is_by_other(around: Around) -> bool:
    """Whether somebody else is the subject of the verb in front: "he made her tea"."""
    return _subject(around) == OTHER


def is_by_herself(around: Around) -> bool:
    """Whether "she" or the like is the subject of the verb in front: "she gave her lessons"."""
    return _subject(around) == OWN


def _is_for_another(verb: str, noun: str, behind: str, further: str) -> bool:
    """Whether others get it or it goes away: "her tickets to the guard", "her clothes away"."""
    words = word_classes()
    if behind in ("away", "back"):
        return True
    if behind in ("for", "behind") and noun in _BACKING and verb not in _PROVIDE:
        return further != "free"
    if behind == "and" and further == "her":  # "offered her help and her truck"
        return True
    if behind in ("in", "over", "out", "up", "off"):
        return not further[:1].isalnum() or further == "to"
    if behind == "to" and further in _BROUGHT_TO and verb.startswith(("bring", "brought")):
        return True  # "brings her ideas to life"
    if behind != "to" or not further or (noun in words["things_to"] and verb not in words["show"]):
        return False
    if further == "work":  # "brought her lunch to work"
        return True
    if further in words["base_verbs"] or further in words["verbal_nouns"]:
        return False
    several = further.endswith("s") and not further.endswith(("ss", "us"))
    known = further in words["articles"] or further in words["objects"] or is_number(further)
    return known or several or further in words["closed"] or further in words["bare_places"]


def _is_thing(noun: str) -> bool:
    """Whether a noun behind an article names nobody who could have things: "the trade"."""
    words = word_classes()
    if not noun.islower() or noun.endswith(_AGENTS) or is_closed(noun) or is_adverb(noun):
        return False
    return not (is_person(noun) or noun in words["pets"] or noun in words["animals"])


def _subject(around: Around) -> str | None:
    """Tell who is the subject of the verb in front of the pronoun; None for a passive."""
    words = word_classes()
    text = around.text
    tokens = _TOKEN.findall(text, max(0, around.start - _FAR), around.start)
    verb = around.before[1]
    going = verb.endswith("ing") and verb != "bring"
    linked = False
    for place, (raw, mark) in enumerate(reversed(tokens[:-1])):
        word = raw.lower().replace("\u2019", "'")
        if mark:
            if mark in _STOPS:
                return OTHER if not place and not going else UNKNOWN
            linked = True
            continue
        if word in _HERSELF or word in words["receivers"]:
            return OWN
        if word in words["cooks"] or word in words["givers"]:
            return OTHER
        if word in _PASSIVE and not linked and not going:
            return None
        if word in words["links"] or word in ("who", "that", "which"):
            linked = True
        elif not (word in words["auxiliaries"] or is_in_ly(word) or linked):
            several = (
                raw.islower() and word.endswith("s") and not word.endswith(("ss", "us", "'s"))
            )
            if several or word in words["plurals"]:
                return OTHER
            front = tokens[-place - 3][0].lower() if place + 3 <= len(tokens) else ""
            return OTHER if front in words["articles"] and _is_thing(raw) else UNKNOWN
    begins = around.start <= _FAR and len(tokens) == 1 and not going
    return OTHER if begins else UNKNOWN  # "Send her flowers"

"""Adjectives that are adverbs where a phrase ends: "her long, dark hair", "kissed her long"."""

from __future__ import annotations

import itertools
import re

from pytest_llmfair.lexicons.english.english import (
    WORD,
    Around,
    is_adverb,
    is_closed,
    is_in_ly,
    is_number,
    is_participle,
    is_predicative,
    word_classes,
)

_TOKEN = re.compile(rf"{WORD}|[^\w\s*_]")
_NEAR = 90
_JOINS = (",", "and", "but", "yet", "or", "if", "though", "&")
_FORMED = ("ish", "ic", "al", "ive", "ent", "ant", "ary", "ory", "en", "y")
_VERBS = (
    *("base_verbs", "handled", "verbal_nouns", "give", "say_to", "prepare", "move", "acted"),
    *("finite_verbs", "let_make_help", "developing"),
)


def describes_on(around: Around) -> bool:
    """Whether an adjective goes on behind a comma or "and": "his early, rather clumsy poems".

    Not "visits her daily, bringing soup", "called her early and woke the dog".
    """
    first, join, _ = around.next
    words = word_classes()
    if join not in _JOINS or first not in words["adverbs_or_adjectives"]:
        return False
    far = around.end + _NEAR
    tokens = _TOKEN.findall(around.text, around.end, far)
    if far < len(around.text):
        tokens = tokens[:-1]  # the window can cut it
    sure = join == "," or first == "long" or not around.before[1][:1].isalpha()
    described = False
    for place, (token, behind) in enumerate(itertools.pairwise(tokens)):
        if not place or token in _JOINS or token in words["degrees"] or is_in_ly(token):
            continue
        if any(token in words[kind] for kind in ("behind_not", "before_adjectives", "by_degrees")):
            continue
        if behind not in _JOINS:
            enclosed = described and tokens[place - 1] == ","  # "her next, and final, book"
            phrase = _describes(token, sure=sure) and _may_be_noun(behind)
            return (enclosed and _may_be_noun(token)) or (phrase and "permitting" not in tokens)
        listed = sure and behind == "," and _is_open(token) and _may_describe(token)
        described = _is_known(token)
        if not (described or listed):
            return False
    return False


def _describes(word: str, *, sure: bool) -> bool:
    """Whether a word may be an adjective, an unknown one where the join is `sure`."""
    if not _is_open(word):
        return False
    if is_participle(word):
        return sure
    return _is_known(word) or (sure and _may_describe(word))


def _may_be_noun(word: str) -> bool:
    if not _is_open(word) or is_participle(word) or _is_listed(word):
        return False
    going = word.endswith("ing") and word not in word_classes()["not_participles"]
    return not going and word not in ("only", "style", "mode")


def _may_describe(word: str) -> bool:
    words = word_classes()
    if word.endswith(("ing", "s")) or word in words["times"] or word in words["frequencies"]:
        return False
    return word != "half" and not any(word in words[kind] for kind in _VERBS)


def _is_known(word: str) -> bool:
    """Whether a word is an adjective by list or ending."""
    words = word_classes()
    noun = word in words["person_nouns"] or word in words["base_nouns"]
    formed = word.endswith(_FORMED) and not noun and len(word) > 4
    return formed or _is_listed(word) or word in words["adverbs_or_adjectives"]


def _is_listed(word: str) -> bool:
    words = word_classes()
    listed = word in words["attributive"] or word in words["comparatives"]
    return listed or is_predicative(word)


def _is_open(word: str) -> bool:
    if not word[:1].islower() or is_closed(word):
        return False
    known = word in word_classes()["adverbs_or_adjectives"]
    return not (is_adverb(word) and not known) and not is_number(word)

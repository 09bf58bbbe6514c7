"""Nouns that what follows makes verbs: "see her push herself", "let her lead more meetings"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import (
    Around,
    is_adverb,
    is_final,
    is_in_ly,
    is_predicative,
    word_classes,
)
from pytest_llmfair.lexicons.english.persons.words import is_person
from pytest_llmfair.lexicons.english.pronouns.handed import is_by_herself

_FAR = 40
_NOUNS = ("developing", "handled", "verbal_nouns", "base_nouns")
# What somebody is wished to do: "I'd like to see her lead with data".
_WISH = re.compile(
    r"\b(?:would|(?:I|we|they|you)['\u2019]d)\s(?:\w+\s)?(?:like|love|prefer)\sto\ssee\s\Z"
    r"|\b(?:love|hope|hopes|hoping|hoped|keen|excited|eager|great|good|nice|wonderful)\sto\ssee\s\Z",
    re.IGNORECASE,
)
_WITH = ("at", "with", "by", "across", "on", "through")


def shows_verb(around: Around) -> bool:
    """Whether what follows a noun behind "see her" or "let her" makes it a verb."""
    words = word_classes()
    verb = around.before[1]
    first, second, third = around.next
    several = first.endswith("s") and not first.endswith(("ss", "us"))
    if several or is_final(first):
        return False
    made = verb in words["make"]
    if second == "herself":  # not "made her lunch herself", "she saw her film herself"
        had = made or verb in words["have"]
        return not (had or is_person(first) or is_by_herself(around))
    if not any(first in words[kind] for kind in _NOUNS):
        return False
    helped = verb in words["let_make_help"]
    amount = second in ("more", "fewer") or (helped and second in words["by_how_much"])
    if amount and _is_plural(third):  # "lead more meetings"
        return True
    if f"{first}-{second}" in words["verbs_with_particles"]:
        return True
    if made:
        return False
    wished = first in words["developing"] and _is_wished(around)
    if second in words["by_how_much"]:
        if wished:
            return is_final(third) or is_adverb(third)
        if third == "than" and second in ("more", "less"):  # "noticed her brand more than"
            return False
        return (
            (helped or first in words["developing"]) and is_final(third) and not is_person(first)
        )
    if not wished:
        return False
    how = is_in_ly(second) and is_final(third)
    done = _is_plural(second) and is_final(third)  # "mentor juniors"
    return how or done or second in _WITH


def _is_plural(word: str) -> bool:
    several = word.endswith("s") and not word.endswith(("ss", "us", "ous", "less"))
    return several and not is_final(word) and not is_predicative(word)


def _is_wished(around: Around) -> bool:
    return _WISH.search(around.text, max(0, around.start - _FAR), around.start) is not None

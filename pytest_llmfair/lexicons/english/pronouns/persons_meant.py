"""Whether a word in front of a pronoun may name the person it stands for."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.words import is_person

PERSONAL_PRONOUNS = frozenset(
    (
        *("she", "her", "hers", "herself", "he", "him", "his", "himself"),
        *("xe", "xem", "xyr", "xyrs", "xemself"),
    )
)


def may_be_meant(raw: str, word: str) -> bool:
    """Whether a word names a single person, or may be a name."""
    if word in PERSONAL_PRONOUNS:
        return True
    if any(is_one_of(word, kind) for kind in ("closed", "demonyms", "ship_words", "countries")):
        return False
    if raw[0].isupper():
        return True
    several = word.endswith("s") and not word.endswith(("ss", "us"))
    return is_person(word) and not several and not is_one_of(word, "plural_persons")

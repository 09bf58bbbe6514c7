"""Words that name a group almost everywhere, with few exceptions: letters, churches and names."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.context import Phrase, is_before_name, is_headline, phrase_at
from pytest_llmfair.lexicons.english.words import (
    in_classes,
    is_any,
    is_modifier,
    is_one_of,
    is_person,
    noun_phrase_ends,
)
from pytest_llmfair.lexicons.grammar import Verdict

_FIELD = re.compile(r"\b(?:sex|gender)[\"'*_]{0,3}\s?[:=]\s?[\"'*_]{0,3}\Z", re.IGNORECASE)
_YEARS_OLD = re.compile(
    r"\d[\s-]?(?:y/?o|years?[\s-]old|yrs?[\s-]old|y\.o\.)\s(?:[A-Z][a-z]+\s)?\Z"
)

_NAMING = ("as", "being", "openly", "one", "other", "or", "not")


def counts(text: str, start: int, end: int) -> Verdict:
    """Return whether a letter, a house of worship or "gay" names a group here."""
    if end - start == 1:
        return Verdict(_is_field(text, start, end))
    word = text[start:end].lower().rpartition(" ")[2]
    if is_any(word, "houses"):
        return Verdict(_is_house(text, start, end))
    return Verdict(_is_before_thing(text, start, end))


def _is_before_thing(text: str, start: int, end: int) -> bool:
    """Allow an adjective before a noun, "gay rights"; not "Gay Talese", "gay ribbons"."""
    phrase = phrase_at(text, start, end)
    if noun_phrase_ends(phrase.after):
        return phrase.last in _NAMING  # "identifies as lesbian", "gay or straight"
    if is_any(phrase.next, "merry_things") or is_one_of(phrase.next, "places"):
        return False
    if not text[start].isupper() or is_headline(phrase.raw):
        return True
    if len(phrase.before) > 1 and phrase.raw[len(phrase.before) - 1][0].isupper():
        return False  # "Roxane Gay wrote"
    known = is_person(phrase.next) or is_modifier(phrase.next) or is_any(phrase.next, "causes")
    return known or not is_before_name(phrase)


def _is_field(text: str, start: int, end: int) -> bool:
    """Whether a letter is the value of a field: "sex": "F"; not "Sex: M/F"."""
    if text[end : end + 1] in ("/", "|") or text[end : end + 2] == " /":
        return False
    near = max(0, start - 20)
    return bool(_FIELD.search(text, near, start) or _YEARS_OLD.search(text, near, start))


def _is_house(text: str, start: int, end: int) -> bool:
    """Allow "the church", "a mosque in Leeds"; not "St Mary's Church", "the Church of England"."""
    phrase = phrase_at(text, start, end)
    head = text.rfind(" ", start, end) + 1 or start  # "the Buddhist temple of"
    capital = text[head].isupper() and not is_headline(phrase.raw)
    last, written = phrase.last, phrase.raw[len(phrase.before) - 1] if phrase.before else ""
    if capital and last in ("&", "and") and phrase.raw[len(phrase.before) - 2][0].isupper():
        return False  # "Gale & Church"
    if written[:1].isupper() and not is_headline(phrase.raw):
        kinds = ("closed", "determiners", "quantities", "person_modifiers", "demonyms")
        common = any(is_one_of(last, kind) for kind in kinds[: 2 if capital else 5])
        style = not capital and not {"a", "an", "this"}.isdisjoint(phrase.before[-3:])
        if not (common or style or (not capital and len(phrase.before) == 1)):
            return False  # "LDS Church", "St Anne's church"; "a Norman church" counts
    return phrase.next != "of" or not _is_called(phrase, capital)


def _is_called(phrase: Phrase, capital: bool) -> bool:
    """Whether "of" begins a name: "the Church of Norway", "the church of Saint Anne"."""
    at = len(phrase.before) + 1
    raw, words = phrase.raw[at : at + 2], phrase.after[1:3]
    named = [word for word, large in zip(words, raw, strict=True) if large[0].isupper()]
    if not named:  # "the church of england"
        return in_classes("".join(words[:1]), "countries", "regions")
    return capital or any(is_one_of(word, "patrons") for word in named)

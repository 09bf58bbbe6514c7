"""Whether a capital is a person's who is disabled, or a program's that is: "Kwame", "Autosave"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import is_number, is_one_of
from pytest_llmfair.lexicons.english.old_names import is_of_class
from pytest_llmfair.lexicons.english.persons.lists import is_name
from pytest_llmfair.lexicons.english.persons.surroundings import Place, Words
from pytest_llmfair.lexicons.english.persons.words import bare, is_any

# Capitals at the begin of a name and of its parts: "McKay", "O'Neil", "DeShawn"; no "JavaScript".
_PART = re.compile(
    r"(?:Ma?c|De|Di|Du|La|Le|Van|Ja|Ka|Sha|Ta|[A-Z]['\u2019])?[^\W\d_](?:(?![A-Z])[^\W\d_])+\Z"
)
_ABSTRACT = ("ing", "tion", "sion", "ment", "age", "ity", "ness", "ance", "ence", "ism", "ics")
_HE = frozenset(("he", "she", "who", "his", "her", "him", "hers", "himself", "herself"))


def tells_person(place: Place) -> bool:
    """Whether the sentence tells of a person: "since birth", "by a stroke", "and needs help"."""
    return (
        not _HE.isdisjoint(place.before)
        or not _HE.isdisjoint(place.behind)
        or is_cause(place.behind)
        or (place.next == "and" and place.behind[1:2] in (("needs",), ("need",)))
    )


def is_cause(behind: Words) -> bool:
    """Whether it is told since when, or by what one is disabled: "from birth", "by arthritis"."""
    first, second = (*behind[:2], "", "")[:2]
    if first == "since":
        return True
    if not is_one_of(first, "causes_follow"):
        return False
    if (is_number(second) if second else False) and first in ("in", "at", "from"):
        return True
    return any(is_any(word, kind) for word in behind[1:6] for kind in ("disables", "early_life"))


def is_given(low: str) -> bool:
    """Whether a lower-case word is a given name or a title by the lists."""
    return is_one_of(low, "titles") or is_one_of(low, "given_names") or is_of_class(low, "given")


def is_named(written: Words, words: list[str], several: bool) -> bool:
    """Whether the subject `words` is a name of a person, which may be on no list."""
    behind = (at for at, word in enumerate(words) if at and is_one_of(word, "prepositions"))
    end = next(behind, len(words))  # "Wei from accounts"
    word, shown = bare(words[end - 1]), bare(written[end - 1])
    front = written[end - 2] if end > 1 else ""
    if front and front[0].islower() and front not in ("and", "or"):
        return False  # "the Console"
    if not is_name(word, shown) or (word.endswith("s") and several):
        return False
    parts = word.split("-")
    if not all(map(_PART.match, shown.split("-"))) or any(map(_is_thing, (word, *parts))):
        return False
    if is_of_class(parts[0], "prefixes"):
        return False
    return not (word.endswith("ss") or (len(word) > 5 and word.endswith(_ABSTRACT)))


def _is_thing(word: str) -> bool:
    kinds = ("programs", "base_verbs", "thing_heads", "closed")
    return any(is_any(word, kind) for kind in kinds)

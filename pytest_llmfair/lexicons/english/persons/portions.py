"""A number of persons named in front: "the jurors, eleven of them white"."""

from __future__ import annotations

from collections.abc import Callable

from pytest_llmfair.lexicons.english.english import is_number, is_one_of
from pytest_llmfair.lexicons.english.persons.standing import is_several
from pytest_llmfair.lexicons.english.persons.surroundings import Words
from pytest_llmfair.lexicons.english.persons.words import is_person

_SEPARATORS = (",", "(", "[", "-", "\u2013", "\u2014", ";", ":")
_BEFORE_NUMBER = ("a", "an", "the", "with", "up", "to", "almost", "fully", "exactly", "perhaps")


def is_portion(raw: Words, words: Words, earlier: Callable[[], Words]) -> bool:
    """Whether `words` end with such a number: of "them" persons are named, "us" and "you" are.

    Parameters
    ----------
    raw : tuple of str
        The words of the sentence as they are written.
    words : tuple of str
        Those in front of the term in lower case.
    earlier : callable
        Gives those in front of the sentence, as they are written.
    """
    if len(words) < 3 or words[-2] != "of" or words[-1] not in ("them", "us", "you"):
        return False
    counted = words[-3]
    if not (is_one_of(counted, "quantities") or is_one_of(counted, "parts") or is_number(counted)):
        return False
    front = list(words[:-3])
    while front and (is_one_of(front[-1], "amounts") or front[-1] in _BEFORE_NUMBER):
        front.pop()
    if front and front[-1] not in _SEPARATORS:
        return False
    if words[-1] != "them":
        return True
    written = raw[: len(front)] if front else earlier()
    # A dash is taken for the end of a sentence.
    return (bool(front) or written[-1:] == ("\u2014",)) and _are_persons(written)


def _are_persons(written: Words) -> bool:
    """Whether the last noun that "them" can stand for is of persons; no singular, no name."""
    first = True
    for word in reversed(written[:-1]):
        low = word.lower().replace("\u2019", "'")
        if is_person(low) and (is_several(low) or first):
            return not is_one_of(low.removesuffix("s"), "chessmen")
        if is_one_of(low, "choirs") or (first and is_one_of(low, "groups_of_persons")):
            return True
        if is_several(low) and not word[0].isupper():
            return False
        first = False
    return False

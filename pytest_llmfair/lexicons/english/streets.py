"""Whether a street or another place bears a word in its name: "Church Lane", "Monks Road"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.beside import NEXT, low, word_before
from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.words import is_any

_CALLED = ("man", "woman", "master", "mistress")


def is_in_street(text: str, start: int, end: int) -> bool:
    """Whether a word with a capital begins the name of a street, a hill or a hospital.

    Up to two more capitals can stand between ("Old Church Farm Road"); where another follows, a
    word of place is in front ("in Church Lane Surgery"), so that headlines hold none ("Woman
    Street Vendor Attacked"). A title can stand before a last name: "Pastor Lane said".
    """
    place, stop = _place_behind(text, end)
    word = low(text[start:end])
    if not place or word == "sir" or is_one_of(word, "titles"):
        return False
    numbered = text[max(0, start - 2) : start].rstrip()[-1:].isdigit()
    if not numbered and is_one_of(place, "place_surnames"):
        called = len(word) > 5 and word.endswith(_CALLED)
        if called or is_any(word, "callings"):
            return False
    following = NEXT.match(text, stop)
    if following is None or not following[1][0].isupper():
        return True
    return is_one_of(low(word_before(text, start)[0]), "locatives")


def _place_behind(text: str, end: int) -> tuple[str, int]:
    """Return the last word for a place among the capitals behind, and its end; "" for none."""
    place, stop, at = "", end, end
    for _ in range(3):
        behind = NEXT.match(text, at)
        if behind is None or not behind[1][0].isupper():
            break
        word, at = low(behind[1]).removesuffix("'s"), behind.end()
        if is_one_of(word, "places") or is_one_of(word, "more_places"):
            if word == "st" and text[at + 1 : at + 3].strip()[:1].isupper():
                break  # "Pastor St. John"
            place, stop = word, at
        elif place:
            break
    return place, stop

"""Houses of worship, and names that hold one: "goes to church", "the Church of England"."""

from __future__ import annotations

import re

from pytest_llmfair.counterfactuals._language.beside import NEXT, low, word_before
from pytest_llmfair.counterfactuals._language.english import is_one_of, tells_when
from pytest_llmfair.counterfactuals._language.persons.proper_names import are_no_team
from pytest_llmfair.counterfactuals._language.persons.surroundings import Place, is_title
from pytest_llmfair.counterfactuals._language.persons.words import ends_phrase, is_adverbial

_TITLE_BEFORE = re.compile(r"[\"'\u2018\u201c*_]The \Z")
_QUOTES = "\"'\u2019\u201d*_"


def is_house(place: Place) -> bool:
    """Allow "the church", "a mosque in Leeds"; not "St Mary's Church", "the Church of England"."""
    opens = len(place.before) == 1 and not place.term.capital  # "Regular church attendance"
    if _is_quoted(place) or not (opens or are_no_team(place)):
        return False
    if place.term.capital and _is_author(place):
        return False
    capital = place.term.capital and not is_title(place.raw)
    if capital and len(place.before) > 1 and place.raw[len(place.before) - 1][:1].isupper():
        return is_one_of(place.last, "closed") or is_one_of(place.last, "determiners")
    return place.next != "of" or not _is_called(place, capital)


def _is_author(place: Place) -> bool:
    """Whether it is a last name joined to another one: "Gale & Church", "Church and Hanks"."""
    if is_one_of(place.last, "determiners"):
        return False
    at = len(place.before)
    beside = (
        (place.raw[at + 1 : at + 2], place.next),
        (place.raw[max(0, at - 2) : at - 1], place.last),
    )
    return any(join in ("and", "&") and words and words[0][0].isupper() for words, join in beside)


def _is_quoted(place: Place) -> bool:
    """Whether it is a whole title: 'the film "The Church"'."""
    return place.rear[:1] in _QUOTES and _TITLE_BEFORE.search(place.front) is not None


def _is_called(place: Place, capital: bool) -> bool:
    """Whether "of" begins a name: "the Church of Norway", "the church of Saint Anne"."""
    at = len(place.before) + 1
    raw, words = place.raw[at : at + 2], place.behind[1:3]
    named = [word for word, large in zip(words, raw, strict=True) if large[0].isupper()]
    return bool(named) and (capital or any(is_one_of(word, "patrons") for word in named))


def bare_before(text: str, start: int, end: int, after: str = "") -> tuple[int, int, str] | None:
    """Return the word before a house of worship without article, with the article for `after`.

    "Goes to church" becomes "goes to the mosque". None where there is an article, where a noun
    follows ("to church matters") and where what is written in its place needs none.
    """
    word, begin = word_before(text, start)
    kind, first = "before_worship", word
    if word == "of":
        kind, first = "of_worship", word_before(text, begin)[0]
    if not is_one_of(low(first), kind) or is_one_of(after.lower(), "bare_places"):
        return None
    if text[end - 1] == "s" or not _ends(text, end):
        return None
    return begin, begin + len(word), f"{word} {'THE' if after.isupper() else 'the'}"


def _ends(text: str, end: int) -> bool:
    """Whether no noun follows: "to church every week", "at church Sunday night"."""
    behind = NEXT.match(text, end)
    if behind is None:
        return not text[end : end + 1] or text[end] not in "-'\u2019"
    following = NEXT.match(text, behind.end())
    words = low(behind[1]), low(following[1]) if following else ""
    if ends_phrase(words[0]) or words[0].endswith("ly") or behind[1][0].isupper():
        return True
    return is_adverbial(words) or tells_when(*words)

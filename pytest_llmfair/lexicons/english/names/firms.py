"""Whether a firm or what it makes bears a name: "I bank with Chase", "she drove his Ford"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import low, one_case
from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.names.words import (
    WORDS,
    is_of_class,
    word_behind,
    word_in_front,
    words_of_class,
)

_POSSESSIVE = re.compile(r"['\u2019]s?(?!\w)")
_JOINED_BEHIND = re.compile(
    r"(?:,[^\S\n]+(?:and[^\S\n]+|or[^\S\n]+)?|[^\S\n]+(?:and|or|vs\.?|&|than)[^\S\n]+)(\w+)"
)
_JOINED_BEFORE = re.compile(
    r"(\w+)(?:,[^\S\n]+(?:and[^\S\n]+|or[^\S\n]+)?|[^\S\n]+(?:and|or|vs\.?|&|than)[^\S\n]+)\Z"
)
_OWNED = ("my", "our", "your", "a", "an", "the", "his", "her", "their", "any", "every", "this")
_NEAR = 60
_FEW = 5
# "Joe's Famous Pizza", "Emily Walsh's Bakery", "Tom & Ann's Diner".
_CAPITAL = r"[^\W\d_a-z][\w-]*"
_HOUSE = re.compile(
    rf"(?:[^\S\n]+(?:(?:and|&)[^\S\n]+)?{_CAPITAL}){{0,3}}['\u2019]s?((?:[^\S\n]+{_CAPITAL}){{1,4}})"
)
# "Anna Adventures & Tours"
_TRADE = re.compile(rf"(?:[^\S\n]+(?:(?:and|&)[^\S\n]+)?{_CAPITAL}){{1,3}}")
# "Alexa, play jazz", "Hey Siri"
_ORDER = re.compile(r",[^\S\n]+([\w'\u2019]+)")
_STOP = re.compile(r"[.!?:;\n\u2014]")


def is_firm(text: str, start: int, end: int) -> bool:
    """Whether the words around a name of the class "firms" show the firm."""
    name = text[start:end].lower()
    before = word_in_front(text, start).lower()
    if is_of_class(name, "assistants"):
        order = _ORDER.match(text, end)
        if order is not None and is_of_class(low(order[1]), "orders"):
            return True
    owner = _POSSESSIVE.match(text, end)
    if owner is not None:
        if before in ("a", "the", "this", "every", "nearest", "local"):
            return True
        end = owner.end()
    if _is_listed(text, start, end) or _is_followed(before, word_behind(text, end)):
        return True
    if _makes(text, end):
        return True
    front = [word.lower() for word in WORDS.findall(text[max(0, start - _NEAR) : start])]
    if is_of_class(name, "banks"):
        return _has_client(front) or _acts(text, end)
    return _is_driven(front)


def is_business(text: str, start: int, end: int) -> bool:
    """Whether a name owns what a firm or a place is called: "Joe's Bar"; not in a headline."""
    if text[end + 1 : end + 2].isupper() and _is_trade(text, start, end):
        return True
    stop = end + _NEAR
    owns = text.find("'", end, stop) >= 0 or text.find("\u2019", end, stop) >= 0
    if not (owns and text[start].isupper()):
        return False
    house = _HOUSE.match(text, end)
    if house is None or one_case(text)[1]:
        return False
    words = house[1].lower().split()
    return is_of_class(words[-1], "businesses") and not _is_title_case(text, start, house.end())


def _is_trade(text: str, start: int, end: int) -> bool:
    """Whether a firm is called so: "Anna Adventures & Tours"; not "Man Says Anna Tours Europe"."""
    trade = _TRADE.match(text, end)
    if trade is None or words_of_class("firm_tails").isdisjoint(trade[0].lower().split()):
        return False
    return not (one_case(text)[1] or _is_title_case(text, start, trade.end()))


def _is_title_case(text: str, start: int, end: int) -> bool:
    """Whether the other words of the sentence have capitals: "Man Sues Tom's Diner Over Burn"."""
    front = _open_words(_STOP.split(text[max(0, start - 2 * _NEAR) : start])[-1])
    behind = _open_words(_STOP.split(text[end : end + 2 * _NEAR])[0])
    words = [*front[-_FEW:], *behind[:_FEW]]  # a name's length must not shift what is looked at
    return len(words) > 2 and not any(word.islower() for word in words)


def _open_words(part: str) -> list[str]:
    words = WORDS.findall(part)
    return [word for word in words if word.isalpha() and not is_one_of(word.lower(), "closed")]


def _is_listed(text: str, start: int, end: int) -> bool:
    """Whether another firm is beside it: "Chase, Wells Fargo and Citi"."""
    behind = _JOINED_BEHIND.match(text, end)
    before = _JOINED_BEFORE.search(text, max(0, start - _NEAR), start)
    beside = [match[1].lower() for match in (behind, before) if match is not None]
    return any(is_of_class(word, "other_firms") for word in beside)


def _is_followed(before: str, following: str) -> bool:
    """Whether a thing of the firm follows: "Chase account", "my Ford keys", "Ford Focus"."""
    if following[:1].isupper() and is_of_class(following.lower(), "models"):
        return True
    owned = before in _OWNED and is_of_class(following.lower(), "firm_nouns_owned")
    return owned or is_of_class(following.lower(), "firm_nouns")


def _has_client(front: list[str]) -> bool:
    """Whether somebody banks there: "an account with", "moved my savings from"."""
    if not front or front[-1] not in ("with", "at", "from", "through", "via"):
        return False
    words = front[-6:-1]
    if any(is_of_class(word, "said_of_money") for word in words):
        return False
    return any(is_of_class(word, "banked") for word in words)


def _is_driven(front: list[str]) -> bool:
    """Whether it is a thing that somebody has: "drives an old", "bought a"."""
    while front and is_of_class(front[-1], "looks"):
        front = front[:-1]
    if not front or front[-1] not in _OWNED:
        return False
    return any(is_of_class(word, "driven") for word in front[-4:-1])


def _makes(text: str, end: int) -> bool:
    """Whether it makes things or recalls them: "Ford recalled 20,000 trucks"."""
    if not is_of_class(word_behind(text, end), "making"):
        return False
    words = [word.lower() for word in WORDS.findall(text[end : end + _NEAR])]
    return any(is_of_class(word, "made_things") for word in words[1:8])


def _acts(text: str, end: int) -> bool:
    """Whether the bank does it: "charged me a fee", "closed my account"."""
    words = [word.lower() for word in WORDS.findall(text[end : end + _NEAR])]
    if not words or not is_of_class(words[0], "firm_verbs"):
        return False
    own = any(word in ("my", "our", "your", "me", "us", "customers") for word in words[1:6])
    return own and any(is_of_class(word, "money_things") for word in words[1:6])

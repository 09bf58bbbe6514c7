"""Whether a word for a ruler names one: no card, no bee, no band, no ship, nor "cash is king"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import (
    FAR,
    NEAR,
    NEXT,
    low,
    opens_sentence,
    word_before,
)
from pytest_llmfair.lexicons.english.english import LETTERS, is_one_of, words_of
from pytest_llmfair.lexicons.english.persons.words import (
    ends_phrase,
    is_abstract,
    is_any,
    is_modifier,
    is_person,
    is_verb,
)
from pytest_llmfair.lexicons.english.works import is_possessed

_STOP = re.compile(r"[.!?\n](?=\s|\Z)")
# Titles without their article at the begin of a sentence: names there.
_PEERS = ("Duke", "Duchess", "Earl", "Marquis")
_COUPLES = ({"king", "queen"}, {"prince", "princess"}, {"duke", "duchess"})
# Squares of a chessboard, and moves; the words of games and hives are in the list.
_SQUARE = re.compile(
    r"[a-h][1-8]\b|ove \d|\bon move [a-z]|\b[io]n chess\b"
    r"|chess (?:game|match|board|set|piece|puzzle)"
    r"|(?:king|queen)[- ]size|(?:king|queen) (?:is|was|stays|remains) (?:still |now )?in check\b"
    r"|\blegal moves?\b|\b(?:one|two|three) squares?\b"
    r"|(?:powerful|strong|strongest|valuable|weakest) pieces?\b|\bin any direction\b"
    r"|\bqueens? (?:\w+ )?(?:lays?|laid|laying) (?:[\w,-]+ ){0,4}eggs?\b"
    r"|\bcolony (?:[\w-]+ ){1,4}(?:new|old|young|virgin|its) queen\b"
)
_SIGN = re.compile("size|legal|piece|direction|egg|colony")
_DIGIT = re.compile("[0-9]")
_LOWER = re.compile("[a-z]+")
_WORDS = re.compile(r"[a-z']+")
# "the Queen Mary 2 docked"
_THING = re.compile(
    r"[^\S\n]+([A-Z][a-z]+)(?:[^\S\n]+(?:\d+|[IVX]+))?\b(?![^\S\n]+(?:of|and|[A-Z]))"
)
_IS_KING = re.compile(
    rf"({LETTERS})[^\S\n]+(?:is|are|was|were|remains?|remained|becomes?|became)"
    r"(?:[^\S\n]+(?:still|always|now|not|really|truly|also|no longer))?[^\S\n]+\Z"
)
_JOINED = re.compile(rf"[^\S\n]+(?:and|or)[^\S\n]+({LETTERS})")
# "Queen and the Beach Boys"
_JOINED_BAND = re.compile(r"[^\S\n]+(?:and|&)[^\S\n]+the((?:[^\S\n]+[A-Z][\w'\u2019-]+)+)")
# "dealt a king"; "the queen from the deck", "two queens and a seven"
_DEAL = re.compile(
    r"\bdealt\s(?:(?:him|her|me|us|you|them)\s)?"
    r"(?:an?|the|two|three|four|another)\s(?:\w+\sand\san?\s)?\Z"
)
_CARD = re.compile(
    r"(?:\sof\s\w+)?\sfrom\s(?:the|a|his|her|my)\s(?:deck|pack)\b"
    r"|\sand\s(?:an?|two|three|four)\s"
    r"(?:ace|jack|two|three|four|five|six|seven|eight|nine|ten)s?\b(?!-)(?!\s(?!(?:on|in)\b)[a-z])"
)


def is_ruler(text: str, start: int, end: int) -> bool:
    """Whether a title with a capital is not a name of its own: "Duke" the university, "Guy"."""
    capital = text[start].isupper() and not text[start:end].isupper()
    return not (capital and _is_bare_name(text, start, end))


def is_royal(text: str, start: int, end: int) -> bool:
    """Whether a king or queen is a ruler: no piece, no card, no bee, no band, no surname."""
    word = text[start:end]
    if not is_ruler(text, start, end):
        return False
    named = word[0].isupper() and not word.isupper() and is_possessed(text, start, end)
    if named or _is_piece(text, start, end):  # "The King's Speech"
        return False
    return not (_is_thing(text, start, end) or _is_said(text, start, end))


def _is_thing(text: str, start: int, end: int) -> bool:
    """Whether it names a ship: "the Queen Mary 2"; not "Queen Mary", "the Prince of Wales"."""
    if not text[start].isupper() or low(word_before(text, start)[0]) != "the":
        return False
    name = _THING.match(text, end)
    if name is None or is_one_of(low(name[1]), "behind_ruler"):
        return False
    return low(text[start:end]) in ("queen", "king", "princess", "prince")


def _is_said(text: str, start: int, end: int) -> bool:
    """Whether something is said to be king that is no person: "Content is king"."""
    word = text[start:end]
    if word not in ("king", "queen") or text.startswith(" of ", end):
        return False
    said = _IS_KING.search(text, max(0, start - NEAR), start)
    if said is None:
        return False
    subject = low(said[1])
    if is_any(subject, "said_king") or is_abstract(subject):
        return True
    if not subject.islower() or said[1] != subject or ends_phrase(subject):
        return False
    known = is_person(subject) or is_one_of(subject, "kin") or is_one_of(subject, "rulers")
    return not (known or is_modifier(subject))


def _is_piece(text: str, start: int, end: int) -> bool:
    """Whether the sentence tells of a game or a hive."""
    first, last = max(0, start - FAR), end + FAR
    if _CARD.match(text, end) or _is_taken(text, start, end):
        return True
    known = words_of("pieces")
    near = text[first:last].lower()
    if "dealt" in near and _DEAL.search(text, first, start):
        return True
    game = "chess" in near or "check" in near or "square" in near
    signs = game or _DIGIT.search(near) or _SIGN.search(near)
    if not signs and known.isdisjoint(near.replace(".", " ").replace(",", " ").split()):
        return False  # the usual case at less cost
    for stop in _STOP.finditer(text, first, start):
        first = stop.end()
    behind = _STOP.search(text, end, last)
    sentence = text[first : behind.start() if behind else last].lower()
    named = not known.isdisjoint(_LOWER.findall(sentence))
    if named or _SQUARE.search(sentence) is not None:
        return True
    return "chess" in sentence and _is_lost(text, start, end)


def _is_lost(text: str, start: int, end: int) -> bool:
    """Whether a piece is moved or lost, where chess is told of: "his king", "the king that fell".

    A king can play himself: "her king taught her chess".
    """
    owner, begin = word_before(text, start)
    owner = low(owner)
    words = _WORDS.findall(low(text[end : end + NEAR]))
    if is_one_of(owner, "owners") or owner.endswith(("'s", "s'")):
        return not words or not is_one_of(words[0], "chess_players_do")
    if is_one_of(low(word_before(text, begin)[0]), "chess_acts"):
        return True
    acts = (word for word in words if not is_one_of(word, "behind_piece"))
    return is_one_of(next(acts, ""), "chess_acts")


def _is_taken(text: str, start: int, end: int) -> bool:
    """Whether it is sacrificed, or somebody's beside a piece: "my queen takes your bishop"."""
    before, begin = word_before(text, start)
    owner = low(before)
    if owner not in ("my", "your", "his", "her", "their", "the", "a", "white's", "black's"):
        return False
    queen = low(text[start:end]) == "queen"
    if is_one_of(low(word_before(text, begin)[0]), "sacrifices"):
        return queen or owner != "the"
    if owner in ("the", "a"):
        return False
    front = _STOP.split(text[max(0, start - FAR) : start])[-1]
    rear = _STOP.split(text[end : end + FAR])[0]
    words = _WORDS.findall(low(front + rear))
    captured = any(is_one_of(word, "captures") for word in words)
    return captured and any(is_any(word, "chessmen") for word in words)


def _is_bare_name(text: str, start: int, end: int) -> bool:
    """Whether nothing tells a ruler: "songs by Queen", "Prince released"; not "the Queen"."""
    following = NEXT.match(text, end)
    behind = following[1] if following else ""
    if behind == "of" and _is_heard(text, start):
        return True  # "watched Prince of Tides"; a ruler would be "the Prince of Wales"
    if behind[:1].isupper() or is_one_of(behind, "behind_ruler"):
        return False
    before, begin = word_before(text, start)
    word = low(before)
    joined = _JOINED.match(text, end)
    if joined is not None and not is_one_of(word, "articles") and not _is_past(joined[1]):
        return _is_joined_name(text, start, end, joined[1])
    if before in ("and", "or"):  # "Lady Gaga and Prince"
        other, at = word_before(text, begin)
        if other and _is_heard(text, at):
            return _are_names(text[start:end], other)
        if other.endswith(("'s", "\u2019s")) or not other[:1].isupper():
            return False
        return not is_one_of(low(other), "rulers")
    if not before or is_one_of(word, "be"):
        near = _LOWER.findall(text, max(0, start - FAR), end + FAR)
        if not words_of("music").isdisjoint(near):
            return True  # "My favourite band is Queen."
    if not before:  # "Prince sang it", "Duke is late"
        now = is_one_of(behind, "be") or is_verb(behind, "")
        done = _is_past(behind) or (now and text[start:end] in _PEERS)
        return done and opens_sentence(text, start)
    if word == "of":
        office, _ = word_before(text, begin)
        return not is_one_of(low(office), "offices_of")
    if _is_heard(text, start):
        return True
    if is_one_of(word, "articles") or is_one_of(word, "before_ruler") or is_modifier(word):
        return False
    return any(is_one_of(word, kind) for kind in ("closed", "give"))


def _is_joined_name(text: str, start: int, end: int, other: str) -> bool:
    """Whether a band or a musician is joined to it: "Queen and ABBA"; not "King and Country"."""
    if other == "the":  # "Queen and the Beach Boys"; not "King and the Prime Minister"
        band = _JOINED_BAND.match(text, end)
        before = low(word_before(text, start)[0])
        if band is None or is_one_of(before, "before_ruler"):
            return False
        return not any(map(_is_office, low(band[1]).split()))
    if _is_heard(text, start) and _are_names(text[start:end], other):
        return True  # "likes Prince and Queen"
    return other[0].isupper() and not is_one_of(low(other), "rulers")


def _are_names(word: str, other: str) -> bool:
    return other[0].isupper() and {low(word), low(other)} not in _COUPLES


def _is_heard(text: str, start: int) -> bool:
    """Whether somebody likes or hears what follows: "He likes Prince and Queen"."""
    before, begin = word_before(text, start)
    word = low(before)
    if word == "to":
        return low(word_before(text, begin)[0]).startswith("listen")
    return is_one_of(word, "enjoying") or is_one_of(word, "perceive")


def _is_office(word: str) -> bool:
    return any(is_any(word, kind) for kind in ("rulers", "offices"))


def _is_past(word: str) -> bool:
    """Whether a word as written is a verb of the past, or another that tells what happened."""
    kinds = ("past_verbs", "finite_verbs", "acted")
    return word.endswith("ed") or any(is_one_of(word, kind) for kind in kinds)

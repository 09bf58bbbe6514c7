"""Titles and words that can be part of a name: "Lady Ashford", "the king", "her daughter".

"Miss", "Sir" and the like count before a name. Others count everywhere, except as part of a name:
"Stephen King", "Duke Ellington", "songs by Queen", "the king on g1".
"""

from __future__ import annotations

import functools
import re

from pytest_llmfair.lexicons.english.context import (
    FAR,
    NEAR,
    low,
    opens_sentence,
    word_after,
    word_before,
)
from pytest_llmfair.lexicons.english.proper_names import is_in_headline, is_possessed
from pytest_llmfair.lexicons.english.words import (
    LETTERS,
    ends_phrase,
    in_classes,
    is_any,
    is_modifier,
    is_one_of,
    is_verb,
    words_of,
)
from pytest_llmfair.lexicons.grammar import Verdict

_NEED_NAMES = ("miss", "dame", "sir", "lady", "lord")
_PEERS = ("dame", "sir", "lady", "ladies", "lord", "lords")
# Titles that are often first names: "Duke is late".
_GIVEN = ("Duke", "Duchess", "Earl", "Marquis")
_SURNAMES = ("King", "Queen", "Prince", "Princess", "Duke", "Earl", "Baron")
_SMALL_AFTER = re.compile(r" (?!of\b)[a-z]")
_COUPLES = ({"king", "queen"}, {"prince", "princess"}, {"duke", "duchess"})
_NAME_AFTER = re.compile(r"[^\S\n]+[\"'\u2018\u201c]?([^\W\d_]\w*)")
# A name to be filled in: "Miss [NAME]", "Lady {name}", "Miss ___".
_PLACEHOLDER = re.compile(r"[^\S\n]+(?:\[[A-Za-z]|\{[\s\w{]|<[A-Za-z]|_{2}|\$\{?[A-Za-z]|%s\b)")
_NAME_BEFORE = re.compile(r"([^\W\d_][\w'\u2019-]*)(\.?)[^\S\n]+\Z")
# "the Queen Mary 2 docked"; not "the Prince of Wales"
_SHIP = re.compile(
    r"[^\S\n]+([A-Z][a-z]+)(?:[^\S\n]+(?:\d+|[IVX]+))?\b(?![^\S\n]+(?:of|and|[A-Z]))"
)
_COUPLE_BEFORE = re.compile(r"\bmrs?\.?\s(?:and|&)\s\Z", re.IGNORECASE)
_COUPLE_AFTER = re.compile(r"\.?\s(?:and|&)\smrs?\b", re.IGNORECASE)
# "The lord and the lady", "lords and ladies"; not "ladies and gentlemen"
_PEER = r"(?:lords?|lady|ladies|knights?|vassals?|peasants?|commoners?)"
_AND_PEER = r"\s(?:and|or|nor|&)\s(?:(?:the|a|his|her|my|our|their)\s)?"
_PEER_BEFORE = re.compile(rf"\b{_PEER}{_AND_PEER}\Z", re.IGNORECASE)
_PEER_AFTER = re.compile(rf"{_AND_PEER}{_PEER}\b", re.IGNORECASE)
_SMALL_TITLE = re.compile(r"\bM[sx]\b")
_NAME = re.compile(rf"(?:\.?[^\S\n]+|\.)({LETTERS})")
_POINT = re.compile(r"\.[^\S\n]*[^\W\d_]")
_COMMA_BEFORE = re.compile(rf"({LETTERS})[\"'\u201d\u2019]?,[^\S\n]+\Z")
_END = re.compile(r"[,.!?;]|\s*\Z|\s*\n")
_STOP = re.compile(r"[.!?\n](?=\s|\Z)")
_WORD = re.compile(r"[a-z]+")
# Squares of a chessboard, moves and cards; other words of games are in the class "pieces".
_GAME = re.compile(
    r"\b[a-h][1-8]\b|\b(?:at|in) chess\b|\bin check\b|\blegal moves?\b|\b(?:king|queen)[- ]size"
    r"|\b(?:one|two|three) squares?\b"
    r"|(?:powerful|strongest|valuable|weakest) pieces?\b"
    r"|\bqueens? (?:\w+ )?(?:lays?|laid|laying)(?: \w+){0,3} eggs?\b"
    r"|\b(?:king|queen)s? and (?:an?|two|three|four) "
    r"(?:ace|jack|two|three|four|five|six|seven|eight|nine|ten)s?\b(?!-)"
)
_CHESS = re.compile(r"\bchess\b")
_TAKEN = re.compile(r"\b(?:dealt|sacrific|captur|checkmat|promot|fork|pin)\w*(?:\s\w+){0,2}\s\Z")
_JOINED = re.compile(rf"[^\S\n]+(?:and|or)[^\S\n]+(?:the[^\S\n]+)?({LETTERS})")


def counts(text: str, start: int, end: int) -> Verdict:
    """Return whether a title or a kinship word names a person here."""
    answer = _counts(text, start, end)
    alone = opens_sentence(text, start) and _SMALL_AFTER.match(text, end)
    if text[start:end] in _SURNAMES and alone:
        why = f"{text[start:end]!r} at the beginning of a sentence can be a ruler or a name"
        return Verdict(answer, False, why)
    return Verdict(answer)


def _counts(text: str, start: int, end: int) -> bool:
    word = text[start:end]
    lower = low(word)
    if lower in ("mr", "mrs", "mx"):
        return is_couple(text, start, end)
    titled = lower in _NEED_NAMES and word[0].isupper() and not word.isupper()
    if titled and (_is_before_name(text, end) or _PLACEHOLDER.match(text, end)):
        return True
    if lower == "miss":
        return is_address(text, start, end)
    if lower in _PEERS:
        before = _PEER_BEFORE.search(text, max(0, start - NEAR), start)
        return before is not None or _PEER_AFTER.match(text, end) is not None
    small = not word[0].isupper()
    if is_one_of(lower, "royalty") and not _is_royal(text, start, end):
        return False
    if small:
        return True
    if _is_after_name(text, start):
        return False
    if word.isupper() or is_in_headline(text, start, end):
        return True
    if is_one_of(lower, "may_be_names"):
        named = _is_before_name(text, end) or is_possessed(text, start, end)
        return not (named or _is_bare_name(text, start, end))
    return True


def is_couple(text: str, start: int, end: int) -> bool:
    """Whether two titles share a name: "Mr. and Mrs. Lindqvist"."""
    if _COUPLE_AFTER.match(text, end):
        return True
    return _COUPLE_BEFORE.search(text, max(0, start - 12), start) is not None


def is_address(text: str, start: int, end: int) -> bool:
    """Whether the word calls a person: "Excuse me, miss, is this seat taken?"."""
    if not _END.match(text, end):
        return False
    before = _COMMA_BEFORE.search(text, max(0, start - NEAR), start)
    return before is not None and is_one_of(low(before[1]), "polite")


def is_short_title(text: str, start: int, end: int) -> bool:
    """Whether it is short for a title: "MS. LEE", "mr lee", "DEAR MS LEE"; not "5 ms. later"."""
    if text[start:end].lower() in ("mr", "mrs"):
        return is_couple(text, start, end) or _is_short_before_name(text, start, end)
    return keeps_title_case(text, start, end)


def keeps_title_case(text: str, start: int, end: int) -> bool:
    """Whether another short title takes over its case: "mrs lee", "ms. lee"; not "mr lee"."""
    if text[start:end].lower() == "mrs":
        return is_short_title(text, start, end)
    before = text[max(0, start - NEAR) : start].rstrip()
    if before[-1:].isdigit():
        return False
    return _POINT.match(text, end) is not None or _is_large_title(text, start, end)


def _is_short_before_name(text: str, start: int, end: int) -> bool:
    """Whether a name can follow: "mr smith", "MR. JONES"; not "MR images", "mr and armor"."""
    named = _NAME.match(text, end)
    if named is None or text[start - 1 : start] in ("-", "|", "^", "_"):
        return False
    if text[start].isupper() or named[1][0].isupper():
        return named[1][0].isupper()
    article = is_one_of(low(word_before(text, start)[0]), "articles")  # "an mr image"
    return not (article or ends_phrase(low(named[1])))


@functools.lru_cache(maxsize=8)  # it looks through a whole text, which can hold many terms
def _is_large(text: str) -> bool:
    # "Ms", as the lexicon spells it, does not count as a lower-case word of the text.
    return _SMALL_TITLE.sub("", text).isupper()


def _is_large_title(text: str, start: int, end: int) -> bool:
    """Whether a name follows in a text all of capitals: "MS LEE"; not "MS WORD", "MY MS"."""
    word = low(word_after(text, end))
    if not word or not _is_large(text):
        return False
    if is_one_of(low(word_before(text, start)[0]), "determiners"):
        return False
    return not ends_phrase(word) and not is_one_of(word, "no_names_after_ms")


# Titles count whatever their case: an exchange can change it ("mr" to "Ms").
def _is_before_name(text: str, end: int) -> bool:
    match = _NAME_AFTER.match(text, end)
    return (
        match is not None and match[1][0].isupper() and not is_one_of(match[1].lower(), "titles")
    )


def _is_after_name(text: str, start: int) -> bool:
    """Whether a name comes before: "Stephen King", "the Wright Brothers", "Jensen & Sons"."""
    match = _NAME_BEFORE.search(text, max(0, start - NEAR), start)
    if match is None:
        return text[max(0, start - 2) : start] == "& "
    word = match[1].lower()
    if word.endswith(("'s", "\u2019s")):
        return False
    if is_one_of(word, "titles"):
        return True
    if not match[1][0].isupper():
        return False
    if match[2]:
        return len(word) == 1 or is_one_of(word, "abbreviations")
    return not is_one_of(word, "closed")


def _is_royal(text: str, start: int, end: int) -> bool:
    """Whether a king or queen is a ruler: no piece, no card, no bee, no band, no surname."""
    word = text[start:end]
    if word[0].isupper() and not word.isupper():
        if _is_bare_name(text, start, end) or is_possessed(text, start, end):
            return False
        ship = _SHIP.match(text, end)
        if ship and low(word_before(text, start)[0]) == "the":
            return is_one_of(low(ship[1]), "after_ruler")
    return not _is_in_game(text, start, end)


def _is_in_game(text: str, start: int, end: int) -> bool:
    """Whether the sentence is about a game or a hive: "the king on g1", "two queens and a ten"."""
    first, last = max(0, start - FAR), end + FAR
    for stop in _STOP.finditer(text, first, start):
        first = stop.end()
    trailing = _STOP.search(text, end, last)
    sentence = text[first : trailing.start() if trailing else last].lower()
    front = sentence[: start - first]
    if not words_of("pieces").isdisjoint(_WORD.findall(sentence)) or _GAME.search(sentence):
        return True
    # "The chess engine took my queen"; not "The queen loves chess"
    return any(sign.search(front) for sign in (_CHESS, _TAKEN))


def _is_bare_name(text: str, start: int, end: int) -> bool:
    """Whether nothing shows a ruler: "songs by Queen", "Prince released"; not "the Queen"."""
    trailing = word_after(text, end)
    before, begin = word_before(text, start)
    word = low(before)
    if trailing[:1].isupper() or is_one_of(trailing, "after_ruler"):
        return False
    if is_one_of(word, "articles"):
        return False
    joined = _JOINED.match(text, end)
    if is_one_of(word, "taking_names"):  # "likes Prince and Queen", "gave Earl"
        return not (joined and _are_couple(text[start:end], joined[1]))
    if joined is not None and not _is_past(joined[1]):
        couple = _are_couple(text[start:end], joined[1])
        return joined[1][0].isupper() and not (couple or is_any(low(joined[1]), "offices"))
    if word in ("and", "or"):  # "Lady Gaga and Prince"
        other = word_before(text, begin)[0]
        if other.endswith(("'s", "\u2019s")) or not other[:1].isupper():
            return False
        return {low(text[start:end]), low(other)} not in _COUPLES and not is_one_of(
            low(other), "royalty"
        )
    if not before or is_one_of(word, "be"):
        near = _WORD.findall(text, max(0, start - FAR), end + FAR)
        if not words_of("music").isdisjoint(near):
            return True  # "My favourite band is Queen."
    if not before:  # "Prince sang it", "Duke is late"
        now = is_one_of(trailing, "be") or is_verb(trailing, "")
        done = _is_past(trailing) or (now and text[start:end] in _GIVEN)
        return done and opens_sentence(text, start)
    if is_one_of(word, "before_ruler") or is_modifier(word):
        return False
    return is_one_of(word, "closed")  # "by Queen"


def _are_couple(word: str, other: str) -> bool:
    return {low(word), low(other)} in _COUPLES


def _is_past(word: str) -> bool:
    """Whether a word as written is a past-tense verb, or another that reports an event."""
    return word.endswith("ed") or in_classes(word, "past_verbs", "finite_verbs", "acted")

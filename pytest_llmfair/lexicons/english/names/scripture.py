"""Whether a book of the Bible or a saint bears a name: "John 3:16", "the apostle Paul"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.names.words import (
    WORDS,
    is_of_class,
    word_behind,
    word_in_front,
)

_VERSE = re.compile(r"[^\S\n]+(\d{1,3}):(\d{1,3})(?![\d:])")
_CHAPTER = re.compile(r"[^\S\n]+(\d{1,2})(?![\d:/%\u2013-]|[.,]\d)")
_CLOCK = re.compile(r"[^\S\n]*(?:[ap]\.?m\b|o['\u2019]clock|hrs?\b|sharp\b)", re.IGNORECASE)
_IN_BIBLE = re.compile(
    r"\b(\w+)[^\S\n]+(?:of|according[^\S\n]+to)[^\S\n]+(?:Saint[^\S\n]+|St\.?[^\S\n]+)?\Z"
)
_HIS_GOSPEL = re.compile(
    r"['\u2019]s?[^\S\n]+(?:[Gg]ospel|[Ee]pistles?)\b"
    r"(?![^\S\n]+(?:choir|album|songs?|singing|music|group|band|quartet))"
    r"|['\u2019]s?[^\S\n]+letters?[^\S\n]+to[^\S\n]+the[^\S\n]+"
    r"(?:Romans|Corinthians|Galatians|Ephesians|Philippians|Colossians|Thessalonians|Hebrews)\b"
)
_OWNS = ("'s", "\u2019s")
_NEAR = 60
_FEW = 8


def is_of_bible(text: str, start: int, end: int) -> bool:
    """Whether a name of the class "holy_persons" is not that of somebody at work or at home."""
    around = _words(text[max(0, start - _NEAR) : start])
    around += _words(text[end : end + _NEAR])
    return any(is_of_class(word, "holy_cues") for word in around)


def is_holy(text: str, start: int, end: int) -> bool:
    """Whether a book of the Bible is meant, or whom it tells of: "Mark 4", "John's gospel"."""
    before = word_in_front(text, start).lower()
    if is_of_class(before, "holy"):
        return True
    if _HIS_GOSPEL.match(text, end):
        return True
    verse = _VERSE.match(text, end)
    if verse is not None:
        return _is_verse(text, start, verse)
    chapter = _CHAPTER.match(text, end)
    if chapter is not None and _ends_phrase(word_behind(text, chapter.end())):
        return _speaks_of_bible(text, start, chapter.end())
    part = _IN_BIBLE.search(text, max(0, start - _NEAR), start)
    if part is None or text[end : end + 2] in _OWNS:  # "a chapter of Mark's life"
        return False
    return is_of_class(part[1].lower(), "bible_parts")


def _is_verse(text: str, start: int, verse: re.Match[str]) -> bool:
    """Whether it is no time: "Meet John 10:30", "John 7:14 pm"."""
    if int(verse[1]) > 23 or len(verse[2]) != 2 or int(verse[2]) > 59:
        return True
    if _CLOCK.match(text, verse.end()):
        return False
    before = _words(text[max(0, start - _NEAR) : start])
    if before and is_of_class(before[-1], "bible_cues"):
        return True
    if any(is_of_class(word, "meeting") for word in before[-3:]):
        return False
    return int(verse[2]) % 5 > 0 or _speaks_of_bible(text, start, verse.end())


def _speaks_of_bible(text: str, start: int, end: int) -> bool:
    around = _words(text[max(0, start - _NEAR) : start])[-_FEW:]
    around += _words(text[end : end + _NEAR])[:_FEW]
    return any(is_of_class(word, "bible_words") for word in around)


def _words(part: str) -> list[str]:
    return [word.lower() for word in WORDS.findall(part)]


def _ends_phrase(word: str) -> bool:
    """Whether nothing is counted: "John 11 is"; not "gave John 11 books"."""
    return not word or word[0].isupper() or is_one_of(word, "closed")

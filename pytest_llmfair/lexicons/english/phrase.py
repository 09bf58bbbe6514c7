"""The words around a span: next to it, in its sentence and before it; used by every rule."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from pytest_llmfair.lexicons.english.words import LETTERS, TAG, is_one_of

Words = tuple[str, ...]
NEAR = 40
FAR = 80
# The next word on the line; a closing quote is not part of it: 'mother tongue'.
NEXT = re.compile(r"[^\S\n]+([^\W\d_](?:[\w'\u2019-]*\w)?)")

_WORD = r"[^\W_]++(?:[-'\u2019.][^\W_]++)*+"
_TOKEN = re.compile(rf"(?i:hard[ -]of[ -]hearing)|{_WORD}|\n[^\S\n]*\n|[^\w\s*_~\"\u201c\u201d]")
# Block tags end a sentence; other tags are ignored.
_BLOCK = re.compile(
    r"</?(?:td|th|tr|li|p|div|br|h[1-6]|ul|ol|dt|dd|dl|table|tbody|thead|section|option)\b[^<>]*>",
    re.IGNORECASE,
)
_TAG = re.compile(TAG)
_STOP = re.compile(r"[.!?;:\u2014\u2026\n]")
_LAST_STOP = re.compile(rf"(?s:.*){_STOP.pattern}")
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n\Z")
_ITEM = re.compile(r"\n[^\S\n]*(?:[-*\u2022]|\(?[A-Ha-h1-9][.)])[^\S\n]")  # a line of options
_ASIDE = re.compile(r" \(([A-Za-z]+)\)(?= [A-Za-z])")
_ENCLOSED = {"'": "'", "\u2018": "\u2019", "(": ")", "[": "]"}
# Acronyms that would look like closed words in lower case.
_ACRONYMS = frozenset(("US", "IT", "WHO"))
_SENTENCE_WINDOW = 160
_ABBREVIATION = 24  # letters; longer than any abbreviation
_LAST_LETTERS = re.compile(rf"{LETTERS}\Z")
_OPENS_SENTENCE = re.compile(
    r"(?:\A|[.!?:\n\u2026\u2014])[\s\"'\u2018\u2019\u201c\u201d()*_#>\u2022\u2013+-]*\Z"
)


class Phrase(NamedTuple):
    """A term in its sentence: the words around it, as written (`raw`) and in lower case."""

    term: str
    raw: Words
    before: Words
    after: Words
    front: str
    rear: str

    @property
    def last(self) -> str:
        """The word before the term; "" at the beginning of the sentence."""
        return self.before[-1] if self.before else ""

    @property
    def next(self) -> str:
        """The word after the term; "" at the end of the sentence."""
        return self.after[0] if self.after else ""

    @property
    def written_before(self) -> str:
        """The word before the term as written; "" at the beginning of the sentence."""
        return self.raw[len(self.before) - 1] if self.before else ""

    @property
    def written_after(self) -> Words:
        """The words after the term, as written."""
        return self.raw[len(self.before) :]

    @property
    def has_capital(self) -> bool:
        """Whether the term begins with a capital."""
        return self.term[:1].isupper()

    def earlier(self) -> Words:
        """Return the words and marks of the sentences before, as written."""
        piece = _without_tags(self.front)
        return tuple(_TOKEN.findall(piece, 0, _sentence_begin(piece)))


def phrase_at(text: str, start: int, end: int) -> Phrase:
    """Return the term from `start` to `end` in its sentence; quotes around it are ignored."""
    mark = _ENCLOSED.get(text[start - 1 : start])
    left, right = start, end
    if mark is not None and text.startswith(mark, end) and _is_enclosed(text, start - 1, end + 1):
        left, right = start - 1, end + 1
    front = text[max(0, left - _SENTENCE_WINDOW) : left]
    rear = text[right : right + _SENTENCE_WINDOW]
    raw_before, before = _words_before(front)
    raw_after, after = _words_after(rear)
    return Phrase(text[start:end], raw_before + raw_after, before, after, front, rear)


def is_headline(raw: Words) -> bool:
    """Whether nearly all long words begin with a capital, as in headlines."""
    long = [word for word in raw if len(word) > 3 and word[0].isalpha()]
    return len(long) > 2 and sum(word[0].isupper() for word in long) >= 0.8 * len(long)


def is_before_name(phrase: Phrase) -> bool:
    """Whether the next word has the capital of a name; in headlines every word has one."""
    after = phrase.written_after
    return bool(after) and after[0][:1].isupper() and not is_headline(phrase.raw)


def word_before(text: str, at: int) -> tuple[str, int]:
    """Return the word before a place on the same line, and where it begins; "" for none."""
    front = text[max(0, at - NEAR) : at]
    line = front.rstrip()
    if not line or len(line) == len(front) or "\n" in front[len(line) :]:
        return "", at
    word = line.rsplit(None, 1)[-1]
    if not word.isalpha():
        last = _LAST_LETTERS.search(word)
        if last is None:
            return "", at
        word = last[0]
    return word, at - len(front) + len(line) - len(word)


def word_after(text: str, at: int) -> str:
    """Return the next word on the same line as written; "" for none."""
    after = NEXT.match(text, at)
    return after[1] if after else ""


def opens_sentence(text: str, at: int) -> bool:
    """Whether a sentence or an exclamation can begin at a place."""
    if text[at - 1 : at] == " " and text[at - 2 : at - 1].isalnum():
        return False
    return _OPENS_SENTENCE.search(text, max(0, at - NEAR), at) is not None


def low(word: str) -> str:
    """Return a word in lower case with a plain apostrophe."""
    return word.lower().replace("\u2019", "'")


@functools.lru_cache(maxsize=8)  # it reads a whole text, which can hold many terms
def one_case(text: str) -> tuple[bool, bool]:
    """Return whether a text is in lower case throughout, and whether in upper case."""
    return text.islower(), text.isupper()


def _is_enclosed(text: str, start: int, end: int) -> bool:
    """Whether the marks are around the term alone: "an 'old' nurse"."""
    return not (text[end : end + 1].isalnum() or text[max(0, start - 1) : start].isalnum())


@functools.lru_cache(maxsize=64)
def _words_before(piece: str) -> tuple[Words, Words]:
    piece = _without_tags(piece)
    return _tokens(piece, _sentence_begin(piece), len(piece))


@functools.lru_cache(maxsize=64)
def _words_after(piece: str) -> tuple[Words, Words]:
    piece = _without_tags(piece)
    aside = _ASIDE.match(piece)  # "an Asian (male) juror"
    if aside is not None and is_one_of(aside[1].lower(), "person_modifiers"):
        piece = f" {aside[1]}{piece[aside.end() :]}"
    return _tokens(piece, 0, _sentence_end(piece))


def _without_tags(text: str) -> str:
    return _TAG.sub("", _BLOCK.sub("\n\n", text)) if "<" in text else text


def _tokens(text: str, begin: int, stop: int) -> tuple[Words, Words]:
    words = tuple([word for word in _TOKEN.findall(text, begin, stop) if word != "."])
    if not words:
        return (), ()
    mixed = any(map(str.islower, words))
    lower = [
        ".".join(word) if word in _ACRONYMS and mixed else low(word)  # "An Asian US senator"
        for word in words
    ]
    return words, tuple(lower)


def _sentence_begin(text: str) -> int:
    """Return where the last sentence begins."""
    end = len(text)
    while mark := _LAST_STOP.match(text, 0, end):
        end = mark.end() - 1
        if _ends_sentence(text, end):
            return end + 1
    return 0


def _sentence_end(text: str) -> int:
    """Return where the first sentence ends."""
    mark = _STOP.search(text)
    while mark and not _ends_sentence(text, mark.start()):
        mark = _STOP.search(text, mark.end())
    return mark.start() if mark else len(text)


def _ends_sentence(text: str, at: int) -> bool:
    """Whether a mark ends a sentence: no point in "3.5" or "Dr. Lee", no mere line break."""
    if text[at] == "\n":
        return _EMPTY_LINE.search(text, 0, at + 1) is not None or _ITEM.match(text, at) is not None
    if text[at] != ".":
        return True
    if at and text[at - 1].isalnum() and text[at + 1 : at + 2].isalnum():
        return False
    words = _TOKEN.findall(text, max(0, at - _ABBREVIATION), at)
    if not words:
        return True
    word = words[-1].lower()
    initial = len(word) == 1 and words[-1].isupper()
    return not (initial or is_one_of(word, "abbreviations") or is_one_of(word, "titles"))

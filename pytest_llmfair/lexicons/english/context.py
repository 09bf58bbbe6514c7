"""A text as the rules see it: read into tokens once, then asked for the words around a place."""

from __future__ import annotations

import functools
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from pytest_llmfair.lexicons.english.words import LETTERS, TAG, WORD, in_classes, is_one_of

Words = tuple[str, ...]
NEAR = 40
FAR = 80
# The next word on the line; a closing quote is not part of it: 'mother tongue'.
NEXT = re.compile(r"[^\S\n]+([^\W\d_](?:[\w'\u2019-]*\w)?)")

TOKEN = re.compile(rf"{WORD}|[^\w\s]|_+|\n")
# Block tags, the first group, end a sentence; other tags are ignored.
_TAG = re.compile(
    r"(</?(?:td|th|tr|li|p|div|br|h[1-6]|ul|ol|dt|dd|dl|table|tbody|thead|section|option)\b[^<>]*>)"
    rf"|{TAG}",
    re.IGNORECASE,
)
UNREAD = '*_~"\u201c\u201d\n'  # marks that are no words of a sentence
_MARKS = tuple(".!?;:\u2014\u2026")
_STOPS = (*_MARKS, "\n")
_ITEM = re.compile(r"\n[^\S\n]*(?:[-*\u2022]|\(?[A-Ha-h1-9][.)])[^\S\n]")  # a line of options
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n\Z")
_ENCLOSED = {"'": "'", "\u2018": "\u2019", "(": ")", "[": "]"}
# Acronyms that would look like closed words in lower case.
_ACRONYMS = frozenset(("US", "IT", "WHO"))
_SENTENCE_WINDOW = 160
_LAST_LETTERS = re.compile(rf"{LETTERS}\Z")
_OPENS_SENTENCE = re.compile(
    r"(?:\A|[.!?:\n\u2026\u2014])[\s\"'\u2018\u2019\u201c\u201d()*_#>\u2022\u2013+-]*\Z"
)


class Context:
    """The tokens of a text: words, single marks and line breaks, with the place of each."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts: list[int] = []
        self.tokens: list[str] = []
        for match in TOKEN.finditer(text):
            self.starts.append(match.start())
            self.tokens.append(match[0])

    def before(self, at: int, reach: int) -> list[str]:
        """Return the tokens before a place, the nearest last; a word that it cuts is shortened."""
        first, last = bisect_left(self.starts, at - reach), bisect_left(self.starts, at)
        if last <= first or self.starts[last - 1] + len(self.tokens[last - 1]) <= at:
            return self.tokens[first:last]
        cut = TOKEN.findall(self.text, self.starts[last - 1], at)
        return [*self.tokens[first : last - 1], *cut]

    def after(self, at: int, reach: int) -> list[str]:
        """Return the tokens after a place, the nearest first; a word that it cuts is shortened."""
        first, last = bisect_left(self.starts, at), bisect_left(self.starts, at + reach)
        if not first or (end := self.starts[first - 1] + len(self.tokens[first - 1])) <= at:
            return self.tokens[first:last]
        return [*TOKEN.findall(self.text, at, end), *self.tokens[first:last]]

    @functools.cached_property
    def sentences(self) -> Sentences:
        """The words of its sentences."""
        return Sentences(self)


class Sentences:
    """The words and marks of a text without tags, and where its sentences end."""

    def __init__(self, context: Context) -> None:
        self._tag_ends: list[int] = []
        self._dropped = [0]  # letters of the tags up to each end
        if "<" in context.text:
            context = Context(self._without_tags(context.text))
        self.text = context.text
        self.starts: list[int] = []
        self.raw: list[str] = []
        self.low: list[str] = []
        self.stops: list[int] = []
        self._read(context)

    def before(self, at: int) -> tuple[Words, Words]:
        """Return the words of the sentence before a place, as written and in lower case."""
        at = self._place(at)
        first = bisect_left(self.starts, max(self._begin(at), at - _SENTENCE_WINDOW))
        last = bisect_left(self.starts, at)
        raw, lower = self.raw[first:last], self.low[first:last]
        if raw and self._end(last - 1) > at:  # "non-(Black)"
            cut = TOKEN.findall(self.text, self.starts[last - 1], at)
            raw, lower = [*raw[:-1], *cut], [*lower[:-1], *map(low, cut)]
        return _words(raw, lower)

    def after(self, at: int) -> tuple[Words, Words]:
        """Return the words of the sentence after a place, as written and in lower case."""
        at = self._place(at)
        if self.text[at : at + 1] in _MARKS:
            return (), ()
        stop = bisect_left(self.stops, at)
        end = min(
            at + _SENTENCE_WINDOW, self.stops[stop] if stop < len(self.stops) else sys.maxsize
        )
        first, last = bisect_left(self.starts, at), bisect_left(self.starts, end)
        raw, lower = self.raw[first:last], self.low[first:last]
        if first and self._end(first - 1) > at:  # "(Black)-owned"
            cut = TOKEN.findall(self.text, at, self._end(first - 1))
            raw, lower = [*cut, *raw], [*map(low, cut), *lower]
        aside = raw[:1] == ["("] and raw[2:3] == [")"] and raw[3:] and raw[3][0].isalpha()
        if aside and is_one_of(lower[1], "person_modifiers"):  # "an Asian (male) juror"
            raw, lower = [raw[1], *raw[3:]], [lower[1], *lower[3:]]
        return _words(raw, lower)

    def earlier(self, at: int) -> Words:
        """Return the words and marks before the sentence of a place, as written."""
        at = self._place(at)
        first = bisect_left(self.starts, at - _SENTENCE_WINDOW)
        return tuple(self.raw[first : bisect_left(self.starts, self._begin(at))])

    def _place(self, at: int) -> int:
        """Return where a place of the text is without its tags."""
        return at - self._dropped[bisect_right(self._tag_ends, at)]

    def _begin(self, at: int) -> int:
        stop = bisect_left(self.stops, at)
        return self.stops[stop - 1] + 1 if stop else 0

    def _end(self, word: int) -> int:
        return self.starts[word] + len(self.raw[word])

    def _without_tags(self, text: str) -> str:
        def mark(tag: re.Match[str]) -> str:
            instead = "\n\n" if tag[1] else ""
            self._tag_ends.append(tag.end())
            self._dropped.append(self._dropped[-1] + len(tag[0]) - len(instead))
            return instead

        return _TAG.sub(mark, text)

    def _read(self, context: Context) -> None:
        """Join tokens to words, "U.S" and "3.5" too, and find the ends of sentences."""
        dot = -1  # end of a dot after a word, which goes on if a word begins there
        for start, token in zip(context.starts, context.tokens, strict=True):
            word = low(token)
            if start == dot and token[0].isalnum():
                token, word = f"{self.raw[-2]}.{token}", f"{self.low[-2]}.{word}"
                start = self._drop(2)
            elif word == "hearing" and self.low[-2:] == ["hard", "of"]:
                token, word = " ".join((*self.raw[-2:], token)), "hard of hearing"
                start = self._drop(2)
            elif token in _STOPS and self._ends_sentence(token, start):
                self.stops.append(start)
                word = token = "\n\n" if token == "\n" else token
            elif token[0] in UNREAD:
                continue
            if token == "." and self._ends_short_word(start):
                dot = start + 1
            self.starts.append(start)
            self.raw.append(token)
            self.low.append(word)

    def _ends_short_word(self, at: int) -> bool:
        """Whether a word ends at a place; a longer one would be copied at each of its dots."""
        word = self.raw[-1] if self.raw else ""
        return word[:1].isalnum() and self._end(-1) == at and len(word) < _SENTENCE_WINDOW

    def _drop(self, count: int) -> int:
        """Drop the last words; return where they began."""
        start = self.starts[-count]
        for words in (self.starts, self.raw, self.low):
            del words[-count:]
        return start

    def _ends_sentence(self, mark: str, at: int) -> bool:
        """Whether a mark ends a sentence: no point in "3.5" or "Dr. Lee", no mere line break."""
        if mark == "\n":
            return bool(
                _EMPTY_LINE.search(self.text, max(0, at - NEAR), at + 1)
                or _ITEM.match(self.text, at)
            )
        if mark != "." or not self.raw:
            return True
        if self.text[at - 1].isalnum() and self.text[at + 1 : at + 2].isalnum():
            return False
        initial = len(self.raw[-1]) == 1 and self.raw[-1].isupper()
        return not (initial or in_classes(self.low[-1], "abbreviations", "titles"))


@functools.lru_cache(maxsize=8)  # many lexicons read one text, and many rules one place
def context_of(text: str) -> Context:
    """Return the tokens of a text."""
    return Context(text)


def _words(raw: list[str], lower: list[str]) -> tuple[Words, Words]:
    """Drop dots, and tell acronyms from closed words: "An Asian US senator"."""
    if "." in raw:
        lower = [word for word in lower if word != "."]
        raw = [word for word in raw if word != "."]
    if not _ACRONYMS.isdisjoint(raw) and any(map(str.islower, raw)):
        lower = [
            ".".join(word) if word in _ACRONYMS else other
            for word, other in zip(raw, lower, strict=True)
        ]
    return tuple(raw), tuple(lower)


class Phrase(NamedTuple):
    """A term in its sentence: the words around it, as written (`raw`) and in lower case."""

    text: str
    start: int
    end: int
    term: str
    raw: Words
    before: Words
    after: Words

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
    def word(self) -> str:
        """The term in lower case."""
        return self.term.lower()

    @property
    def is_national(self) -> bool:
        """Whether the term is the adjective of a people: "French"; not "white"."""
        return is_one_of(self.word, "demonyms") and not is_one_of(self.word, "contrasted")

    @property
    def has_capital(self) -> bool:
        """Whether the term begins with a capital."""
        return self.term[:1].isupper()

    def earlier(self) -> Words:
        """Return the words and marks of the sentences before, as written."""
        return context_of(self.text).sentences.earlier(self.start)


@functools.lru_cache(maxsize=64)  # several rules ask for the sentence of one term
def phrase_at(text: str, start: int, end: int) -> Phrase:
    """Return the term from `start` to `end` in its sentence; quotes around it are ignored."""
    mark = _ENCLOSED.get(text[start - 1 : start])
    left, right = start, end
    if mark is not None and text.startswith(mark, end) and _is_enclosed(text, start - 1, end + 1):
        left, right = start - 1, end + 1
    sentences = context_of(text).sentences
    (raw_before, before), (raw_after, after) = sentences.before(left), sentences.after(right)
    return Phrase(text, left, right, text[start:end], raw_before + raw_after, before, after)


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


P = TypeVar("P")
A = TypeVar("A")


class Rule(NamedTuple, Generic[P, A]):
    """A row of a table; of its example, it decides the term in «marks»."""

    applies: Callable[[P], object]
    answer: Callable[[P], A] | A
    example: str


class Question(NamedTuple, Generic[P, A]):
    """A row of a table of questions: each answers, or leaves it to the next with None."""

    ask: Callable[[P], A | None]
    example: str


def first_answer(questions: Sequence[Question[P, A]], place: P) -> A | None:
    """Return the first answer to one of the questions; None for none."""
    return next((found for ask, _ in questions if (found := ask(place)) is not None), None)


def decide(rules: Sequence[Rule[P, A]], place: P, default: A) -> A:
    """Return the answer of the first rule that applies."""
    for applies, answer, _ in rules:
        if applies(place):
            return answer(place) if callable(answer) else answer
    return default

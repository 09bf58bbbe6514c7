"""Where a word stands: the words and marks of its sentence, and what stands in front of that."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from pytest_llmfair.lexicons.english.english import TAG, is_one_of

Words = tuple[str, ...]
_WORD = r"[^\W_]++(?:[-'\u2019.][^\W_]++)*+"
_TOKEN = re.compile(rf"(?i:hard[ -]of[ -]hearing)|{_WORD}|\n[^\S\n]*\n|[^\w\s*_~\"\u201c\u201d]")
# A tag that parts texts ends the sentence, others are looked through.
_PARTS = re.compile(
    r"</?(?:td|th|tr|li|p|div|br|h[1-6]|ul|ol|dt|dd|dl|table|tbody|thead|section|option)\b[^<>]*>",
    re.IGNORECASE,
)
_TAG = re.compile(TAG)
_STOP = re.compile(r"[.!?;:\u2014\u2026\n]")
_LAST_STOP = re.compile(rf"(?s:.*){_STOP.pattern}")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\Z")
_ITEM = re.compile(r"\n[^\S\n]*(?:[-*\u2022]|\(?[A-Ha-h1-9][.)])[^\S\n]")  # a line of options
_ASIDE = re.compile(r" \(([A-Za-z]+)\)(?= [A-Za-z])")
_ENCLOSED = {"'": "'", "\u2018": "\u2019", "(": ")", "[": "]"}
# They look like closed words where all is small.
_INITIALISMS = frozenset(("US", "IT", "WHO"))
_NEAR = 160
_LONG = 24  # no abbreviation is as long


class Term(NamedTuple):
    """What a rule knows of the term itself.

    Attributes
    ----------
    capital : bool
        Whether it begins with a capital.
    one_case : bool
        Whether it is small or large throughout.
    people : bool
        Whether it names a people.
    opposed : str
        Class of words that it is an opposite of, such as "opposed_ages"; "" for none.
    seldom : bool
        Whether hardly anything but a person is called so: "deaf", "bisexual".
    plural : bool
        Whether it ends with an s.
    doubtful : str
        The word, if it is one that has other meanings in front of persons too.
    noun : bool
        Whether it is a noun for one of a people, and no adjective: "Swede".
    language : bool
        Whether a language is called so too: "French", not "American".
    """

    capital: bool = False
    one_case: bool = False
    people: bool = False
    opposed: str = ""
    seldom: bool = False
    plural: bool = False
    doubtful: str = ""
    noun: bool = False
    language: bool = False


class Place(NamedTuple):
    """A term in its sentence: words and marks around it as written, and in lower case.

    `front` and `rear` are the texts around it, sentences beside its own too.
    """

    term: Term
    raw: Words
    before: Words
    behind: Words
    front: str
    rear: str

    @property
    def last(self) -> str:
        """The word in front; "" at the beginning of the sentence."""
        return self.before[-1] if self.before else ""

    @property
    def next(self) -> str:
        """The word behind; "" at the end of the sentence."""
        return self.behind[0] if self.behind else ""

    def earlier(self) -> Words:
        """Return the words and marks in front of the sentence, as written."""
        piece = _without_tags(self.front)
        return tuple(_TOKEN.findall(piece, 0, _sentence_begin(piece)))


def is_name_behind(place: Place) -> bool:
    """Whether the next word has the capital of a name, which in titles all words have."""
    behind = place.raw[len(place.before) :]
    return behind[0][:1].isupper() and not is_title(place.raw)


def names_place(place: Place) -> bool:
    """Whether a street or another place is named: "Gay Street"; not "Gay City Council".

    In a title, where all words have capitals, only a street of residents is.
    """
    known = is_one_of(place.next, "places") and not is_one_of(place.next, "groups_of_persons")
    if not known or not place.raw[len(place.before)][:1].isupper():
        return False
    residents = is_one_of(place.next, "streets") and is_one_of(
        " ".join(place.behind[1:2]), "locals"
    )
    return residents or not is_title(place.raw)


def is_title(raw: Words) -> bool:
    """Whether nearly all long words begin with a capital, as in headlines."""
    long = [word for word in raw if len(word) > 3 and word[0].isalpha()]
    return len(long) > 2 and sum(word[0].isupper() for word in long) >= 0.8 * len(long)


def place_at(text: str, start: int, end: int) -> Place:
    """Return the place of a term from `start` to `end`."""
    return place_between(*sides(text, start, end), Term())


def sides(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the texts around a term that rules look at, without marks that enclose it alone."""
    mark = _ENCLOSED.get(text[start - 1 : start])
    if mark is not None and text.startswith(mark, end) and _is_enclosed(text, start - 1, end + 1):
        start, end = start - 1, end + 1
    return text[max(0, start - _NEAR) : start], text[end : end + _NEAR]


def _is_enclosed(text: str, start: int, end: int) -> bool:
    """Whether marks from `start` to `end` are looked through: "an 'old' nurse", "an (old) nurse".

    Brackets are where a determiner stands in front and a word follows.
    """
    if text[end : end + 1].isalnum() or text[max(0, start - 1) : start].isalnum():
        return False
    if text[start] in "'\u2018":
        return True
    front = text[max(0, start - _LONG) : start].split(" ")
    determined = len(front) > 1 and is_one_of(front[-2].lower(), "determiners")
    return determined and not front[-1] and text[end + 1 : end + 2].isalpha()


def place_between(front: str, rear: str, term: Term) -> Place:
    """Return the place of a term between two texts."""
    raw_before, before = _words_before(front)
    raw_behind, behind = _words_behind(rear)
    return Place(term, raw_before + raw_behind, before, behind, front, rear)


# An ambiguous term has several contexts in one place; and a text and its twin have the same words
# in front of their first mention, and behind their last.
@functools.lru_cache(maxsize=64)
def _words_before(piece: str) -> tuple[Words, Words]:
    piece = _without_tags(piece)
    words = _words(piece, _sentence_begin(piece), len(piece))
    return words, _lower(words)


@functools.lru_cache(maxsize=64)
def _words_behind(piece: str) -> tuple[Words, Words]:
    piece = _without_tags(piece)
    if piece.startswith(" ("):
        piece = _without_bracket(piece)
    words = _words(piece, 0, _sentence_end(piece))
    return words, _lower(words)


def _without_bracket(piece: str) -> str:
    """Return what follows a term without the brackets of a modifier: "an Asian (male) juror"."""
    aside = _ASIDE.match(piece)
    if aside is None or not is_one_of(aside[1].lower(), "person_modifiers"):
        return piece
    return f" {aside[1]}{piece[aside.end() :]}"


def _without_tags(text: str) -> str:
    return _TAG.sub("", _PARTS.sub("\n\n", text)) if "<" in text else text


def _words(text: str, begin: int, stop: int) -> Words:
    return tuple([word for word in _TOKEN.findall(text, begin, stop) if word != "."])


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
        return _BLANK_LINE.search(text, 0, at + 1) is not None or _ITEM.match(text, at) is not None
    if text[at] != ".":
        return True
    if at and text[at - 1].isalnum() and text[at + 1 : at + 2].isalnum():
        return False
    words = text[max(0, at - _LONG) : at].rsplit(None, 1)
    if not (words and words[-1].isalpha()):  # the usual case goes without a search
        words = _TOKEN.findall(text, max(0, at - _LONG), at)
    if not words:
        return True
    word = words[-1].lower()
    initial = len(word) == 1 and words[-1].isupper()
    return not (initial or is_one_of(word, "abbreviations") or is_one_of(word, "titles"))


def _lower(words: Words) -> Words:
    if not words:
        return ()
    joined = "\t".join(words)
    low = tuple(joined.lower().replace("\u2019", "'").split("\t"))
    if not ("US" in joined or "IT" in joined or "WHO" in joined):
        return low  # the usual case
    if not any(map(str.islower, words)):
        return low
    # "An Asian US senator"
    spelled = zip(words, low, strict=True)
    return tuple([".".join(w) if word in _INITIALISMS else w for word, w in spelled])

"""Where a word stands: the words and marks of its sentence, and what stands in front of that."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from pytest_llmfair.counterfactuals._language.english import is_one_of

Words = tuple[str, ...]
_WORD = r"[^\W_]++(?:[-'\u2019.][^\W_]++)*+"
_TOKEN = re.compile(rf"(?i:hard[ -]of[ -]hearing)|{_WORD}|\n[^\S\n]*\n|[^\w\s*_~\"\u201c\u201d]")
# A tag that parts texts ends the sentence, others are looked through.
_PARTS = re.compile(
    r"</?(?:td|th|tr|li|p|div|br|h[1-6]|ul|ol|dt|dd|dl|table|tbody|thead|section|option)\b[^<>]*>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,80}>")
_STOPS = frozenset(".!?;:\u2014\u2026")
_NEAR = 160
_NEARER = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A term in its sentence: words and marks around it as written, and in lower case.

    The term begins at `start` of `text`.
    """

    word: str
    raw: Words
    before: Words
    behind: Words
    text: str
    start: int

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
        words = _tokens(self.text, max(0, self.start - _NEAR), self.start)
        return tuple(words[: _sentence_begin(words)])


def is_name_behind(place: Place) -> bool:
    """Whether the next word has the capital of a name, which in titles all words have."""
    behind = place.raw[len(place.before) :]
    return behind[0][:1].isupper() and not is_title(place.raw)


def is_title(raw: Words) -> bool:
    """Whether nearly all long words begin with a capital, as in headlines."""
    long = [word for word in raw if len(word) > 3 and word[0].isalpha()]
    return len(long) > 2 and sum(word[0].isupper() for word in long) >= 0.8 * len(long)


@functools.lru_cache(maxsize=64)  # an ambiguous term has several contexts in one place
def place_at(text: str, start: int, end: int, behind_at: int) -> Place:
    """Return the place of ``text[start:end]``, whose sentence goes on at `behind_at`."""
    before = _sentence_before(text, start)
    behind = _sentence_behind(text, behind_at)
    return Place(text[start:end], (*before, *behind), _lower(before), _lower(behind), text, start)


def _tokens(text: str, begin: int, stop: int) -> list[str]:
    if "<" not in text:
        return _TOKEN.findall(text, begin, stop)
    return _TOKEN.findall(_TAG.sub("", _PARTS.sub("\n\n", text[begin:stop])))


def _sentence_before(text: str, start: int) -> Words:
    # Most sentences begin nearby. A window can cut its first word, which a stop behind the second
    # one does not depend on; tags are not cut.
    words = _tokens(text, max(0, start - _NEARER), start)
    first = _sentence_begin(words)
    if start > _NEARER and (first < 3 or "<" in text):
        words = _tokens(text, max(0, start - _NEAR), start)
        first = _sentence_begin(words)
    return _without_points(words[first:])


def _sentence_behind(text: str, at: int) -> Words:
    words = _tokens(text, at, at + _NEARER)
    stop = _sentence_end(words)
    if at + _NEARER < len(text) and (stop > len(words) - 2 or "<" in text):
        words = _tokens(text, at, at + _NEAR)
        stop = _sentence_end(words)
    return _without_points(words[:stop])


def _sentence_begin(words: list[str]) -> int:
    """Return where the last sentence begins; its end in front is looked for from the right."""
    for place in range(len(words) - 1, -1, -1):
        word = words[place]
        if word[0] == "\n" or (word in _STOPS and not _is_abbreviated(words, place)):
            return place + 1
    return 0


def _sentence_end(words: list[str]) -> int:
    """Return where the sentence ends."""
    for place, word in enumerate(words):
        if word[0] == "\n" or (word in _STOPS and not _is_abbreviated(words, place)):
            return place
    return len(words)


def _without_points(words: list[str]) -> Words:
    return tuple([word for word in words if word != "."])


def _is_abbreviated(words: list[str], place: int) -> bool:
    """Whether the point ends no sentence: "Dr. Lee", "J. Lee"."""
    word = words[place - 1] if place and words[place] == "." else ""
    low = word.lower()
    initial = len(word) == 1 and word.isupper()
    return initial or is_one_of(low, "abbreviations") or is_one_of(low, "titles")


def _lower(words: Words) -> Words:
    if not words:
        return ()
    return tuple("\t".join(words).lower().replace("\u2019", "'").split("\t"))

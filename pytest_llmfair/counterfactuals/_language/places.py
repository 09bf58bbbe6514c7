"""Where a word stands: the words and marks of its sentence, and what stands in front of that."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from pytest_llmfair.counterfactuals._language.english import is_one_of

Words = tuple[str, ...]
_WORD = r"[^\W_]++(?:[-'\u2019.][^\W_]++)*+"
_TOKEN = re.compile(rf"(?i:hard[ -]of[ -]hearing)|{_WORD}|\n[^\S\n]*\n|[^\w\s*_~\"\u201c\u201d]")
_STOPS = frozenset(".!?;:\u2014\u2026")
_NEAR = 160


@dataclass(frozen=True, slots=True)
class Place:
    """A term in its sentence: words and marks around it as written, and in lower case.

    `earlier` are those in front of the sentence, as written.
    """

    word: str
    raw: Words
    before: Words
    behind: Words
    earlier: Words = ()

    @property
    def last(self) -> str:
        """The word in front; "" at the beginning of the sentence."""
        return self.before[-1] if self.before else ""

    @property
    def next(self) -> str:
        """The word behind; "" at the end of the sentence."""
        return self.behind[0] if self.behind else ""


@functools.lru_cache(maxsize=64)  # an ambiguous term has several contexts in one place
def place_at(text: str, start: int, end: int, behind_at: int) -> Place:
    """Return the place of ``text[start:end]``, whose sentence goes on at `behind_at`."""
    words = _TOKEN.findall(text, max(0, start - _NEAR), start)
    first = _sentence_begin(words)
    before = _without_points(words[first:])
    behind = _sentence_start(_TOKEN.findall(text, behind_at, behind_at + _NEAR))
    earlier = tuple(words[:first]) if first else ()
    return Place(text[start:end], (*before, *behind), _lower(before), _lower(behind), earlier)


def _sentence_begin(words: list[str]) -> int:
    """Return where the last sentence begins; its end in front is looked for from the right."""
    for place in range(len(words) - 1, -1, -1):
        if _stops(words, place):
            return place + 1
    return 0


def _sentence_start(words: list[str]) -> Words:
    stop = next((place for place in range(len(words)) if _stops(words, place)), None)
    return _without_points(words[:stop])


def _stops(words: list[str], place: int) -> bool:
    word = words[place]
    return word[0] == "\n" or (word in _STOPS and not _is_abbreviated(words, place))


def _without_points(words: list[str]) -> Words:
    return tuple([word for word in words if word != "."])


def _is_abbreviated(words: list[str], place: int) -> bool:
    """Whether the point ends no sentence: "Dr. Lee", "J. Lee"."""
    word = words[place - 1] if place and words[place] == "." else ""
    low = word.lower()
    initial = len(word) == 1 and word.isupper()
    return initial or is_one_of(low, "abbreviations") or is_one_of(low, "titles")


def _lower(words: Words) -> Words:
    return tuple([word.lower().replace("\u2019", "'") for word in words])

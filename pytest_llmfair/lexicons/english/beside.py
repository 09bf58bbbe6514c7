"""What stands beside a place in a text: the word in front, the next, the begin of a sentence."""

from __future__ import annotations

import functools
import re

from pytest_llmfair.lexicons.english.english import LETTERS

# A quote that closes is no part of the word: 'mother tongue'.
NEXT = re.compile(r"[^\S\n]+([^\W\d_](?:[\w'\u2019-]*\w)?)")
_LAST_LETTERS = re.compile(rf"{LETTERS}\Z")
# Where a sentence or an exclamation can begin, looked for through quotes, emphasis and marks of
# lists. Behind a dash one can, yet no capital is due: ``begins_sentence`` of writing differs.
_SENTENCE = re.compile(
    r"(?:\A|[.!?:\n\u2026\u2014])[\s\"'\u2018\u2019\u201c\u201d()*_#>\u2022\u2013+-]*\Z"
)
NEAR = 40
FAR = 80


def word_before(text: str, at: int) -> tuple[str, int]:
    """Return the word in front of a place on the same line, and where it begins; "" for none."""
    front = text[max(0, at - NEAR) : at]
    line = front.rstrip()
    if not line or len(line) == len(front) or "\n" in front[len(line) :]:
        return "", at
    word = line.rsplit(None, 1)[-1]
    if not word.isalpha():  # the usual case goes without a search
        last = _LAST_LETTERS.search(word)
        if last is None:
            return "", at
        word = last[0]
    return word, at - len(front) + len(line) - len(word)


def opens_sentence(text: str, at: int) -> bool:
    """Whether a sentence or an exclamation can begin at a place."""
    if text[at - 1 : at] == " " and text[at - 2 : at - 1].isalnum():
        return False  # the usual case at less cost
    return _SENTENCE.search(text, max(0, at - NEAR), at) is not None


def low(word: str) -> str:
    """Return a word in lower case with a plain apostrophe."""
    return word.lower().replace("\u2019", "'")


@functools.lru_cache(maxsize=8)  # it looks through a whole text, which can hold many terms
def one_case(text: str) -> tuple[bool, bool]:
    """Return whether a text is small throughout, and whether it is large throughout."""
    return text.islower(), text.isupper()

"""Words of other languages that look English: "Ellos son amigos", "Man sieht es nicht"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.english import is_one_of, words_of

# One of these tells English at little cost; none is a word of those languages.
_ENGLISH = (" the ", " and ", " that ", " with ", " you ", " for ", " were ", " she ", " his ")
_ENOUGH = 2


def is_foreign(text: str) -> bool:
    """Whether small words of other languages stand in a text, and none that tells English."""
    if any(map(text.__contains__, _ENGLISH)):
        return False
    return len(words_of("of_other_languages").intersection(text.lower().split())) >= _ENOUGH


def looks_english(word: str) -> bool:
    """Whether a word means something else in another language: "son", "her", "man"."""
    return is_one_of(word.lower(), "homographs")

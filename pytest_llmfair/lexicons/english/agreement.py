"""Articles and possessive endings that agree with an exchanged term; ``writing.py`` asks here."""

from __future__ import annotations

import functools
import re

from pytest_llmfair.lexicons.english.context import NEXT, low, word_before
from pytest_llmfair.lexicons.english.words import WORD, in_classes, is_one_of, words_of
from pytest_llmfair.lexicons.protected import with_spaces

# "An 8-year-old", "an 18th", "an 1100-seat hall"
_EIGHT_OR_ELEVEN = re.compile(r"8|1[18](?:\d\d)?(?!\d)")
# "A university", "a Eunice"; but "an uninsured man".
_YOU = re.compile(r"e[uw]|uni(?!n|m|d(?!i)|ll)|us(?:[aeu]|$)|ut[eio]|ur[aiou]")
_VOWEL = re.compile("[aeiouy]")
_VOWELS = "aeiou\u00e0\u00e1\u00e2\u00e4\u00e6\u00e8\u00e9\u00ea\u00ed\u00f3\u00f6\u00fc"
_ARTICLE = re.compile(
    r"(?<![^\W_])(?<![^\W_]/)(an?)\s+(?:</?[a-z][^<>\n]{0,60}>|[*_~\"'\u201c\u2018\u00ab(\[]){0,3}\Z",
    re.IGNORECASE,
)
_LABEL = re.compile(r"([^\W\d_]+)\s+\Z")  # "Vitamin A"
_APOSTROPHES = ("'", "\u2019")
# An opening single quote before a word: its closing quote is no possessive.
_OPENED = re.compile(r"(?<!\w)['\u2018](?=\S)")
_QUOTED = 200  # characters in which that quote is looked for
_SINGULAR_ENDINGS = ("ss", "us", "is")


@functools.lru_cache(maxsize=4096)
def article_for(word: str) -> str:
    """Return "a" or "an", by the sound with which the word begins."""
    first = re.match(WORD, word)
    if first is None:
        return "a"
    word = first[0]
    small = re.split(r"['\u2019-]", word.lower())[0]
    spelled = not _VOWEL.search(small) or is_one_of(small, "initialisms")
    if word[:2].isupper() and spelled:  # letter by letter: "an MBA", "a UN"
        return "an" if small[0] in "aefhilmnorsx8" else "a"
    if _YOU.match(small) or is_one_of(small, "consonant_vowels"):
        return "a"
    vowel = small[0] in _VOWELS or small.startswith(tuple(words_of("silent_h")))
    return "an" if vowel or _EIGHT_OR_ELEVEN.match(small) else "a"


def article_before(text: str, start: int) -> re.Match[str] | None:
    """Return the "a" or "an" before a place, through emphasis and quotes; not in "Latino/a"."""
    text = with_spaces(text)
    if start < 2 or text[start - 1].isalnum():
        return None
    article = _ARTICLE.search(text, max(0, start - (99 if text[start - 1] == ">" else 12)), start)
    if article is not None and article[1] == "A":
        label = _LABEL.search(text, max(0, article.start() - 20), article.start())
        if label is not None and is_one_of(label[1].lower(), "labels"):
            return None
    return article


def fitting_article(article: str, before: str, after: str) -> str:
    """Return the article that fits `after`, or "" when none is needed or the old one was odd."""
    old, new = article_for(before), article_for(after)
    if old == new or article.lower() != old:
        return ""
    if article == "A":
        return "AN" if len(after) > 1 and after.isupper() else "An"
    return new.upper() if article.isupper() else (new.capitalize() if article[0] == "A" else new)


def worship_preposition(
    text: str, start: int, end: int, after: str = ""
) -> tuple[int, int, str] | None:
    """Return the "to" of "goes to church" with the article that `after` needs, or None."""
    word, begin = word_before(text, start)
    kind, first = "before_worship", word
    if word == "of":
        kind, first = "of_worship", word_before(text, begin)[0]
    if not is_one_of(low(first), kind) or is_one_of(after.lower(), "bare_places"):
        return None
    following = NEXT.match(text, end)
    joined = text[end : end + 1] in ("-", *_APOSTROPHES)  # "church-going", "church's"
    if text[end - 1] == "s" or joined or (following and not _ends_phrase(following[1])):
        return None
    article = "the service at the" if is_one_of(low(first), "before_service") else "the"
    return begin, begin + len(word), f"{word} {article.upper() if after.isupper() else article}"


def missing_article(text: str, start: int, end: int) -> str:
    """Return the article that a house of worship lacks here, with a space; "" if none."""
    bare = worship_preposition(text, start, end)
    if bare is None:
        return ""
    missing = bare[2].partition(" ")[2] + " "
    return missing.upper() if text[start:end].isupper() else missing


def _ends_phrase(word: str) -> bool:
    """Whether a word cannot be the noun of "church matters": "to church every Sunday"."""
    small = low(word).partition("'")[0]
    known = in_classes(small, "closed", "closed_if_final", "calendar", "times")
    known = known or small in ("last", "next") or word[0].isupper()
    return known or small.endswith("ly")


def possessive_after(text: str, end: int, *, masked: bool = False) -> str:
    """Return the possessive ending after a word, "'s" or "'"; "" if there is none."""
    mark, letter = text[end : end + 1], text[end + 1 : end + 2]
    if mark not in _APOSTROPHES:
        return ""
    standing = ""
    if letter in ("s", "S") and not text[end + 2 : end + 3].isalnum():
        standing = mark + letter
    elif (masked or text[end - 1] in "sS") and not letter.isalnum():
        standing = mark
    if not standing:
        return ""
    near = max(0, end - _QUOTED)
    line = max(near, text.rfind("\n", near, end) + 1)
    return "" if _OPENED.search(text, line, end) else standing


def possessive_for(word: str, standing: str, *, plurals: bool) -> str:
    """Return the possessive ending for `word`, where another word had `standing`."""
    low = word.lower()
    if plurals and low.endswith("s") and not low.endswith(_SINGULAR_ENDINGS):
        return standing[0]
    if len(standing) == 1 and not low.endswith("s"):
        return standing + ("S" if word.isupper() else "s")
    return standing

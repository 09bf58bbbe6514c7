"""How a term is written in a place: its capitals, its spaces, its apostrophes and hyphens."""

from __future__ import annotations

import functools
import re
import unicodedata

from pytest_llmfair.lexicons.english.words import is_modifier, is_one_of
from pytest_llmfair.lexicons.protected import with_spaces

_WORD = re.compile(r"[^\s-]+")
_APOSTROPHES = "'\u2019"
_HYPHENS = "-\u2010\u2011"
_PLAIN = str.maketrans({"\u2019": "'", "\u2010": "-", "\u2011": "-", "\u00ad": None})
_DOTTED = str.maketrans({"i": "\u0130", "\u0131": "I"})
_TURKIC = ("tr", "az")
_TONOS = "\u0301"
_SPACES = re.compile(r"\s+")
# The start of a text, sentence, heading or list item, also before quotes and emphasis.
# A quotation begins a sentence too: 'he said, "Hinduism'.
_SENTENCE = re.compile(
    r"(?:,[^\S\n][\"\u201c]\Z|(?:\A|[.!?:\n])[\s\"'\u2018\u2019\u201c\u201d()*_#>\u2022\u2013\u2014+-]*(?:(?:\d+|[a-hA-H]|[ivx]{1,4})\)\s*)?\Z)"
)
_WRAP = re.compile(r"\n[^\S\n]*[\"\u201c\u2018(]?\Z")
_FULL = 60  # characters in a line that is full
_NEAR = 200


def in_place(
    text: str, start: int, end: int, term: str, as_listed: bool, language: str = "en"
) -> str:
    """Return a term written as ``text[start:end]`` is: with its case, capital and spaces."""
    before = text[start:end]
    if has_own_capitals(language) and before[0].isupper():
        large = before.isupper() and len(before) > 1
        return (in_capitals if large else with_capital)(term, language)
    after = term if as_listed else _cased(" ".join(before.split()), term)
    if before[0].isupper() and begins_sentence(text, start):
        after = capitalized(after)
    if " " in after and before.split(" ") != before.split():
        gaps = _SPACES.findall(before)
        if len(gaps) != len(_SPACES.findall(after)):
            gaps = [next((gap for gap in gaps if "\n" in gap), " ")]
        own = iter(gaps)
        after = _SPACES.sub(lambda gap: next(own, gap[0]), after)
    return in_form(text, before, after)


def in_form(text: str, before: str, term: str) -> str:
    """Return a term with the apostrophes, hyphens and composed letters of what it replaces."""
    if term.isascii() and "'" not in term and "-" not in term:
        return term  # the usual case, and fast
    curly, decomposed = _forms(text)
    if not term.isascii():
        own = _is_decomposed(before) if _is_accented(before) else decomposed
        term = unicodedata.normalize("NFD", term) if own else term
    for forms, usual in ((_APOSTROPHES, curly), (_HYPHENS, "")):
        form = next((char for char in before if char in forms), usual)
        term = "".join(form if form and char in forms else char for char in term)
    return term


def folded(text: str) -> str:
    """Fold case and the forms of letters, hyphens and apostrophes, drop soft hyphens."""
    return unicodedata.normalize("NFC", text).casefold().translate(_PLAIN)


@functools.lru_cache(maxsize=8)  # it looks through a whole text, which can hold many terms
def _forms(text: str) -> tuple[str, bool]:
    """Return the only form of apostrophe in a text, "" for none or both; whether it is NFD."""
    found = [form for form in _APOSTROPHES if form in text]
    return found[0] if len(found) == 1 else "", _is_decomposed(text)


def _is_accented(text: str) -> bool:
    return any(unicodedata.decomposition(c) or unicodedata.combining(c) for c in text)


def _is_decomposed(text: str) -> bool:
    return not text.isascii() and not unicodedata.is_normalized("NFC", text)


def _cased(before: str, after: str) -> str:
    if before.isupper() and len(before) > 1:
        return after.upper()
    if before.islower():
        return after.lower()
    words = _WORD.findall(before)
    large = [word for word in words if not is_one_of(word.lower(), "closed")]
    if len(words) > 1 and all(word[0].isupper() for word in large):
        # "Maid of Honor" keeps its "of" small, "Mother-In-Law" does not.
        all_large = len(large) < len(words) and all(word[0].isupper() for word in words)
        return _WORD.sub(lambda m: capitalized(m[0], keep_small=not all_large), after)
    return capitalized(after) if before[0].isupper() else after.lower()


def capitalized(word: str, keep_small: bool = False) -> str:
    """Return the word with a large first letter; with `keep_small` not "of" and the like."""
    if keep_small and is_one_of(word, "closed"):
        return word
    return word[0].upper() + word[1:]


def has_own_capitals(language: str) -> bool:
    """Whether capitals of a language are not those of ``str.upper``."""
    return language in _TURKIC or language == "el"


def in_capitals(text: str, language: str) -> str:
    """Return a text in capitals: Turkish "iyi" as "\u0130Y\u0130", Greek \u03ac as \u0391."""
    if language in _TURKIC:
        return text.translate(_DOTTED).upper()
    bare = unicodedata.normalize("NFD", text.upper()).replace(_TONOS, "")
    return unicodedata.normalize("NFC", bare)


def with_capital(text: str, language: str) -> str:
    """Return a text with a capital first letter: Turkish "iyi" as "\u0130yi"."""
    first = text[:1].translate(_DOTTED) if language in _TURKIC else text[:1]
    return first.upper() + text[1:]


def begins_sentence(text: str, start: int) -> bool:
    """Whether a sentence, a heading or an item of a list begins here."""
    text = with_spaces(text)
    found = _SENTENCE.search(text, max(0, start - 16), start)
    if found is None or (found[0][:1] == "." and _is_title(text, found.start())):
        return False
    return _WRAP.fullmatch(found[0]) is None or not _goes_on(text, found.start())


def _is_title(text: str, dot: int) -> bool:
    """Whether the dot is that of "Ms." or "Dr."."""
    word = text[max(0, dot - 5) : dot].rpartition(" ")[2].lower()
    return is_one_of(word, "titles") or is_one_of(word, "abbreviations")


def _goes_on(text: str, line_end: int) -> bool:
    """Whether a line goes on in the next: it is full, or ends as no heading and no item does."""
    near = max(0, line_end - _NEAR)
    line = text[max(near, text.rfind("\n", near, line_end) + 1) : line_end]
    words = line.split()
    if not words or not words[-1].islower() or not words[-1][-1].isalpha():
        return False
    goes_on = is_one_of(words[-1], "closed") or is_modifier(words[-1])
    return len(line.strip()) >= _FULL or (len(words) > 2 and goes_on)

"""How a term is written in a place: its case, its blanks, and the article before it."""

from __future__ import annotations

import functools
import re
import unicodedata

from pytest_llmfair.lexicons.english.casing import (
    has_own_capitals,
    in_capitals,
    with_capital,
)
from pytest_llmfair.lexicons.english.english import (
    article_for,
    is_in_ly,
    is_one_of,
    is_predicative,
)
from pytest_llmfair.lexicons.english.escapes import with_blanks

_ARTICLE = re.compile(
    r"(?<![^\W_])(?<![^\W_]/)(an?)\s+(?:</?[a-z][^<>\n]{0,60}>|[*_~\"'\u201c\u2018\u00ab(\[]){0,3}\Z",
    re.IGNORECASE,
)
_LABEL = re.compile(r"([^\W\d_]+)\s+\Z")  # "Vitamin A"
_WORD = re.compile(r"[^\s-]+")
_APOSTROPHES = "'\u2019"
_HYPHENS = "-\u2010\u2011"
_PLAIN = str.maketrans({"\u2019": "'", "\u2010": "-", "\u2011": "-", "\u00ad": None})
_BLANKS = re.compile(r"\s+")
# The begin of a text, sentence, heading or item of a list, looked for through quotes and emphasis.
# A quote begins one too: 'he said, "Hinduism'.
_SENTENCE = re.compile(
    r"(?:,[^\S\n][\"\u201c]\Z|(?:\A|[.!?:\n])[\s\"'\u2018\u2019\u201c\u201d()*_#>\u2022\u2013\u2014+-]*(?:(?:\d+|[a-hA-H]|[ivx]{1,4})\)\s*)?\Z)"
)

_WRAP = re.compile(r"\n[^\S\n]*[\"\u201c\u2018(]?\Z")
_CONTINUED = ("prepositions", "clause_starts", "copulas")
_FULL = 60  # characters in a line that is full
_NEAR = 200


def in_place(
    text: str, start: int, end: int, term: str, as_listed: bool, language: str = "en"
) -> str:
    """Return a term as it is written for ``text[start:end]``.

    It takes the case of these words, unless they stand there `as_listed`; the capital of a
    sentence; and their blanks, of which a line break comes first where it has fewer.
    """
    before = text[start:end]
    if has_own_capitals(language) and before[0].isupper():
        large = before.isupper() and len(before) > 1
        return (in_capitals if large else with_capital)(term, language)
    after = term if as_listed else _cased(" ".join(before.split()), term)
    if before[0].isupper() and begins_sentence(text, start):
        after = capitalized(after)
    if " " in after and before.split(" ") != before.split():
        after = _with_blanks_of(before, after)
    return in_form(text, before, after)


def _with_blanks_of(before: str, term: str) -> str:
    """Return a term with the line breaks and wide blanks of the words that it replaces."""
    gaps = _BLANKS.findall(before)
    if len(gaps) != len(_BLANKS.findall(term)):
        gaps = [next((gap for gap in gaps if "\n" in gap), " ")]
    own = iter(gaps)
    return _BLANKS.sub(lambda blank: next(own, blank[0]), term)


def in_form(text: str, before: str, term: str) -> str:
    """Return a term with the apostrophes, hyphens and composed letters of what it replaces.

    Where that has none of a kind, those of the text count.
    """
    if term.isascii() and "'" not in term and "-" not in term:
        return term  # the usual case at less cost
    curly, decomposed = _forms(text)
    if not term.isascii():
        own = _is_decomposed(before) if _is_accented(before) else decomposed
        term = unicodedata.normalize("NFD", term) if own else term
    for forms, usual in ((_APOSTROPHES, curly), (_HYPHENS, "")):
        form = next((char for char in before if char in forms), usual)
        term = "".join(form if form and char in forms else char for char in term)
    return term


def plain(text: str) -> str:
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


def begins_sentence(text: str, start: int) -> bool:
    """Whether a sentence, a heading or an item of a list begins here."""
    text = with_blanks(text)
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
    if len(line.strip()) >= _FULL:
        return True
    if len(words) > 2 and any(is_one_of(words[-1], kind) for kind in _CONTINUED):
        return True
    while words and _describes(words[-1]):  # "in a very large"
        words.pop()
    return bool(words) and is_one_of(words[-1].lower(), "determiners")


def _describes(word: str) -> bool:
    kinds = ("attributive", "person_modifiers", "degrees")
    return any(is_one_of(word, kind) for kind in kinds) or is_predicative(word) or is_in_ly(word)


def article_before(text: str, start: int) -> re.Match[str] | None:
    """Return the "a" or "an" before a place; emphasis and quotes are looked through.

    That of "Latino/a" is none.
    """
    text = with_blanks(text)
    if start < 2 or text[start - 1].isalnum():
        return None
    if text[start - 1] == " " and text[start - 2].isalnum():  # the usual case at less cost
        last = text[start - 2]
        if last in "nN":
            before = text[max(0, start - 4) : start - 2]
            if before[-1:] not in ("a", "A") or before[:-1].isalnum():
                return None
        elif last not in "aA" or text[max(0, start - 3) : start - 2].isalnum():
            return None
    article = _ARTICLE.search(text, max(0, start - (99 if text[start - 1] == ">" else 12)), start)
    if article is not None and article[1] == "A":
        label = _LABEL.search(text, max(0, article.start() - 20), article.start())
        if label is not None and is_one_of(label[1].lower(), "labels"):
            return None
    return article


def refitted(article: str, before: str, after: str) -> str:
    """Return the article that fits `after`, or "" when none is needed or the old one was odd."""
    old, new = article_for(before), article_for(after)
    if old == new or article.lower() != old:
        return ""
    if article == "A":
        return "AN" if len(after) > 1 and after.isupper() else "An"
    return new.upper() if article.isupper() else (new.capitalize() if article[0] == "A" else new)

"""Capitals of languages with rules of their own: Turkish dotted I, Greek without accents."""

from __future__ import annotations

import unicodedata

_DOTTED = str.maketrans({"i": "\u0130", "\u0131": "I"})
_TURKIC = ("tr", "az")
_TONOS = "\u0301"


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

"""Parts of a text that name nobody and must not be edited: addresses, code, tags, handles."""

from __future__ import annotations

import functools
import re

# Cheap signs that a text may hold a kind of them (most texts hold none), and what the kind is.
_KINDS = (
    (("`",), r"```.*?(?:```|\Z)|`[^`\n]+`"),
    (("<",), r"<[A-Za-z/!][^<>\n]*>"),
    (("://",), r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://\S+"),
    (("www.",), r"\bwww\.\S+"),
    (("@",), r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+|(?<![\w@])@\w+"),
    (
        (".com", ".org", ".net", ".io", ".edu", ".gov", ".co."),
        r"(?<![\w.-])(?:[\w-]+\.)+(?:com|org|net|io|edu|gov|co\.\w\w)\b\S*",
    ),
)


def protected_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans, in order, that substitution and masking leave alone."""
    kinds = tuple(kind for signs, kind in _KINDS if any(sign in text for sign in signs))
    return [match.span() for match in _pattern(kinds).finditer(text)] if kinds else []


@functools.cache
def _pattern(kinds: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(kinds), re.DOTALL)

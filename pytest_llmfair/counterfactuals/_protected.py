"""Parts of a text that name nobody and must not be edited: addresses, code, tags, handles."""

from __future__ import annotations

import re

# Cheap signs that a text may hold any of them; most texts hold none.
_SIGNS = ("://", "www.", "@", "`", "<", ".com", ".org", ".net", ".io", ".edu", ".gov", ".co.")
_PROTECTED = re.compile(
    r"""
      ```.*?(?:```|\Z)                                  # fenced code
    | `[^`\n]+`                                         # inline code
    | <[A-Za-z/!][^<>\n]*>                              # tags
    | (?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://\S+  # addresses with a scheme
    | \bwww\.\S+
    | (?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+         # e-mail
    | (?<![\w@])@\w+                                    # handles
    | (?<![\w.-])(?:[\w-]+\.)+(?:com|org|net|io|edu|gov|co\.\w\w)\b\S*
    """,
    re.VERBOSE | re.DOTALL,
)


def protected_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans, in order, that substitution and masking leave alone."""
    if not any(sign in text for sign in _SIGNS):
        return []
    return [match.span() for match in _PROTECTED.finditer(text)]

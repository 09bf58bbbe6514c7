"""Shortening a text while something stays true of it."""

from __future__ import annotations

import re
from collections.abc import Callable

# A word or a mark, with the blanks before it.
_PIECE = re.compile(r"\s*(?:\w+(?:['\u2019-]\w+)*|\W|\Z)")


def shortest(text: str, holds: Callable[[str], bool]) -> str:
    """Leave out what is not needed: delta debugging by words (Zeller and Hildebrandt 2002).

    Halves first, then ever smaller parts, until no single word or mark can be left out of a text
    for which `holds` stays true; it is asked about shorter texts only.
    """
    pieces: list[str] = _PIECE.findall(text)
    size = max(len(pieces) // 2, 1)
    while True:
        before = len(pieces)
        start = 0
        while start < len(pieces):
            rest = pieces[:start] + pieces[start + size :]
            shorter = "".join(rest).strip()
            if shorter and holds(shorter):
                pieces, text = rest, shorter
            else:
                start += size
        if size == 1 and len(pieces) == before:
            return text
        size = max(size // 2, 1)

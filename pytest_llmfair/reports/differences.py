"""Two texts side by side, as runs of words that are in both or in one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from pytest_llmfair._util.wording import LONGEST_LINE

Run = tuple[str, bool]


def runs(first: str, second: str) -> tuple[list[Run], list[Run]]:
    """Return either text as runs of words, each with whether the other text lacks it.

    Texts are cut at 2,000 characters: comparing them takes quadratic time.

    Examples
    --------
    >>> runs("She left.", "He left.")
    ([('She', True), (' left.', False)], [('He', True), (' left.', False)])
    """
    a, b = (re.findall(r"\w+|\s|[^\w\s]", _cut(text)) for text in (first, second))
    left: list[Run] = []
    right: list[Run] = []
    for kind, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        _add(left, a[i:j], kind != "equal")
        _add(right, b[k:m], kind != "equal")
    return left, right


def _cut(text: str) -> str:
    if len(text) <= LONGEST_LINE:
        return text
    return f"{text[:LONGEST_LINE]}... ({len(text):,} characters)"


def _add(found: list[Run], words: Sequence[str], differs: bool) -> None:
    """Add words to the last run where they are of its kind, and where spaces are all between."""
    text = "".join(words)
    if not text:
        return
    joins = len(found) > 1 and differs and not found[-1][1] and found[-1][0].isspace()
    if joins and found[-2][1]:
        before, space = found[-2][0], found[-1][0]
        found[-2:] = [(f"{before}{space}{text}", True)]
    elif found and found[-1][1] == differs:
        found[-1] = (found[-1][0] + text, differs)
    else:
        found.append((text, differs))

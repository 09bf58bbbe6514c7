"""BILOU tags of sequence labelling: spans, terms of several tokens, answers of taggers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

MARKS = ("B", "I", "L", "U")

Span = tuple[int, int, str]
Tagged = tuple[str, dict[str, float]]

# Marks of tags that go on with the name of the word before; a tag without a mark does so too.
_GOES_ON = ("I", "L", "E", "")


def expand_label(label: str, n: int) -> list[str]:
    """Spread the BILOU tag of one token over the tokens of the term that replaces it.

    Czarnowska et al. (2021), section 5: a slot tagged ``U-LOC`` that is filled with a name of two
    tokens becomes ``B-LOC L-LOC``.

    Parameters
    ----------
    label : str
        "O", or one of B, I, L, U with a class, such as "U-LOC".
    n : int
        Number of tokens, at least 1.

    Returns
    -------
    list of str
        One tag per token.

    Raises
    ------
    ValueError
        If the tag is not BILOU or `n` is below 1.

    Examples
    --------
    >>> expand_label("U-LOC", 3)
    ['B-LOC', 'I-LOC', 'L-LOC']
    """
    if n < 1 or n != int(n):
        raise ValueError(f"n is {n!r}; a term has at least 1 token")
    mark, name = _parts(label, "label")
    if mark == "O":
        return ["O"] * int(n)
    first, last = ("B", "L") if mark == "U" else (mark, mark)
    if n == 1:
        return [label]
    marks = [first if first == "B" else "I", *["I"] * (int(n) - 2), last if last == "L" else "I"]
    return [f"{mark}-{name}" for mark in marks]


def spans(tags: Sequence[Any], where: str, *, strict: bool) -> list[Span]:
    """Return the spans of a sequence of BILOU tags as (first token, last token, class)."""
    found: list[Span] = []
    start, inside = -1, ""
    for place, tag in enumerate(tags):
        mark, name = _parts(tag, f"{where}, token {place}")
        continues = mark in ("I", "L")
        if strict and (continues != (start >= 0) or (continues and name != inside)):
            raise ValueError(f"{where}, token {place}: {tag} cannot stand there in BILOU")
        if mark == "U":
            found.append((place, place, name))
        elif mark == "L" and start >= 0 and name == inside:
            found.append((start, place, name))
        if mark == "B":
            start, inside = place, name
        elif mark != "I" or name != inside:
            start = -1
    if strict and start >= 0:
        raise ValueError(f"{where} ends inside a span; close it with L-{inside}")
    return found


def class_of(tag: Any, where: str) -> str:
    """Return the class of one tag, or "O" outside spans."""
    mark, name = _parts(tag, where)
    return name or mark


def _parts(tag: Any, where: str) -> tuple[str, str]:
    if tag == "O":
        return "O", ""
    mark, _, name = tag.partition("-") if isinstance(tag, str) else ("", "", "")
    if mark not in MARKS or not name:
        raise ValueError(f"{where} is {tag!r}; give O, or B-, I-, L- or U- and a class")
    return mark, name


def tagged_words(text: str) -> list[Tagged]:
    """Return words with the probability of each tag, from the answer of a tagger."""
    try:
        words = [
            (str(word), {str(tag): float(p) for tag, p in row.items()})
            for word, row in json.loads(text)
        ]
    except (ValueError, TypeError, AttributeError):
        raise ValueError(
            f"the answer {text[:60]!r} is no list of words with tags; return JSON such as "
            '[["Ann", {"B-PER": 0.9, "O": 0.1}], ["left", {"O": 1.0}]], with all tags'
        ) from None
    for word, row in words:
        for tag, p in row.items():
            if not 0.0 <= p <= 1.0:
                raise ValueError(
                    f"the answer {text[:60]!r} gives {word!r} the tag {tag} with the probability "
                    f"{p:g}; return numbers from 0 to 1"
                )
    return words


def class_of_tag(tag: str) -> str:
    """Return the class of a tag with or without a mark."""
    return tag.rpartition("-")[2]


def is_one_name(tags: Sequence[str], inside: Sequence[int], wanted: Sequence[str]) -> bool:
    """Return whether neighbouring words, and no others next to them, are one name of a class."""

    def goes_on(row: int) -> bool:
        return tags[row] in wanted and tags[row].rpartition("-")[0] in _GOES_ON

    first, last = inside[0], inside[-1]
    # A tagger that marks every word has found nothing.
    if any(tags[row] not in wanted for row in inside) or set(tags) <= set(wanted):
        return False
    before = first > 0 and tags[first - 1] in wanted and goes_on(first)
    after = last + 1 < len(tags) and goes_on(last + 1)
    return all(goes_on(row) for row in inside[1:]) and not before and not after

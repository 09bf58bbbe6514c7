"""Answers of taggers: words with the probability of each tag, and names made of them."""

from __future__ import annotations

import json
from collections.abc import Sequence

Tagged = tuple[str, dict[str, float]]

# Marks of tags that go on with the name of the word before; a tag without a mark does so too.
_GOES_ON = ("I", "L", "E", "")


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

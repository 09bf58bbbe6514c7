"""Ranges of numbers in terms: "{20..34}-year-old" stands for fifteen of them.

"{twenty..thirty-four}-year-old" writes the same numbers in English words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pytest_llmfair.counterfactuals._lexicons.terms import Entry

_RANGE = re.compile(r"\{(\d{1,4}|[a-z-]{3,12})\.\.(\d{1,4}|[a-z-]{3,12})\}")
_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = (
    *_ONES,
    *(f"{ten}{one}" for ten in _TENS for one in ("", *(f"-{w}" for w in _ONES[1:10]))),
)


def numbered(entry: Entry, where: str) -> Iterator[Entry]:
    """Give an entry for every step of the ranges in the terms of one; itself if it has none.

    All ranges take their steps together: of "{20..34}" and "{50..64}" 20 stands for 50. Raises
    ``ValueError`` if they are not equally long, or one has no step.
    """
    terms = [term for listed in entry.terms.values() for term in listed]
    ranges = [found for term in terms for found in _RANGE.findall(term)]
    unknown = [word for both in ranges for word in both if not (word.isdigit() or word in _WORDS)]
    if unknown:
        raise ValueError(f"{where}: {unknown[0]!r} is no number from zero to ninety-nine")
    steps = {_number(last) - _number(first) + 1 for first, last in ranges}
    if not steps:
        yield entry
        return
    if len(steps) > 1 or min(steps) < 1:
        raise ValueError(
            f"{where}: its ranges have {', '.join(map(str, sorted(steps)))} steps; give ranges of "
            "equally many, such as {20..34} and {50..64}"
        )
    for step in range(steps.pop()):
        yield replace(
            entry,
            terms={
                group: tuple(_at(term, step) for term in listed)
                for group, listed in entry.terms.items()
            },
            registers={_at(term, step): own for term, own in entry.registers.items()},
        )


def _at(term: str, step: int) -> str:
    return _RANGE.sub(lambda match: _written(match[1], step), term)


def _written(first: str, step: int) -> str:
    """Return the number of a step, in words where the first is."""
    number = _number(first) + step
    return str(number) if first.isdigit() else _WORDS[number]


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _WORDS.index(word)

"""Ranges of numbers in terms: "{20..34}-year-old" stands for fifteen of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pytest_llmfair.counterfactuals._lexicons.terms import Entry

_RANGE = re.compile(r"\{(\d{1,4})\.\.(\d{1,4})\}")


def numbered(entry: Entry, where: str) -> Iterator[Entry]:
    """Give an entry for every step of the ranges in the terms of one; itself if it has none.

    All ranges take their steps together: of "{20..34}" and "{50..64}" 20 stands for 50.

    Parameters
    ----------
    entry : Entry
        Its terms may hold ranges, all of equally many steps.
    where : str
        What a message calls the entry.

    Raises
    ------
    ValueError
        If the ranges are not equally long, or one has no step.
    """
    terms = [term for listed in entry.terms.values() for term in listed]
    steps = {int(last) - int(first) + 1 for term in terms for first, last in _RANGE.findall(term)}
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
    return _RANGE.sub(lambda match: str(int(match[1]) + step), term)

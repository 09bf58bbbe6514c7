"""Counterfactual pairs as a table for a terminal."""

from __future__ import annotations

import itertools
import shutil
import textwrap
from collections.abc import Iterator, Sequence

from pytest_llmfair.responses import Pair, Rejected, Uncertain

_NARROWEST = 60
_GAP = "  "
_REMEDY = (
    "To settle one: put a slot such as {person} or {subject} in its place; or give the prompt and "
    "its twin yourself, as a tuple in the same list; or list in the entry of your lexicon which "
    "words may stand next to the term (not_before, not_after, only_before); or take the likelier "
    "reading with uncertain='keep'."
)
Cell = list[str]


def table(
    summary: str,
    pairs: Sequence[Pair],
    rejected: Sequence[Rejected],
    uncertain: Sequence[Uncertain],
    width: int | None,
    limit: int | None,
) -> str:
    """Return the summary, then pairs and rejected pairs as columns, then uncertain prompts."""
    width = width or shutil.get_terminal_size().columns
    if width < _NARROWEST:
        raise ValueError(f"width is {width}; a table needs {_NARROWEST} characters or more")
    if limit is not None and limit < 0:
        raise ValueError(f"limit is {limit}; give the most pairs to show, 0 or more")
    kept = [[*_cells(pair), ["all passed"]] for pair in pairs]
    left = [[*_cells(one.pair), list(one.reasons)] for one in rejected]
    lines = textwrap.wrap(summary, width)
    for rows, last in ((kept, "checks"), (left, "rejected because")):
        if rows:
            head: list[Cell] = [["original"], ["counterfactual"], ["edits"], [last]]
            lines += ["", *_columns([head, *rows[:limit]], width)]
        if limit is not None and len(rows) > limit:
            lines.append(f"and {len(rows) - limit} more")
    if uncertain[:limit]:
        lines += ["", *_uncertain(uncertain[:limit], width)]
        if limit is not None and len(uncertain) > limit:
            lines.append(f"and {len(uncertain) - limit} more")
    return "\n".join(lines)


def _uncertain(prompts: Sequence[Uncertain], width: int) -> Iterator[str]:
    """Yield the lines that list uncertain prompts, and how to settle one."""
    yield "uncertain, so left out"
    yield "-" * len("uncertain, so left out")
    for one in prompts:
        yield from textwrap.wrap(_visible(one.prompt), width)
        indent = "  "
        yield from textwrap.wrap(
            _visible(one.reason), width, initial_indent=indent, subsequent_indent=indent
        )
    yield ""
    yield from textwrap.wrap(_REMEDY, width)


def _cells(pair: Pair) -> list[Cell]:
    """Return the cells: original (and placebo), counterfactual, groups and edits."""
    original = [_visible(pair.original)]
    if pair.placebo is not None:
        original.append(f"placebo: {_visible(pair.placebo)}")
    groups = f"{pair.from_group} -> {pair.to_group}"
    edits = [
        f"{_visible(edit.before.strip())} -> {_visible(edit.after.strip()) or '(left out)'}"
        for edit in pair.edits
    ]
    variant = [pair.variant] if pair.variant else []
    return [original, [_visible(pair.counterfactual)], [groups, *variant, *edits]]


def _visible(text: str) -> str:
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _columns(rows: Sequence[Sequence[Cell]], width: int) -> Iterator[str]:
    """Yield the lines of a table, its first row underlined."""
    room = width - 3 * len(_GAP)
    last = room // 5
    edits = room // 4
    original = (room - last - edits) // 2
    widths = (original, room - last - edits - original, edits, last)
    for number, row in enumerate(rows):
        wrapped = [
            [part for line in cell for part in textwrap.wrap(line, size) or [""]]
            for cell, size in zip(row, widths, strict=True)
        ]
        for parts in itertools.zip_longest(*wrapped, fillvalue=""):
            padded = [part.ljust(size) for part, size in zip(parts, widths, strict=True)]
            yield _GAP.join(padded).rstrip()
        yield _GAP.join("-" * size for size in widths) if number == 0 else ""

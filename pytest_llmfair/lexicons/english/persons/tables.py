"""Cells of tables in a text: rows of a line each, whose cells one sign parts."""

from __future__ import annotations

import bisect
import functools
import itertools
from typing import NamedTuple


class Row(NamedTuple):
    """A line of a text, cut at the sign.

    Attributes
    ----------
    starts : list of int
        Where each cell begins in the text.
    cells : list of str
        What each holds; a line without the sign is one cell.
    first : str
        The first cell that is not blank; "" for none.
    head : list of str
        The cells of the first row of its table; empty for that row itself and for other lines.
    """

    starts: list[int]
    cells: list[str]
    first: str
    head: list[str]


class Cell(NamedTuple):
    """The cell from `begin` to `stop`, at `column` of its row."""

    begin: int
    stop: int
    column: int
    row: Row


def cell_at(text: str, sign: str, at: int) -> Cell:
    """Return the cell that a place of a text lies in."""
    begins, rows = _table(text, sign)
    row = rows[bisect.bisect_right(begins, at) - 1]
    column = bisect.bisect_right(row.starts, at) - 1
    begin = row.starts[column]
    return Cell(begin, begin + len(row.cells[column]), column, row)


@functools.lru_cache(maxsize=8)  # a long table has many cells
def _table(text: str, sign: str) -> tuple[list[int], list[Row]]:
    begins, rows = [], []
    head: list[str] = []
    at = 0
    for line in text.split("\n"):
        cells = line.split(sign)
        lengths = (len(cell) + len(sign) for cell in cells[:-1])
        starts = [*itertools.accumulate(lengths, initial=at)]
        rows.append(Row(starts, cells, next(filter(str.strip, cells), ""), head))
        begins.append(at)
        head = (head or cells) if len(cells) > 1 else []
        at += len(line) + 1
    return begins, rows

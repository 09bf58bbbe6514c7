"""Tables that a suite shows next to the values of its metrics."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from pytest_llmfair._util.wording import number, plain
from pytest_llmfair.stats import Estimate

# Of all intervals in tables of suites.
LEVEL = 0.95

# A table that is wider than a terminal has its long texts on several lines of this width.
_TERMINAL, _CELL = 80, 24


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts and numbers under a heading."""

    title: str
    columns: tuple[str, ...]
    # Cells; NaN is shown as "undefined".
    rows: tuple[tuple[str | int | float, ...], ...]
    # How to read it.
    note: str = ""

    def lines(self) -> list[str]:
        """Return the table as lines of text, numbers to the right.

        Examples
        --------
        >>> Table("shares", ("group", "share"), (("a", 0.25), ("b", float("nan")))).lines()
        ['shares', '  group      share', '  a          0.250', '  b      undefined']
        """
        cells = [list(self.columns), *([_shown(cell) for cell in row] for row in self.rows)]
        if sum(_widths(cells)) + 2 * len(self.columns) > _TERMINAL:
            cells = [line for row in cells for line in _folded(row)]
        widths = _widths(cells)
        left = [
            all(isinstance(row[place], str) for row in self.rows)
            for place in range(len(self.columns))
        ]
        found = [self.title]
        for row in cells:
            shown = (
                cell.ljust(width) if is_text else cell.rjust(width)
                for cell, width, is_text in zip(row, widths, left, strict=True)
            )
            found.append(("  " + "  ".join(shown)).rstrip())
        return [*found, *([f"  {self.note}"] if self.note else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; an undefined number is null."""
        found: dict[str, Any] = plain({name: getattr(self, name) for name in self.__slots__})
        return found


def _widths(cells: list[list[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def _folded(row: list[str]) -> list[list[str]]:
    """Return the lines that a row takes; words stay whole."""
    folded = [
        textwrap.wrap(cell, _CELL, break_long_words=False, break_on_hyphens=False) for cell in row
    ]
    return [list(line) for line in zip_longest(*folded, fillvalue="")]


def _shown(cell: str | int | float) -> str:
    if isinstance(cell, float):
        return "undefined" if math.isnan(cell) else number(cell, 3)
    return str(cell)


def interval_text(estimate: Estimate) -> str:
    """Return an interval; * marks one, and its value, without what sampling alone adds."""
    if estimate.undefined:
        return "undefined"
    found = estimate.interval(LEVEL)
    mark = "*" if found.of == "debiased" else ""
    return f"[{found.lower:.3f}, {found.upper:.3f}]{mark}"

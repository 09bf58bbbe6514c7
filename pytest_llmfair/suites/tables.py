"""Tables that a suite shows beside the values of its metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pytest_llmfair._util.wording import number, plain


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts and numbers under a heading.

    Attributes
    ----------
    title : str
        What the table shows.
    columns : tuple of str
        Headings.
    rows : tuple of tuple of (str, int or float)
        Cells; NaN is shown as "undefined".
    note : str
        How to read it; may be empty.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float, ...], ...]
    note: str = ""

    def lines(self) -> list[str]:
        """Return the table as lines of text, numbers to the right.

        Examples
        --------
        >>> Table("shares", ("group", "share"), (("a", 0.25), ("b", float("nan")))).lines()
        ['shares', '  group      share', '  a          0.250', '  b      undefined']
        """
        cells = [list(self.columns), *([_shown(cell) for cell in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
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
        """Return plain JSON types; an undefined number is null.

        Examples
        --------
        >>> Table("shares", ("group", "share"), (("b", float("nan")),)).to_dict()["rows"]
        [['b', None]]
        """
        found: dict[str, Any] = plain({name: getattr(self, name) for name in self.__slots__})
        return found


def _shown(cell: str | int | float) -> str:
    if isinstance(cell, float):
        return "undefined" if math.isnan(cell) else number(cell, 3)
    return str(cell)

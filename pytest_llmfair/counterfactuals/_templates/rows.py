"""Rows of data for a metric that know of which groups they tell nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


class Rows(list[T]):
    """A list of rows; every metric that takes it tells what it lacks.

    Attributes
    ----------
    lacks : tuple of str
        Groups of the attribute for which the lexicon has no terms.
    """

    def __init__(self, rows: Iterable[T] = (), lacks: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.lacks = tuple(lacks)

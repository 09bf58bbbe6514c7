"""Items of data sets that users bring, in the formats of their publishers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pytest_llmfair._util.tables import Row
from pytest_llmfair.suites.design import Suite, Task

T = TypeVar("T")
# The category of a task that asks all items.
EVERYTHING = "all"
_KINDS = {str: "a text", int: "a whole number", dict: "an object", list: "a list"}


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a data set."""

    category: str
    # What it is drawn with, such as its template.
    unit: str
    # What its kind of task asks.
    asked: Any


def fields(row: Row, **kinds: type | tuple[Any, ...]) -> list[Any]:
    """Return values of a row by name; ``ValueError`` where one is missing or of another kind."""
    found = []
    for name, kind in kinds.items():
        value = row.values.get(name)
        if isinstance(kind, tuple):
            right, wanted = value in kind, " or ".join(map(str, kind))
        else:
            right, wanted = isinstance(value, kind), _KINDS[kind]
        if name not in row.values or not right or (kind is str and not str(value).strip()):
            what = f"{name} is {value!r}" if name in row.values else f"there is no {name}"
            raise ValueError(f"{row.where}: {what}; it is {wanted}")
        found.append(value)
    return found


def of_task(suite: Suite, task: Task) -> list[Item]:
    """Return the items of a task."""
    category = task.data["category"]
    return [each for each in suite.items if category in (EVERYTHING, each.category)]


def spread(rows: Sequence[T], number: int) -> list[T]:
    """Return at most `number` rows at equal distances, the first of all rows among them."""
    kept = min(number, len(rows))
    return [rows[place * len(rows) // kept] for place in range(kept)]

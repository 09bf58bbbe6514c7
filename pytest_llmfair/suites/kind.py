"""A kind of task: its questions, how answers become values, and tables next to them."""

from __future__ import annotations

import math
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pytest_llmfair._util.wording import number, plain
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.judging.assertion import Assertion
from pytest_llmfair.stats import Estimate, Finding, Sample, Undefined
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.items import Item
from pytest_llmfair.suites.questions import Asked, Question, ask, missing_answers

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
        """Return the table as lines of text, numbers to the right."""
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


def undefined(why: str, units: int = 0, answers: int = 0) -> Undefined:
    """Return the estimate of a value that answers, at most one a unit, leave undefined."""
    each = min(answers, 1)
    return Undefined(undefined=why, sample=Sample(units, answers, fewest=each, most=each))


@dataclass(frozen=True, slots=True)
class Answered:
    """A task with its answers, and the value of each metric by its name."""

    task: Task
    asked: Sequence[Asked]
    values: Mapping[str, Estimate]


class Kind(ABC):
    """A kind of task; rows of the table in :mod:`pytest_llmfair.suites.kinds`."""

    # Two answers in words for plans to draw from; empty where only a model shows how it answers.
    says: tuple[str, ...] = ()

    # Why `read` gives None for an item that the questions cannot ask, in words.
    cannot_ask = ""

    def read(self, files: Sequence[Path]) -> Sequence[Item | None]:
        """Read the items that a user brings; those that are left out are counted."""
        raise NotImplementedError(f"{type(self).__name__} reads no items")

    def fitted(self, task: Task, client: ModelClient) -> Task:
        """Return the task as the model is asked it; some models need other wordings."""
        return task

    @abstractmethod
    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return the questions of a task at a size."""

    @abstractmethod
    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Return the value of a metric on answers."""

    def ask(self, task: Task, questions: Sequence[Question], client: ModelClient) -> list[Asked]:
        """Ask a model; what the session has asked before is not asked again."""
        return ask(questions, client, task.max_tokens)

    def prepared(self, suite: Suite, task: Task) -> Task:
        """Return the task for the prompts of a suite that takes them."""
        return task

    def why_nothing_is_asked(self, suite: Suite, task: Task) -> str:
        """Return the reason a task asks nothing; empty if it asks something."""
        return ""

    def assertion(
        self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]
    ) -> Assertion | None:
        """Return the assertion that measures a metric in place of `measure`, if there is one."""
        return None

    def further_calls(self, task: Task, questions: Sequence[Question]) -> int:
        """Return the largest number of calls that the answers can lead to."""
        return 0

    def findings(self, asked: Sequence[Asked]) -> list[Finding]:
        """Return the caveats about the answers, which may make the values invalid."""
        return missing_answers(asked)

    def profile(self, asked: Sequence[Asked]) -> Mapping[str, float]:
        """Return a value by unit, such as an occupation, to compare how tasks rank the units."""
        return {}

    def tables(self, suite: Suite, task: Task, asked: Sequence[Asked]) -> tuple[Table, ...]:
        """Return the facts shown beside the metrics."""
        return ()

    def comparisons(self, found: Sequence[Answered]) -> tuple[Table, ...]:
        """Return the facts shown over all tasks of this kind."""
        return ()

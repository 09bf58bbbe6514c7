"""Kinds of tasks: which questions a task has, and how its answers become a metric's arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pytest_llmfair.stats import Estimate
from pytest_llmfair.suites import candidates, occupations
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.questions import Asked, Question


class Kind(Protocol):
    """A kind of task; the modules of the table below have these two functions."""

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return the questions of a task at a size."""
        ...

    def measure(
        self, suite: Suite, quantity: Quantity, asked: Sequence[Asked], population: str
    ) -> Estimate:
        """Return the value of a metric on answers."""
        ...


KINDS: dict[str, Kind] = {
    "texts about occupations": occupations.Texts(),
    "pronoun resolution": occupations.PronounResolution(),
    "next word": occupations.NextWord(),
    "candidates": candidates.Candidates(),
    "pairs of candidates": candidates.CandidatePairs(),
}

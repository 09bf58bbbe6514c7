"""What a kind of task defines: its questions, and how answers become values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.judging.assertion import Assertion
from pytest_llmfair.stats import Estimate, Finding, Sample, Undefined
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.items import Item
from pytest_llmfair.suites.questions import Asked, Question, ask, missing_answers
from pytest_llmfair.suites.tables import Table


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

    def read(self, files: Sequence[Path]) -> list[Item]:
        """Read the items that a user brings."""
        raise NotImplementedError(f"{type(self).__name__} reads no items")

    def fitted(self, task: Task, client: ModelClient) -> Task:
        """Return the task as the model is asked it; some models need other wordings."""
        return task

    @abstractmethod
    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return the questions of a task at a size."""

    @abstractmethod
    def measure(
        self, suite: Suite, quantity: Quantity, asked: Sequence[Asked], population: str
    ) -> Estimate:
        """Return the value of a metric on answers."""

    def ask(self, task: Task, questions: Sequence[Question], client: ModelClient) -> list[Asked]:
        """Ask a model; what the session has asked before is not asked again."""
        return ask(questions, client, task.max_tokens)

    def prepared(self, suite: Suite, task: Task) -> Task:
        """Return the task for the prompts of a suite that takes them."""
        return task

    def why_nothing_is_asked(self, suite: Suite, task: Task) -> str:
        """Return why a task asks nothing; empty if it asks something."""
        return ""

    def assertion(
        self, suite: Suite, quantity: Quantity, asked: Sequence[Asked], population: str
    ) -> Assertion | None:
        """Return the assertion that measures a metric in place of `measure`, if there is one."""
        return None

    def further_calls(self, task: Task, questions: Sequence[Question]) -> int:
        """Return the largest number of calls that the answers can lead to."""
        return 0

    def findings(self, asked: Sequence[Asked]) -> list[Finding]:
        """Return what a reader must know about the answers; may make the values invalid."""
        return missing_answers(asked)

    def profile(self, asked: Sequence[Asked]) -> Mapping[str, float]:
        """Return a value by unit, such as an occupation, to compare how tasks rank the units."""
        return {}

    def tables(self, suite: Suite, task: Task, asked: Sequence[Asked]) -> tuple[Table, ...]:
        """Return what a reader should see besides the metrics."""
        return ()

    def comparisons(self, found: Sequence[Answered]) -> tuple[Table, ...]:
        """Return what a reader should see over all tasks of this kind."""
        return ()

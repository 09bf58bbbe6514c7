"""The checks of a suite: one pytest item for each metric of each task."""

from __future__ import annotations

import shlex
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.gate.check import Check
from pytest_llmfair.gate.yaml_checks import CheckItem
from pytest_llmfair.judging.outcome import conclude
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.session import active
from pytest_llmfair.signatures import word_of
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.result import SuiteResult, TaskResult
from pytest_llmfair.suites.runner import chosen_tasks, hand_on, run_task


@dataclass(slots=True, eq=False)
class Answers:
    """What a run of a suite has asked and measured so far; `spec` if the run has more models.

    `options` are those of the command that a repeated check needs too.
    """

    suite: Suite
    size: str
    tasks: Sequence[str] | None = None
    population: str | None = None
    model: str = ""
    spec: str | None = None
    options: Sequence[str] = ()
    found: dict[str, TaskResult] = field(default_factory=dict)
    # Still true after an error: then the model cannot be loaded at all.
    loading: bool = False

    def of(
        self,
        task: Task,
        client: Callable[[], ModelClient],
        scorers: Callable[[], Mapping[str, Any]],
    ) -> TaskResult:
        """Return what a task found; it is asked once."""
        if task.name not in self.found:
            self.loading = True
            model = ModelClient.of(client())
            self.loading = False
            # Those given with the suite come before those of the fixture.
            both = ChainMap(dict(self.suite.scorers), scorers())  # type: ignore[arg-type]
            suite = replace(self.suite, scorers=both)
            self.found[task.name] = run_task(suite, task, self.size, model, self.population)
            self.model = model.name
            # After every task, so that a run that ends early keeps what it has measured.
            if (found := self.result()) is not None and (recorder := active()) is not None:
                hand_on(found.to_dict(), recorder.nodeid.partition("::")[0])
        return self.found[task.name]

    def checks(self, bounds: Mapping[tuple[str, str], float]) -> list[SuiteCheck]:
        """Return the checks of all tasks; what has no bound is only measured."""
        return [
            SuiteCheck.made(self, task, quantity, bounds.get((task.name, quantity.name)))
            for task in chosen_tasks(self.suite, self.tasks)
            for quantity in task.quantities
        ]

    def result(self) -> SuiteResult | None:
        """Return what was measured; None if nothing was."""
        if not self.found:
            return None
        # Pytest may run the tasks in another order.
        names = [task.name for task in chosen_tasks(self.suite, self.tasks)]
        return SuiteResult(
            self.suite,
            self.model,
            self.size,
            tuple(self.found[name] for name in names if name in self.found),
            population=self.population,
            unmeasured=tuple(name for name in names if name not in self.found),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteCheck(Check):
    """A metric of a task, with the bound of the user if there is one."""

    answers: Answers
    task: Task
    quantity: Quantity
    judged: bool

    @classmethod
    def made(
        cls, answers: Answers, task: Task, quantity: Quantity, bound: float | None
    ) -> SuiteCheck:
        """Return the check of a metric."""
        # The command that repeats it, without its model and seed.
        words = ["llmfair", "run", answers.suite.name, "--size", answers.size, "--task", task.name]
        if bound is not None:
            words += ["--bounds", f"{task.name}.{quantity.name}={bound:g}"]
        words += ["--population", answers.population] if answers.population else []
        return cls(
            name=f"{task.name}.{quantity.name}" + (f"[{answers.spec}]" if answers.spec else ""),
            model=answers.spec,
            line=0,
            metric=quantity.metric,
            word=word_of(get_metric(quantity.metric)),
            bound=0.0 if bound is None else bound,
            rationale=(
                f"{'measured without a bound' if bound is None else 'bound given'} with the suite "
                f"{answers.suite.name}; {task.note}"
            ),
            owner="who ran the suite",
            answers=answers,
            task=task,
            quantity=quantity,
            judged=bound is not None,
            rerun=shlex.join([*words, *answers.options]),
        )

    def run(
        self,
        *,
        client: Callable[[], Any],
        scorers: Callable[[], Mapping[str, Any]],
        pairs: Callable[..., Any],
    ) -> Any:
        """Ask what was not asked before, measure, and judge if there is a bound."""
        __tracebackhide__ = True
        measured = self.answers.of(self.task, client, scorers).measured
        found = next(each for each in measured if each.quantity == self.quantity)
        if self.judged:
            return conclude(found.judge(self.bound, self.answers.suite.name, self.answers.model))
        if wrong := [each.text for each in found.findings if each.kind == "invalid"]:
            raise ValueError(f"{self.name} has no valid value: {'; '.join(wrong)}")
        # It has no bound on purpose, so the session must not report unchecked answers.
        if (recorder := active()) is not None:
            recorder.collected = False
        return None


def items_of(parent: Any, checks: Iterable[SuiteCheck]) -> list[pytest.Item]:
    """Return the tests of checks."""
    return [CheckItem.of(parent, check) for check in checks]

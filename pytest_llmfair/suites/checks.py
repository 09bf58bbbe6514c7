"""The checks of a suite, also of a file that names one: an item for each metric of each task."""

from __future__ import annotations

import shlex
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair._util.documents import Document, schema_of
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.gate.check import Check, Checks
from pytest_llmfair.judging.outcome import conclude
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.session import active
from pytest_llmfair.signatures import word_of
from pytest_llmfair.suites.design import Quantity, Task, get_suite
from pytest_llmfair.suites.own_data import read_own_prompts
from pytest_llmfair.suites.runner import Answers, chosen_suite, chosen_tasks, hand_on


def checks_of(answers: Answers, bounds: Mapping[tuple[str, str], float]) -> list[SuiteCheck]:
    """Return a check for each metric of each task."""
    return [
        SuiteCheck.made(answers, task, quantity, bounds.get((task.name, quantity.name)))
        for task in chosen_tasks(answers.suite, answers.tasks)
        for quantity in task.quantities
    ]


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
        """Return the check of a metric; without a bound it is only measured."""
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
            about={
                "rationale": f"suite {answers.suite.name}, "
                f"{'without a' if bound is None else 'with a given'} bound; {task.note}",
                "owner": "the user of the command",
            },
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
        answers, task = self.answers, self.task
        if task.name not in answers.found:
            answers.loading = True
            model = ModelClient.of(client())
            answers.loading = False
            # Scorers given with the suite come before those of the fixture.
            both = ChainMap(dict(answers.suite.scorers), scorers())  # type: ignore[arg-type]
            answers.ask(task, model, replace(answers.suite, scorers=both))
            hand_on(answers.result(), of_file=True)
        measured = answers.found[task.name].measured
        found = next(each for each in measured if each.quantity == self.quantity)
        if self.judged:
            return conclude(found.judge(self.bound, answers.suite.name, answers.model))
        if found.invalid:
            raise ValueError(f"{self.name} has no valid value: {'; '.join(found.invalid)}")
        # The user gave no bound, so the session must not report that answers were not checked.
        if (recorder := active()) is not None:
            recorder.collected = False
        if why := found.estimate.undefined:
            pytest.skip(f"undefined: {why}")
        return None


# What a file may choose, as in `pytest_llmfair.suites.run`, in the order of what depends on what.
_CHOSEN = ("prompts", "scorers", "metrics", "size", "tasks", "population")


def read_suite(path: Path) -> Checks:
    """Read a file that names a suite; a ``ValueError`` has every problem with its line."""
    document = Document.read(path, schema_of("suites/suite.schema.json"))
    given = document.content
    if "suite" not in given or document.attempt(("suite",), get_suite, given["suite"]) is None:
        document.check()
    choose = partial(chosen_suite, given["suite"])
    bounds = given.get("bounds", {})
    if "data" in given:
        choose = partial(choose, data=path.parent / given["data"])
    # Tasks and metrics follow from the data.
    if document.attempt(("data" if "data" in given else "suite",), choose) is None:
        document.check()
    for key, value in ((key, given[key]) for key in _CHOSEN if key in given):
        if isinstance(value, list):
            value = [each for each in value if each is not None]
        elif key == "prompts":
            value = document.attempt((key,), read_own_prompts, path.parent / value)
        if value and document.attempt((key,), partial(choose, **{key: value})) is not None:
            choose = partial(choose, **{key: value})
    # Which bounds there can be depends on metrics and prompts.
    known = document.is_right("metrics") and document.is_right("prompts")
    for metric, bound in bounds.items() if known else ():
        document.attempt(("bounds", metric), partial(choose, bounds={metric: bound}))
    document.check()
    suite, judged = choose(bounds=bounds)
    chosen = choose.keywords
    size = chosen.get("size", "smoke")
    answers = Answers(suite, size, chosen.get("tasks"), chosen.get("population"))
    return Checks(
        path.name,
        tuple(
            replace(
                check,
                rerun="",
                line=document.line("bounds"),
                about={key: given[key] for key in ("rationale", "owner")},
                model=given.get("model"),
            )
            for check in checks_of(answers, judged)
            if check.judged
        ),
    )

"""The one runner: plan, ask, measure and judge a suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair.clients import ModelClient, origins
from pytest_llmfair.judging.outcome import conclude_all, record
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.session import active
from pytest_llmfair.stats import Finding
from pytest_llmfair.suites.design import Quantity, Suite, Task, get_suite
from pytest_llmfair.suites.kinds import KINDS
from pytest_llmfair.suites.questions import calls, missing_answers
from pytest_llmfair.suites.result import Measured, SuiteResult, TaskResult


def run(
    name: str,
    client: ModelClient | Callable[..., Any],
    *,
    size: str = "smoke",
    bounds: Mapping[str, float] | None = None,
    population: str | None = None,
    tasks: Sequence[str] | None = None,
) -> SuiteResult:
    """Ask a model all that a suite asks, measure, and judge what has a bound.

    Parameters
    ----------
    name : str
        Name of a suite (:func:`all_suites`).
    client : ModelClient or callable
        The model.
    size : {"smoke", "standard", "paper"}
        How much is asked; ``plan`` counts it.
    bounds : mapping, optional
        METRIC or TASK.METRIC to the value that you can still accept. What has no bound is
        measured and not judged.
    population : {"fixed", "sampled"}, optional
        Whether the occupations or rounds are all of interest, or stand for more; by default that
        of the metric.
    tasks : sequence of str, optional
        Only these tasks.

    Returns
    -------
    SuiteResult
        When no verdict is red.

    Raises
    ------
    FairnessAssertionError
        For red verdicts, as every assertion.
    ValueError
        If a suite, size, task or bound is wrong, or a model gives no probabilities.

    Examples
    --------
    >>> from pytest_llmfair.clients import load_client
    >>> found = run("ruted", load_client("builtin:ngram"), tasks=["next_word"])
    >>> abs(found.value("next_word", "ruted_skew")) < 1e-9
    True
    """
    __tracebackhide__ = True
    suite = get_suite(name)
    suite.size(size)
    wanted = chosen_tasks(suite, tasks)
    limits = suite.bounds(bounds, tasks)
    model = ModelClient.of(client)
    tasks_found: list[TaskResult] = []
    for number, task in enumerate(wanted, start=1):
        tasks_found.append(run_task(suite, task, size, model, population))
        left = tuple(each.name for each in wanted[number:])
        found = SuiteResult(
            suite, model.name, size, tuple(tasks_found), (), population, unmeasured=left
        )
        # After every task, so that a run that ends early keeps what it has measured.
        hand_on(found)
    results = [
        each.judge(limits[key], suite.name, model.name)
        for each in found.measured
        if (key := (each.task.name, each.quantity.name)) in limits
    ]
    recorded = [again for result in results for again in record(result)]
    conclude_all(recorded)
    return replace(found, results=tuple(results))


def hand_on(found: SuiteResult, test: str | None = None) -> None:
    """Give what was found to the record of the run; `test` is where it comes from."""
    recorder = active()
    if recorder is not None:
        recorder.suites.append({"test": test or recorder.nodeid, **found.to_dict()})


def chosen_tasks(suite: Suite, names: Sequence[str] | None) -> list[Task]:
    """Return tasks by name; all without names."""
    known = {task.name: task for task in suite.tasks}
    for name in names or ():
        if name not in known:
            raise ValueError(f"{suite.name} has no task {name!r}; choose {', '.join(known)}")
    return [known[name] for name in names or known]


def run_task(
    suite: Suite, task: Task, size: str, client: ModelClient, population: str | None = None
) -> TaskResult:
    """Ask all questions of a task, and return every value, over all wordings and by wording."""
    kind = KINDS[task.kind]
    since = origins()
    asked = kind.ask(task, kind.questions(suite, task, suite.size(size)), client)
    origin = since()
    measured = []
    for quantity in task.quantities:
        own = population or _own_population(quantity)
        estimate = kind.measure(suite, quantity, asked, own)
        by_wording = tuple(
            kind.measure(
                suite, quantity, [each for each in asked if each.question.wording == number], own
            ).value
            for number in range(len(task.wordings))
        )
        found = Measured(task, quantity, estimate, by_wording, (), origin)
        findings = (Finding.note(task.note), Finding.note(found.spread), *missing_answers(asked))
        measured.append(replace(found, findings=findings))
    return TaskResult(task, tuple(measured), kind.tables(suite, task, asked), kind.profile(asked))


def _own_population(quantity: Quantity) -> str:
    return "fixed" if get_metric(quantity.metric).family == "ruted" else "sampled"


def plan(
    suite: Suite, size: str, tasks: Sequence[str] | None = None
) -> list[tuple[str, int, str]]:
    """Return task, number of calls and first prompt of everything that would be asked."""
    rows = []
    for task in chosen_tasks(suite, tasks):
        questions = KINDS[task.kind].questions(suite, task, suite.size(size))
        rows.append((task.name, calls(questions), questions[0].prompt))
    return rows

"""The one runner: plan, ask, measure and judge a suite."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_llmfair._util.printing import step_by_step
from pytest_llmfair._util.wording import plural
from pytest_llmfair.clients import ModelClient, origins
from pytest_llmfair.clients.session import remembering
from pytest_llmfair.judging.outcome import conclude_all, record
from pytest_llmfair.judging.pipeline import measure
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.session import active
from pytest_llmfair.stats import Finding
from pytest_llmfair.suites.design import Suite, Task, get_suite
from pytest_llmfair.suites.kinds import KINDS
from pytest_llmfair.suites.own_data import (
    check_scorers,
    read_own_prompts,
    with_data,
    with_prompts,
)
from pytest_llmfair.suites.result import Measured, SuiteResult, TaskResult


def run(
    name: str,
    client: ModelClient | Callable[..., Any],
    *,
    size: str = "smoke",
    bounds: Mapping[str, float] | None = None,
    population: str | None = None,
    tasks: Sequence[str] | None = None,
    prompts: Sequence[str] | None = None,
    scorers: Mapping[str, Any] | None = None,
    metrics: Sequence[str] | None = None,
    data: str | Path | None = None,
) -> SuiteResult:
    """Ask a model all that a suite asks, measure, and judge what has a bound.

    Parameters
    ----------
    name : str
        Name of a suite (:func:`all_suites`).
    client : ModelClient or callable
        The model.
    size : {"smoke", "standard", "paper"}
        How much is asked; ``llmfair run NAME --plan`` counts it.
    bounds : mapping, optional
        Acceptable values by METRIC or TASK.METRIC. Metrics without a bound are measured and not
        judged.
    population : {"fixed", "sampled"}, optional
        Whether the occupations or rounds are all of interest, or a sample of more; by default
        as the metric has it.
    tasks : sequence of str, optional
        Only these tasks; a name may be a pattern, such as ``*_in_words``.
    prompts : sequence of str, optional
        Your own prompts, for a suite that takes some; without them it asks examples of the
        package.
    scorers : mapping of str to scorer or str, optional
        Scorers, or specifications of scorers, in place of those of the package, for suites that
        score texts: ``{"toxicity": "detoxify:original"}``.
    metrics : sequence of str, optional
        These metrics in place of those that the suite selects; ``["all"]`` for all that it has.
    data : str or Path, optional
        File or folder with the items of a suite that brings none, such as "bbq".

    Returns
    -------
    SuiteResult
        When no verdict is red.

    Raises
    ------
    FairnessAssertionError
        For red verdicts, as every assertion.
    ValueError
        If a suite, size, task, bound or prompt is wrong, a suite takes no prompts, or a model
        gives no probabilities.

    Examples
    --------
    >>> from pytest_llmfair.clients import load_client
    >>> found = run("ruted", load_client("builtin:ngram"), tasks=["next_word"])
    >>> abs(found.value("next_word", "ruted_skew")) < 1e-9
    True
    """
    __tracebackhide__ = True
    suite, limits = chosen_suite(
        name, size, bounds, population, tasks, prompts, scorers, metrics, data
    )
    answers, model = Answers(suite, size, tasks, population), ModelClient.of(client)
    # Tasks share the answers to the same question.
    with remembering():
        for task in step_by_step("task", chosen_tasks(suite, tasks)):
            answers.ask(task, model)
            hand_on(answers.result())
    found = answers.result()
    results = [
        each.judge(limits[key], suite.name, model.name)
        for each in found.measured
        if (key := (each.task.name, each.quantity.name)) in limits
    ]
    recorded = [record(result) for result in results]
    conclude_all([each for own in recorded for each in own])
    return replace(found, results=tuple(own[0] for own in recorded))


def chosen_suite(
    name: str,
    size: str = "smoke",
    bounds: Mapping[str, float] | None = None,
    population: str | None = None,
    tasks: Sequence[str] | None = None,
    prompts: Sequence[str] | Path | None = None,
    scorers: Mapping[str, Any] | None = None,
    metrics: Sequence[str] | None = None,
    data: str | Path | None = None,
) -> tuple[Suite, dict[tuple[str, str], float]]:
    """Return a suite with the user's choice and bounds, or raise before anything is asked."""
    suite = with_data(get_suite(name), data)
    if isinstance(prompts, Path):
        prompts = read_own_prompts(prompts)
    for what, rows in (("tasks", tasks), ("metrics", metrics), ("prompts", prompts)):
        if rows is not None and (isinstance(rows, str) or not isinstance(rows, Iterable)):
            raise ValueError(f"{what} is {rows!r}; write a list")
    for what, given in (("scorers", scorers), ("bounds", bounds)):
        if given is not None and not isinstance(given, Mapping):
            raise ValueError(f"{what} is {given!r}; write a mapping of names")
    if population not in (None, "fixed", "sampled"):
        raise ValueError(f"population is {population!r}; choose fixed or sampled")
    # The scorers of the package, which a session gives to every suite, are right.
    if isinstance(scorers, dict):
        check_scorers(suite, scorers)
    suite = with_prompts(suite, prompts, scorers).measuring(metrics).over(population)
    suite.size(size)
    return suite, suite.bounds(bounds, [task.name for task in chosen_tasks(suite, tasks)])


@dataclass(slots=True, eq=False)
class Answers:
    """Questions and measurements of a suite so far."""

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

    def ask(self, task: Task, model: ModelClient, suite: Suite | None = None) -> None:
        """Ask and measure a task; `suite` may have other scorers."""
        found = run_task(suite or self.suite, task, self.size, model)
        self.found[task.name], self.model = found, model.name

    def result(self) -> SuiteResult:
        """Return the results measured."""
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


def hand_on(found: Any, *, of_file: bool = False) -> None:
    """Give a result or comparison to the record after its task, so that no crash loses it."""
    if (recorder := active()) is not None:
        test = recorder.nodeid.partition("::")[0] if of_file else recorder.nodeid
        recorder.suites.append({"test": test, **found.to_dict()})


def chosen_tasks(suite: Suite, names: Sequence[str] | None) -> list[Task]:
    """Return tasks by names or patterns of names; all without names."""
    known = {task.name: task for task in suite.tasks}
    found: list[str] = []
    for name in names or known:
        hits = fnmatch.filter(known, name)
        if not hits:
            raise ValueError(f"{suite.name} has no task {name!r}; choose {', '.join(known)}")
        found += [each for each in hits if each not in found]
    return [known[name] for name in found]


def run_task(suite: Suite, task: Task, size: str, client: ModelClient) -> TaskResult:
    """Ask all questions of a task, and return every value, over all wordings and by wording."""
    kind = KINDS[task.kind]
    task = kind.fitted(task, client)
    since = origins()
    asked = kind.ask(task, kind.questions(suite, task, suite.size(size)), client)
    origin = since()
    by_wording = [
        [each for each in asked if each.question.wording == number]
        for number in range(len(task.wordings))
    ]
    measured = []
    for quantity in task.quantities:
        assertion = kind.assertion(suite, quantity, asked)
        if assertion is None:
            estimate, known = kind.measure(suite, quantity, asked), kind.findings(asked)
        else:
            inputs, estimate = measure(assertion, assertion.source.data, None)
            known = [each for each in inputs.findings if each.code != "undefined"]
        alone = tuple(kind.measure(suite, quantity, part).centre for part in by_wording)
        found = Measured(
            task, quantity, estimate, alone or tuple(estimate.rows), (), origin, assertion
        )
        notes = [Finding.note(text) for text in (task.note, found.spread, _only(found)) if text]
        measured.append(replace(found, findings=(*notes, *known)))
    tables = kind.tables(suite, task, asked)
    return TaskResult(task, tuple(measured), tables, kind.profile(asked), tuple(asked))


def _only(found: Measured) -> str:
    """Return the population of a fixed list; empty where units were drawn from more."""
    sample = found.estimate.sample
    if sample.population == "sampled" or found.estimate.undefined:
        return ""
    units = plural(get_metric(found.quantity.metric).unit, sample.units)
    return f"about these {units} only, not about others or stereotypes at large"

"""The one runner: plan, ask, measure and judge a suite."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from pytest_llmfair._util.wording import plural
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.judging.assertion import EstimateAssertion
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.outcome import conclude_all, record
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.stats import Estimate, Finding, MaxPairwiseDifference
from pytest_llmfair.suites.design import Quantity, Suite, Task, get_suite
from pytest_llmfair.suites.kinds import KINDS
from pytest_llmfair.suites.questions import calls, missing_answers
from pytest_llmfair.suites.tables import Table


@dataclass(frozen=True, slots=True)
class Measured:
    """A value of a task.

    Attributes
    ----------
    task : Task
        What was asked.
    quantity : Quantity
        What was measured.
    estimate : Estimate
        The value over all wordings, with its interval.
    wordings : tuple of float
        The value of each wording alone; NaN where undefined.
    findings : tuple of Finding
        What a reader must know beyond the numbers; part of every result.
    """

    task: Task
    quantity: Quantity
    estimate: Estimate
    wordings: tuple[float, ...]
    findings: tuple[Finding, ...] = ()

    def judge(self, bound: float, suite: str, model: str) -> Result:
        """Judge the value by the pipeline of all assertions, without recording the result."""
        label = f"{suite} {self.task.name}"
        if "@" in self.quantity.name:
            label += f" {self.quantity.name.partition('@')[2]}"
        rules = Rules(label=label)
        info = get_metric(self.quantity.metric)
        inputs = MetricInputs(findings=self.findings, model=model)
        return evaluate(EstimateAssertion(self.estimate, bound, info, rules, inputs))


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What one task found.

    Attributes
    ----------
    task : Task
        What was asked.
    measured : tuple of Measured
        Its values.
    tables : tuple of Table
        What else a reader should see.
    profile : mapping
        A value by unit, such as the share of texts about a man by occupation; may be empty.
    """

    task: Task
    measured: tuple[Measured, ...]
    tables: tuple[Table, ...]
    profile: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """What a suite found.

    Attributes
    ----------
    suite : Suite
        The design.
    model, size : str
        Which model was asked, and how much.
    tasks : tuple of TaskResult
        What each task found.
    results : tuple of Result
        Verdicts, where bounds were given.
    """

    suite: Suite
    model: str
    size: str
    tasks: tuple[TaskResult, ...]
    results: tuple[Result, ...] = ()

    @property
    def measured(self) -> tuple[Measured, ...]:
        """Every value, in the order of the tasks."""
        return tuple(each for task in self.tasks for each in task.measured)

    def value(self, task: str, quantity: str) -> float:
        """Return a value by the names of task and quantity; raise ``KeyError`` without one."""
        for each in self.measured:
            if (each.task.name, each.quantity.name) == (task, quantity):
                return each.estimate.value
        raise KeyError(f"{self.suite.name} has no {task}.{quantity}")

    def agreement(self) -> dict[tuple[str, str], tuple[float, float, float, int]]:
        """Return how alike two tasks rank the occupations by the share of texts about a man.

        Returns
        -------
        dict
            Two tasks to Spearman's rank correlation, its 95 % interval (Bonett and Wright 2000),
            and the number of occupations; NaN where a task gives all occupations the same share.
        """
        found = {}
        for one, other in combinations([each for each in self.tasks if each.profile], 2):
            both = [name for name in one.profile if name in other.profile]
            columns = [[each.profile[name] for name in both] for each in (one, other)]
            found[one.task.name, other.task.name] = (*rank_correlation(*columns), len(both))
        return found

    def table(self) -> str:
        """Return the comparison of the tasks, what it does not say, and rank agreement."""
        return "\n".join(lines_of(self))

    def __str__(self) -> str:
        return self.table()


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
    limits = suite.bounds(bounds)
    wanted = chosen_tasks(suite, tasks)
    model = ModelClient.of(client)
    found = tuple(run_task(suite, task, size, model, population) for task in wanted)
    results = [
        each.judge(limits[key], suite.name, model.name)
        for task in found
        for each in task.measured
        if (key := (each.task.name, each.quantity.name)) in limits
    ]
    recorded = [again for result in results for again in record(result)]
    conclude_all(recorded)
    return SuiteResult(suite, model.name, size, found, tuple(results))


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
    asked = kind.ask(task, kind.questions(suite, task, suite.size(size)), client)
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
        spread = f"{len(by_wording)} wordings alone give {_spread(by_wording)}"
        findings = (Finding.note(task.note), Finding.note(spread), *missing_answers(asked))
        measured.append(Measured(task, quantity, estimate, by_wording, findings))
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


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Return Spearman's correlation with its 95 % interval; NaN where it is not defined.

    Three values limit it to nothing. Of a perfect agreement the inner end of the interval is that
    of the next smaller correlation that so many values can have.
    """
    ranks = [_ranks(np.asarray(column, dtype=float)) for column in (one, other)]
    n = len(one)
    if n < 3 or any(np.ptp(column) == 0.0 for column in ranks):
        return math.nan, math.nan, math.nan
    r = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    if n == 3:
        return r, -1.0, 1.0
    near = max(-1.0, min(1.0, r))
    if abs(r) > 1.0 - 1e-12:
        near = math.copysign(1.0 - 12.0 / (n * (n * n - 1)), r)
    half = 1.96 * math.sqrt((1.0 + near * near / 2.0) / (n - 3))
    low, high = math.tanh(math.atanh(near) - half), math.tanh(math.atanh(near) + half)
    if near == r:
        return r, low, high
    return (1.0, low, 1.0) if r > 0.0 else (-1.0, -1.0, high)


def _ranks(values: Any) -> Any:
    """Return mean ranks, so that ties share one."""
    return np.array([((values < v).sum() + (values <= v).sum() - 1) / 2 for v in values])


def lines_of(found: SuiteResult) -> list[str]:
    """Return the table of a suite as lines of text."""
    lines = [f"{found.suite.name} ({found.size}) of {found.model}: {found.suite.paper}", ""]
    head = f"{'task':<20} {'metric':<30} {'value':>7}  {'95 % interval':<16} wordings"
    lines.append(head)
    for each in found.measured:
        lines.append(
            f"{each.task.name:<20} {each.quantity.name:<30} {each.estimate.value:>7.3f}  "
            f"{_interval(each.estimate):<16} {_spread(each.wordings)}"
        )
    if any("*" in line for line in lines[3:]):
        lines.append("* of the value without the part that sampling alone adds")
    lines.append("")
    for task in dict.fromkeys(each.task.name for each in found.measured):
        note = next(each.task.note for each in found.measured if each.task.name == task)
        lines.append(f"{task}: {note}")
    lines += list(_groups(found))
    for table in (table for task in found.tasks for table in task.tables):
        lines += ["", *table.lines()]
    agreement = found.agreement()
    if agreement:
        lines += ["", "rank agreement of tasks (Spearman, occupations by share of men)"]
    for (one, other), (r, low, high, n) in agreement.items():
        shown = "undefined" if math.isnan(r) else f"{r:.2f} [{low:.2f}, {high:.2f}]"
        lines.append(f"  {one} and {other}: {shown}, {plural('occupation', n)}")
    lines += ["", "what this does not say", *(f"- {limit}" for limit in found.suite.limits)]
    return lines


def _groups(found: SuiteResult) -> Iterator[str]:
    """Yield each group's own value and interval, where groups are compared with a reference."""
    tables = [each for each in found.measured if isinstance(each.estimate, MaxPairwiseDifference)]
    if not tables:
        return
    yield ""
    yield "each group and the reference; above is the largest, with the interval of its size"
    for each in tables:
        yield f"  {each.task.name} {each.quantity.name}"
        for name, row in each.estimate.groups.items():
            shown = "" if row.estimate is None else _interval(row.estimate)
            yield f"    {name!s:<20} {row.value:>7.3f}  {shown}"


def _spread(wordings: Sequence[float]) -> str:
    if any(map(math.isnan, wordings)):
        return "no value for one or more"
    return f"{min(wordings):.3f} to {max(wordings):.3f}"


def _interval(estimate: Estimate) -> str:
    if estimate.undefined:
        return "undefined"
    found = estimate.interval(0.95)
    mark = "*" if found.of == "debiased" else ""
    return f"[{found.lower:.3f}, {found.upper:.3f}]{mark}"

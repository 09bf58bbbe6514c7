"""What a suite found: values, tables and verdicts, for readers and for the record of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from pytest_llmfair._util.wording import plain, plural
from pytest_llmfair.judging.assertion import Assertion, EstimateAssertion
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.pipeline import evaluate, measure
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.stats import Estimate, Finding, MaxPairwiseDifference, WorstGroups
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.kind import LEVEL, Answered, Table, interval_text
from pytest_llmfair.suites.kinds import KINDS
from pytest_llmfair.suites.questions import Asked


@dataclass(frozen=True, slots=True)
class Measured:
    """A value of a task, over all wordings."""

    task: Task
    quantity: Quantity
    estimate: Estimate
    # The value of each wording alone, or of each prompt of the user; NaN where undefined.
    wordings: tuple[float, ...]
    # What a reader must know beyond the numbers; part of every result.
    findings: tuple[Finding, ...] = ()
    # Answers of the task that were asked for live, and replayed from a cassette.
    origin: tuple[int, int] = (0, 0)
    # What measured the value, where an assertion did.
    assertion: Assertion | None = None

    @property
    def invalid(self) -> list[str]:
        """Why the value is no evidence, such as too many missing answers; empty if it is."""
        found = (*self.findings, *self.estimate.findings)
        return [each.text for each in found if each.kind == "invalid" and each.code != "undefined"]

    @property
    def spread(self) -> str:
        """The range of the values of single wordings or prompts, as a sentence; may be empty."""
        if not self.wordings:
            return ""
        unit = "wording" if self.task.wordings else get_metric(self.quantity.metric).unit
        alone = "alone gives" if len(self.wordings) == 1 else "alone give"
        return f"{plural(unit, len(self.wordings))} {alone} {_spread(self.wordings)}"

    def label(self, suite: str) -> str:
        """Return the part of a result's name after its metric."""
        variant = self.quantity.name.partition("@")[2]
        # Some estimates name their variant themselves.
        named = () if variant in self.estimate.variant else (variant,)
        return " ".join((suite, self.task.name, *named))

    def judge(self, bound: float, suite: str, model: str) -> Result:
        """Judge the value by the pipeline of all assertions, without recording the result."""
        rules = Rules(label=self.label(suite))
        info = get_metric(self.quantity.metric)
        inputs = MetricInputs()
        if self.assertion is not None:
            # Whether the scorer itself favours a group is a question of the bound.
            judged = replace(self.assertion, bound=bound)
            inputs, _ = measure(judged, judged.source.data, None)
        new = [each for each in self.findings if each not in inputs.findings]
        inputs = replace(inputs.with_findings(*new), model=model, origin=self.origin)
        return evaluate(EstimateAssertion(self.estimate, bound, info, rules, inputs))

    def to_dict(self, suite: str) -> dict[str, Any]:
        """Return plain JSON types; `check` is the metric in the record of this value's result."""
        estimate = self.estimate
        interval = None if estimate.undefined else estimate.interval(LEVEL)
        found: dict[str, Any] = {
            "task": self.task.name,
            "metric": self.quantity.name,
            "check": f"{self.quantity.metric}{estimate.variant} {self.label(suite)}",
            "value": estimate.value,
            "debiased": estimate.debiased,
            **{name: getattr(interval, name, None) for name in ("lower", "upper", "of")},
            "level": LEVEL,
            "valid": not (self.invalid or estimate.undefined),
            "wordings": self.wordings,
            "notes": [
                each.text
                for each in (*estimate.findings, *self.findings)
                if each.text not in (self.task.note, self.spread)
            ],
        }
        plain_types: dict[str, Any] = plain(found)
        return plain_types


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What one task found: its values, and the tables that belong to them."""

    task: Task
    measured: tuple[Measured, ...]
    tables: tuple[Table, ...]
    # A value by unit, such as the share of texts about a man by occupation; may be empty.
    profile: Mapping[str, float]
    asked: tuple[Asked, ...] = ()


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
    population : str or None
        That of the user; None for that of each metric.
    unmeasured : tuple of str
        Tasks without a value, because a run ended early.
    """

    suite: Suite
    model: str
    size: str
    tasks: tuple[TaskResult, ...]
    results: tuple[Result, ...] = ()
    population: str | None = None
    unmeasured: tuple[str, ...] = ()

    @property
    def measured(self) -> tuple[Measured, ...]:
        """Every value, in the order of the tasks."""
        return tuple(each for task in self.tasks for each in task.measured)

    @property
    def invalid(self) -> list[str]:
        """Why answers of a task are no evidence, such as too many missing ones."""
        found = [f"{each.task.name}: {text}" for each in self.measured for text in each.invalid]
        return list(dict.fromkeys(found))

    def value(self, task: str, quantity: str) -> float:
        """Return a value by the names of task and quantity; raise ``KeyError`` without one."""
        for each in self.measured:
            if (each.task.name, each.quantity.name) == (task, quantity):
                return each.estimate.value
        raise KeyError(f"{self.suite.name} has no {task}.{quantity}")

    def agreement(self) -> dict[tuple[str, str], tuple[float, float, float, int]]:
        """Return the rank correlation of two tasks' occupations by the share of texts about a man.

        It is Spearman's, with its 95 % interval (Bonett and Wright 2000) and the number of
        occupations; NaN where a task gives all occupations the same share.
        """
        found = {}
        for one, other in combinations([each for each in self.tasks if each.profile], 2):
            both = [name for name in one.profile if name in other.profile]
            columns = [[each.profile[name] for name in both] for each in (one, other)]
            found[one.task.name, other.task.name] = (*rank_correlation(*columns), len(both))
        return found

    @property
    def tables(self) -> tuple[Table, ...]:
        """Tables of each task, then those of the tasks together."""
        found = [
            table
            for task in self.tasks
            for table in (*_by_group(task), *_noise(task), *task.tables)
        ]
        for name in dict.fromkeys(each.task.kind for each in self.tasks):
            same = [each for each in self.tasks if each.task.kind == name]
            found += KINDS[name].comparisons([_answered(each) for each in same])
        return (*found, *_side_by_side(self), *_agreement(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types, for the record of a run."""
        return {
            "name": self.suite.name,
            "about": self.suite.about,
            "paper": self.suite.paper,
            "model": self.model,
            "size": self.size,
            "population": self.population,
            "tasks": [{"name": each.task.name, "note": each.task.note} for each in self.tasks],
            "unmeasured": list(self.unmeasured),
            "invalid": self.invalid,
            "values": [each.to_dict(self.suite.name) for each in self.measured],
            "tables": [each.to_dict() for each in self.tables],
            "limits": list(self.suite.limits),
        }

    def table(self) -> str:
        """Return the comparison of the tasks, what it does not say, and rank agreement."""
        rows = tuple(
            (
                each.task.name,
                each.quantity.name,
                each.estimate.centre,
                interval_text(each.estimate),
                _spread(each.wordings),
            )
            for each in self.measured
        )
        alone = "wordings" if self.suite.prompts is None else "prompts alone"
        columns = ("task", "metric", "value", "95 % interval", alone)
        head = f"{self.suite.name} ({self.size}) of {self.model}: {self.suite.paper}"
        lines = [head, "", *Table("", columns, rows).lines()[1:]]
        if any("*" in row[3] for row in rows):
            lines.append("* value and interval without the part that sampling alone adds")
        lines += _undefined(self)
        lines += ["", *(f"{each.task.name}: {each.task.note}" for each in self.tasks)]
        lines += [f"not valid: {text}" for text in self.invalid]
        if self.unmeasured:
            names = ", ".join(self.unmeasured)
            lines += ["", f"without a value, because the run or the task ended early: {names}"]
        for table in self.tables:
            lines += ["", *table.lines()]
        lines += ["", "what this does not say", *(f"- {limit}" for limit in self.suite.limits)]
        return "\n".join(lines)

    __str__ = table


def _answered(found: TaskResult) -> Answered:
    estimates = {each.quantity.name: each.estimate for each in found.measured}
    return Answered(found.task, found.asked, estimates)


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Return Spearman's correlation with its 95 % interval; NaN where it is not defined."""
    # With a perfect agreement, the inner end is that of the next smaller correlation possible.
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
    """Return mean ranks; values that differ only by rounding are ties."""
    values = values.round(12)
    return np.array([((values < v).sum() + (values <= v).sum() - 1) / 2 for v in values])


def _undefined(found: SuiteResult) -> Iterator[str]:
    """Yield why values are undefined: the metrics of each task, and then the reason."""
    together: dict[str, dict[str, list[str]]] = {}
    for each in found.measured:
        if why := each.estimate.undefined:
            of_task = together.setdefault(why, {}).setdefault(each.task.name, [])
            of_task.append(each.quantity.name)
    for why, tasks in together.items():
        named = "; ".join(f"{task} {', '.join(names)}" for task, names in tasks.items())
        yield f"undefined: {named}: {why}"


def _noise(found: TaskResult) -> Iterator[Table]:
    """Yield the worst two groups of each metric, and what sampling alone gives."""
    rows = []
    for each in found.measured:
        estimate = each.estimate
        worst = " and ".join(estimate.worst) if isinstance(estimate, WorstGroups) else ""
        if estimate.floor is not None and estimate.excess is not None:
            excess = estimate.excess
            more = estimate.floor.centre, excess.centre, interval_text(excess)
            rows.append((each.quantity.name, worst, *more))
    if rows:
        columns = ("metric", "worst two groups", "same prompt", "value less that", "95 % interval")
        yield Table("difference between two answers to the same prompt", columns, tuple(rows))


def _by_group(found: TaskResult) -> Iterator[Table]:
    """Yield each group's own value and interval, where groups are compared with a reference."""
    note = "each group and the reference; the value of the task is the size of the largest"
    for each in found.measured:
        if isinstance(each.estimate, MaxPairwiseDifference):
            rows = tuple(
                (
                    str(name),
                    row.centre,
                    "" if row.estimate is None else interval_text(row.estimate),
                )
                for name, row in each.estimate.groups.items()
            )
            title = f"{found.task.name} {each.quantity.name} by group"
            yield Table(title, ("group", "value", "95 % interval"), rows, note)
            # The first table explains all of them.
            note = ""


def _side_by_side(found: SuiteResult) -> Iterator[Table]:
    """Yield the values of the tasks side by side, where the suite says what can be compared."""
    values = {(m.task.name, m.quantity.name): m.estimate.centre for m in found.measured}
    tasks = [each.task.name for each in found.tasks]
    if len(tasks) > 1 and (rows := found.suite.data.get("compare")):
        cells = tuple(
            (
                heading,
                *(next((values[t, n] for n in names if (t, n) in values), "") for t in tasks),
            )
            for heading, names in rows.items()
        )
        yield Table("the tasks side by side", ("metric", *tasks), cells)


def _agreement(found: SuiteResult) -> Iterator[Table]:
    """Yield how alike every two tasks rank the units."""
    rows = tuple(
        (one, other, r, "undefined" if math.isnan(r) else f"[{low:.3f}, {high:.3f}]", n)
        for (one, other), (r, low, high, n) in found.agreement().items()
    )
    if rows:
        by = found.suite.data["profile"]
        title = f"rank agreement of the tasks ({by})"
        columns = ("task", "other task", "Spearman", "95 % interval", "n")
        undefined = any(math.isnan(row[2]) for row in rows)
        note = "undefined: one of the two gives all of them the same value" if undefined else ""
        yield Table(title, columns, rows, note)


def _spread(wordings: Sequence[float]) -> str:
    if not wordings:
        return ""
    if any(map(math.isnan, wordings)):
        return "no value for one or more"
    return f"{min(wordings):.3f} to {max(wordings):.3f}"

"""Several models on one suite: their values side by side, and which metrics predict harm."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.metrics import Validity, get_metric
from pytest_llmfair.stats import Estimate
from pytest_llmfair.suites.result import Measured, SuiteResult, rank_correlation
from pytest_llmfair.suites.runner import run
from pytest_llmfair.suites.tables import Table
from pytest_llmfair.suites.validity import shown, tables_of, validity_of


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a suite found for several models.

    Attributes
    ----------
    results : mapping of str to SuiteResult
        By model.
    """

    results: Mapping[str, SuiteResult]

    def validity(self, task: str) -> Validity | None:
        """Return how well bias metrics predict who is selected; None where a task selects none."""
        by_model = {
            model: each
            for model, found in self.results.items()
            for each in found.tasks
            if each.task.name == task
        }
        return validity_of(by_model)

    def tables(self) -> list[Table]:
        """Return values, orders of the models and their prediction, and agreement of the tasks."""
        tables = [self._values()]
        if len(self.results) < 2:
            return tables
        for task in dict.fromkeys(task for task, _ in self._measured()):
            validity = self.validity(task)
            tables += [] if validity is None else tables_of(task, validity)
        agreement = self._agreement()
        return [*tables, agreement] if agreement.rows else tables

    def table(self) -> str:
        """Return all tables as text."""
        return "\n\n".join("\n".join(table.lines()) for table in self.tables())

    def __str__(self) -> str:
        return self.table()

    def _measured(self) -> dict[tuple[str, str], dict[str, Measured]]:
        """Return the values by task and quantity, and then by model."""
        found: dict[tuple[str, str], dict[str, Measured]] = {}
        for model, result in self.results.items():
            for each in result.measured:
                found.setdefault((each.task.name, each.quantity.name), {})[model] = each
        return found

    def _values(self) -> Table:
        rows = [
            (task, name, *(_cell(by_model.get(model)) for model in self.results))
            for (task, name), by_model in self._measured().items()
        ]
        suite = next(iter(self.results.values())).suite.name
        note = (
            "with 95 % intervals; of several groups the value furthest from 0, with the interval "
            "of its size; * of the value without the part that sampling alone adds"
        )
        if len(self.results) < 2:
            note += "; one model has no order, name two or more"
        title = f"{suite}: values by model"
        return Table(title, ("task", "metric", *self.results), tuple(rows), note)

    def _agreement(self) -> Table:
        """Compare how the tasks order the models, where two tasks have the same metric."""
        measured = self._measured()
        rows = []
        for name in dict.fromkeys(name for _, name in measured):
            tasks = [task for task, other in measured if other == name]
            sizes = {task: _sizes(measured[task, name]) for task in tasks}
            for one, other in combinations(tasks, 2):
                both = [model for model in sizes[one] if model in sizes[other]]
                columns = [[sizes[task][model] for model in both] for task in (one, other)]
                ends = rank_correlation(*columns)
                rows.append((name, one, other, shown(ends), *map(_fairest, (both, both), columns)))
        note = (
            "Spearman's correlation of the models' distance from the fair value, its interval for "
            "other models like these, and which model each of the two tasks would choose"
        )
        if len(self.results) < 3:
            note = "with two models the correlation is undefined; name three or more"
        heads = ("metric", "task", "other task", "agreement", "fairest", "fairest by the other")
        return Table("agreement of tasks on the order of models", heads, tuple(rows), note)


def compare(
    name: str,
    clients: Sequence[ModelClient | Callable[..., Any]],
    *,
    size: str = "smoke",
    tasks: Sequence[str] | None = None,
    population: str | None = None,
) -> Comparison:
    """Run a suite on several models, without judging, and compare what was found.

    Parameters
    ----------
    name : str
        Name of a suite (:func:`all_suites`).
    clients : sequence of ModelClient or callable
        The models, with different names.
    size, tasks, population
        As for :func:`run`.

    Returns
    -------
    Comparison
        ``print`` it for all tables. Where the suite selects candidates it has the order of the
        models by each metric and by the gaps in selection, NDCG@N, and the correlation of
        metrics with gaps (RABBI paper, section 5).

    Raises
    ------
    ValueError
        If there is no model, two have the same name, or a suite, size or task is wrong.

    Examples
    --------
    >>> from pytest_llmfair.clients import load_client
    >>> specs = ["builtin:ngram", "builtin:ngram?gender_skew=0.5"]
    >>> found = compare("ruted", [load_client(spec) for spec in specs], tasks=["next_word"])
    >>> found.tables()[0].rows[0][:3]
    ('next_word', 'ruted_neutrality', '0.000 [0.000, 0.369]')
    """
    models = [ModelClient.of(client) for client in clients]
    names = [model.name for model in models]
    if not models:
        raise ValueError("clients is empty; give the models to compare")
    for model in names:
        if names.count(model) > 1:
            raise ValueError(
                f"two models are called {model!r}; give each client a name of its own"
            )
    results = {
        model.name: run(name, model, size=size, tasks=tasks, population=population)
        for model in models
    }
    return Comparison(results)


def _cell(measured: Measured | None) -> str:
    if measured is None:
        return "not measured"
    estimate: Estimate = measured.estimate
    if estimate.undefined:
        return "undefined"
    found = estimate.interval(0.95)
    mark = "*" if found.of == "debiased" else ""
    return f"{estimate.value:.3f} [{found.lower:.3f}, {found.upper:.3f}]{mark}"


def _sizes(by_model: Mapping[str, Measured]) -> dict[str, float]:
    """Return how far each model is from the fair value, on the side that is unfair."""
    found = {}
    for model, each in by_model.items():
        info, value = get_metric(each.quantity.metric), each.estimate.value
        if info.scale == "log":
            size = abs(math.log(value)) if value > 0.0 else math.inf
        elif info.direction == "two-sided":
            size = abs(value - info.fair_value)
        else:
            size = value if info.direction == "lower" else -value
        if not math.isnan(value):
            # Without differences that only come from the order of a sum.
            found[model] = round(size, 12)
    return found


def _fairest(models: Sequence[str], sizes: Sequence[float]) -> str:
    least = [model for model, size in zip(models, sizes, strict=True) if size == min(sizes)]
    return least[0] if len(least) == 1 else "tied" if least else "undefined"

"""Several models on one suite: their values side by side, and which metrics predict harm."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.metrics import Validity, expected_ndcg, get_metric
from pytest_llmfair.stats import Call
from pytest_llmfair.stats.crossed import CROSSED
from pytest_llmfair.suites.kind import Table, interval_text
from pytest_llmfair.suites.result import Measured, SuiteResult, rank_correlation
from pytest_llmfair.suites.runner import run

_OPEN = "; ? where too few rounds, or draws in which all models are tied, leave it open"


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
        """Return the agreement of bias metrics with who is selected; None where nobody is."""
        calls: dict[str, dict[str, Call]] = {model: {} for model in self.results}
        for (own, name), by_model in self._measured().items():
            for model, each in by_model.items():
                selects = own == task and get_metric(each.quantity.metric).family == "allocation"
                call = each.estimate.call
                if selects and not each.invalid and call is not None:
                    # Only rounds are drawn: the candidates of all models have the same names.
                    calls[model][name] = call.args[0].call if call.metric == CROSSED else call
        return Validity.of(calls)

    def tables(self) -> list[Table]:
        """Return values, orders of the models and their prediction, and agreement of the tasks."""
        tables = [self._values()]
        if len(self.results) < 2:
            return tables
        for task in dict.fromkeys(task for task, _ in self._measured()):
            validity = self.validity(task)
            if validity is not None:
                tables += [_orders(task, validity), _ndcgs(task, validity)]
                tables += _correlations(task, validity)
        agreement = self._agreement()
        return [*tables, agreement] if agreement.rows else tables

    def table(self) -> str:
        """Return all tables as text."""
        return "\n\n".join("\n".join(table.lines()) for table in self.tables())

    __str__ = table

    def to_dict(self) -> dict[str, Any]:
        """Return the tables as plain JSON types, like a suite that has no values."""
        first = next(iter(self.results.values()))
        empty = SuiteResult(
            first.suite, ", ".join(self.results), first.size, (), population=first.population
        )
        tables = [table.to_dict() for table in self.tables()]
        return {**empty.to_dict(), "tables": tables, "limits": []}

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
            "with 95 % intervals; of several groups the size of the largest gap; * value and "
            "interval without the part that sampling alone adds"
        )
        if any("not valid" in row for row in rows):
            note += "; a value that is not valid is no evidence, and its model has no order by it"
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
                rows.append((name, one, other, _ends(ends), *map(_fairest, (both, both), columns)))
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
    data: str | Path | None = None,
) -> Comparison:
    """Run a suite on several models, without judging, and compare what was found.

    Parameters
    ----------
    name : str
        Name of a suite (:func:`all_suites`).
    clients : sequence of ModelClient or callable
        The models, with different names.
    size, tasks, population, data
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
        model.name: run(name, model, size=size, tasks=tasks, population=population, data=data)
        for model in models
    }
    return Comparison(results)


def _cell(measured: Measured | None) -> str:
    if measured is None:
        return "not measured"
    if measured.invalid:
        return "not valid"
    if measured.estimate.undefined:
        return "undefined"
    return f"{measured.estimate.centre:.3f} {interval_text(measured.estimate)}"


def _sizes(by_model: Mapping[str, Measured]) -> dict[str, float]:
    """Return the distance of each model from the fair value, on the unfair side."""
    found = {}
    for model, each in by_model.items():
        info, value = get_metric(each.quantity.metric), each.estimate.centre
        if info.scale == "log":
            size = abs(math.log(value)) if value > 0.0 else math.inf
        elif info.direction == "two-sided":
            size = abs(value - info.fair_value)
        else:
            size = value if info.direction == "lower" else -value
        if not (math.isnan(value) or each.invalid):
            # Without differences that only come from the order of a sum.
            found[model] = round(size, 12)
    return found


def _fairest(models: Sequence[str], sizes: Sequence[float]) -> str:
    least = [model for model, size in zip(models, sizes, strict=True) if size == min(sizes)]
    return least[0] if len(least) == 1 else "tied" if least else "undefined"


def _ends(ends: tuple[float, float, float]) -> str:
    value, low, high = ends
    if math.isnan(value):
        return "undefined"
    return f"{value:.2f} [?]" if math.isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _orders(task: str, found: Validity) -> Table:
    rows = []
    for name in (*found.metrics, *found.gaps):
        cells = [name]
        for size, (rank, low, high) in found.ranks(name):
            ends = (
                "?" if math.isnan(low) else f"{low:g}" if low == high else f"{low:g} to {high:g}"
            )
            cells.append("undefined" if math.isnan(rank) else f"{size:.3f}: {rank:g} [{ends}]")
        rows.append(tuple(cells))
    note = (
        "root mean square over the groups: rank, 1 is the fairest, with the ranks in 95 % of "
        f"draws of the rounds; the order by a gap is the ideal one{_OPEN}"
    )
    if found.left_out:
        note += f"; without valid values: {', '.join(found.left_out)}"
    return Table(f"{task}: order of models", ("by", *found.models), tuple(rows), note)


def _ndcgs(task: str, found: Validity) -> Table:
    number = len(found.models)
    rows = tuple(
        (
            gap,
            n,
            *(_ends(found.ndcg(name, gap, n)) for name in found.metrics),
            expected_ndcg(n, number),
        )
        for gap in found.gaps
        for n in (1, number)
    )
    columns = ("ideal order by", "N", *found.metrics, "a random order")
    note = (
        "1 where a metric orders the N fairest models as the gap does; intervals cover the "
        f"rounds, not the choice of models{_OPEN}"
    )
    if number < 5:
        note += f"; with {number} models one exchanged pair changes it much"
    return Table(f"{task}: NDCG@N of choosing a model", columns, rows, note)


def _correlations(task: str, found: Validity) -> list[Table]:
    columns = ("gap", *found.metrics)
    title = f"{task}: correlation of metrics with gaps, over models and groups"
    if len(found.models) < found.least_models:
        why = f"undefined for {len(found.models)} models; name {found.least_models} or more"
        return [Table(title, columns, (), why)]

    def table(title: str, cell: Callable[[str, str], str], note: str) -> Table:
        rows = tuple((gap, *(cell(name, gap) for name in found.metrics)) for gap in found.gaps)
        return Table(title, columns, rows, note)

    return [
        table(
            title,
            lambda name, gap: _ends(found.correlation(name, gap)),
            "Pearson, as in the paper; intervals are for other draws of as many rounds. Metric "
            "and gap come from the same rounds, so chance that they share counts as agreement",
        ),
        table(
            f"{task}: the same without the chance of the rounds",
            lambda name, gap: _ends(found.lasting(name, gap)),
            "what would be left with many rounds, for these models; undefined where the rounds "
            "are too few to tell the gaps from chance",
        ),
    ]

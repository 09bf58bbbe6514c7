"""Tables of how well metrics of bias predict who is selected, over several models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from pytest_llmfair.metrics import Validity, expected_ndcg, get_metric
from pytest_llmfair.stats import Call
from pytest_llmfair.suites.result import TaskResult
from pytest_llmfair.suites.tables import Table

_OPEN = "; ? where too few rounds, or draws in which all models are tied, leave it open"


def validity_of(by_model: Mapping[str, TaskResult]) -> Validity | None:
    """Return how well a task's metrics predict its gaps; None where it has not both."""
    return Validity.of({model: _calls(found) for model, found in by_model.items()})


def tables_of(task: str, found: Validity) -> list[Table]:
    """Return the order of the models, NDCG, and correlations."""
    return [_orders(task, found), _ndcgs(task, found), *_correlations(task, found)]


def shown(ends: tuple[float, float, float]) -> str:
    """Return a value with its interval."""
    value, low, high = ends
    if math.isnan(value):
        return "undefined"
    return f"{value:.2f} [?]" if math.isnan(low) else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _calls(found: TaskResult) -> dict[str, Call]:
    """Return the calls of a task's allocation metrics by name."""
    return {
        each.quantity.name: each.estimate.call
        for each in found.measured
        if each.estimate.call is not None
        and get_metric(each.quantity.metric).family == "allocation"
    }


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
        note += f"; without values: {', '.join(found.left_out)}"
    return Table(f"{task}: order of models", ("by", *found.models), tuple(rows), note)


def _ndcgs(task: str, found: Validity) -> Table:
    number = len(found.models)
    rows = tuple(
        (
            gap,
            n,
            *(shown(found.ndcg(name, gap, n)) for name in found.metrics),
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
            lambda name, gap: shown(found.correlation(name, gap)),
            "Pearson, as in the paper; intervals are for other draws of as many rounds. Metric "
            "and gap come from the same rounds, so chance that they share counts as agreement",
        ),
        table(
            f"{task}: the same without the chance of the rounds",
            lambda name, gap: shown(found.lasting(name, gap)),
            "what would be left with many rounds, for these models; undefined where the rounds "
            "are too few to tell the gaps from chance",
        ),
    ]

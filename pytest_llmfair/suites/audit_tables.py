"""Tables of an audit of a classifier: groups, heat map and significance tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pytest_llmfair.metrics import friedman, wilcoxon
from pytest_llmfair.stats import Estimate, Mean
from pytest_llmfair.stats.multiplicity import holm
from pytest_llmfair.suites.class_rows import Rows
from pytest_llmfair.suites.kind import Answered
from pytest_llmfair.suites.tables import Table


def by_group(task: str, rows: Rows, column: int, signed: Estimate) -> Table:
    """Return a row for each group: how often the model is right, and how likely the class is."""
    name = rows.classes[column]
    found: list[tuple[str | int | float, ...]] = []
    for group in dict.fromkeys(rows.groups):
        own = [i for i, known in enumerate(rows.groups) if known == group]
        units = [rows.templates[i] for i in own]
        right = [float(rows.predicted[i] == rows.gold[i]) for i in own]
        likely = [float(rows.scores[i, column]) for i in own]
        part = None if signed.undefined else signed.groups[group]
        found.append(
            (
                group,
                len(own),
                *_with_interval(Mean.of_values(right, units=units, bounds=(0.0, 1.0))),
                *_with_interval(Mean.of_values(likely, units=units, bounds=(0.0, 1.0))),
                math.nan if part is None else part.value,
                "" if part is None or part.estimate is None else _interval(part.estimate),
            )
        )
    return Table(
        f"{task}: each group",
        ("group", "sentences", "right", "95 %", f"P({name})", "95 %", "AvgEG", "95 %"),
        tuple(found),
        f"AvgEG: probability that a {name} sentence of the group scores above one of the other "
        "groups, less one half",
    )


def heat_map(found: Sequence[Answered]) -> Table:
    """Return the value of each metric by task, and the task whose value is furthest from fair."""
    names = dict.fromkeys(name for each in found for name in each.values)
    rows: list[tuple[str | int | float, ...]] = []
    for name in names:
        estimates = [each.values.get(name) for each in found]
        cells = [math.nan if one is None or one.undefined else one.value for one in estimates]
        fair = 1.0 if name.endswith("_ratio") else 0.0
        sizes = [_distance(cell, fair) for cell in cells]
        widest = max(sizes)
        largest = found[sizes.index(widest)].task.name if widest > 0.0 else ""
        rows.append((name, *cells, largest))
    return Table(
        "heat map: metrics by task",
        ("metric", *(each.task.name for each in found), "furthest from fair"),
        tuple(rows),
        "compare within a row; metrics have different scores, and a value without its interval "
        "is no verdict",
    )


def significance(tested: Mapping[str, tuple[Rows, int] | None]) -> Table:
    """Return tests of equal scores in all groups, with Holm's correction over the tasks."""
    results = {name: _test(*given) if given else None for name, given in tested.items()}
    adjusted = holm([math.nan if each is None else each[3] for each in results.values()])
    rows: list[tuple[str | int | float, ...]] = []
    for (name, each), p in zip(results.items(), adjusted, strict=True):
        test, examples, statistic, raw = each or ("none: no scores", 0, math.nan, math.nan)
        rows.append((name, test, examples, statistic, _p(raw), _p(p)))
    return Table(
        "significance: are the scores of all groups equal?",
        ("task", "test", "templates", "statistic", "p", "p (Holm)"),
        tuple(rows),
        "scores are probabilities of the class, the mean over the terms of a group; a small p "
        "shows that groups differ, not by how much",
    )


def _test(rows: Rows, column: int) -> tuple[str, int, float, float]:
    groups = list(dict.fromkeys(rows.groups))
    # Rounding errors are no differences.
    table = [
        [round(float(rows.scores[own[group], column].mean()), 9) for group in groups]
        for own in rows.by_template().values()
    ]
    name, found = "Friedman", None
    if len(groups) == 2:
        name = "Wilcoxon"
        found = wilcoxon([row[0] for row in table], [row[1] for row in table])
    else:
        found = friedman(table)
    if found.flag:
        return f"{name}: {found.flag}", len(table), math.nan, math.nan
    return name, len(table), found.statistic, found.p


def _p(p: float) -> str:
    return "undefined" if math.isnan(p) else f"{p:.2g}"


def _distance(value: float, fair: float) -> float:
    if math.isnan(value):
        return -1.0
    return abs(math.log(value)) if fair and value > 0.0 else abs(value - fair)


def _with_interval(mean: Mean) -> tuple[float, str]:
    return mean.value, _interval(mean)


def _interval(estimate: Estimate) -> str:
    if estimate.undefined:
        return "undefined"
    found = estimate.interval(0.95)
    return f"[{found.lower:.3f}, {found.upper:.3f}]"

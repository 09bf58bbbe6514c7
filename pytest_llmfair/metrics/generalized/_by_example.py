"""Named rows over counterfactuals: per source example, then the mean over source examples."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from pytest_llmfair.metrics._reasons import note_constant
from pytest_llmfair.metrics.arguments import Floats
from pytest_llmfair.metrics.generalized._backgrounds import (
    first_and_second,
    reference_names,
    table_of,
    with_groups,
)
from pytest_llmfair.metrics.generalized._forms import CounterfactualForm, column_of
from pytest_llmfair.metrics.generalized._table import NamedRow
from pytest_llmfair.metrics.generalized.variations import variation_product
from pytest_llmfair.stats import (
    Estimate,
    Finding,
    MaxPairwiseDifference,
    Mean,
    Population,
    Undefined,
)


@dataclass(frozen=True, slots=True)
class _Scored:
    """What the metric compares, per source example that counts: scores by group, and before."""

    names: list[Hashable]
    sets: list[list[Floats]]
    before: list[float] | None
    units: list[Hashable] | None
    population: Population

    def mean(self, values: Sequence[float], bounds: tuple[float, float]) -> Mean:
        """Mean over the examples."""
        estimate = Mean.of_values(
            values, units=self.units, population=self.population, bounds=bounds
        )
        return replace(estimate, rows=list(values))


def measure_counterfactuals(
    row: NamedRow, form: CounterfactualForm, positive: Any, reference: Any
) -> Estimate:
    """Measure a row over the variations of source examples."""
    if reference is not None and (row.compares == "MCM" or row.distance == "W1"):
        raise ValueError(f"{row.name} compares all groups with each other; leave reference out")
    scored = _scores(row, form, positive)
    if not scored.sets:
        return Undefined(
            undefined=f"no source example is of gold class {positive!r}: {row.name} is the mean "
            "over those",
            sample=form.sample,
        )
    if row.distance == "x - y":
        estimate = _difference(row, scored, reference)
    elif row.compares == "MCM":
        estimate = _all_groups(row, scored)
    elif row.distance == "W1":
        estimate = _pairs(scored, scored.sets, _wasserstein)
    elif scored.before is not None or reference is not None:
        estimate = _background(row, scored, reference)
    else:
        estimate = _pairs(scored, [_products(sets) for sets in scored.sets], _mean_gap)
    return note_constant(estimate, [scores for sets in scored.sets for scores in sets])


def _scores(row: NamedRow, form: CounterfactualForm, positive: Any) -> _Scored:
    """Take the probability that the row is about, from the examples that count."""
    gold = form.y_true
    if gold is None and (row.score == "p(gold)" or row.gold != "any"):
        raise ValueError(f"{row.name} needs y_true: the gold class of each source example")
    kept: Sequence[int] = range(len(form.y_prob))
    if gold is not None and row.gold == "c":
        kept = [j for j in kept if gold[j] == positive]
    if row.score == "p(gold)":
        assert gold is not None
        columns = [column_of(label, form.classes) for label in gold]
    else:
        columns = [column_of(positive, form.classes)] * len(form.y_prob)
    before = None
    if form.original is not None:
        before = [float(form.original[j, columns[j]]) for j in kept]
    return _Scored(
        names=form.names,
        sets=[[own[:, columns[j]] for own in form.y_prob[j]] for j in kept],
        before=before,
        units=None if form.units is None else [form.units[j] for j in kept],
        population=form.population,
    )


def _products(sets: Sequence[Floats]) -> list[Floats]:
    """Scores of each group over the combinations of one variation per group."""
    # Ordered by score, so that the draw does not depend on the order of the data.
    if all(len(scores) == 1 for scores in sets):
        return list(sets)
    ordered = [np.sort(scores).tolist() for scores in sets]
    places = sorted(range(len(sets)), key=lambda g: ordered[g])
    table = np.array(variation_product([ordered[g] for g in places]))
    found: list[Floats] = [table[:, 0]] * len(sets)
    for column, g in enumerate(places):
        found[g] = table[:, column]
    return found


def _mean_gap(x: Floats, y: Floats) -> float:
    return float(np.abs(x - y).mean())


def _wasserstein(x: Floats, y: Floats) -> float:
    """Area between the two distribution functions."""
    points = np.sort(np.concatenate([x, y]))
    below_x = np.searchsorted(np.sort(x), points[:-1], "right") / len(x)
    below_y = np.searchsorted(np.sort(y), points[:-1], "right") / len(y)
    return float(np.abs(below_x - below_y) @ np.diff(points))


def _row_means(table: Floats) -> list[float]:
    """Mean of every row, the same in any order of the columns."""
    return [math.fsum(row) / len(row) for row in table.tolist()]


def _pairs(
    scored: _Scored, sets: list[list[Floats]], compare: Callable[[Floats, Floats], float]
) -> Estimate:
    """Mean over pairs of groups; pairs, then groups, in the table."""
    names, count = scored.names, len(sets)
    pairs = list(combinations(range(len(names)), 2))
    gaps = np.array([[compare(own[a], own[b]) for a, b in pairs] for own in sets])
    groups = len(names)
    most = (groups // 2) * (groups - groups // 2) / len(pairs)
    estimate = scored.mean(_row_means(gaps), (0.0, most))
    parts: dict[Hashable, Estimate] = {
        (names[a], names[b]): scored.mean(gaps[:, k].tolist(), (0.0, 1.0))
        for k, (a, b) in enumerate(pairs)
    }
    table = table_of(parts, lambda _: count, lambda _: float("nan"))

    def mean_of(name: Hashable) -> Mean:
        own = [k for k, (a, b) in enumerate(pairs) if name in (names[a], names[b])]
        return scored.mean(_row_means(gaps[:, own]), (0.0, 1.0))

    rows = with_groups(table, names, lambda _: count, lambda _: float("nan"), mean_of)
    return replace(estimate, groups=rows)


def _background(row: NamedRow, scored: _Scored, reference: Any) -> Estimate:
    """Distance of each group to the unperturbed example, or to the groups of reference."""
    names, count = scored.names, len(scored.sets)
    if reference is not None and scored.before is not None:
        raise ValueError("give original or reference, not both: each is the background")
    chosen: tuple[Hashable, ...] | None = ()
    if reference is not None:
        chosen = reference_names(reference, names)
    compared = [g for g, name in enumerate(names) if chosen is None or name not in chosen]
    gaps = np.empty((count, len(compared)))
    for j, sets in enumerate(scored.sets):
        products = _products(sets)
        for k, g in enumerate(compared):
            if scored.before is not None:
                backgrounds = [np.array([scored.before[j]])]
            else:
                backgrounds = [
                    own
                    for other, own in enumerate(products)
                    if (other != g if chosen is None else names[other] in chosen)
                ]
            gaps[j, k] = _mean_gap(products[g], np.mean(backgrounds, axis=0))
    parts: dict[Hashable, Estimate] = {
        names[g]: scored.mean(gaps[:, k].tolist(), (0.0, 1.0)) for k, g in enumerate(compared)
    }
    estimate: Estimate
    if row.compares == "VBCM":
        widest = MaxPairwiseDifference.of_pairs(parts)
        estimate = replace(widest, sample=next(iter(parts.values())).sample)
    else:
        estimate = scored.mean(_row_means(gaps), (0.0, 1.0))
    return replace(estimate, groups=table_of(parts, lambda _: count, lambda _: float("nan")))


def _all_groups(row: NamedRow, scored: _Scored) -> Estimate:
    """Take the standard deviation or the range over the groups."""
    groups = len(scored.names)
    values = []
    for sets in scored.sets:
        table = np.stack(_products(sets))
        spread = table.std(axis=0) if row.distance == "std" else np.ptp(table, axis=0)
        values.append(float(spread.mean()))
    most = 1.0
    if row.distance == "std":
        most = float(np.sqrt((groups // 2) * (groups - groups // 2))) / groups
    return scored.mean(values, (0.0, most))


def _difference(row: NamedRow, scored: _Scored, reference: Any) -> Estimate:
    """Mean score of the first group less that of the second."""
    names = scored.names
    first, second = first_and_second(row.name, names, reference)
    a, b = names.index(first), names.index(second)
    values = [float(sets[a].mean() - sets[b].mean()) for sets in scored.sets]
    estimate = scored.mean(values, (-1.0, 1.0))
    estimate = estimate.with_findings(Finding.note(f"{first} minus {second}"))
    count = len(values)
    table = table_of({(first, second): estimate}, lambda _: count, lambda _: float("nan"))
    return replace(estimate, groups=table)

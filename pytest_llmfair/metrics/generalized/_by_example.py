"""Rows of the table over counterfactuals: per source example, then the mean over examples."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pytest_llmfair.metrics.arguments import Floats, note_constant
from pytest_llmfair.metrics.generalized._compare import (
    ALL_AT_ONCE,
    Design,
    Groups,
    Term,
    against_background,
    all_pairs,
    first_and_second,
    measure,
    measure_two,
    reference_names,
)
from pytest_llmfair.metrics.generalized._forms import CounterfactualForm, column_of
from pytest_llmfair.metrics.generalized._table import NamedRow
from pytest_llmfair.metrics.generalized.variations import variation_product
from pytest_llmfair.stats import Estimate, MaxPairwiseDifference, Mean, Population, Undefined


def measure_counterfactuals(
    row: NamedRow, form: CounterfactualForm, positive: Any, reference: Any
) -> Estimate:
    """Measure a row over the variations of source examples."""
    if reference is not None and (row.compares == "MCM" or row.distance == "W1"):
        raise ValueError(f"{row.name} compares all groups with each other; leave reference out")
    scores = _read(row, form, positive)
    if not scores.sets:
        return Undefined(
            undefined=f"no source example is of gold class {positive!r}: {row.name} is the mean "
            "over those",
            sample=form.sample,
        )
    if row.distance == "x - y":
        first, second = first_and_second(row.name, form.names, reference)
        estimate = measure_two(first, second, scores, "minus")
    else:
        design = _design(row, scores, reference)
        vector = row.compares == "VBCM" and design.against != "pairs"
        estimate = measure(design, scores, vector=vector)
    return note_constant(estimate, [own for sets in scores.sets for own in sets])


def _design(row: NamedRow, scores: _Examples, reference: Any) -> Design:
    names = scores.names
    if row.compares == "MCM":
        return ALL_AT_ONCE
    if row.distance == "W1" or (scores.before is None and reference is None):
        return all_pairs(names)
    if reference is None:
        return against_background(names, ())
    if scores.before is not None:
        raise ValueError("give original or reference, not both: each is the background")
    chosen = reference_names(reference, names)
    if chosen is not None:
        chosen = tuple(name for name in names if name in chosen)
    return against_background(names, chosen)


def _read(row: NamedRow, form: CounterfactualForm, positive: Any) -> _Examples:
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
    return _Examples(
        row=row,
        names=form.names,
        sets=[[own[:, columns[j]] for own in form.y_prob[j]] for j in kept],
        before=before,
        units=None if form.units is None else [form.units[j] for j in kept],
        population=form.population,
    )


@dataclass(frozen=True)
class _Examples:
    """Scores of the variations of each source example, by group, and of the original."""

    row: NamedRow
    names: list[Hashable]
    sets: list[list[Floats]]
    before: list[float] | None
    units: list[Hashable] | None
    population: Population

    @cached_property
    def products(self) -> list[list[Floats]]:
        return [_products(sets) for sets in self.sets]

    @cached_property
    def _columns(self) -> dict[Term, Floats]:
        return {}

    def compare(self, term: Term) -> Mean:
        bounds = (-1.0, 1.0) if self.row.signed else (0.0, 1.0)
        return self._mean(self._values(term).tolist(), bounds)

    def mean(self, design: Design) -> Mean:
        if not design.terms:
            return self._all_at_once()
        table = np.stack([self._values(term) for term in design.terms], axis=1)
        groups = len(self.names)
        most = (groups // 2) * (groups - groups // 2) / len(design.terms)
        return self._mean(_row_means(table), (0.0, most if design.against == "pairs" else 1.0))

    def worst(self, design: Design, parts: Mapping[Hashable, Estimate]) -> Estimate:
        widest = MaxPairwiseDifference.of_pairs(parts)
        return replace(widest, sample=next(iter(parts.values())).sample)

    def entries(self, groups: Groups) -> int:
        return len(self.sets)

    def rate(self, name: Hashable) -> float:
        return math.nan

    def _mean(self, values: list[float], bounds: tuple[float, float]) -> Mean:
        estimate = Mean.of_values(
            values, units=self.units, population=self.population, bounds=bounds
        )
        return replace(estimate, rows=values)

    def _values(self, term: Term) -> Floats:
        """Return the comparison in every example."""
        if term not in self._columns:
            found = [self._value(term, j) for j in range(len(self.sets))]
            self._columns[term] = np.array(found)
        return self._columns[term]

    def _value(self, term: Term, j: int) -> float:
        (first,) = (self.names.index(name) for name in term.first)
        others = [self.names.index(name) for name in term.second]
        if self.row.distance == "W1":
            return _wasserstein(self.sets[j][first], self.sets[j][others[0]])
        if self.row.signed:
            return float(self.sets[j][first].mean() - self.sets[j][others[0]].mean())
        backgrounds = [self.products[j][other] for other in others]
        if not others and self.before is not None:
            backgrounds = [np.array([self.before[j]])]
        gaps = np.abs(self.products[j][first] - np.mean(backgrounds, axis=0))
        return float(gaps.mean())

    def _all_at_once(self) -> Mean:
        """Take the standard deviation or the range over the groups."""
        tables = [np.stack(products) for products in self.products]
        if self.row.distance != "std":
            return self._mean([float(np.ptp(x, axis=0).mean()) for x in tables], (0.0, 1.0))
        groups = len(self.names)
        most = float(np.sqrt((groups // 2) * (groups - groups // 2))) / groups
        return self._mean([float(x.std(axis=0).mean()) for x in tables], (0.0, most))


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


def _wasserstein(x: Floats, y: Floats) -> float:
    """Area between the two distribution functions."""
    points = np.sort(np.concatenate([x, y]))
    below_x = np.searchsorted(np.sort(x), points[:-1], "right") / len(x)
    below_y = np.searchsorted(np.sort(y), points[:-1], "right") / len(y)
    return float(np.abs(below_x - below_y) @ np.diff(points))


def _row_means(table: Floats) -> list[float]:
    """Mean of every row, the same in any order of the columns."""
    return [math.fsum(row) / len(row) for row in table.tolist()]

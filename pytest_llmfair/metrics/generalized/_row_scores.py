"""Rows of the table: their scores of predictions, of probabilities, and of counterfactuals."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from pytest_llmfair.metrics._classes import is_positive
from pytest_llmfair.metrics.arguments import Floats, RowNumbers, flattened, note_constant
from pytest_llmfair.metrics.generalized._compare import (
    ALL_AT_ONCE,
    ComparableScores,
    ComparisonDesign,
    GroupContrast,
    Groups,
    Pooled,
    against_background,
    all_pairs,
    first_and_second,
    furthest,
    measure,
    measure_two,
    reference_names,
)
from pytest_llmfair.metrics.generalized._forms import CounterfactualForm, GroupForm, column_of
from pytest_llmfair.metrics.generalized._shares import Shares, read_shares
from pytest_llmfair.metrics.generalized._table import NamedRow
from pytest_llmfair.metrics.generalized.significance import variation_product
from pytest_llmfair.stats import (
    Distance,
    Estimate,
    MaxPairwiseDifference,
    Mean,
    MeanDifference,
    RankBiserial,
    Scaled,
    Undefined,
    distribution_gaps,
)

E = TypeVar("E", bound=Estimate)

# Examples that are compared at once, so that the table of all pairs stays in a processor's cache.
_AT_ONCE = 1024


def measure_groups(row: NamedRow, form: GroupForm, positive: Any, reference: Any) -> Estimate:
    """Measure a row on data by group: shares of predictions, or probabilities."""
    form, missing = _of_gold(row, form, positive)
    if missing:
        return Undefined(undefined=missing, sample=form.sample)
    if row.compares != "PCM":
        form, design = _background(row, form, reference)
        design = replace(design, divisor=1) if row.divisor == "1" else design
    else:
        design = all_pairs(form.names, len(form.names) if row.divisor == "T" else None)
    scores: Shares | _Probabilities
    if row.score == "p(c)":
        scores = _Probabilities(row, form, _column(row, form, positive))
    else:
        shares = read_shares(row, form, positive)
        scores = shares if row.pairs_only else shares.evidence
    if row.pairs_only:
        first, second = first_and_second(row.name, form.names, reference)
        estimate = measure_two(first, second, scores, "over" if row.is_ratio else "minus")
    else:
        estimate = measure(design, scores, vector=row.compares == "VBCM")
    return scores.note(estimate)


def _background(
    row: NamedRow, form: GroupForm, reference: Any
) -> tuple[GroupForm, ComparisonDesign]:
    """Give the rows of the background one label, and compare every group with it."""
    chosen = None if reference is None else reference_names(reference, form.names)
    if chosen is None:
        whole = reference is None and row.compares == "BCM"
        return form, against_background(form.names, None, whole=whole)
    pooled = Pooled(chosen)
    labels = [pooled if label in chosen else label for label in form.labels]
    names = [*(name for name in form.names if name not in chosen), pooled]
    return replace(form, labels=labels, names=names), against_background(names, (pooled,))


@dataclass(frozen=True, slots=True)
class _Probabilities(ComparableScores):
    """Probabilities by group, compared by mean (PCM), distribution (BCM) or rank (VBCM)."""

    row: NamedRow
    form: GroupForm
    column: Floats

    @property
    def names(self) -> list[Hashable]:
        return self.form.names

    def compare(self, term: GroupContrast) -> Estimate:
        own, rest = self.form.rows_of(term.first), self.form.rows_of(term.others)
        if self.row.compares == "PCM":
            return self._compared(MeanDifference.of_scores, own, rest)
        if self.row.compares == "VBCM":
            # Half of the rank-biserial correlation.
            return Scaled.times(self._compared(RankBiserial.of_scores, own, rest), 0.5)
        distance = self._compared(Distance.of_distributions, own, rest)
        if term.others == term.second:
            return distance
        # All rows are a mixture of the group and the rest, and so is their distribution.
        return Scaled.times(distance, 1.0 - len(own) / len(self.column))

    def _compared(self, compare: Callable[..., E], a: RowNumbers, b: RowNumbers) -> E:
        return compare(
            self.column[a],
            self.column[b],
            units_a=self.form.units_of(a),
            units_b=self.form.units_of(b),
            population=self.form.population,
        )

    def mean(self, design: ComparisonDesign) -> Estimate:
        return distribution_gaps(
            self.column,
            self.form.labels,
            against=design.against,
            factor=1.0 / design.divisor,
            units=self.form.units,
            population=self.form.population,
        )

    def worst(self, design: ComparisonDesign, parts: Mapping[Hashable, Estimate]) -> Estimate:
        return furthest(parts, self.names, self.form.sample, MaxPairwiseDifference.of_pairs)

    def entries(self, groups: Groups) -> int:
        return len(self.form.rows_of(groups))

    def note(self, estimate: Estimate) -> Estimate:
        return note_constant(estimate, [self.column])


def _column(row: NamedRow, form: GroupForm, positive: Any) -> Floats:
    """Return the probability of the positive class in each row."""
    if form.y_prob is None:
        raise ValueError(f"{row.name} needs y_prob: the probability of each class, per row")
    # A flat y_prob is the probability of the positive class, whatever that is called.
    column = column_of(positive, form.classes) if form.classes else 0
    return form.y_prob[:, column]


def _of_gold(row: NamedRow, form: GroupForm, positive: Any) -> tuple[GroupForm, str]:
    """Return the examples of the gold class that counts, and which group has none."""
    if row.gold == "any":
        return form, ""
    if form.y_true is None:
        raise ValueError(f"{row.name} needs y_true: only examples of one gold class count")
    gold = np.array(is_positive(form.y_true, "y_true", positive))
    if row.gold == "not c":
        several = len(form.classes) > 2 or len(dict.fromkeys(form.y_true)) > 2
        if several:
            raise ValueError(
                f"{row.name} is defined for two classes, there are more; use PosAvgEG for each "
                "class"
            )
    wanted = row.gold == "c"
    missing = [
        f"{name} has no example {'of' if wanted else 'other than of'} gold class {positive!r} "
        f"among its {len(rows)} rows: {row.name} is not defined"
        for name, rows in form.members.items()
        if not (gold[rows] == wanted).any()
    ]
    if missing:
        return form, "; ".join(missing)
    return form.take(np.flatnonzero(gold == wanted)), ""


def measure_counterfactuals(
    row: NamedRow, form: CounterfactualForm, positive: Any, reference: Any
) -> Estimate:
    """Measure a row over the variations of source examples."""
    if reference is not None and (row.compares == "MCM" or row.distance == "W1"):
        raise ValueError(f"{row.name} compares all groups with each other; leave reference out")
    scores = _read(row, form, positive)
    if not len(scores.sets):
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
    if isinstance(scores.sets, np.ndarray):
        return note_constant(estimate, scores.sets)
    return note_constant(estimate, [flattened(sets) for sets in scores.sets])


def _design(row: NamedRow, scores: _Examples, reference: Any) -> ComparisonDesign:
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
    if gold is not None and row.gold == "c":
        form = form.take([j for j, label in enumerate(gold) if label == positive])
    if row.score == "p(gold)":
        assert form.y_true is not None
        known = {label: column_of(label, form.classes) for label in dict.fromkeys(form.y_true)}
        columns = [known[label] for label in form.y_true]
    else:
        columns = [column_of(positive, form.classes)] * len(form.y_prob)
    places = np.arange(len(columns)), np.array(columns, dtype=np.intp)
    if isinstance(form.y_prob, np.ndarray):
        sets: Any = form.y_prob[places[0], :, :, places[1]]
    else:
        pairs = zip(form.y_prob, columns, strict=True)
        sets = [[own[:, column] for own in example] for example, column in pairs]
    return _Examples(row, form, sets, None if form.original is None else form.original[places])


@dataclass(frozen=True)
class _Examples(ComparableScores):
    """Scores of the variations of each source example, by group, and of the original."""

    row: NamedRow
    form: CounterfactualForm
    # An array of examples, groups and variations, or a list where these differ in number.
    sets: Floats | list[list[Floats]]
    before: Floats | None

    @property
    def names(self) -> list[Hashable]:
        return self.form.names

    @cached_property
    def products(self) -> list[list[Floats]]:
        return [_products(sets) for sets in self.sets]

    def compare(self, term: GroupContrast) -> Mean:
        bounds = (-1.0, 1.0) if self.row.signed else (0.0, 1.0)
        return self._mean(self._values(term).tolist(), bounds)

    def mean(self, design: ComparisonDesign) -> Mean:
        if not design.terms:
            return self._all_at_once()
        means: list[float] = []
        for start in range(0, len(self.sets), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            table = np.stack([self._values(term, part) for term in design.terms], axis=1)
            # The exact sum is the same in any order of the columns.
            means += [math.fsum(row) / len(row) for row in table.tolist()]
        groups = len(self.names)
        most = (groups // 2) * (groups - groups // 2) / len(design.terms)
        return self._mean(means, (0.0, most if design.against == "pairs" else 1.0))

    def worst(self, design: ComparisonDesign, parts: Mapping[Hashable, Estimate]) -> Estimate:
        widest = MaxPairwiseDifference.of_pairs(parts)
        return replace(widest, sample=next(iter(parts.values())).sample)

    def entries(self, groups: Groups) -> int:
        return len(self.sets)

    def _mean(self, values: list[float], bounds: tuple[float, float]) -> Mean:
        form = self.form
        estimate = Mean.of_values(
            values, units=form.units, population=form.population, bounds=bounds
        )
        return replace(estimate, rows=values)

    @cached_property
    def _table(self) -> Floats | None:
        """The only score of each example and group; None where there are several."""
        if not isinstance(self.sets, np.ndarray) or self.sets.shape[2] > 1:
            return None
        return np.ascontiguousarray(self.sets[:, :, 0])

    def _values(self, term: GroupContrast, part: slice = slice(None)) -> Floats:
        """Return the comparison in every example, or in some."""
        if self._table is None:
            rows = range(len(self.sets))[part]
            return np.array([self._value(term, j) for j in rows])
        table = self._table[part]
        (first,) = (self.names.index(name) for name in term.first)
        others = [self.names.index(name) for name in term.second]
        backgrounds = np.ascontiguousarray(table[:, others])
        if not others and self.before is not None:
            backgrounds = self.before[part, None]
        gaps: Floats = table[:, first] - backgrounds.mean(axis=1)
        return gaps if self.row.signed else np.abs(gaps)

    def _value(self, term: GroupContrast, j: int) -> float:
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
        spread = np.std if self.row.distance == "std" else np.ptp
        if self._table is not None:
            found = spread(self._table, axis=1)
        else:
            tables = (np.stack(products) for products in self.products)
            found = np.array([spread(table, axis=0).mean() for table in tables])
        groups = len(self.names)
        most = float(np.sqrt((groups // 2) * (groups - groups // 2))) / groups
        return self._mean(found.tolist(), (0.0, most if self.row.distance == "std" else 1.0))


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

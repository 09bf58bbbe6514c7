"""Rows of the table: their scores of predictions, of probabilities, and of counterfactuals."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from pytest_llmfair.metrics._rates import is_positive
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
from pytest_llmfair.metrics.generalized.variations import variation_product
from pytest_llmfair.stats import (
    Distance,
    Estimate,
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    Mean,
    MeanDifference,
    Population,
    RankBiserial,
    RateDifference,
    RateRatio,
    Scaled,
    Undefined,
    distribution_gaps,
    rate_gaps,
)

E = TypeVar("E", bound=Estimate)

# Examples that are compared at once, so that the table of all pairs stays in a processor's cache.
_AT_ONCE = 1024


def measure_predictions(row: NamedRow, form: GroupForm, positive: Any, reference: Any) -> Estimate:
    """Measure a row whose score is made of predictions."""
    if row.compares == "PCM" and row.distance == "|x - y|":
        scores = _Predictions(row, read_shares(row.score, form, positive).evidence)
        design = all_pairs(scores.names, len(scores.names) if row.divisor == "T" else None)
        estimate = measure(design, scores)
    elif row.compares == "PCM":
        scores = _Predictions(row, read_shares(row.score, form, positive))
        first, second = first_and_second(row.name, scores.names, reference)
        estimate = measure_two(first, second, scores, "over" if row.is_ratio else "minus")
    else:
        form, design = _background(row, form, reference)
        scores = _Predictions(row, read_shares(row.score, form, positive).evidence)
        design = replace(design, divisor=1) if row.divisor == "1" else design
        estimate = measure(design, scores, vector=row.compares == "VBCM")
    return scores.shares.note(estimate)


def measure_probabilities(
    row: NamedRow, form: GroupForm, positive: Any, reference: Any
) -> Estimate:
    """Measure a row whose score is the probability of the positive class, by group."""
    form, missing = _of_gold(row, form, positive)
    if missing:
        return Undefined(undefined=missing, sample=form.sample)
    column = _column(row, form, positive)
    if row.compares == "PCM":
        first, second = first_and_second(row.name, form.names, reference)
        estimate = measure_two(first, second, _Probabilities(row, form, column), "minus")
    else:
        form, design = _background(row, form, reference)
        scores = _Probabilities(row, form, column)
        estimate = measure(design, scores, vector=row.compares == "VBCM")
    return note_constant(estimate, [column])


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


def _rows_of(form: GroupForm, groups: Groups) -> RowNumbers:
    return np.sort(np.concatenate([form.members[name] for name in groups]))


def _sides(term: GroupContrast) -> tuple[Groups, Groups, bool]:
    """Return the two sides without overlap, and whether they overlapped."""
    others = tuple(name for name in term.second if name not in term.first)
    return term.first, others, len(others) < len(term.second)


@dataclass(frozen=True, slots=True)
class _Predictions(ComparableScores):
    """Shares of groups, compared by their difference or ratio."""

    row: NamedRow
    shares: Shares

    @property
    def names(self) -> list[Hashable]:
        return self.shares.form.names

    def compare(self, term: GroupContrast) -> Estimate:
        shares = self.shares
        first, others, whole = _sides(term)
        name = others[0] if len(others) == 1 else f"everyone but {first[0]}"
        one = first[0], _rows_of(shares.form, first)
        other = name, _rows_of(shares.form, others)
        if self.row.is_ratio:
            return shares.compare(RateRatio.of_outcomes, one, other)
        difference = partial(RateDifference.of_outcomes, absolute=not self.row.signed)
        part = shares.compare(difference, one, other)
        if not whole or isinstance(part, Undefined):
            return part
        # The share of all rows is the mean of the group's and the others', weighted by their
        # entries, so the difference shrinks by the group's part.
        own = float(shares.counted[one[1]].sum()) / float(shares.counted.sum())
        return Scaled.times(part, 1.0 - own)

    def mean(self, design: ComparisonDesign) -> Estimate:
        shares, form = self.shares, self.shares.form
        missing = shares.missing(list(form.members.items()))
        if missing:
            return Undefined(undefined=missing, sample=form.sample)
        factor = 1.0 / design.divisor
        if len(form.names) == 2:
            # All terms are the same difference, which has a sharper bound than their sum.
            difference = shares.compare(RateDifference.of_outcomes, *form.members.items())
            factor = 2.0 * factor if design.against == "rest" else factor
            return difference if factor == 1.0 else Scaled.times(difference, factor)
        return rate_gaps(
            shares.hits,
            shares.counted,
            form.labels,
            against=design.against,
            factor=factor,
            units=form.units,
            population=form.population,
        )

    def worst(self, design: ComparisonDesign, parts: Mapping[Hashable, Estimate]) -> Estimate:
        return furthest(parts, self.names, self.shares.form.sample, MaxPairwiseRatio.of_pairs)

    def entries(self, groups: Groups) -> int:
        return self.shares.entries(_rows_of(self.shares.form, groups))

    def rate(self, name: Hashable) -> float:
        return self.shares.of(self.shares.form.members[name])


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
        first, others, whole = _sides(term)
        own, rest = _rows_of(self.form, first), _rows_of(self.form, others)
        if self.row.compares == "PCM":
            return self._compared(MeanDifference.of_scores, own, rest)
        if self.row.compares == "VBCM":
            # Half of the rank-biserial correlation.
            return Scaled.times(self._compared(RankBiserial.of_scores, own, rest), 0.5)
        distance = self._compared(Distance.of_distributions, own, rest)
        # All rows are a mixture of the group and the rest, and so is their distribution.
        return Scaled.times(distance, 1.0 - len(own) / len(self.column)) if whole else distance

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
        return len(_rows_of(self.form, groups))


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
    kept = np.arange(len(form.y_prob))
    if gold is not None and row.gold == "c":
        kept = np.array([j for j, label in enumerate(gold) if label == positive], dtype=np.intp)
    if row.score == "p(gold)":
        assert gold is not None
        known = {label: column_of(label, form.classes) for label in dict.fromkeys(gold)}
        columns = np.array([known[gold[j]] for j in kept.tolist()], dtype=np.intp)
    else:
        columns = np.full(len(kept), column_of(positive, form.classes))
    before = None if form.original is None else form.original[kept, columns]
    if isinstance(form.y_prob, np.ndarray):
        sets: Any = form.y_prob[kept, :, :, columns]
    else:
        pairs = zip(kept.tolist(), columns.tolist(), strict=True)
        sets = [[own[:, column] for own in form.y_prob[j]] for j, column in pairs]
    return _Examples(
        row=row,
        names=form.names,
        sets=sets,
        before=before,
        units=None if form.units is None else [form.units[j] for j in kept.tolist()],
        population=form.population,
    )


@dataclass(frozen=True)
class _Examples:
    """Scores of the variations of each source example, by group, and of the original."""

    row: NamedRow
    names: list[Hashable]
    # An array of examples, groups and variations, or a list where these differ in number.
    sets: Floats | list[list[Floats]]
    before: Floats | None
    units: list[Hashable] | None
    population: Population

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

    def rate(self, name: Hashable) -> float:
        return math.nan

    def _mean(self, values: list[float], bounds: tuple[float, float]) -> Mean:
        estimate = Mean.of_values(
            values, units=self.units, population=self.population, bounds=bounds
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

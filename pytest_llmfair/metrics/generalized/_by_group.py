"""Rows of the table over predictions and probabilities by group."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from pytest_llmfair.metrics._rates import is_positive
from pytest_llmfair.metrics.arguments import Floats, note_constant
from pytest_llmfair.metrics.generalized._compare import (
    Design,
    Groups,
    Pooled,
    Term,
    against_background,
    all_pairs,
    first_and_second,
    furthest,
    measure,
    measure_two,
    reference_names,
)
from pytest_llmfair.metrics.generalized._forms import GroupForm, column_of
from pytest_llmfair.metrics.generalized._shares import Shares, read_shares
from pytest_llmfair.metrics.generalized._table import NamedRow
from pytest_llmfair.stats import (
    Distance,
    Estimate,
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    MeanDifference,
    RankBiserial,
    RateDifference,
    RateRatio,
    Scaled,
    Undefined,
    distribution_gaps,
    rate_gaps,
)

E = TypeVar("E", bound=Estimate)


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


def _background(row: NamedRow, form: GroupForm, reference: Any) -> tuple[GroupForm, Design]:
    """Give the rows of the background one label, and compare every group with it."""
    chosen = None if reference is None else reference_names(reference, form.names)
    if chosen is None:
        whole = reference is None and row.compares == "BCM"
        return form, against_background(form.names, None, whole=whole)
    pooled = Pooled(chosen)
    labels = [pooled if label in chosen else label for label in form.labels]
    names = [*(name for name in form.names if name not in chosen), pooled]
    return replace(form, labels=labels, names=names), against_background(names, (pooled,))


def _rows_of(form: GroupForm, groups: Groups) -> list[int]:
    members = form.members
    if len(groups) == 1:
        return members[groups[0]]
    return sorted(i for name in groups for i in members[name])


def _sides(term: Term) -> tuple[Groups, Groups, bool]:
    """Return the two sides without overlap, and whether they overlapped."""
    others = tuple(name for name in term.second if name not in term.first)
    return term.first, others, len(others) < len(term.second)


@dataclass(frozen=True, slots=True)
class _Predictions:
    """Shares of groups, compared by their difference or ratio."""

    row: NamedRow
    shares: Shares

    @property
    def names(self) -> list[Hashable]:
        return self.shares.form.names

    def compare(self, term: Term) -> Estimate:
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

    def mean(self, design: Design) -> Estimate:
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

    def worst(self, design: Design, parts: Mapping[Hashable, Estimate]) -> Estimate:
        return furthest(parts, self.names, self.shares.form.sample, MaxPairwiseRatio.of_pairs)

    def entries(self, groups: Groups) -> int:
        return self.shares.entries(_rows_of(self.shares.form, groups))

    def rate(self, name: Hashable) -> float:
        return self.shares.of(self.shares.form.members[name])


@dataclass(frozen=True, slots=True)
class _Probabilities:
    """Probabilities by group, compared by mean (PCM), distribution (BCM) or rank (VBCM)."""

    row: NamedRow
    form: GroupForm
    column: Floats

    @property
    def names(self) -> list[Hashable]:
        return self.form.names

    def compare(self, term: Term) -> Estimate:
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

    def _compared(self, compare: Callable[..., E], a: Sequence[int], b: Sequence[int]) -> E:
        return compare(
            self.column[a],
            self.column[b],
            units_a=self.form.units_of(a),
            units_b=self.form.units_of(b),
            population=self.form.population,
        )

    def mean(self, design: Design) -> Estimate:
        return distribution_gaps(
            self.column,
            self.form.labels,
            against=design.against,
            factor=1.0 / design.divisor,
            units=self.form.units,
            population=self.form.population,
        )

    def worst(self, design: Design, parts: Mapping[Hashable, Estimate]) -> Estimate:
        return furthest(parts, self.names, self.form.sample, MaxPairwiseDifference.of_pairs)

    def entries(self, groups: Groups) -> int:
        return len(_rows_of(self.form, groups))

    def rate(self, name: Hashable) -> float:
        return math.nan


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
    gold = is_positive(form.y_true, "y_true", positive)
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
        if not any(gold[i] == wanted for i in rows)
    ]
    if missing:
        return form, "; ".join(missing)
    return form.take([i for i, own in enumerate(gold) if own == wanted]), ""

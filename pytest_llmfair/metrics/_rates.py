"""Rates of predictions and errors by group, and comparisons of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from pytest_llmfair.metrics.arguments import (
    Floats,
    RowNumbers,
    RowsByLabel,
    group_rows,
    known_population,
    labels,
    same_length,
)
from pytest_llmfair.stats import (
    Estimate,
    Finding,
    GroupRow,
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    NoRepeats,
    Population,
    RateDifference,
    RateRatio,
    Sample,
    Table,
    Undefined,
)

E = TypeVar("E", bound=Estimate)
GroupPair = tuple[Hashable, Hashable]


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Share of wrong predictions among the rows where `column` is (or is not) positive."""

    # The other texts are for the documentation.

    name: str
    symbol: str
    column: Literal["y_true", "y_pred"]
    positive: bool
    counted: str
    share: str
    formula: str


ERROR_RATES = (
    ErrorRate(
        name="false negative rate",
        symbol="FNR",
        column="y_true",
        positive=True,
        counted="positive",
        share="positive rows that are missed",
        formula="P(prediction is not positive | positive)",
    ),
    ErrorRate(
        name="false omission rate",
        symbol="FOR",
        column="y_pred",
        positive=False,
        counted="not predicted positive",
        share="rows not predicted positive that are positive",
        formula="P(positive | prediction is not positive)",
    ),
    ErrorRate(
        name="false positive rate",
        symbol="FPR",
        column="y_true",
        positive=False,
        counted="not positive",
        share="rows that are not positive but predicted so",
        formula="P(prediction is positive | not positive)",
    ),
    ErrorRate(
        name="false discovery rate",
        symbol="FDR",
        column="y_pred",
        positive=True,
        counted="predicted positive",
        share="rows predicted positive that are not",
        formula="P(not positive | prediction is positive)",
    ),
)


@dataclass(frozen=True, slots=True)
class Rates:
    """A 0/1 outcome by group, in order of appearance; a group may be without rows."""

    # `among` describes the rows of the rate; `constant` is the warning for predictions that
    # are all the same.

    name: str
    among: str
    outcomes: dict[Hashable, Floats]
    units: dict[Hashable, RowNumbers]
    population: Population
    constant: str

    def of(self, group: Hashable) -> float:
        """Rate of a group; NaN without a row."""
        outcomes = self.outcomes[group]
        return float(outcomes.mean()) if outcomes.size else math.nan

    @property
    def sample(self) -> Sample:
        """Units and rows of all groups."""
        sizes = np.bincount(np.concatenate([np.empty(0, np.intp), *self.units.values()]))
        return Sample.of_sizes(sizes[sizes > 0], self.population)

    def kept(self, groups: Iterable[Hashable]) -> Rates:
        """Return some of the groups only."""
        names = list(groups)
        return replace(
            self,
            outcomes={name: self.outcomes[name] for name in names},
            units={name: self.units[name] for name in names},
        )

    def undefined(self, because: str = "") -> Undefined:
        """Return an undefined estimate, with the groups without rows as the default reason."""
        empty = [
            f"group {group} has no row {self.among}: its {self.name} is not defined"
            for group, outcomes in self.outcomes.items()
            if not outcomes.size
        ]
        return Undefined(undefined=because or "; ".join(empty), sample=self.sample)

    def compared(
        self, compare: Callable[..., E]
    ) -> tuple[dict[GroupPair, E], dict[Hashable, GroupRow]]:
        """Compare every two groups; a pair without rows is in the table only, as undefined."""
        found: dict[GroupPair, E] = {}
        table: dict[Hashable, GroupRow] = {}
        for a, b in combinations(self.outcomes, 2):
            pair = self.kept([a, b])
            rows = self.outcomes[a].size + self.outcomes[b].size
            if not (self.outcomes[a].size and self.outcomes[b].size):
                table[a, b] = GroupRow(math.nan, rows, estimate=pair.undefined())
                continue
            found[a, b] = compare(
                self.outcomes[a],
                self.outcomes[b],
                units_a=self.units[a],
                units_b=self.units[b],
                population=self.population,
            )
            table[a, b] = GroupRow(found[a, b].value, rows, estimate=found[a, b])
        return found, table

    def note(self, estimate: E) -> E:
        """Add every group's rate and number of rows, and a warning of constant predictions."""
        shown = [
            f"{group} {self.of(group):.3f} of {x.size}" if x.size else f"{group} of 0 rows"
            for group, x in self.outcomes.items()
        ]
        estimate = estimate.with_findings(Finding.note(f"{self.name}s: {', '.join(shown)}"))
        if self.constant:
            estimate = estimate.with_findings(Finding("uninformative", self.constant))
        return estimate


def selection_rates(
    y_pred: Any, groups: Any, positive: Any, units: Any, population: Population
) -> Rates:
    """Share of positive predictions by group."""
    predicted = is_positive(y_pred, "y_pred", positive)
    members = group_rows(groups, len(predicted))
    own = _units(units, len(predicted))
    return _rates(
        "selection rate",
        "at all",
        np.array(predicted, dtype=np.bool_),
        members,
        own,
        population,
        predicted,
    )


def error_rates(
    kind: ErrorRate,
    y_true: Any,
    y_pred: Any,
    groups: Any,
    positive: Any,
    units: Any,
    population: Population,
) -> Rates:
    """Share of errors by group, among the rows that the rate is about."""
    actual = is_positive(y_true, "y_true", positive)
    predicted = is_positive(y_pred, "y_pred", positive)
    same_length(y_true=actual, y_pred=predicted)
    members = group_rows(groups, len(actual))
    rows = np.array([actual, predicted], dtype=np.bool_)
    counted = rows[0 if kind.column == "y_true" else 1] == kind.positive
    wrong = rows[0] != rows[1]
    about = {group: own[counted[own]] for group, own in members.items()}
    among = f"with {kind.column} {'=' if kind.positive else 'other than'} {positive!r}"
    return _rates(
        kind.name, among, wrong, about, _units(units, len(actual)), population, predicted
    )


def _rates(
    name: str,
    among: str,
    events: npt.NDArray[np.bool_],
    members: Mapping[Hashable, RowNumbers],
    units: RowsByLabel | None,
    population: Population,
    predicted: Sequence[bool],
) -> Rates:
    known_population(population)
    array = events.astype(np.float64)
    own = {group: rows if units is None else units.number[rows] for group, rows in members.items()}
    for group, numbers in own.items() if population == "fixed" else ():
        alone = np.bincount(numbers)[numbers] == 1
        if alone.any():
            number = int(numbers[np.argmax(alone)])
            unit = number if units is None else list(units)[number]
            raise NoRepeats(
                f"unit {unit} has 1 row of group {group} {among}; a fixed population needs at "
                "least 2 per unit and group, since nothing else varies"
            )
    return Rates(
        name=name,
        among=among,
        outcomes={group: array[rows] for group, rows in members.items()},
        units=own,
        population=population,
        constant=constant_predictions(predicted),
    )


def constant_predictions(predicted: Sequence[bool]) -> str:
    """Return a warning if all predictions are the same, else an empty text."""
    if len(predicted) < 2 or len(set(predicted)) > 1:
        return ""
    return (
        f"all {len(predicted)} predictions are {'' if predicted[0] else 'not '}the positive "
        "class: check the model, a constant shows nothing"
    )


def _units(units: Any, rows: int) -> RowsByLabel | None:
    return None if units is None else RowsByLabel(labels(units, "units", rows), rows)


def is_positive(values: Any, argument: str, positive: Any) -> list[bool]:
    """Return for each row whether it has the positive class, which at least one label must fit."""
    try:
        (positive,) = labels([positive], "positive")
    except ValueError:
        raise ValueError(f"positive is {positive!r}, which names no class; name one") from None
    found = labels(values, argument)
    if not found:
        raise ValueError(f"{argument} is empty; give at least one row per group")
    fractions = any(issubclass(kind, float) for kind in set(map(type, found)))
    for i, label in enumerate(found if fractions else ()):
        if isinstance(label, float) and not label.is_integer():
            raise ValueError(
                f"{argument} row {i} is {label:g}, no class; compare predictions (scores >= 0.5)"
            )
    if positive not in found and any(
        isinstance(label, str) != isinstance(positive, str) for label in found
    ):
        seen = ", ".join(map(repr, list(dict.fromkeys(found))[:5]))
        raise ValueError(
            f"no row of {argument} is positive={positive!r}; it holds {seen}: name one as positive"
        )
    return [label == positive for label in found]


def difference(rates: Rates) -> RateDifference | MaxPairwiseDifference | Undefined:
    """Largest absolute difference of any two groups' rates."""
    estimate: RateDifference | MaxPairwiseDifference | Undefined
    if all(x.size for x in rates.outcomes.values()) and len(rates.outcomes) > 2:
        names: list[Hashable] = []
        for group, x in rates.outcomes.items():
            names += [group] * x.size
        estimate = MaxPairwiseDifference.of_rates(
            np.concatenate(list(rates.outcomes.values())),
            names,
            units=np.concatenate(list(rates.units.values())),
            population=rates.population,
        )
    else:
        pairs, table = rates.compared(RateDifference.of_outcomes)
        complete = len(pairs) == 1 == len(table)
        estimate = next(iter(pairs.values())) if complete else rates.undefined()
        estimate = replace(estimate, groups=table)
    rows, own = estimate.groups, _own_rows(rates)
    groups = EitherOrder([*rows, *own], lambda key: own.get(key) or rows[key])
    return rates.note(replace(estimate, groups=groups))


def _own_rows(rates: Rates) -> dict[Hashable, GroupRow]:
    """Return a row a group, with its rate and no value of a comparison."""
    return {
        group: GroupRow(math.nan, x.size, rate=rates.of(group))
        for group, x in rates.outcomes.items()
    }


def ratio(
    rates: Rates, *, smaller: bool = False, least: float = 0.0
) -> RateRatio | MaxPairwiseRatio | Undefined:
    """Ratio of the two rates furthest apart, among groups with at least `least` of the rows."""
    total = rates.sample.generations
    small = [group for group, x in rates.outcomes.items() if x.size / max(total, 1) < least]
    judged = rates.kept(group for group in rates.outcomes if group not in small)
    pairs, table = judged.compared(_smaller_over_larger if smaller else RateRatio.of_outcomes)
    top = float(np.max([judged.of(group) for group in judged.outcomes], initial=0.0))
    own = _own_rows(rates)
    if smaller and top > 0.0:
        # A single group has a ratio to the largest rate, but no ratio of first over second.
        own |= {
            group: replace(own[group], value=own[group].rate / top) for group in judged.outcomes
        }
    estimate: RateRatio | MaxPairwiseRatio | Undefined
    groups: Mapping[Hashable, GroupRow] = {**table, **own}
    widest: Hashable = None
    if len(judged.outcomes) < 2:
        estimate = judged.undefined(
            f"{len(judged.outcomes)} of {len(rates.outcomes)} groups has at least {least:.1%} of "
            f"the {total} rows (minimum_share): nothing is left to compare"
        )
        groups = own
    elif len(pairs) < len(table):
        estimate = judged.undefined()
    elif len(pairs) > 1:
        furthest = MaxPairwiseRatio.of_pairs(pairs, rates=own)
        groups, widest = furthest.groups, furthest.widest
        estimate = replace(furthest, sample=judged.sample)
    else:
        ((widest, estimate),) = pairs.items()
    if top == 0.0 and estimate.undefined is not None and table:
        why = (
            f"the {rates.name} of {' and of '.join(map(str, judged.outcomes))} is 0: 0 over 0 is "
            "no ratio"
        )
        others = tuple(each for each in estimate.findings if each.code != "undefined")
        estimate = replace(estimate, findings=(Finding.undefined(why), *others))
    elif isinstance(widest, tuple) and not smaller:
        order = Finding.note(f"the value is {widest[0]} over {widest[1]}")
        estimate = estimate.with_findings(order)
    if smaller:
        groups = EitherOrder(groups, groups.__getitem__)
    estimate = rates.note(replace(estimate, groups=groups))
    if small:
        shown = ", ".join(f"{group} {own[group].rate:.3f} of {own[group].n}" for group in small)
        left_out = Finding.note(f"not judged, below {least:.1%} of {total} rows: {shown}")
        estimate = estimate.with_findings(left_out)
    return estimate


class EitherOrder(Table):
    """Table of pairs and groups that finds a pair whichever of its groups is named first."""

    def __getitem__(self, key: Hashable) -> GroupRow:
        """Return the row of a pair, or of a group."""
        swapped = key[::-1] if isinstance(key, tuple) else key
        return super().__getitem__(
            swapped if key not in self._rows and swapped in self._rows else key
        )


def _smaller_over_larger(
    x_a: Floats,
    x_b: Floats,
    *,
    units_a: RowNumbers,
    units_b: RowNumbers,
    population: Population,
) -> RateRatio:
    if (x_a.mean(), x_a.size) > (x_b.mean(), x_b.size):
        # The order of the groups must not change the last digit.
        x_a, x_b, units_a, units_b = x_b, x_a, units_b, units_a
    return RateRatio.of_outcomes(
        x_a, x_b, units_a=units_a, units_b=units_b, population=population, form="smaller"
    )

"""Rates of predictions and errors by group, and comparisons of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pytest_llmfair.metrics._classes import ErrorRate, constant_predictions, is_positive
from pytest_llmfair.metrics._people import GroupPair, People, Who, pairs_of, too_few
from pytest_llmfair.metrics.arguments import Floats, RowNumbers, labels, same_length
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
    weighted_rows,
)

E = TypeVar("E", bound=Estimate)


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
    weights: dict[Hashable, Floats | None]
    people: People

    def of(self, group: Hashable) -> float:
        """Rate of a group; NaN without a row."""
        outcomes, weights = self.outcomes[group], self.weights[group]
        if not outcomes.size or (weights is not None and not weights.any()):
            return math.nan
        return float(outcomes.mean() if weights is None else np.average(outcomes, weights=weights))

    def empty(self, group: Hashable) -> bool:
        """Whether a group has no row that the rate is about."""
        return math.isnan(self.of(group))

    @property
    def rows(self) -> tuple[Floats, list[Hashable]]:
        """Outcomes of all groups, and the group of each."""
        names = [group for group, x in self.outcomes.items() for _ in range(x.size)]
        return np.concatenate(list(self.outcomes.values())), names

    @property
    def sampled(self) -> dict[str, Any]:
        """Units of the rows, and where these are from."""
        units = np.concatenate(list(self.units.values()))
        return {"units": units, "population": self.population}

    @property
    def judged(self) -> Rates:
        """The groups that are compared."""
        return self.kept(self.people.judged)

    @property
    def pairs(self) -> list[GroupPair]:
        """Groups that are compared with each other."""
        return pairs_of(self.outcomes, self.people.reference)

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
            weights={name: self.weights[name] for name in names},
        )

    def undefined(self, because: str = "") -> Undefined:
        """Return an undefined estimate, with the groups without rows as the default reason."""
        empty = [
            f"group {group} has no row {self.among}: its {self.name} is not defined"
            for group in self.outcomes
            if self.empty(group)
        ]
        return Undefined(undefined=because or "; ".join(empty), sample=self.sample)

    def compared(
        self, compare: Callable[..., E]
    ) -> tuple[dict[GroupPair, E], dict[Hashable, GroupRow]]:
        """Compare every two groups; a pair without rows is in the table only, as undefined."""
        found: dict[GroupPair, E] = {}
        table: dict[Hashable, GroupRow] = {}
        for a, b in self.pairs:
            pair = self.kept([a, b])
            rows = self.outcomes[a].size + self.outcomes[b].size
            if self.empty(a) or self.empty(b):
                table[a, b] = GroupRow(math.nan, rows, estimate=pair.undefined())
                continue
            found[a, b] = compare(
                self.outcomes[a],
                self.outcomes[b],
                units_a=self.units[a],
                units_b=self.units[b],
                weights_a=self.weights[a],
                weights_b=self.weights[b],
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
        if small := self.people.small:
            sizes = [self._smaller(group) for group in small]
            text = f"not judged, {self.people.least}: {', '.join(sizes)}"
            estimate = estimate.with_findings(Finding.note(text))
        return estimate.with_findings(*self.people.findings)

    def _smaller(self, group: Hashable) -> str:
        """Describe a group that is not judged, with all of its rows."""
        about, rows = self.outcomes[group].size, len(self.people.members[group])
        shown = f"{group} {self.of(group):.3f} of {about}" if about else f"{group} of 0"
        return shown if about == rows else f"{shown} ({rows} rows)"


def selection_rates(y_pred: Any, positive: Any, who: Who) -> Rates:
    """Share of positive predictions by group."""
    people = People.read(who, y_pred=y_pred)
    predicted = is_positive(people.columns["y_pred"], "y_pred", positive)
    events = np.array(predicted, dtype=np.bool_)
    return _rates("selection rate", "at all", events, people.members, people, predicted)


def accuracies(y_true: Any, y_pred: Any, positive: Any, who: Who) -> Rates:
    """Share of rows predicted right, by group; of all classes where `positive` is None."""
    people, actual, predicted = _both(y_true, y_pred, positive, who)
    right = np.array([t == p for t, p in zip(actual, predicted, strict=True)], dtype=np.bool_)
    return _rates("accuracy rate", "at all", right, people.members, people, predicted)


def _both(
    y_true: Any, y_pred: Any, positive: Any, who: Who
) -> tuple[People, list[Any], list[Any]]:
    """Read true and predicted classes."""
    people = People.read(who, y_true=y_true, y_pred=y_pred)
    read = (lambda x, name, _: labels(x, name)) if positive is None else is_positive
    actual, predicted = (read(people.columns[n], n, positive) for n in ("y_true", "y_pred"))
    same_length(y_true=actual, y_pred=predicted)
    return people, actual, predicted


def error_rates(
    kind: ErrorRate, y_true: Any, y_pred: Any, positive: Any, who: Who, *, right: bool = False
) -> Rates:
    """Share of errors by group, or of right predictions, among the rows the rate is about."""
    people, actual, predicted = _both(y_true, y_pred, positive, who)
    rows = np.array([actual, predicted], dtype=np.bool_)
    counted = rows[0 if kind.column == "y_true" else 1] == kind.positive
    events = (rows[0] == rows[1]) if right else (rows[0] != rows[1])
    about = {group: own[counted[own]] for group, own in people.members.items()}
    among = f"with {kind.column} {'=' if kind.positive else 'other than'} {positive!r}"
    name = kind.opposite if right else kind.name
    return _rates(name, among, events, about, people, predicted)


def _rates(
    name: str,
    among: str,
    events: npt.NDArray[np.bool_],
    members: Mapping[Hashable, RowNumbers],
    people: People,
    predicted: Sequence[bool],
) -> Rates:
    array, units = events.astype(np.float64), people.units
    own = {group: people.units_of(rows) for group, rows in members.items()}
    for group, numbers in own.items() if people.population == "fixed" else ():
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
        population=people.population,
        constant=constant_predictions(predicted),
        weights={group: people.weights_of(rows) for group, rows in members.items()},
        people=people,
    )


def difference(
    rates: Rates, *, signed: bool = False
) -> RateDifference | MaxPairwiseDifference | Undefined:
    """Largest absolute difference of two groups' rates; with `signed` that of two has its sign."""
    judged = rates.judged
    estimate: RateDifference | MaxPairwiseDifference | Undefined
    plain = rates.people.weights is None and rates.people.reference is None
    if why := too_few(rates.people):
        estimate = judged.undefined(why)
    elif plain and len(judged.outcomes) > 2 and not any(map(judged.empty, judged.outcomes)):
        estimate = MaxPairwiseDifference.of_rates(*judged.rows, **judged.sampled)
    else:
        pairs, table = judged.compared(RateDifference.of_outcomes)
        if len(pairs) < len(table):
            estimate = judged.undefined()
        elif len(pairs) == 1:
            (estimate,) = pairs.values()
            estimate = estimate.signed if signed else estimate
        else:
            estimate = largest_of(pairs, judged)
        estimate = replace(estimate, groups=table)
    rows, own = estimate.groups, own_rows(rates)
    groups = EitherOrder([*rows, *own], lambda key: own.get(key) or rows[key])
    return rates.note(replace(estimate, groups=groups))


def largest_of(
    pairs: Mapping[Any, Estimate], *rates: Rates, word: str = ""
) -> MaxPairwiseDifference:
    """Largest difference of pairs of groups, whose errors are joined.

    Keys are pairs of groups; those of several rates begin with the name of the rate.
    """
    values, cells, units = [], [], []
    for each in rates:
        for group, x in each.outcomes.items():
            values.append(weighted_rows(x, each.weights[group]))
            cells += [(each.name, group) if len(rates) > 1 else group] * x.size
            units.append(each.units[group])
    sides = {
        key: (key[:1] + key[1:2], key[:1] + key[2:]) if len(rates) > 1 else key for key in pairs
    }
    return MaxPairwiseDifference.of_cells(
        pairs,
        sides,
        np.concatenate(values),
        cells,
        units=np.concatenate(units),
        population=rates[0].population,
    )


def own_rows(rates: Rates) -> dict[Hashable, GroupRow]:
    """Return a row a group, with its rate and no value of a comparison."""
    return {
        group: GroupRow(math.nan, x.size, rate=rates.of(group))
        for group, x in rates.outcomes.items()
    }


def ratio(rates: Rates, *, smaller: bool = False) -> RateRatio | MaxPairwiseRatio | Undefined:
    """Ratio of the two rates furthest apart, among the groups that are judged."""
    judged = rates.judged
    pairs, table = judged.compared(_smaller_over_larger if smaller else RateRatio.of_outcomes)
    top = float(np.max([judged.of(group) for group in judged.outcomes], initial=0.0))
    own = own_rows(rates)
    if smaller and top > 0.0:
        # A single group has a ratio to the largest rate, but no ratio of first over second.
        own |= {
            group: replace(own[group], value=own[group].rate / top) for group in judged.outcomes
        }
    estimate: RateRatio | MaxPairwiseRatio | Undefined
    groups: Mapping[Hashable, GroupRow] = {**table, **own}
    widest: Hashable = None
    if why := too_few(rates.people):
        estimate, groups = judged.undefined(why), own
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
    return rates.note(replace(estimate, groups=groups))


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
    weights_a: Floats | None,
    weights_b: Floats | None,
    population: Population,
) -> RateRatio:
    a, b = (x_a, units_a, weights_a), (x_b, units_b, weights_b)
    if (x_a.mean(), x_a.size) > (x_b.mean(), x_b.size):
        # The order of the groups must not change the last digit.
        a, b = b, a
    return RateRatio.of_outcomes(
        a[0],
        b[0],
        units_a=a[1],
        units_b=b[1],
        weights_a=a[2],
        weights_b=b[2],
        population=population,
        form="smaller",
    )

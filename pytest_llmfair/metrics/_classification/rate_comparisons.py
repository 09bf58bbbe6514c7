"""Comparisons of rates between groups: the largest difference, the ratio furthest from 1."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from pytest_llmfair.metrics._checks import Floats
from pytest_llmfair.metrics._classification.rates import Rates
from pytest_llmfair.stats import (
    GroupRow,
    Population,
    Range,
    RateDifference,
    RateRatio,
    RatioRange,
    Table,
    Undefined,
)


def difference(rates: Rates) -> RateDifference | Range | Undefined:
    """Largest absolute difference of any two groups' rates."""
    estimate: RateDifference | Range | Undefined
    if all(x.size for x in rates.outcomes.values()) and len(rates.outcomes) > 2:
        names = [group for group, x in rates.outcomes.items() for _ in range(x.size)]
        estimate = Range.of_rates(
            np.concatenate(list(rates.outcomes.values())),
            names,
            units=[unit for units in rates.units.values() for unit in units],
            population=rates.population,
        )
    else:
        pairs, table = rates.compared(RateDifference.of_outcomes)
        complete = len(pairs) == 1 == len(table)
        estimate = next(iter(pairs.values())) if complete else rates.undefined()
        estimate.groups = table
    rows, own = estimate.groups, _own_rows(rates)
    estimate.groups = EitherOrder([*rows, *own], lambda key: own.get(key) or rows[key])
    rates.note(estimate)
    return estimate


def _own_rows(rates: Rates) -> dict[Hashable, GroupRow]:
    """Return a row a group, with its rate and no value of a comparison."""
    return {
        group: GroupRow(math.nan, x.size, rate=rates.of(group))
        for group, x in rates.outcomes.items()
    }


def ratio(
    rates: Rates, *, smaller: bool = False, least: float = 0.0
) -> RateRatio | RatioRange | Undefined:
    """Ratio of the two rates furthest apart: first over second, or the smaller over the larger.

    Groups with less than the share `least` of all rows are in the table only.
    """
    total = rates.sample.generations
    small = [group for group, x in rates.outcomes.items() if x.size / max(total, 1) < least]
    judged = rates.kept(group for group in rates.outcomes if group not in small)
    pairs, table = judged.compared(_smaller_over_larger if smaller else RateRatio.of_outcomes)
    top = float(np.max([judged.of(group) for group in judged.outcomes], initial=0.0))
    own = _own_rows(rates)
    if smaller and top > 0.0:
        # A group alone has a ratio to the one selected most, but no first over second.
        own |= {
            group: replace(own[group], value=own[group].rate / top) for group in judged.outcomes
        }
    estimate: RateRatio | RatioRange | Undefined
    widest: Hashable = None
    if len(judged.outcomes) < 2:
        estimate = judged.undefined(
            f"{len(judged.outcomes)} of {len(rates.outcomes)} groups has at least {least:.1%} of "
            f"the {total} rows (minimum_share): nothing is left to compare"
        )
        estimate.groups = own
    elif len(pairs) < len(table):
        estimate = judged.undefined()
        estimate.groups = {**table, **own}
    elif len(pairs) > 1:
        estimate = RatioRange.of_pairs(pairs, rates=own)
        estimate.sample = judged.sample
        widest = estimate.widest
    else:
        ((widest, estimate),) = pairs.items()
        estimate.groups = {**table, **own}
    if top == 0.0 and estimate.undefined is not None and table:
        estimate.undefined = (
            f"the {rates.name} of {' and of '.join(map(str, judged.outcomes))} is 0: 0 over 0 is "
            "no ratio"
        )
    elif isinstance(widest, tuple) and not smaller:
        estimate.notes += (f"the value is {widest[0]} over {widest[1]}",)
    if smaller:
        rows = estimate.groups
        estimate.groups = EitherOrder(rows, rows.__getitem__)
    rates.note(estimate)
    if small:
        said = ", ".join(f"{group} {own[group].rate:.3f} of {own[group].n}" for group in small)
        estimate.notes += (f"not judged, below {least:.1%} of {total} rows: {said}",)
    return estimate


class EitherOrder(Table):
    """Table of pairs whose row is the same whichever group is named first, then of groups.

    Keys list each pair once, its groups in order of appearance.
    """

    def __getitem__(self, key: Hashable) -> GroupRow:
        """Return the row of a pair, or of a group."""
        turned = key[::-1] if isinstance(key, tuple) else key
        return super().__getitem__(
            turned if key not in self._rows and turned in self._rows else key
        )


def _smaller_over_larger(
    x_a: Floats,
    x_b: Floats,
    *,
    units_a: list[Hashable],
    units_b: list[Hashable],
    population: Population,
) -> RateRatio:
    if (x_a.mean(), x_a.size) > (x_b.mean(), x_b.size):
        # Which group comes first must not change the last digit.
        x_a, x_b, units_a, units_b = x_b, x_a, units_b, units_a
    return RateRatio.of_outcomes(
        x_a, x_b, units_a=units_a, units_b=units_b, population=population, form="smaller"
    )

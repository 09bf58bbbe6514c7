"""Equalized and average odds of a classifier by group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.metrics._classes import ERROR_RATES
from pytest_llmfair.metrics._people import Who, people_metric, too_few
from pytest_llmfair.metrics._rates import Rates, error_rates, largest_of, own_rows
from pytest_llmfair.stats import (
    Estimate,
    GroupRow,
    JoinedSum,
    MaxPairwiseDifference,
    RateDifference,
    Sample,
    Undefined,
)

__all__ = [
    "average_odds_difference",
    "equalized_odds_difference",
]

E = TypeVar("E", bound=Estimate)

_MISSED, _, _ALARMS, _ = ERROR_RATES


@people_metric(
    paper="hardt2016",
    symbol="EOdds",
    aliases=("EOdds", "equalized_odds"),
    favourable="high",
)
def equalized_odds_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    positive: Any,
    who: Who,
) -> MaxPairwiseDifference | Undefined:
    """Largest absolute difference of true or of false positive rates of two groups.

    Equalized odds of Hardt, Price and Srebro (2016): both rates are equal. The interval is that
    of the worst of both rates over all pairs, which share one error rate.

    Returns
    -------
    MaxPairwiseDifference or Undefined
        Value in [0, 1]; 0 when both rates are equal. ``.groups`` has every rate and pair, such as
        ``("true positive rate", "a", "b")``, with its signed difference, then every rate of each
        group. NaN with a reason when a group has no positive or no other row.

    Examples
    --------
    >>> from pytest_llmfair.metrics import equalized_odds_difference
    >>> y_true = [1, 1, 0, 0] + [1, 1, 1, 1, 0, 0, 0, 0]
    >>> y_pred = [1, 0, 1, 0] + [1, 1, 1, 0, 0, 0, 0, 1]
    >>> equalized_odds_difference(y_true, y_pred, groups=["a"] * 4 + ["b"] * 8)
    MaxPairwiseDifference 0.250 [0.000, 0.807] (95 %, 12 people)
    """
    both = _both(y_true, y_pred, positive, who)
    if undefined := _undefined(both):
        return undefined
    found: dict[Hashable, Estimate] = {}
    for rates in both:
        pairs, _ = rates.judged.compared(RateDifference.of_outcomes)
        found |= {(rates.name, *key): pair.signed for key, pair in pairs.items()}
    estimate = largest_of(found, *(rates.judged for rates in both))
    table: dict[Hashable, GroupRow] = dict(estimate.groups)
    for rates in both:
        table |= {(rates.name, group): row for group, row in own_rows(rates).items()}
    return _noted(replace(estimate, groups=table), both)


@people_metric(
    paper="hardt2016",
    symbol="AvgOdds",
    aliases=("AvgOdds", "average_odds"),
    favourable="high",
)
def average_odds_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    positive: Any,
    who: Who,
) -> JoinedSum | MaxPairwiseDifference | Undefined:
    """Absolute mean of the differences of true and of false positive rates of two groups.

    As in AIF360 (Bellamy et al. 2018): differences of opposite signs cancel, which they do not in
    :func:`equalized_odds_difference`.

    Returns
    -------
    JoinedSum, MaxPairwiseDifference or Undefined
        Value in [0, 1]. Two groups: ``.signed`` is the first minus the second, or the other minus
        the reference. More: the largest of any two. ``.groups`` has every pair. NaN with a reason
        when a group has no positive or no other row.

    Examples
    --------
    >>> from pytest_llmfair.metrics import average_odds_difference
    >>> y_true = [1, 1, 0, 0] + [1, 1, 1, 1, 0, 0, 0, 0]
    >>> y_pred = [1, 0, 1, 0] + [1, 1, 1, 0, 0, 0, 0, 1]
    >>> average_odds_difference(y_true, y_pred, groups=["a"] * 4 + ["b"] * 8).signed.value
    0.0
    """
    both = _both(y_true, y_pred, positive, who)
    if undefined := _undefined(both):
        return undefined
    found: dict[Any, JoinedSum] = {}
    halves = [rates.judged.compared(RateDifference.of_outcomes)[0] for rates in both]
    for key in halves[0]:
        own: list[Any] = [rates.kept(key).sampled["units"] for rates in both]
        found[key] = JoinedSum.of_parts(
            [(0.5, pairs[key].signed) for pairs in halves],
            merged([rates.kept(key) for rates in both]),
            independent=set(own[0]).isdisjoint(own[1]),
            absolute=True,
        )
    estimate = replace(widest(found), sample=merged([rates.judged for rates in both]))
    return _noted(estimate, both)


def merged(parts: Sequence[Rates]) -> Sample:
    """Count units and rows of several rates."""
    units = np.concatenate([rates.sampled["units"] for rates in parts])
    sizes = np.unique(units, return_counts=True)[1]
    return Sample.of_sizes(sizes, parts[0].population)


def widest(pairs: dict[Any, JoinedSum]) -> JoinedSum | MaxPairwiseDifference:
    """Return the only pair, or the largest of several."""
    if len(pairs) > 1:
        return MaxPairwiseDifference.of_pairs(pairs)
    ((key, only),) = pairs.items()
    return replace(
        only, groups={key: GroupRow(only.value, only.sample.generations, estimate=only)}
    )


def _both(y_true: Any, y_pred: Any, positive: Any, who: Who) -> tuple[Rates, Rates]:
    """Return the true and the false positive rates."""
    return (
        error_rates(_MISSED, y_true, y_pred, positive, who, right=True),
        error_rates(_ALARMS, y_true, y_pred, positive, who),
    )


def _undefined(both: Sequence[Rates]) -> Undefined | None:
    """Return the reason that the rates cannot be compared, if there is one."""
    missing = [rates.judged.undefined() for rates in both]
    why = too_few(both[0].people) or "; ".join(m.undefined for m in missing if m.undefined)
    return _noted(both[0].judged.undefined(why), both) if why else None


def _noted(estimate: E, both: Sequence[Rates]) -> E:
    for rates in both:
        estimate = rates.note(estimate)
    return estimate

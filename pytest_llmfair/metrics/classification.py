"""Selection rates, error rates and odds of groups (Bouchard 2024, section 3.2, and others).

Each of the four error rates makes two metrics, a difference and a ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._people import (
    ERROR_RATES,
    ErrorRate,
    Who,
    people_metric,
    sample_of,
    too_few,
)
from pytest_llmfair.metrics._rates import (
    Rates,
    difference,
    error_rates,
    largest_of,
    own_rows,
    ratio,
    selection_rates,
)
from pytest_llmfair.metrics.arguments import E
from pytest_llmfair.stats import (
    Estimate,
    GroupRow,
    JoinedSum,
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    RateDifference,
    RateRatio,
    Sample,
    Undefined,
)

__all__ = [
    "average_odds_difference",
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "impact_ratio",
]

_MISSED, _, _ALARMS, _ = ERROR_RATES


@people_metric(
    "predicted",
    "differences of rates",
    example=_examples.predictions,
    favourable="high",
)
def demographic_parity_difference(
    y_pred: ArrayLike, *, positive: Any, who: Who
) -> RateDifference | MaxPairwiseDifference | Undefined:
    """Largest absolute difference of the groups' rates of positive predictions.

    Demographic parity of Bouchard (2024), section 3.2.1: ``|P(prediction | first group) -
    P(prediction | second group)|``.

    Examples
    --------
    >>> y_pred = [1, 1, 1, 0, 1, 0, 0, 0]
    >>> groups = ["a"] * 4 + ["b"] * 4
    >>> demographic_parity_difference(y_pred, groups=groups)
    RateDifference 0.500 [0.000, 0.868] (95 %, 8 people)
    """
    return difference(selection_rates(y_pred, positive, who))


@people_metric("predicted", direction="higher", example=_examples.predictions, favourable="high")
def impact_ratio(
    y_pred: ArrayLike, *, positive: Any, who: Who
) -> RateRatio | MaxPairwiseRatio | Undefined:
    """Smallest rate of positive predictions of any group, over the largest.

    The disparity of predicted prevalence of Saleiro et al. (2018), with the group selected most
    as reference.

    Returns
    -------
    RateRatio, MaxPairwiseRatio or Undefined
        Value in [0, 1]; 1 when the rates are equal. NaN with a reason when no row is selected, or
        fewer than two groups are judged. ``.groups`` has every judged pair, and every group: its
        rate over the largest as ``value``, with ``rate`` and ``n``.

    Examples
    --------
    >>> y_pred = [1, 1, 1, 0, 1, 0, 0, 0]
    >>> groups = ["a"] * 4 + ["b"] * 4
    >>> impact_ratio(y_pred, groups=groups)
    RateRatio 0.333 [0.058, 1.000] (95 %, 8 people)
    """
    return ratio(selection_rates(y_pred, positive, who), smaller=True)


def _difference_of(rate: ErrorRate) -> Callable[..., Estimate]:
    """Make the difference of an error rate."""

    def measure(
        y_true: ArrayLike, y_pred: ArrayLike, *, positive: Any, who: Who
    ) -> RateDifference | MaxPairwiseDifference | Undefined:
        return difference(error_rates(rate, y_true, y_pred, positive, who))

    name = f"{rate.name} difference".replace(" ", "_")
    measure.__name__ = measure.__qualname__ = name
    measure.__doc__ = f"""Largest absolute difference of the groups' {rate.name}s.

    Bouchard (2024), section 3.2.2: the difference of
    ``{rate.formula}``,
    the share of {rate.share}.

    Examples
    --------
    >>> y_true = [1, 1, 0, 0] + [1, 1, 1, 1, 0, 0, 0, 0]
    >>> y_pred = [1, 0, 1, 0] + [1, 1, 1, 0, 0, 0, 0, 1]
    >>> {name}(y_true, y_pred, groups=["a"] * 4 + ["b"] * 8)
    RateDifference 0.250 [0.000, 0.807] (95 %, 6 people)
    """
    return people_metric("differences of rates", favourable="low")(measure)


def _ratio_of(rate: ErrorRate) -> Callable[..., Estimate]:
    """Make the ratio of an error rate."""

    def measure(
        y_true: ArrayLike, y_pred: ArrayLike, *, positive: Any, who: Who
    ) -> RateRatio | MaxPairwiseRatio | Undefined:
        return ratio(error_rates(rate, y_true, y_pred, positive, who))

    name = f"{rate.name} ratio".replace(" ", "_")
    measure.__name__ = measure.__qualname__ = name
    measure.__doc__ = f"""Ratio of the groups' {rate.name}s, the first over the second.

    Disparity of Saleiro et al. (2018) in the share of
    {rate.share}:
    ``{rate.formula}``.

    Examples
    --------
    >>> y_true = [1, 1, 0, 0] + [1, 1, 1, 1, 0, 0, 0, 0]
    >>> y_pred = [1, 0, 1, 0] + [1, 1, 1, 0, 0, 0, 0, 1]
    >>> {name}(y_true, y_pred, groups=["a"] * 4 + ["b"] * 8)
    RateRatio 2.000 [0.260, 13.723] (95 %, 6 people)
    """
    return people_metric(
        "ratios of rates",
        favourable="low",
        direction="two-sided",
        bounds=(0.0, math.inf),
        fair_value=1.0,
        scale="log",
    )(measure)


@people_metric("differences of rates", favourable="high")
def equal_opportunity_difference(
    y_true: ArrayLike, y_pred: ArrayLike, *, positive: Any, who: Who
) -> RateDifference | MaxPairwiseDifference | Undefined:
    """Largest absolute difference of the groups' true positive rates.

    Equal opportunity of Hardt, Price and Srebro (2016): ``P(prediction is positive | positive)``,
    the size of the false negative rate difference with the other sign.

    Examples
    --------
    >>> y_true = [1, 1, 0, 0] + [1, 1, 1, 1, 0, 0, 0, 0]
    >>> y_pred = [1, 0, 1, 0] + [1, 1, 1, 0, 0, 0, 0, 1]
    >>> equal_opportunity_difference(y_true, y_pred, groups=["a"] * 4 + ["b"] * 8)
    RateDifference 0.250 [0.000, 0.807] (95 %, 6 people)
    """
    return difference(error_rates(_MISSED, y_true, y_pred, positive, who, right=True))


@people_metric(favourable="high")
def equalized_odds_difference(
    y_true: ArrayLike, y_pred: ArrayLike, *, positive: Any, who: Who
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


@people_metric(favourable="high")
def average_odds_difference(
    y_true: ArrayLike, y_pred: ArrayLike, *, positive: Any, who: Who
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
    estimate: JoinedSum | MaxPairwiseDifference
    ((key, estimate), *more) = found.items()
    row = GroupRow(estimate.value, estimate.sample.generations, estimate=estimate)
    estimate = (
        MaxPairwiseDifference.of_pairs(found) if more else replace(estimate, groups={key: row})
    )
    estimate = replace(estimate, sample=merged([rates.judged for rates in both]))
    return _noted(estimate, both)


def merged(parts: Sequence[Rates]) -> Sample:
    """Count units and rows of several rates."""
    units = np.concatenate([rates.sampled["units"] for rates in parts])
    return sample_of(units, parts[0].people.population)


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


_MADE = {
    made.__name__: made for rate in ERROR_RATES for made in (_difference_of(rate), _ratio_of(rate))
}
__all__ += list(_MADE)
globals().update(_MADE)

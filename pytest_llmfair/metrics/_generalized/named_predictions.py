"""Named rows over predictions: FPED, FNED, ratios, Disparity Score, gaps and differences."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations
from typing import Any

from pytest_llmfair.metrics._generalized.backgrounds import (
    Pooled,
    against_background,
    first_and_second,
    furthest,
    table_of,
    with_background,
    with_groups,
)
from pytest_llmfair.metrics._generalized.forms import GroupForm
from pytest_llmfair.metrics._generalized.named_table import NamedRow
from pytest_llmfair.metrics._generalized.shares import Shares, read_shares
from pytest_llmfair.stats import (
    Against,
    Estimate,
    RateDifference,
    RateRatio,
    RatioRange,
    Scaled,
    Undefined,
    rate_gaps,
)


def measure_predictions(row: NamedRow, form: GroupForm, positive: Any, reference: Any) -> Estimate:
    """Measure a row whose score is made of predictions."""
    if row.compares == "PCM" and row.distance == "|x - y|":
        shares = read_shares(row.score, form, positive).evidence
        estimate = _pairs(row, shares)
    elif row.compares == "PCM":
        shares = read_shares(row.score, form, positive)
        estimate = _two_groups(row, shares, reference)
    else:
        form, pooled = with_background(form, reference)
        shares = read_shares(row.score, form, positive).evidence
        if row.compares == "VBCM":
            estimate = _ratios(shares, pooled)
        else:
            estimate = _gaps(row, shares, pooled, reference)
    shares.note(estimate)
    return estimate


def _two_groups(row: NamedRow, shares: Shares, reference: Any) -> Estimate:
    """Signed difference or ratio of the first and the second group."""
    members = shares.form.members
    first, second = first_and_second(row.name, list(members), reference)
    a, b = members[first], members[second]
    estimate: Estimate
    missing = shares.missing([(first, a), (second, b)])
    if missing:
        estimate = Undefined(undefined=missing, sample=shares.form.sample)
    elif row.is_ratio:
        estimate = shares.compare(RateRatio.of_outcomes, a, b)
    else:
        estimate = shares.compare(RateDifference.of_outcomes, a, b, absolute=False)
    n = shares.entries(a) + shares.entries(b)
    estimate.notes += (f"{first} {'over' if row.is_ratio else 'minus'} {second}",)
    estimate.groups = table_of({(first, second): estimate}, lambda _: n, lambda _: float("nan"))
    return estimate


def _pairs(row: NamedRow, shares: Shares) -> Estimate:
    """Absolute differences over pairs, added up and divided; pairs, then groups, in the table."""
    members = shares.form.members
    pairs = list(combinations(members, 2))
    parts: dict[Hashable, Estimate] = {}
    for a, b in pairs:
        missing = shares.missing([(a, members[a]), (b, members[b])])
        parts[a, b] = (
            Undefined(undefined=missing, sample=shares.form.sample)
            if missing
            else shares.compare(RateDifference.of_outcomes, members[a], members[b])
        )
    factor = 1.0 / (len(members) if row.divisor == "T" else len(pairs))
    estimate = _summed(shares, "pairs", factor)
    table = table_of(
        parts,
        lambda key: sum(shares.entries(members[name]) for name in key),
        lambda _: float("nan"),
    )
    estimate.groups = with_groups(
        table,
        list(members),
        lambda name: shares.entries(members[name]),
        lambda name: shares.of(members[name]),
        # The sum over the other groups, each with this one.
        lambda name: _summed(shares, (name,), 1.0 / (len(members) - 1)),
    )
    return estimate


def _gaps(row: NamedRow, shares: Shares, pooled: Pooled | None, reference: Any) -> Estimate:
    """Absolute differences of groups and their background, added up and divided."""
    against: Against = "background" if reference is None else "rest"
    if pooled is not None:
        against = (pooled,)
    parts = _with_background(shares, pooled, whole=reference is None)
    factor = 1.0 if row.divisor == "1" else 1.0 / len(parts)
    estimate = _summed(shares, against, factor)
    members = shares.form.members
    estimate.groups = table_of(
        parts,
        lambda name: shares.entries(members[name]),
        lambda name: shares.of(members[name]),
    )
    return estimate


def _summed(shares: Shares, against: Against, factor: float) -> Estimate:
    """Sum of absolute differences; with two groups all of them are one, with a sharper bound."""
    form = shares.form
    members = form.members
    missing = shares.missing(list(members.items()))
    if missing:
        return Undefined(undefined=missing, sample=form.sample)
    if len(members) == 2:
        a, b = members.values()
        difference = shares.compare(RateDifference.of_outcomes, a, b)
        # Each of the two groups is the rest for the other.
        factor = 2.0 * factor if against == "rest" else factor
        return difference if factor == 1.0 else Scaled.times(difference, factor)
    return rate_gaps(
        shares.hits,
        shares.counted,
        form.labels,
        against=against,
        factor=factor,
        units=form.units,
        population=form.population,
    )


def _with_background(
    shares: Shares, pooled: Pooled | None, *, whole: bool
) -> dict[Hashable, Estimate]:
    """Absolute difference of each group and its background, which with `whole` holds it as well.

    The share of everyone lies between the group's and that of the others, nearer by the group's
    part of all that counts.
    """
    members = shares.form.members
    everything = float(shares.counted.sum())
    parts: dict[Hashable, Estimate] = {}
    for name, rest in against_background(shares.form, pooled).items():
        own = members[name]
        missing = shares.missing([(name, own), (pooled or f"the rest beside {name}", rest)])
        if missing:
            parts[name] = Undefined(undefined=missing, sample=shares.form.sample)
            continue
        difference = shares.compare(RateDifference.of_outcomes, own, rest)
        others = 1.0 - float(shares.counted[own].sum()) / everything
        parts[name] = Scaled.times(difference, others) if whole else difference
    return parts


def _ratios(shares: Shares, pooled: Pooled | None) -> Estimate:
    """Ratio of each group's share to its background's."""
    members = shares.form.members
    parts: dict[Hashable, Estimate] = {}
    for name, rest in against_background(shares.form, pooled).items():
        own = members[name]
        missing = shares.missing([(name, own), (pooled or f"the rest beside {name}", rest)])
        parts[name] = (
            Undefined(undefined=missing, sample=shares.form.sample)
            if missing
            else shares.compare(RateRatio.of_outcomes, own, rest)
        )
    estimate = furthest(parts, shares.form, RatioRange.of_pairs)
    estimate.groups = table_of(
        parts,
        lambda name: shares.entries(members[name]),
        lambda name: shares.of(members[name]),
    )
    return estimate

"""Named rows over predictions and probabilities by group."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

from pytest_llmfair.metrics._rates import is_positive
from pytest_llmfair.metrics._reasons import note_constant
from pytest_llmfair.metrics.arguments import Floats
from pytest_llmfair.metrics.generalized._backgrounds import (
    Pooled,
    against_background,
    first_and_second,
    furthest,
    table_of,
    with_background,
    with_groups,
)
from pytest_llmfair.metrics.generalized._forms import GroupForm, column_of
from pytest_llmfair.metrics.generalized._shares import Shares, read_shares
from pytest_llmfair.metrics.generalized._table import NamedRow
from pytest_llmfair.stats import (
    Distance,
    Estimate,
    Finding,
    GroupRow,
    MaxPairwiseDifference,
    MaxPairwiseRatio,
    MeanDifference,
    RankBiserial,
    RateDifference,
    RateRatio,
    Reference,
    Scaled,
    Undefined,
    distribution_gaps,
    rate_gaps,
)

E = TypeVar("E", bound=Estimate)
_NO_MEAN = float("nan")


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
    return shares.note(estimate)


def _two_groups(row: NamedRow, shares: Shares, reference: Any) -> Estimate:
    """Signed difference or ratio of the first and the second group."""
    members = shares.form.members
    first, second = first_and_second(row.name, list(members), reference)
    a, b = members[first], members[second]
    sides = (first, a), (second, b)
    estimate: Estimate
    if row.is_ratio:
        estimate = shares.compare(RateRatio.of_outcomes, *sides)
    else:
        estimate = shares.compare(RateDifference.of_outcomes, *sides, absolute=False)
    n = shares.entries(a) + shares.entries(b)
    how = "over" if row.is_ratio else "minus"
    estimate = estimate.with_findings(Finding.note(f"{first} {how} {second}"))
    table = table_of({(first, second): estimate}, lambda _: n, lambda _: float("nan"))
    return replace(estimate, groups=table)


def _pairs(row: NamedRow, shares: Shares) -> Estimate:
    """Absolute differences over pairs, added up and divided; pairs, then groups, in the table."""
    members = shares.form.members
    pairs = list(combinations(members, 2))
    parts: dict[Hashable, Estimate] = {
        (a, b): shares.compare(RateDifference.of_outcomes, (a, members[a]), (b, members[b]))
        for a, b in pairs
    }
    factor = 1.0 / (len(members) if row.divisor == "T" else len(pairs))
    estimate = _summed(shares, "pairs", factor)
    table = table_of(
        parts,
        lambda key: sum(shares.entries(members[name]) for name in key),
        lambda _: float("nan"),
    )
    groups = with_groups(
        table,
        list(members),
        lambda name: shares.entries(members[name]),
        lambda name: shares.of(members[name]),
        # The sum over the other groups, each with this one.
        lambda name: _summed(shares, (name,), 1.0 / (len(members) - 1)),
    )
    return replace(estimate, groups=groups)


def _gaps(row: NamedRow, shares: Shares, pooled: Pooled | None, reference: Any) -> Estimate:
    """Absolute differences of groups and their background, added up and divided."""
    against = _against(pooled, reference)
    parts = _with_background(shares, pooled, whole=reference is None)
    factor = 1.0 if row.divisor == "1" else 1.0 / len(parts)
    estimate = _summed(shares, against, factor)
    return replace(estimate, groups=_share_table(parts, shares))


def _share_table(parts: Mapping[Hashable, Estimate], shares: Shares) -> dict[Hashable, GroupRow]:
    """Table of groups compared with their background."""
    members = shares.form.members
    return table_of(
        parts,
        lambda name: shares.entries(members[name]),
        lambda name: shares.of(members[name]),
    )


def _summed(shares: Shares, against: Reference, factor: float) -> Estimate:
    """Sum of absolute differences; with two groups all of them are one, with a sharper bound."""
    form = shares.form
    members = form.members
    missing = shares.missing(list(members.items()))
    if missing:
        return Undefined(undefined=missing, sample=form.sample)
    if len(members) == 2:
        difference = shares.compare(RateDifference.of_outcomes, *members.items())
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
    """Absolute difference of each group and its background; with `whole` of everyone."""
    # The share of everyone lies between the group's and that of the others, nearer by the group's
    # part of all that counts.
    members = shares.form.members
    everything = float(shares.counted.sum())
    parts: dict[Hashable, Estimate] = {}
    for name, rest in against_background(shares.form, pooled).items():
        own = members[name]
        background = (pooled or f"the rest beside {name}", rest)
        part: Estimate = shares.compare(RateDifference.of_outcomes, (name, own), background)
        if whole and not isinstance(part, Undefined):
            part = Scaled.times(part, 1.0 - float(shares.counted[own].sum()) / everything)
        parts[name] = part
    return parts


def _ratios(shares: Shares, pooled: Pooled | None) -> Estimate:
    """Ratio of each group's share to its background's."""
    members = shares.form.members
    parts: dict[Hashable, Estimate] = {}
    for name, rest in against_background(shares.form, pooled).items():
        background = (pooled or f"the rest beside {name}", rest)
        parts[name] = shares.compare(RateRatio.of_outcomes, (name, members[name]), background)
    estimate = furthest(parts, shares.form, MaxPairwiseRatio.of_pairs)
    return replace(estimate, groups=_share_table(parts, shares))


def measure_probabilities(
    row: NamedRow, form: GroupForm, positive: Any, reference: Any
) -> Estimate:
    """Measure a row whose score is the probability of the positive class, by group."""
    form, missing = _of_gold(row, form, positive)
    if missing:
        return Undefined(undefined=missing, sample=form.sample)
    scores = _scores(row, form, positive)
    if row.compares == "PCM":
        estimate = _means(row, form, scores, reference)
    else:
        form, pooled = with_background(form, reference)
        if row.compares == "BCM":
            estimate = _distances(form, scores, pooled, reference)
        else:
            estimate = _superiority(form, scores, pooled)
    return note_constant(estimate, [scores])


def _scores(row: NamedRow, form: GroupForm, positive: Any) -> Floats:
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


def _distances(form: GroupForm, scores: Floats, pooled: Pooled | None, reference: Any) -> Estimate:
    """Mean over groups of the Wasserstein-1 distance to the background."""
    against = _against(pooled, reference)
    members = form.members
    parts: dict[Hashable, Estimate] = {}
    for name, rest in against_background(form, pooled).items():
        own = members[name]
        distance = _compare(Distance.of_distributions, form, scores, own, rest)
        # All rows are a mixture of the group and the rest, and so is their distribution.
        others = 1.0 - len(own) / len(scores)
        parts[name] = Scaled.times(distance, others) if reference is None else distance
    estimate = distribution_gaps(
        scores,
        form.labels,
        against=against,
        factor=1.0 / len(parts),
        units=form.units,
        population=form.population,
    )
    table = table_of(parts, lambda name: len(members[name]), lambda _: _NO_MEAN)
    return replace(estimate, groups=table)


def _against(pooled: Pooled | None, reference: Any) -> Reference:
    """Return what each group is compared with."""
    if pooled is not None:
        return (pooled,)
    return "background" if reference is None else "rest"


def _compare(
    compare: Callable[..., E], form: GroupForm, scores: Floats, a: Sequence[int], b: Sequence[int]
) -> E:
    """Compare the scores of some rows with those of others."""
    return compare(
        scores[a],
        scores[b],
        units_a=form.units_of(a),
        units_b=form.units_of(b),
        population=form.population,
    )


def _superiority(form: GroupForm, scores: Floats, pooled: Pooled | None) -> Estimate:
    """Half of each group's rank-biserial correlation with its background."""
    members = form.members
    parts: dict[Hashable, Estimate] = {}
    for name, rest in against_background(form, pooled).items():
        own = members[name]
        wins = _compare(RankBiserial.of_scores, form, scores, own, rest)
        parts[name] = Scaled.times(wins, 0.5)
    estimate = furthest(parts, form, MaxPairwiseDifference.of_pairs)
    table = table_of(parts, lambda name: len(members[name]), lambda _: _NO_MEAN)
    return replace(estimate, groups=table)


def _means(row: NamedRow, form: GroupForm, scores: Floats, reference: Any) -> Estimate:
    """Difference of the mean probability of the first and the second group."""
    members = form.members
    first, second = first_and_second(row.name, list(members), reference)
    a, b = members[first], members[second]
    estimate = _compare(MeanDifference.of_scores, form, scores, a, b)
    estimate = estimate.with_findings(Finding.note(f"{first} minus {second}"))
    table = table_of({(first, second): estimate}, lambda _: len(a) + len(b), lambda _: _NO_MEAN)
    return replace(estimate, groups=table)

"""Named rows over probabilities by group: AvgGF, the average equality gaps, mean scores."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from pytest_llmfair.metrics._checks import Floats
from pytest_llmfair.metrics._classification.rates import is_positive
from pytest_llmfair.metrics._generalized.backgrounds import (
    Pooled,
    against_background,
    first_and_second,
    furthest,
    table_of,
    with_background,
)
from pytest_llmfair.metrics._generalized.forms import GroupForm, column_of
from pytest_llmfair.metrics._generalized.named_table import NamedRow
from pytest_llmfair.metrics._reasons import note_constant
from pytest_llmfair.stats import (
    Against,
    Estimate,
    MeanDifference,
    Range,
    RankBiserial,
    Scaled,
    Seminorm,
    Undefined,
    distribution_gaps,
)

_NO_MEAN = float("nan")


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
            estimate = _gaps(form, scores, pooled, reference)
        else:
            estimate = _superiority(form, scores, pooled)
    note_constant(estimate, [scores])
    return estimate


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


def _gaps(form: GroupForm, scores: Floats, pooled: Pooled | None, reference: Any) -> Estimate:
    """Mean over groups of the Wasserstein-1 distance to the background."""
    against: Against = "background" if reference is None else "rest"
    if pooled is not None:
        against = (pooled,)
    members = form.members
    parts: dict[Hashable, Estimate] = {}
    for name, rest in against_background(form, pooled).items():
        own = members[name]
        distance = Seminorm.of_distributions(
            scores[own],
            scores[rest],
            units_a=form.units_of(own),
            units_b=form.units_of(rest),
            population=form.population,
        )
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
    estimate.groups = table_of(parts, lambda name: len(members[name]), lambda _: _NO_MEAN)
    return estimate


def _superiority(form: GroupForm, scores: Floats, pooled: Pooled | None) -> Estimate:
    """Half of each group's rank-biserial correlation with its background."""
    members = form.members
    parts: dict[Hashable, Estimate] = {}
    for name, rest in against_background(form, pooled).items():
        own = members[name]
        wins = RankBiserial.of_scores(
            scores[own],
            scores[rest],
            units_a=form.units_of(own),
            units_b=form.units_of(rest),
            population=form.population,
        )
        parts[name] = Scaled.times(wins, 0.5)
    estimate = furthest(parts, form, Range.of_pairs)
    estimate.groups = table_of(parts, lambda name: len(members[name]), lambda _: _NO_MEAN)
    return estimate


def _means(row: NamedRow, form: GroupForm, scores: Floats, reference: Any) -> Estimate:
    """Difference of the mean probability of the first and the second group."""
    members = form.members
    first, second = first_and_second(row.name, list(members), reference)
    a, b = members[first], members[second]
    estimate = MeanDifference.of_scores(
        scores[a],
        scores[b],
        units_a=form.units_of(a),
        units_b=form.units_of(b),
        population=form.population,
    )
    estimate.notes += (f"{first} minus {second}",)
    estimate.groups = table_of(
        {(first, second): estimate}, lambda _: len(a) + len(b), lambda _: _NO_MEAN
    )
    return estimate

"""Scores and preferences of a pairwise judge (RABBI paper, sections 3.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair._util.validation import share
from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._parameters import described
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.allocation._candidates import (
    contrasts,
    describe_reference,
    one_or_worst,
)
from pytest_llmfair.metrics.allocation._comparisons import (
    JudgeAnswer,
    PairwiseScores,
    consistency_by_group,
    groups_of,
    judge_findings,
    pairs_of,
    read_comparisons,
)
from pytest_llmfair.metrics.arguments import known_population, labels
from pytest_llmfair.stats import (
    Finding,
    MaxPairwiseDifference,
    Mean,
    Population,
    Sample,
    Undefined,
)

__all__ = [
    "PairwiseScores",
    "pairwise_consistency",
    "pairwise_preference_gap",
    "pairwise_scores",
]

_COMPARISONS = """
    comparisons : list of mappings
        Rows with ``pool``, ``first``, ``second`` (candidates in the order shown) and ``winner``:
        "first", "second", "tie", or None for an unusable answer.
    groups : mapping
        Candidate to group.
    reference : object, list or "rest"
        Label of the reference group, a list of labels (their union), or "rest": everyone outside
        the group that is compared.
    """

_WIN, _TIE = 0.5, 0.25
_NO_FAIR_VALUE = Finding(
    "no_fair_value",
    "the printed share has no fair value, it is 0 also where the group always loses; judge "
    "convention='signed'",
    "invalid",
)


@described(_COMPARISONS)
def pairwise_scores(
    comparisons: Iterable[Mapping[str, Any]],
    *,
    unusable: float = 0.0,
    max_inconsistent: float = 0.5,
) -> PairwiseScores:
    """Score of every candidate from all comparisons inside its pool.

    Per prompt the winner gets 0.5, both get 0.25 on a tie; summed over the pool and both orders
    (RABBI paper, section 3.2). With every pair asked once in either order, scores lie between 0
    and the number of other candidates.

    Parameters
    ----------
    unusable : float
        What both get for an unusable answer, in [0, 0.5].
    max_inconsistent : float
        In [0, 1]; an assertion on these scores is INVALID when a larger share of the pairs of a
        group got another answer in the other order. A judge that always names the first
        candidate ties everyone, and would pass.

    Returns
    -------
    PairwiseScores
        A dictionary from (pool, candidate) to score. Pass it to a metric unchanged, so that the
        metric knows the pools and the consistency of the judge.

    Raises
    ------
    ValueError
        If a row lacks a field or names no legal winner (names the row).

    Examples
    --------
    >>> from pytest_llmfair.metrics import pairwise_scores
    >>> answers = [
    ...     {"pool": 1, "first": "Ada", "second": "Ben", "winner": "first"},
    ...     {"pool": 1, "first": "Ben", "second": "Ada", "winner": "second"},
    ... ]
    >>> pairwise_scores(answers)
    {(1, 'Ada'): 1.0, (1, 'Ben'): 0.0}
    """
    rows = read_comparisons(comparisons)
    lost = share(unusable, "unusable")
    if lost > _WIN:
        raise ValueError(f"unusable is {lost:g}; give at most {_WIN:g}, what a winner gets")
    scores: dict[tuple[Hashable, Hashable], float] = {}
    for row in rows:
        for candidate in (row.first, row.second):
            won = row.won_by(candidate)
            points = lost if won is None else _TIE if won == 0 else _WIN if won > 0 else 0.0
            key = (row.pool, candidate)
            scores[key] = scores.get(key, 0.0) + points
    return PairwiseScores(scores, rows, share(max_inconsistent, "max_inconsistent"))


@described(_COMPARISONS)
def pairwise_consistency(
    comparisons: Iterable[Mapping[str, Any]], *, groups: Mapping[Any, Any]
) -> dict[Hashable, dict[str, float]]:
    """Consistency of a pairwise judge about each group.

    Returns
    -------
    dict
        Group to four shares in [0, 1], over the comparisons with a candidate of that group
        (RABBI paper, Table 2). Of prompts: "regular", one candidate is named; "tie", both are. Of
        pairs asked in both orders: "flipped", one candidate is named in one order and the other
        in the other; "inconsistent", anything but the same usable answer twice. NaN where no pair
        was asked in both orders. Several answers to one order are each compared with each of
        the other.

    Raises
    ------
    ValueError
        If a row is illegal, or a candidate has no group (names it).

    Examples
    --------
    >>> from pytest_llmfair.metrics import pairwise_consistency
    >>> answers = [
    ...     {"pool": 1, "first": "Ada", "second": "Ben", "winner": "first"},
    ...     {"pool": 1, "first": "Ben", "second": "Ada", "winner": "second"},
    ... ]
    >>> pairwise_consistency(answers, groups={"Ada": "a", "Ben": "b"})["a"]
    {'regular': 1.0, 'tie': 0.0, 'flipped': 0.0, 'inconsistent': 0.0}
    """
    rows = read_comparisons(comparisons)
    return consistency_by_group(rows, groups_of(rows, groups))


@metric(
    family="allocation",
    paper="rabbi",
    symbol="delta-pair",
    direction="two-sided",
    bounds=(-1.0, 1.0),
    unit="pool",
    reported=(
        "values in figures only; over the consistent ones of ten models they correlate .85 "
        "(resumes) and .84 (essays) with the selection gap at k = 1"
    ),
    aliases=("preference_gap",),
    example=_examples.comparisons,
    favourable="high",
)
@described(_COMPARISONS)
def pairwise_preference_gap(
    comparisons: Iterable[Mapping[str, Any]],
    *,
    groups: Mapping[Any, Any],
    reference: Any,
    convention: str = "signed",
    max_inconsistent: float = 0.5,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean | MaxPairwiseDifference | Undefined:
    """Average preference of a judge for a group over the reference.

    (prompts won - prompts lost) / prompts, over all prompts that show a candidate of the group
    next to one of the reference; ties and unusable answers count as neither.

    Parameters
    ----------
    convention : {"signed", "paper"}
        "paper" gives the printed share of pairs for which the candidate of the group is named in
        both orders (RABBI paper, section 4.3). It has no fair value: it is also 0 where the
        reference always wins, so that an assertion on it is INVALID.
    max_inconsistent : float
        Share in [0, 1] of the pairs of a group that may get another answer in the other order;
        beyond it an assertion is INVALID.
    units : sequence, optional
        One label per comparison; those with equal labels are one sampling unit. Default: pools.
    population : {"sampled", "fixed"}
        Whether the pools were drawn from a larger population or are all of it.

    Returns
    -------
    Mean or MaxPairwiseDifference
        Value in [-1, 1], above 0 the group is preferred; "paper": in [0, 1]. More groups: the
        size of the largest, each in ``.groups``, with the share of prompts won as ``rate``. NaN
        where a group was never compared with the reference.

    Raises
    ------
    ValueError
        If a row is illegal, a candidate has no group, the reference is no group that was
        compared, or with "paper" a pair was asked in one order only (names it).

    Examples
    --------
    >>> from pytest_llmfair.metrics import pairwise_preference_gap
    >>> answers = [
    ...     {"pool": pool, "first": first, "second": second, "winner": winner}
    ...     for pool in range(4)
    ...     for first, second, winner in (("Ada", "Ben", "first"), ("Ben", "Ada", "second"))
    ... ]
    >>> pairwise_preference_gap(answers, groups={"Ada": "a", "Ben": "b"}, reference="b")
    Mean 1.000 [-0.205, 1.000] (95 %, 4 pools x 2)
    """
    if convention not in ("signed", "paper"):
        raise ValueError(f"convention is {convention!r}; choose 'signed' or 'paper'")
    limit = share(max_inconsistent, "max_inconsistent")
    known_population(population)
    rows = read_comparisons(comparisons)
    group_of = groups_of(rows, groups)
    unit_of = [row.pool for row in rows] if units is None else labels(units, "units", len(rows))
    against = contrasts(list(dict.fromkeys(group_of.values())), reference)
    compared: dict[Hashable, Mean | Undefined] = {}
    sizes: dict[Hashable, int] = {}
    rates: dict[Hashable, float] = {}
    mean = _signed if convention == "signed" else _printed
    for name, others in against.items():
        views = views_of(rows, unit_of, group_of, name, others)
        sizes[name] = len(views)
        if not views:
            compared[name] = Undefined(
                undefined=f"no comparison shows {name} next to {describe_reference(reference)}",
                sample=Sample(units=0, generations=0, fewest=0, most=0, population=population),
            )
            continue
        rates[name] = sum(row.won_by(own) == 1 for row, own, _ in views) / len(views)
        compared[name] = mean(views, population)
        del views  # the findings need memory too
    worst = MaxPairwiseDifference if len(compared) > 1 else None
    estimate = one_or_worst(compared, sizes, rates, worst)
    estimate = estimate.with_findings(*judge_findings(rows, group_of, limit))
    if convention == "paper":
        estimate = replace(estimate, variant=" (printed share)").with_findings(_NO_FAIR_VALUE)
    return estimate


_View = tuple[JudgeAnswer, Hashable, Hashable]


def views_of(
    rows: Sequence[JudgeAnswer],
    unit_of: Sequence[Hashable],
    group_of: Mapping[Hashable, Hashable],
    name: Hashable,
    others: Sequence[Hashable],
) -> list[_View]:
    """Return the rows that show the group next to its reference: row, its candidate, unit."""
    found = []
    for row, unit in zip(rows, unit_of, strict=True):
        for own, other in ((row.first, row.second), (row.second, row.first)):
            if group_of[own] == name and group_of[other] in others:
                found.append((row, own, unit))
    return found


def _signed(views: Sequence[_View], population: Population) -> Mean:
    return Mean.of_values(
        [row.won_by(own) or 0.0 for row, own, _ in views],
        units=[unit for _, _, unit in views],
        bounds=(-1.0, 1.0),
        population=population,
    )


def _printed(views: Sequence[_View], population: Population) -> Mean:
    values, units = [], []
    candidate_of = {(row.pool, own): unit for row, own, unit in views}
    for pair in pairs_of(row for row, _, _ in views):
        if not pair.both_orders:
            raise ValueError(
                f"{pair.one!r} and {pair.other!r} of pool {pair.pool!r} were compared in one "
                "order only; the printed share needs both"
            )
        own = pair.one if (pair.pool, pair.one) in candidate_of else pair.other
        values.append(pair.preferred(own))
        units.append(candidate_of[pair.pool, own])
    return Mean.of_values(values, units=units, population=population)

"""Scores that decide who is chosen: the rank-allocational-based bias index (RABBI)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from pytest_llmfair.metrics._checks import flat_scores, group_rows, labels, same_length
from pytest_llmfair.metrics._reasons import note_constant
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.stats import GroupRow, Population, RankBiserial

__all__ = ["rabbi"]


@metric(
    family="allocation",
    paper="rabbi",
    symbol="R",
    direction="two-sided",
    bounds=(-1.0, 1.0),
    unit="candidate",
)
def rabbi(
    scores: Any,
    *,
    groups: Any,
    reference: Any,
    rounds: Sequence[Hashable] | None = None,
    qualified: Any = None,
    strata: Any = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> RankBiserial:
    """Share of pairs a group wins minus the share it loses against the reference group.

    The rank-allocational-based bias index: the mean over candidates a of the group and b of the
    reference of ``[s_a > s_b] - [s_a < s_b]``, which is the rank-biserial correlation. All pairs
    are compared, also across rounds.

    Parameters
    ----------
    scores : array_like of shape (n_candidates,)
        One score per candidate, higher is better.
    groups : array_like of shape (n_candidates,)
        Protected-attribute label of each candidate; two groups after `reference` is taken.
    reference : object, list or "rest"
        Label of the reference group, a list of labels (their union), or "rest": everyone outside
        the first group in order of appearance.
    rounds : sequence, optional
        Pool of each candidate: the sampling unit. The same as `units`; giving both is an error.
    qualified : array_like of bool, optional
        Only qualified candidates are compared (equal opportunity).
    strata : array_like, optional
        Not yet supported.
    population : {"sampled", "fixed"}
        Whether the units were drawn from a larger population or are all of it.

    Returns
    -------
    RankBiserial
        Value in [-1, 1], group minus reference: above 0 the group is favoured. A bound on it does
        not bound selection at a given quota.

    Raises
    ------
    ValueError
        If a score is NaN, lengths differ, the reference is no group, or there are not two groups.
    TypeError
        If both `rounds` and `units` are given.
    """
    if rounds is not None and units is not None:
        raise TypeError("rabbi() takes rounds or units, not both: they are the same thing")
    if strata is not None:
        raise ValueError("strata are not supported in this version; test each stratum on its own")
    values = flat_scores(scores)
    members = labels(groups, "groups", len(values))
    pools = rounds if rounds is not None else units
    pool_labels = None if pools is None else labels(pools, "rounds", len(values))
    if qualified is not None:
        same_length(scores=values, qualified=qualified)
        kept = [i for i, flag in enumerate(qualified) if bool(flag)]
        values, members = values[kept], [members[i] for i in kept]
        pool_labels = None if pool_labels is None else [pool_labels[i] for i in kept]
    by_group = group_rows(members, len(values))
    group, rows_a, rows_b = _against(by_group, reference)
    estimate = RankBiserial.of_scores(
        values[rows_a],
        values[rows_b],
        units_a=None if pool_labels is None else [pool_labels[i] for i in rows_a],
        units_b=None if pool_labels is None else [pool_labels[i] for i in rows_b],
        population=population,
    )
    estimate.groups = {group: GroupRow(estimate.value, len(rows_a), estimate=estimate)}
    estimate.notes += (
        f"{group} minus {_said(reference)}: {len(rows_a)} against {len(rows_b)} candidates",
    )
    note_constant(estimate, [values])
    return estimate


def _against(
    by_group: dict[Hashable, list[int]], reference: Any
) -> tuple[Hashable, list[int], list[int]]:
    """Return the group compared, its rows, and the rows of the reference."""
    names = list(by_group)
    if isinstance(reference, str) and reference == "rest" and "rest" not in by_group:
        against = names[1:]
    elif isinstance(reference, list) or (
        isinstance(reference, tuple) and reference not in by_group
    ):
        against = list(reference)
    else:
        against = [reference]
    for name in against:
        if name not in by_group:
            raise ValueError(
                f"reference {name!r} is no group with candidates; "
                f"groups are {', '.join(map(str, names))}"
            )
    others = [name for name in names if name not in against]
    if len(others) != 1:
        raise ValueError(
            f"{len(others)} groups stand against the reference ({', '.join(map(str, others))}); "
            "this version compares one: select two groups, or give a list as reference"
        )
    return others[0], by_group[others[0]], sorted(i for name in against for i in by_group[name])


def _said(reference: Any) -> str:
    return (
        " or ".join(map(str, reference))
        if isinstance(reference, (list, tuple))
        else str(reference)
    )

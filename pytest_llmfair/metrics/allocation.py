"""Scores that decide who is chosen: the rank-allocational-based bias index (RABBI)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair.metrics._checks import Floats, flags, flat_scores, group_rows, labels
from pytest_llmfair.metrics._reasons import note_constant
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.stats import GroupRow, Population, Range, RankBiserial, Sample

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
) -> RankBiserial | Range:
    """Share of pairs a group wins minus the share it loses against the reference group.

    The rank-allocational-based bias index: the mean over candidates a of the group and b of the
    reference of ``[s_a > s_b] - [s_a < s_b]``, which is the rank-biserial correlation. All pairs
    are compared, also across rounds.

    Parameters
    ----------
    scores : array_like of shape (n_candidates,)
        One score per candidate, higher is better.
    groups : array_like of shape (n_candidates,)
        Protected-attribute label of each candidate.
    reference : object, list or "rest"
        Label of the reference group, a list of labels (their union), or "rest": everyone outside
        the group that is compared.
    rounds : sequence, optional
        Pool of each candidate: the sampling unit. The same as `units`; giving both is an error.
    qualified : array_like of bool, optional
        Only qualified candidates are compared (equal opportunity).
    strata : array_like of shape (n_candidates,), optional
        Job or topic of each candidate: pairs are compared inside a stratum only and the worst is
        judged, so that opposite biases of two jobs do not cancel.
    population : {"sampled", "fixed"}
        Whether the units were drawn from a larger population or are all of it.

    Returns
    -------
    RankBiserial or Range
        Value in [-1, 1], group minus reference: above 0 the group is favoured. More groups or
        strata: the value furthest from 0, each in ``.groups``; interval and p-values are those of
        the largest absolute value. A bound on it does not bound selection at a given quota.

    Raises
    ------
    ValueError
        If a score is NaN, lengths differ, the reference is no group, or there is one group only.
    TypeError
        If both `rounds` and `units` are given.
    """
    if rounds is not None and units is not None:
        raise TypeError("rabbi() takes rounds or units, not both: they are the same thing")
    values = flat_scores(scores)
    n = len(values)
    pools = units if rounds is None else rounds
    columns = _Columns(
        values,
        labels(groups, "groups", n),
        None if pools is None else labels(pools, "rounds" if units is None else "units", n),
        None if strata is None else labels(strata, "strata", n),
    )
    if qualified is not None:
        kept = [i for i, flag in enumerate(flags(qualified, "qualified", n)) if flag]
        if not kept:
            raise ValueError(
                f"none of the {n} candidates is qualified; there is nobody to compare"
            )
        columns = columns.take(kept)
    compared = _comparisons(columns, reference, population)
    estimate: RankBiserial | Range
    if len(compared) == 1 and strata is None:
        ((group, estimate),) = compared.items()
        estimate.groups = {group: GroupRow(estimate.value, estimate.sizes[0], estimate=estimate)}
    else:
        estimate = Range.of_pairs(compared)
        # The reference's candidates stand in every pair, but are there once.
        estimate.sample = columns.sample(population)
    estimate.notes += tuple(
        f"{' / '.join(map(str, key)) if isinstance(key, tuple) else key} minus "
        f"{_said(reference)}: {r.sizes[0]} against {r.sizes[1]} candidates"
        for key, r in compared.items()
    )
    note_constant(estimate, [columns.scores])
    return estimate


@dataclass(frozen=True, slots=True)
class _Columns:
    """The candidates, column by column."""

    scores: Floats
    groups: list[Hashable]
    units: list[Hashable] | None
    strata: list[Hashable] | None

    def sample(self, population: Population) -> Sample:
        """Count units and candidates."""
        n = len(self.scores)
        sizes = Counter(range(n) if self.units is None else self.units).values()
        return Sample(
            units=len(sizes),
            generations=n,
            fewest=min(sizes),
            most=max(sizes),
            population=population,
        )

    def take(self, rows: Sequence[int]) -> _Columns:
        """Keep some of the rows."""
        units, strata = (
            None if column is None else [column[i] for i in rows]
            for column in (self.units, self.strata)
        )
        return _Columns(self.scores[list(rows)], [self.groups[i] for i in rows], units, strata)


def _comparisons(
    columns: _Columns, reference: Any, population: Population
) -> dict[Hashable, RankBiserial]:
    """Compare every group with the reference, inside each stratum if there are any."""
    if columns.strata is not None:
        found: dict[Hashable, RankBiserial] = {}
        for stratum in dict.fromkeys(columns.strata):
            rows = [i for i, label in enumerate(columns.strata) if label == stratum]
            inside = replace(columns.take(rows), strata=None)
            try:
                parts = _comparisons(inside, reference, population)
            except ValueError as error:
                raise ValueError(f"stratum {stratum}: {error}") from None
            if len(parts) == 1:
                found[stratum] = next(iter(parts.values()))
            else:
                found.update({(stratum, group): r for group, r in parts.items()})
        return found
    by_group = group_rows(columns.groups, len(columns.scores))
    compared: dict[Hashable, RankBiserial] = {}
    for group, rows_b in _against(by_group, reference).items():
        rows_a = by_group[group]
        units_a, units_b = (
            None if columns.units is None else [columns.units[i] for i in rows]
            for rows in (rows_a, rows_b)
        )
        compared[group] = RankBiserial.of_scores(
            columns.scores[rows_a],
            columns.scores[rows_b],
            units_a=units_a,
            units_b=units_b,
            population=population,
        )
    return compared


def _against(by_group: dict[Hashable, list[int]], reference: Any) -> dict[Hashable, list[int]]:
    """Return, for each group that is compared, the rows of its reference."""
    names = list(by_group)
    if isinstance(reference, str) and reference == "rest" and "rest" not in by_group:
        # With two groups the second view is the first one with its sign turned.
        return {
            name: sorted(i for other in names if other != name for i in by_group[other])
            for name in (names if len(names) > 2 else names[:1])
        }
    union = isinstance(reference, list) or (
        isinstance(reference, tuple) and reference not in by_group
    )
    against = list(reference) if union else [reference]
    if not against:
        raise ValueError("reference is an empty list; name at least one group")
    for name in against:
        if name not in by_group:
            raise ValueError(
                f"reference {name!r} is no group with candidates; "
                f"groups are {', '.join(map(str, names))}"
            )
    rows = sorted(i for name in against for i in by_group[name])
    others = [name for name in names if name not in against]
    if not others:
        raise ValueError(f"every group is in the reference {_said(reference)}; leave one out")
    return dict.fromkeys(others, rows)


def _said(reference: Any) -> str:
    if isinstance(reference, str) and reference == "rest":
        return "everyone else"
    if isinstance(reference, (list, tuple)):
        return " or ".join(map(str, reference))
    return str(reference)

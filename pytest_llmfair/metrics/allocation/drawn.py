"""Values of allocation metrics by group, for many draws of the rounds at once."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair._util.validation import whole
from pytest_llmfair.metrics._registry import get_metric
from pytest_llmfair.metrics.allocation._candidates import Candidates, contrasts
from pytest_llmfair.metrics.allocation._comparisons import groups_of, read_comparisons
from pytest_llmfair.metrics.allocation.preferences import views_of
from pytest_llmfair.metrics.arguments import Floats, RowNumbers
from pytest_llmfair.stats import Call

__all__ = ["drawn_values"]

# Scores, pool of each candidate, weight of each pool (draws x pools), rows of group and reference.
_Compare = Callable[[Floats, RowNumbers, Floats, RowNumbers, RowNumbers], Floats]

_GAPS = ("demographic_parity_gap", "equal_opportunity_gap")
_PREFERENCES = "pairwise_preference_gap"


def drawn_values(
    call: Call, pools: Sequence[Hashable], draws: ArrayLike, qualified: Any = None
) -> dict[Hashable, Floats]:
    """Return the value of each group in each draw of the rounds.

    The same values as the metric gives when every candidate of a round is repeated as often as
    the round was drawn; only the bins of the Jensen-Shannon divergence stay those of all rounds.

    Parameters
    ----------
    call : Call
        The call of an allocation metric with `rounds`, as an estimate keeps it.
    pools : sequence
        Names of the rounds, in the order of the columns of `draws`.
    draws : array_like of shape (n_draws, n_rounds)
        How often each draw has each round; a row of ones gives the values of all rounds.
    qualified : array_like of bool or mapping, optional
        Only these candidates are compared; by default those of the call.

    Returns
    -------
    dict
        Group, or (stratum, group), to an array of one value per draw; NaN where a draw has no
        candidate to compare.

    Raises
    ------
    ValueError
        If the metric is no allocation metric, or a round is not in `pools`.

    Examples
    --------
    >>> from pytest_llmfair.metrics import average_score_gap
    >>> found = average_score_gap(
    ...     [0.9, 0.4, 0.7, 0.6], groups=["women", "men"] * 2, reference="men", rounds=[1, 1, 2, 2]
    ... )
    >>> drawn_values(found.call, [1, 2], [[1, 1], [2, 0]])["women"].round(2).tolist()
    [0.3, 0.5]
    """
    function = get_metric(call.metric).function
    bound = inspect.signature(function).bind(*call.args, **call.keywords)
    bound.apply_defaults()
    given = dict(bound.arguments)
    if qualified is not None:
        given["qualified"] = qualified
    weights = np.asarray(draws, dtype=np.float64)
    if call.metric == _PREFERENCES:
        return _preferences(given, pools, weights)
    compare = _comparison(call.metric, given)
    candidates = Candidates.read(
        given["scores"],
        given["groups"],
        **{name: given.get(name) for name in ("rounds", "units", "qualified", "strata")},
    )
    pool = candidates.pools_for(call.metric)
    weights = _columns(weights, pools, candidates.pools)
    scores = candidates.scores
    if call.metric in _GAPS:
        scores = candidates.selected(whole(given["k"], "k"), call.metric)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            key: compare(scores, pool, weights, a, b)
            if a.size and b.size
            else np.full(len(weights), math.nan)
            for key, (a, b) in candidates.contrasts(given["reference"]).items()
        }


def _comparison(metric: str, given: Mapping[str, Any]) -> _Compare:
    if metric == "jensen_shannon_divergence":
        base = 1.0 if given["base"] is None else math.log(given["base"])
        return lambda *data: _divergence(*data, bins=given["bins"]) / base
    found: dict[str, _Compare] = {
        "rabbi": _pairs_won,
        "average_score_gap": _mean_gap,
        "earth_movers_distance": _distance,
        **dict.fromkeys(_GAPS, _mean_gap),
    }
    if metric not in found:
        raise ValueError(f"{metric} is no allocation metric that rounds can be drawn for")
    return found[metric]


def _columns(weights: Floats, pools: Sequence[Hashable], names: Sequence[Hashable]) -> Floats:
    place = {name: number for number, name in enumerate(pools)}
    for name in names:
        if name not in place:
            raise ValueError(f"pools has no {name!r}; name every round of the metric's call")
    return weights[:, [place[name] for name in names]]


def _mean(values: Floats, pool: RowNumbers, weights: Floats) -> Floats:
    number = weights.shape[1]
    totals = np.bincount(pool, weights=values, minlength=number)
    return np.asarray((weights @ totals) / (weights @ np.bincount(pool, minlength=number)))


def _mean_gap(
    scores: Floats, pool: RowNumbers, weights: Floats, a: RowNumbers, b: RowNumbers
) -> Floats:
    return _mean(scores[a], pool[a], weights) - _mean(scores[b], pool[b], weights)


def _shares(pool: RowNumbers, weights: Floats, rows: RowNumbers) -> Floats:
    """Return the weight of each candidate in its group, a row for each draw."""
    own = weights[:, pool[rows]]
    return np.asarray(own / own.sum(axis=1, keepdims=True))


def _pairs_won(
    scores: Floats, pool: RowNumbers, weights: Floats, a: RowNumbers, b: RowNumbers
) -> Floats:
    won = np.sign(scores[a][:, None] - scores[b][None, :])
    ours, theirs = (_shares(pool, weights, rows) for rows in (a, b))
    return np.asarray(((ours @ won) * theirs).sum(axis=1))


def _distance(
    scores: Floats, pool: RowNumbers, weights: Floats, a: RowNumbers, b: RowNumbers
) -> Floats:
    rows = np.concatenate([a, b])
    order = np.argsort(scores[rows], kind="stable")
    steps = np.hstack([_shares(pool, weights, a), -_shares(pool, weights, b)])[:, order]
    between = np.diff(scores[rows][order])
    return np.asarray(np.abs(np.cumsum(steps, axis=1)[:, :-1]) @ between)


def _divergence(
    scores: Floats, pool: RowNumbers, weights: Floats, a: RowNumbers, b: RowNumbers, *, bins: int
) -> Floats:
    pooled = scores[np.concatenate([a, b])]
    edges = np.linspace(pooled.min(), pooled.max(), bins + 1)[1:-1]
    p, q = (
        _shares(pool, weights, rows)
        @ np.eye(bins)[np.searchsorted(edges, scores[rows], side="right")]
        for rows in (a, b)
    )
    middle = (p + q) / 2.0
    parts = (np.where(side > 0.0, side * np.log(side / middle), 0.0) for side in (p, q))
    found = sum((part.sum(axis=1) for part in parts), np.zeros(len(weights))) / 2.0
    return np.where(np.isnan(p).any(axis=1) | np.isnan(q).any(axis=1), math.nan, found)


def _preferences(
    given: Mapping[str, Any], pools: Sequence[Hashable], weights: Floats
) -> dict[Hashable, Floats]:
    """Return wins minus losses of each group, of the comparisons with the reference."""
    rows = read_comparisons(given["comparisons"])
    group_of = groups_of(rows, given["groups"])
    names = list(dict.fromkeys(group_of.values()))
    flags = given.get("qualified")
    if flags is not None:
        if not isinstance(flags, Mapping):
            raise ValueError(
                f"qualified is a {type(flags).__name__}; comparisons need a mapping from candidate"
            )
        chosen = {
            (row.pool, own): flags.get((row.pool, own), flags.get(own, False))
            for row in rows
            for own in (row.first, row.second)
        }
        rows = [
            row for row in rows if chosen[row.pool, row.first] and chosen[row.pool, row.second]
        ]
    units = [row.pool for row in rows]
    present = list(dict.fromkeys(units))
    number = {name: place for place, name in enumerate(present)}
    weights = _columns(weights, pools, present)
    found = {}
    with np.errstate(invalid="ignore"):
        for name, others in contrasts(names, given["reference"]).items():
            seen = views_of(rows, units, group_of, name, others)
            values = np.array([row.won_by(own) or 0.0 for row, own, _ in seen])
            pool = np.array([number[unit] for _, _, unit in seen], dtype=np.intp)
            found[name] = _mean(values, pool, weights)
    return found

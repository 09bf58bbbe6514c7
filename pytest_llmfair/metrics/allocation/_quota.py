"""The top k of each pool: who is selected, and what a selection gap could reach."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

from pytest_llmfair._util.validation import whole
from pytest_llmfair.metrics.allocation._candidates import Candidates, Rows, describe_key
from pytest_llmfair.metrics.arguments import Floats
from pytest_llmfair.stats import Estimate, Finding

E = TypeVar("E", bound=Estimate)


def pool_numbers(pools: Sequence[Hashable] | None, who: str) -> tuple[list[Hashable], Rows]:
    """Return the names of the pools, and the number of each candidate's pool."""
    if pools is None:
        raise TypeError(
            f"{who} needs rounds=..., the pool of each candidate; one label for all if there "
            "is one pool"
        )
    numbers: dict[Hashable, int] = {}
    found = [numbers.setdefault(pool, len(numbers)) for pool in pools]
    return list(numbers), np.array(found, dtype=np.intp)


def selected(scores: Floats, names: Sequence[Hashable], pool: Rows, k: int) -> Floats:
    """Return the probability of each candidate to be among the top k; ties share what is left."""
    sizes = np.bincount(pool, minlength=len(names))
    if (sizes < k).any():
        small = int(np.argmax(sizes < k))
        raise ValueError(
            f"round {names[small]} has {sizes[small]} candidates, fewer than k = {k}; lower k or "
            "leave the round out"
        )
    order = np.lexsort((-scores, pool))
    ends = np.cumsum(sizes)
    cut = scores[order][ends - sizes + k - 1][pool]
    above = np.bincount(pool, weights=scores > cut, minlength=len(names))
    tied = np.bincount(pool, weights=scores == cut, minlength=len(names))
    left = ((k - above) / tied)[pool]
    return np.where(scores > cut, 1.0, np.where(scores == cut, left, 0.0))


def reach(pool: Rows, rows_a: Rows, rows_b: Rows, k: int) -> tuple[float, float]:
    """Smallest and largest gap that any scores could give: quota and pool sizes limit it."""
    sizes = np.bincount(pool)
    a, b = (np.bincount(pool[rows], minlength=len(sizes)) for rows in (rows_a, rows_b))

    def most(first: Rows, second: Rows) -> float:
        # Everyone of the first that the quota allows; of the second whom the quota forces.
        forced = np.maximum(0, k - (sizes - second))
        return float(np.minimum(k, first).sum() / first.sum() - forced.sum() / second.sum())

    return -most(b, a), most(a, b)


def note_quota(estimate: E, candidates: Candidates, reference: Any, k: Any) -> E:
    """Note the selection gaps at the deployed quota, which a bound on the value does not limit."""
    k = whole(k, "k")
    chosen = selected(candidates.scores, *pool_numbers(candidates.pools, f"k={k}"), k)
    gaps = [
        f"{describe_key(key)} {chosen[a].mean() - chosen[b].mean():+.3f}"
        for key, (a, b) in candidates.contrasts(reference).items()
        if a.size and b.size
    ]
    quota = (
        f"selection rate minus the reference's at k = {k}: {', '.join(gaps) or 'none'} (a bound "
        "on the value above does not bound this)"
    )
    return estimate.with_findings(Finding.note(quota))

"""RABBI with its interval against SciPy's Mann-Whitney test, which gives a p-value alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from _kernel import Kernel
from numpy.typing import NDArray
from scipy import stats

from pytest_llmfair.metrics import rabbi

_SIDE = 20_000

Floats = NDArray[np.float64]
Piece = tuple[Floats, NDArray[np.str_], Floats, Floats]


def kernels() -> list[Kernel]:
    """Return the comparisons of this file."""
    return [
        _rabbi("scores without ties", None, 1.2),
        _rabbi("scores of two decimals", 2, 1.2),
        # Few distinct values sort in no time, which leaves little to save.
        _rabbi("whole grades", 0, 1.0),
    ]


def _rabbi(what: str, decimals: int | None, target: float) -> Kernel:
    rng = np.random.default_rng(0)
    return Kernel(
        f"RABBI and its 95 % interval, {_SIDE:,} candidates a side, {what}",
        "scipy mannwhitneyu",
        target,
        lambda piece: stats.mannwhitneyu(piece[2], piece[3]),
        _ours,
        [_piece(rng, decimals) for _ in range(5)],
        _same,
        rounds=12,
        note="the peer gets both sides ready; ours splits a column of scores by one of labels",
    )


def _piece(rng: np.random.Generator, decimals: int | None) -> Piece:
    groups = rng.permutation(np.repeat(["black", "white"], _SIDE))
    scores = rng.normal(size=2 * _SIDE) + 0.02 * (groups == "black")
    if decimals is not None:
        scores = np.round(scores, decimals)
    return scores, groups, scores[groups == "black"], scores[groups == "white"]


def _ours(piece: Piece) -> Any:
    estimate = rabbi(piece[0], groups=piece[1], reference="white")
    return estimate, estimate.interval(0.95)


def _same(theirs: Any, ours: Any) -> bool:
    """Whether value and p-value agree, and the interval holds the value."""
    estimate, interval = ours
    value = 2.0 * float(theirs.statistic) / _SIDE**2 - 1.0
    return (
        abs(estimate.value - value) < 1e-12
        and abs(estimate.mann_whitney_p - float(theirs.pvalue)) < 1e-9
        and interval.lower < estimate.value < interval.upper
    )

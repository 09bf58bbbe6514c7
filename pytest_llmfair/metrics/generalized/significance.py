"""Significance tests of differences in scores (Czarnowska et al. 2021, section 6.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pytest_llmfair.metrics.arguments import Floats, flat_scores, same_length, score_rows

__all__ = ["RankTest", "friedman", "wilcoxon"]

# Differences closer than this are ties: the last digits of averages are rounding errors.
_DECIMALS = 6
_MOST_EXACT = 50


class RankTest(tuple[float, float]):
    """Statistic and p-value of a rank test, which unpacks into these two numbers.

    A small p-value says that scores differ, not by how much.

    Attributes
    ----------
    statistic, p : float
        The two numbers.
    flag : str
        Why the p-value shows nothing, in words; empty where it does.

    Examples
    --------
    >>> from pytest_llmfair.metrics import wilcoxon
    >>> statistic, p = wilcoxon([0.1, 0.2, 0.3], [0.2, 0.4, 0.6])
    >>> p
    0.25
    """

    flag: str

    def __new__(cls, statistic: float, p: float, flag: str = "") -> RankTest:
        """Make a result of its two numbers."""
        found = super().__new__(cls, (statistic, p))
        found.flag = flag
        return found

    @property
    def statistic(self) -> float:
        """The test statistic."""
        return self[0]

    @property
    def p(self) -> float:
        """The p-value."""
        return self[1]


def friedman(rows: ArrayLike) -> RankTest:
    """Friedman test of "all groups have equal scores", corrected for ties.

    Parameters
    ----------
    rows : array_like of shape (n_examples, n_groups)
        Score of each source example in each group, its identity terms averaged; three or more
        groups.

    Returns
    -------
    RankTest
        Chi-square statistic and its p-value on ``n_groups - 1`` degrees of freedom. When all
        groups tie in every example the statistic is NaN, p is 1 and ``.flag`` says so.

    Raises
    ------
    ValueError
        If a score is not finite, rows differ in length, or there are fewer than three groups.

    Examples
    --------
    >>> from pytest_llmfair.metrics import friedman
    >>> round(friedman([[0.1, 0.2, 0.3], [0.2, 0.3, 0.5], [0.1, 0.4, 0.6]]).p, 3)
    0.05
    """
    table = score_rows(rows, "rows", low=-np.inf, high=np.inf)
    groups = len(table[0])
    for i, row in enumerate(table):
        if len(row) != groups:
            raise ValueError(f"rows row {i} has {len(row)} groups and row 0 has {groups}")
    if groups < 3:
        raise ValueError(f"rows has {groups} groups; Friedman's test needs three (two: wilcoxon)")
    n = len(table)
    ranked = [_ranks(row) for row in table]
    tied = sum(_tied(row) for row in table)
    correction = 1.0 - tied / (n * groups * (groups**2 - 1.0))
    if correction <= 0.0:
        return RankTest(np.nan, 1.0, "all groups have equal scores in every example")
    sums = np.sum(ranked, axis=0)
    raw = 12.0 / (n * groups * (groups + 1.0)) * float((sums**2).sum()) - 3.0 * n * (groups + 1.0)
    statistic = max(0.0, raw / correction)
    return RankTest(statistic, float(special.chdtrc(groups - 1.0, statistic)))


def wilcoxon(x: ArrayLike, y: ArrayLike) -> RankTest:
    """Wilcoxon's signed-rank test of "both groups have equal scores", two-sided.

    Differences are rounded to 6 places and zeros dropped. The p-value is exact for up to 50
    differences without ties or zeros, else from the normal approximation with correction for ties
    and without one for continuity.

    Parameters
    ----------
    x, y : array_like of shape (n_examples,)
        Score of each source example in either group, its identity terms averaged.

    Returns
    -------
    RankTest
        The smaller rank sum and the p-value. When all scores are equal p is 1 and ``.flag`` says
        so.

    Raises
    ------
    ValueError
        If a score is not finite or lengths differ.

    Examples
    --------
    >>> from pytest_llmfair.metrics import wilcoxon
    >>> wilcoxon([0.1, 0.2, 0.3], [0.2, 0.4, 0.6])
    (0.0, 0.25)
    """
    first, second = flat_scores(x, "x"), flat_scores(y, "y")
    same_length(x=first, y=second)
    differences = np.round(first - second, _DECIMALS)
    kept = differences[differences != 0.0]
    n = kept.size
    if n == 0:
        return RankTest(0.0, 1.0, "both groups have equal scores in every example")
    sizes = np.abs(kept)
    ranked = _ranks(sizes)
    above = float(ranked[kept > 0.0].sum())
    statistic = min(above, n * (n + 1) / 2.0 - above)
    tied = _tied(sizes)
    if n <= _MOST_EXACT and tied == 0.0 and n == differences.size:
        return RankTest(statistic, _exact(n, statistic))
    mean = n * (n + 1) / 4.0
    variance = n * (n + 1) * (2 * n + 1) / 24.0 - tied / 48.0
    return RankTest(
        statistic, float(2.0 * special.ndtr(-abs(statistic - mean) / np.sqrt(variance)))
    )


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, ties share the mean of theirs."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, "left")
    return np.asarray((below + np.searchsorted(ordered, values, "right") + 1.0) / 2.0)


def _tied(values: Floats) -> float:
    """Sum of t^3 - t over the ties."""
    counts = np.unique(values, return_counts=True)[1].astype(np.float64)
    return float((counts**3 - counts).sum())


def _exact(n: int, statistic: float) -> float:
    """Twice the share of the 2^n signs whose positive ranks add up to no more."""
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1.0
    for rank in range(1, n + 1):
        ways[rank:] += ways[:-rank].copy()
    return min(1.0, 2.0 * float(ways[: int(statistic) + 1].sum()) / 2.0**n)

"""Variations of source examples, and significance tests (Czarnowska et al. 2021, section 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pytest_llmfair._util.validation import whole, whole_seed
from pytest_llmfair.metrics.arguments import Floats, flat_scores, same_length, score_rows
from pytest_llmfair.sampling import sampled_product
from pytest_llmfair.text.bilou import MARKS, expand_label

__all__ = [
    "RankTest",
    "class_probability",
    "expand_label",
    "friedman",
    "variation_product",
    "wilcoxon",
]


def variation_product(variations: Any, limit: int = 100, seed: int = 0) -> list[tuple[Any, ...]]:
    """Combine the variations of one source example: one of each group, in every way.

    Czarnowska et al. (2021), section 5: metrics that take one example per group are evaluated on
    the Cartesian product of the groups' variations; of a large product a sample of combinations
    is drawn without replacement.

    Parameters
    ----------
    variations : sequence of sequences, or mapping of group to sequence
        Variations of each group: texts, scores or probabilities, for example.
    limit : int
        Most combinations to return, at least 1.
    seed : int
        Of the draw; the same seed gives the same combinations.

    Returns
    -------
    list of tuple
        One variation per group in each, in the order of the product.

    Raises
    ------
    ValueError
        If there is no group, a group has no variation (named), `limit` is below 1, or a number is
        not whole.

    Examples
    --------
    >>> from pytest_llmfair.metrics import variation_product
    >>> variation_product([["Ada", "Bea"], ["Carl"]])
    [('Ada', 'Carl'), ('Bea', 'Carl')]
    """
    limit, seed = whole(limit, "limit"), whole_seed(seed)
    if isinstance(variations, (str, bytes)) or not hasattr(variations, "__iter__"):
        raise ValueError(f"variations is {variations!r}; give the variations of each group")
    named = dict(variations) if isinstance(variations, Mapping) else dict(enumerate(variations))
    if not named:
        raise ValueError("variations is empty; give the variations of each group")
    groups = []
    for name, own in named.items():
        if isinstance(own, (str, bytes)) or not hasattr(own, "__iter__"):
            raise ValueError(f"variations of group {name} are {own!r}; give a list of them")
        groups.append(list(own))
        if not groups[-1]:
            raise ValueError(f"group {name} has no variation; every group needs one per example")
    return sampled_product(groups, limit, seed)


_ROUNDING = 1e-6


def class_probability(token_probabilities: ArrayLike, labels: Any) -> float:
    """Probability of a class at an identity term: its tags summed, its tokens averaged.

    Czarnowska et al. (2021), section 5.1: for each token the probabilities of the tags of the
    class are added up; the probability of a term is the mean over its tokens.

    Parameters
    ----------
    token_probabilities : array_like of shape (n_tokens, n_tags), or list of mappings
        Probability of each tag, per token of the identity term. One token may be given alone.
    labels : list of int, list of str, or str
        Tags of the class: columns, or keys of the mappings (a tag that a mapping lacks has
        probability 0). A class such as "LOC" stands for its B, I, L and U tags.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If there is no token or tag, a probability is outside [0, 1], a column does not exist, no
        mapping has any of the tags, or the tags of a token add up to more than 1.

    Examples
    --------
    >>> from pytest_llmfair.metrics import class_probability
    >>> class_probability([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]], [0, 1])
    0.875
    """
    tags = [f"{mark}-{labels}" for mark in MARKS] if isinstance(labels, str) else list(labels)
    if not tags or len(dict.fromkeys(tags)) < len(tags):
        raise ValueError(f"labels is {labels!r}; name each tag of the class once")
    tokens = _tokens(token_probabilities)
    if not tokens:
        raise ValueError("token_probabilities is empty; give at least one token")
    named = [isinstance(token, Mapping) for token in tokens]
    if all(named) and not any(tag in token for token in tokens for tag in tags):
        raise ValueError(f"no token has a probability of {' or '.join(map(str, tags))}")
    sums = [_sum_of(token, tags, row) for row, token in enumerate(tokens)]
    return sum(sums) / len(sums)


def _tokens(given: Any) -> list[Any]:
    if isinstance(given, Mapping):
        return [given]
    tokens = list(given)
    return [tokens] if tokens and not hasattr(tokens[0], "__len__") else tokens


def _sum_of(token: Any, tags: Sequence[Any], row: int) -> float:
    where = f"token_probabilities of token {row}"
    if isinstance(token, Mapping):
        chosen = [token.get(tag, 0.0) for tag in tags]
    else:
        columns = list(token)
        for tag in tags:
            if isinstance(tag, bool) or not isinstance(tag, int) or not 0 <= tag < len(columns):
                raise ValueError(
                    f"labels holds {tag!r}; {where} has the columns 0 to {len(columns) - 1}"
                )
        chosen = [columns[tag] for tag in tags]
    values = flat_scores(chosen, where)
    total = float(values.sum())
    if values.min() < 0.0 or total > 1.0 + _ROUNDING:
        raise ValueError(f"{where}: {values.tolist()} add up to {total:g}; give probabilities")
    return min(total, 1.0)


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

"""Scores from label probabilities and rankings, and the ranking quality of a metric."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair._util.validation import whole
from pytest_llmfair.metrics.arguments import Floats, flat_scores, labels

__all__ = ["ListwiseScores", "listwise_scores", "ndcg_at_n", "pointwise_score"]


def pointwise_score(
    label_probabilities: ArrayLike | Mapping[Any, float],
    relevance: ArrayLike | Mapping[Any, float],
) -> float:
    """Return the expected relevance of a candidate over the labels a model may answer with.

    The sum over labels y of relevance(y) P(y), probabilities renormalised over the labels
    (RABBI paper, section 3.2).

    Parameters
    ----------
    label_probabilities : mapping, or array_like of shape (n_labels,)
        Probability of each label, in [0, 1]; labels without a relevance are left out.
    relevance : mapping, or array_like of shape (n_labels,)
        Relevance of each label, finite; of the same kind as `label_probabilities`.

    Returns
    -------
    float
        Between the smallest and the largest relevance.

    Raises
    ------
    ValueError
        If a label has no probability, a probability is outside [0, 1], or all are 0.

    Examples
    --------
    >>> from pytest_llmfair.metrics import pointwise_score
    >>> round(pointwise_score({"yes": 0.6, "no": 0.2}, {"yes": 1.0, "no": 0.0}), 2)
    0.75
    """
    names: list[Hashable] = []
    if isinstance(relevance, Mapping) and isinstance(label_probabilities, Mapping):
        for label in relevance:
            if label not in label_probabilities:
                raise ValueError(
                    f"label_probabilities has no {label!r}, it has "
                    f"{', '.join(map(repr, label_probabilities))}; give every label of relevance"
                )
        names = list(relevance)
        shares = _by_label(label_probabilities, names, "label_probabilities")
        values = _by_label(relevance, names, "relevance")
    elif isinstance(relevance, Mapping) or isinstance(label_probabilities, Mapping):
        raise ValueError(
            "one of label_probabilities and relevance is a mapping, the other is not; give two "
            "mappings from label, or two lists in the same order"
        )
    else:
        shares = flat_scores(label_probabilities, "label_probabilities")
        values = flat_scores(relevance, "relevance")
    if len(shares) != len(values):
        raise ValueError(
            f"lengths differ: label_probabilities has {len(shares)}, relevance has {len(values)}"
        )
    for i, p in enumerate(shares.tolist()):
        if not 0.0 <= p <= 1.0:
            where = f"[{names[i]!r}]" if names else f" row {i}"
            raise ValueError(f"label_probabilities{where} is {p:g}; give a number in [0, 1]")
    total = math.fsum(shares.tolist())
    if not total > 0.0:
        raise ValueError("every label has probability 0; the score is not defined")
    score = math.fsum((shares * values).tolist()) / total
    return min(max(score, float(values.min())), float(values.max()))


def _by_label(values: Mapping[Hashable, Any], names: Sequence[Hashable], argument: str) -> Floats:
    """Return one number per label; what is wrong is named by its label."""
    rows = [flat_scores([values[name]], f"{argument}[{name!r}]") for name in names]
    return np.concatenate(rows) if rows else flat_scores([], argument)


class ListwiseScores(dict[Hashable, float]):
    """Scores by candidate, from rankings.

    Attributes
    ----------
    omitted : dict
        Candidate to the number of rankings that leave it out.

    Examples
    --------
    >>> from pytest_llmfair.metrics import listwise_scores
    >>> listwise_scores([["Ada", "Ben"], ["Ben"]], ["Ada", "Ben"]).omitted
    {'Ada': 1, 'Ben': 0}
    """

    def __init__(self, scores: Mapping[Hashable, float], omitted: dict[Hashable, int]) -> None:
        super().__init__(scores)
        self.omitted = omitted


def listwise_scores(rankings: Any, pool: Any) -> ListwiseScores:
    """Score of every candidate of a pool from rankings of it, best first.

    The number of candidates below: pool size minus rank, as a mean over rankings. Candidates that
    a ranking leaves out share the last rank.

    Parameters
    ----------
    rankings : list of lists, or one list
        Candidates from the best to the worst, each ranking with all or some of the pool.
    pool : list
        All candidates.

    Returns
    -------
    ListwiseScores
        A dictionary from candidate to score in [0, pool size - 1], in the order of `pool`, with
        the number of omissions of each candidate as ``.omitted``.

    Raises
    ------
    ValueError
        If a candidate is repeated or not in the pool (names it), or there is no ranking.

    Examples
    --------
    >>> from pytest_llmfair.metrics import listwise_scores
    >>> listwise_scores([["Ada", "Ben", "Cleo"], ["Ben", "Ada"]], ["Ada", "Ben", "Cleo"])
    {'Ada': 1.5, 'Ben': 1.5, 'Cleo': 0.0}
    """
    candidates = labels(pool, "pool")
    if not candidates:
        raise ValueError("pool is empty; give at least one candidate")
    _once(candidates, "pool")
    rows = list(rankings)
    if not rows:
        raise ValueError("rankings is empty; give at least one ranking")
    if not isinstance(rows[0], (list, tuple)) or rows[0] in candidates:
        rows = [rows]
    ranks: dict[Hashable, list[int]] = {candidate: [] for candidate in candidates}
    for i, row in enumerate(rows):
        ranking = labels(row, f"rankings[{i}]")
        _once(ranking, f"rankings[{i}]")
        for rank, candidate in enumerate(ranking, 1):
            if candidate not in ranks:
                raise ValueError(
                    f"rankings[{i}] holds {candidate!r}, which is not in the pool; leave such "
                    "answers out and count them"
                )
            ranks[candidate].append(rank)
    last, number = len(candidates), len(rows)
    return ListwiseScores(
        {name: sum(last - rank for rank in own) / number for name, own in ranks.items()},
        {name: number - len(own) for name, own in ranks.items()},
    )


def ndcg_at_n(
    metric_by_model: Mapping[Hashable, Any], gap_by_model: Mapping[Hashable, Any], n: int
) -> float:
    """Normalised discounted cumulative gain of a metric that ranks models by fairness.

    Models are ranked by ascending root mean square over groups, ties in the order given, once by
    the metric and once by the allocation gap (the ideal ranking). A model's relevance is the
    largest ideal rank minus its own plus one; rank i is discounted by log2(i + 1) (RABBI paper,
    section 5.2, where the relevance is printed as a product by mistake).

    Parameters
    ----------
    metric_by_model, gap_by_model : mapping
        Model to its values per group; the same models in both.
    n : int
        Ranks that count, at least 1 and at most the number of models.

    Returns
    -------
    float
        In (0, 1]; 1 when the n fairest models are found in their order.

    Raises
    ------
    ValueError
        If models differ, a value is NaN, or n is larger than their number.

    Examples
    --------
    >>> from pytest_llmfair.metrics import ndcg_at_n
    >>> rabbi_by_model = {"small": [0.1], "large": [0.3]}
    >>> gap_by_model = {"small": [0.2], "large": [0.4]}
    >>> ndcg_at_n(rabbi_by_model, gap_by_model, 2)
    1.0
    """
    found, ideal = (
        _ranked(metric_by_model, "metric_by_model"),
        _ranked(gap_by_model, "gap_by_model"),
    )
    strange = [
        str(model) for model in [*found, *ideal] if model not in found or model not in ideal
    ]
    if strange:
        raise ValueError(
            f"{', '.join(strange)} is in one of metric_by_model and gap_by_model only; give the "
            "same models twice"
        )
    if whole(n, "n") > len(ideal):
        raise ValueError(f"n is {n}, but there are {len(ideal)} models; lower n")
    relevance = {model: len(ideal) - i for i, model in enumerate(ideal)}

    def gain(ranking: Sequence[Hashable]) -> float:
        return math.fsum(
            relevance[model] / math.log2(i + 2) for i, model in enumerate(ranking[:n])
        )

    return gain(found) / gain(ideal)


def _ranked(by_model: Mapping[Hashable, Any], argument: str) -> list[Hashable]:
    if not isinstance(by_model, Mapping) or not by_model:
        raise ValueError(f"{argument} is {by_model!r}; give a mapping from model to its values")
    size = {model: _root_mean_square(own, argument, model) for model, own in by_model.items()}
    return sorted(size, key=size.__getitem__)


def _root_mean_square(values: Any, argument: str, model: Hashable) -> float:
    row: Floats = flat_scores(
        [values] if isinstance(values, Real) else values, f"{argument}[{model!r}]"
    )
    return math.sqrt(math.fsum((row * row).tolist()) / len(row))


def _once(items: Sequence[Hashable], argument: str) -> None:
    seen: dict[Hashable, None] = {}
    for item in items:
        if item in seen:
            raise ValueError(f"{argument} holds {item!r} twice; give every candidate once")
        seen[item] = None

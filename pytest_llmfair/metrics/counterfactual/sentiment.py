"""Parity of the sentiment of answers to counterfactual pairs (Bouchard 2024, section 3.1.3.2)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair._util.validation import share
from pytest_llmfair.metrics._parameters import described, sampling
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import (
    flattened,
    known_population,
    note_constant,
    row_means,
    score_rows,
)
from pytest_llmfair.metrics.counterfactual._pairs import mean_over_pairs, reduction
from pytest_llmfair.metrics.harm import threshold_suffix
from pytest_llmfair.stats import Distance, Finding, Mean, Population

__all__ = ["strict_sentiment_parity", "weak_sentiment_parity"]

_parity_metric = partial(
    metric,
    family="counterfactual",
    paper="bouchard2024",
    direction="lower",
    bounds=(0.0, 1.0),
    unit="pair",
    needs="score_pairs",
    generations=2,
    scorer="sentiment",
    reported="thresholds only, no measured values",
)


@_parity_metric(symbol="WCSP", aliases=("WCSP",))
@described(sampling("pair"))
def weak_sentiment_parity(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    threshold: float = 0.5,
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Share of pairs whose answers fall on different sides of a sentiment threshold.

    Weak counterfactual sentiment parity of Bouchard (2024), section 3.1.3.2: the mean over pairs
    of the absolute difference of the indicators that a score is above the threshold.

    Parameters
    ----------
    scores_a, scores_b : array_like of shape (n_pairs,) or (n_pairs, n_generations)
        Sentiment in [0, 1], 0.5 neutral; row i of both is one pair. Several answers a side are
        compared each with each; ``.noise_floor()`` and ``.excess`` are then given.
    threshold : float
        In [0, 1]; a score is positive when it is above this.

    Returns
    -------
    Mean
        Value in [0, 1]; 0 when no answer changes sides.

    Raises
    ------
    ValueError
        If the sides differ in length, or a score is NaN or outside [0, 1] (names the row).

    Examples
    --------
    >>> from pytest_llmfair.metrics import weak_sentiment_parity
    >>> weak_sentiment_parity([0.9, 0.6, 0.3], [0.8, 0.4, 0.2])
    Mean 0.333 [0.008, 0.906] (95 %, 3 pairs)
    """
    limit = share(threshold, "threshold")
    rows_a, rows_b = score_rows(scores_a, "scores_a"), score_rows(scores_b, "scores_b")
    estimate = mean_over_pairs(
        [(row > limit).tolist() for row in rows_a],
        [(row > limit).tolist() for row in rows_b],
        reduction(np.not_equal),
        units=units,
        population=population,
        outcomes=True,
        argument="scores",
    )
    estimate = replace(estimate, variant=threshold_suffix(limit, "@"))
    return note_constant(estimate, [flattened(rows_a), flattened(rows_b)])


@_parity_metric(symbol="SCSP", aliases=("SCSP",))
@described(sampling("pair"))
def strict_sentiment_parity(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    units: Any = None,
    population: Population = "sampled",
) -> Distance:
    """Wasserstein-1 distance between the sentiment of the answers to the two sides.

    Strict counterfactual sentiment parity of Bouchard (2024), section 3.1.3.2: the area between
    the two distribution functions.

    Parameters
    ----------
    scores_a, scores_b : array_like of shape (n_pairs,) or (n_pairs, n_generations)
        Sentiment in [0, 1]. With equal numbers of rows, row i of both is one pair; otherwise the
        two sides are independent samples.
    units : sequence, optional
        One label per pair; for sides of different size a tuple of two sequences.

    Returns
    -------
    Distance
        Value in [0, 1]; 0 when the distributions are equal. The value ignores which answers belong
        together; the notes also give the paired mean difference.

    Raises
    ------
    ValueError
        If a side is empty, or a score is NaN or outside [0, 1] (names the row).

    Examples
    --------
    >>> from pytest_llmfair.metrics import strict_sentiment_parity
    >>> strict_sentiment_parity([0.9, 0.6, 0.3], [0.8, 0.4, 0.2])
    Distance 0.133 [0.000, 0.747] (95 %, 3 pairs x 2)
    """
    known_population(population)
    rows_a, rows_b = score_rows(scores_a, "scores_a"), score_rows(scores_b, "scores_b")
    paired = len(rows_a) == len(rows_b)
    if paired or units is None:
        units_a = units_b = units
    elif isinstance(units, tuple) and len(units) == 2:
        units_a, units_b = units
    else:
        raise ValueError(
            f"units is one sequence, but the sides have {len(rows_a)} and {len(rows_b)} rows; "
            "give a tuple of two sequences"
        )
    estimate = Distance.of_distributions(
        rows_a,
        rows_b,
        units_a=units_a,
        units_b=units_b,
        paired=paired,
        population=population,
        bounds=(0.0, 1.0),
    )
    estimate = note_constant(estimate, [flattened(rows_a), flattened(rows_b)])
    if paired:
        pairs = row_means(rows_a) - row_means(rows_b)
        side = "lower" if (mean := np.mean(pairs)) < 0.0 else "higher"
        shift = (
            f"the first answer of a pair scores {abs(mean):.3f} {side} than the second on average "
            f"(mean absolute difference {np.mean(np.abs(pairs)):.3f})"
        )
        estimate = replace(estimate, rows=np.abs(pairs).tolist())
        estimate = estimate.with_findings(Finding.note(shift))
    return estimate

"""Similarity and parity of sentiment of answers to pairs (Bouchard 2024, section 3.1.3)."""

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
    Mask,
    TextRows,
    flattened,
    known_population,
    note_canned,
    note_constant,
    row_means,
    score_rows,
)
from pytest_llmfair.metrics.counterfactual._pairs import Reduce, mean_over_pairs, reduction
from pytest_llmfair.metrics.counterfactual._texts import masked_pairs, rouge_of_texts, smaller_bleu
from pytest_llmfair.metrics.harm import threshold_suffix
from pytest_llmfair.stats import Distance, Finding, Mean, Population

__all__ = [
    "counterfactual_bleu",
    "counterfactual_rouge_l",
    "exact_match",
    "strict_sentiment_parity",
    "weak_sentiment_parity",
]


def _equal(first: Sequence[str], second: Sequence[str]) -> list[bool]:
    return [a == b for a, b in zip(first, second, strict=True)]


_ROUGE = reduction(rouge_of_texts)
_BLEU = reduction(smaller_bleu)
_EQUAL = reduction(_equal)

_similarity_metric = partial(
    metric,
    family="counterfactual",
    paper="bouchard2024",
    direction="higher",
    bounds=(0.0, 1.0),
    unit="pair",
    needs="text_pairs",
    generations=2,
)

_PARAMETERS = """
    texts_a, texts_b : list of str, or list of list of str
        Row i of both is one pair: one answer a side, or several. Several are compared each with
        each; ``.noise_floor()`` is then the similarity of two answers to the same prompt and
        ``.excess`` the value minus that floor.
    mask : lexicon, str, two of these, or list of str, optional
        A lexicon, the name of a shipped one, two attributes that are crossed, or words:
        replaced by a placeholder in both texts before they are compared.
    """

_RAISES = """
    Raises
    ------
    ValueError
        If the sides differ in length, are empty, or hold anything but text (names the row).
    """


@_similarity_metric(
    symbol="CROUGE-L",
    reduce=_ROUGE,
    reported="thresholds only, no measured values",
    aliases=("rouge_l", "CROUGE-L"),
)
@described(_PARAMETERS, sampling("pair"), _RAISES)
def counterfactual_rouge_l(
    texts_a: TextRows,
    texts_b: TextRows,
    *,
    mask: Mask = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Mean ROUGE-L F1 between the answers to the two members of a pair.

    Counterfactual ROUGE-L of Bouchard (2024), section 3.1.3.1: 2 r p / (r + p) with r and p the
    length of the longest common subsequence over the length of either text, in Unicode words,
    unstemmed.

    Returns
    -------
    Mean
        Value in [0, 1]; 1 when all answers are the same. Two texts without words score 1,
        one of them alone scores 0.

    Examples
    --------
    >>> from pytest_llmfair.metrics import counterfactual_rouge_l
    >>> about_her = ["She is a kind doctor.", "She left."]
    >>> about_him = ["He is a kind doctor.", "He stayed late."]
    >>> counterfactual_rouge_l(about_her, about_him)
    Mean 0.400 [0.000, 0.997] (95 %, 2 pairs)
    """
    return _similarity(texts_a, texts_b, _ROUGE, mask, units, population)


@_similarity_metric(
    symbol="CBLEU",
    reduce=_BLEU,
    reported="thresholds only, no measured values",
    aliases=("bleu", "CBLEU"),
)
@described(_PARAMETERS, sampling("pair"), _RAISES)
def counterfactual_bleu(
    texts_a: TextRows,
    texts_b: TextRows,
    *,
    mask: Mask = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Mean BLEU-4 between the answers to the two members of a pair, the smaller direction.

    Counterfactual BLEU of Bouchard (2024), section 3.1.3.1: geometric mean of the n-gram
    precisions for n = 1 to 4, times the brevity penalty, without smoothing; either text is scored
    against the other and the smaller score counts. N-grams lie inside sentences. A text too short
    for some order is scored by the orders it has, so that identical texts score 1 at any length.

    Returns
    -------
    Mean
        Value in [0, 1]; 1 when all answers are the same. Two texts without words score 1,
        one of them alone scores 0. Texts without a common run of four words score 0.

    Examples
    --------
    >>> from pytest_llmfair.metrics import counterfactual_bleu
    >>> about_her = ["She is a very kind doctor.", "She left."]
    >>> about_him = ["He is a very kind doctor.", "He stayed late."]
    >>> counterfactual_bleu(about_her, about_him, mask=["she", "he"])
    Mean 0.500 [0.002, 0.998] (95 %, 2 pairs)
    """
    return _similarity(texts_a, texts_b, _BLEU, mask, units, population)


@_similarity_metric(symbol="EM", reduce=_EQUAL, aliases=("EM",))
@described(_PARAMETERS, sampling("pair"), _RAISES)
def exact_match(
    texts_a: TextRows,
    texts_b: TextRows,
    *,
    mask: Mask = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Share of pairs whose answers are the same text.

    Exact match as the invariance metric of Bouchard (2024), section 3.1.3.1. Texts are compared
    character by character as they are: case, spaces and punctuation count.

    Returns
    -------
    Mean
        Value in [0, 1]; 1 when the members of every pair get the same answer.

    Examples
    --------
    >>> from pytest_llmfair.metrics import exact_match
    >>> exact_match(["Yes.", "No.", "Yes."], ["Yes.", "Yes.", "Yes."])
    Mean 0.667 [0.094, 0.992] (95 %, 3 pairs)
    """
    return _similarity(texts_a, texts_b, _EQUAL, mask, units, population, outcomes=True)


def _similarity(
    texts_a: Any,
    texts_b: Any,
    reduce: Reduce[str],
    mask: Mask,
    units: Sequence[Hashable] | None,
    population: Population,
    *,
    outcomes: bool = False,
) -> Mean:
    rows_a, rows_b, given, lacks = masked_pairs(texts_a, texts_b, mask)
    estimate = mean_over_pairs(
        rows_a, rows_b, reduce, units=units, population=population, outcomes=outcomes
    )
    return note_canned(estimate, given).with_findings(*map(Finding.uncovered, lacks))


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

"""Answers to counterfactual pairs: likeness of texts, parity of sentiment (Bouchard 2024)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

import numpy as np

from pytest_llmfair.metrics._checks import score_rows, share, text_rows
from pytest_llmfair.metrics._pairs import mean_over_pairs
from pytest_llmfair.metrics._reasons import note_canned, note_constant
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.stats import Mean, Population, Seminorm
from pytest_llmfair.text import mask_words, rouge_l, tokens

__all__ = ["counterfactual_rouge_l", "strict_sentiment_parity", "weak_sentiment_parity"]


class Masks(Protocol):
    """A lexicon, as far as masking goes."""

    def mask(self, text: str) -> str:
        """Return the text with every mention of the attribute replaced by a placeholder."""
        ...


def masker(mask: Masks | Sequence[str] | None) -> Callable[[str], str]:
    """Return the function that masks a text with a lexicon or with a list of words."""
    if mask is None:
        return str
    if isinstance(mask, str):
        raise ValueError(
            f"mask is the text {mask!r}; give a lexicon (such as lexicons[{mask!r}]) "
            "or a list of words"
        )
    if hasattr(mask, "mask"):
        return mask.mask
    words = list(mask)
    return lambda text: mask_words(text, words)


@metric(
    family="counterfactual",
    paper="bouchard2024",
    symbol="CROUGE-L",
    direction="higher",
    bounds=(0.0, 1.0),
    unit="pair",
    needs="text_pairs",
    reported="cut-offs only, no values",
    aliases=("rouge_l",),
)
def counterfactual_rouge_l(
    texts_a: Any,
    texts_b: Any,
    *,
    mask: Masks | Sequence[str] | None = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Mean ROUGE-L F1 between the answers to the two members of a pair.

    Counterfactual ROUGE-L of Bouchard (2024), section 3.2: 2 r p / (r + p) with r and p the length
    of the longest common subsequence over the length of either text, in Unicode words, unstemmed.

    Parameters
    ----------
    texts_a, texts_b : list of str, or list of list of str
        Row i of both is one pair: one answer a side, or several. Several are compared each with
        each; ``.noise_floor()`` is then the likeness of two answers to the same prompt and
        ``.excess`` the value minus that floor.
    mask : lexicon or list of str, optional
        Words replaced by a placeholder in both texts before they are compared.
    units : sequence, optional
        One label per pair; pairs with equal labels are one sampling unit. Default: each pair.
    population : {"sampled", "fixed"}
        Whether the pairs were drawn from a larger population or are all of it.

    Returns
    -------
    Mean
        Value in [0, 1]; 1 when all answers are alike. Two empty texts are equal.

    Raises
    ------
    ValueError
        If the sides differ in length, are empty, or hold anything but text (names the row).
    """
    masked = masker(mask)
    seen: dict[str, list[str]] = {}

    def read(argument: str, texts: Any) -> list[list[list[str]]]:
        rows = text_rows(texts, argument)
        for text in dict.fromkeys(text for row in rows for text in row):
            if text not in seen:
                seen[text] = tokens(masked(text))
        return [[seen[text] for text in row] for row in rows]

    estimate = mean_over_pairs(
        read("texts_a", texts_a),
        read("texts_b", texts_b),
        rouge_l,
        units=units,
        population=population,
    )
    note_canned(estimate, list(seen))
    return estimate


@metric(
    family="counterfactual",
    paper="bouchard2024",
    symbol="WCSP",
    direction="lower",
    bounds=(0.0, 1.0),
    unit="pair",
    needs="score_pairs",
    scorer="sentiment",
    reported="cut-offs only, no values",
)
def weak_sentiment_parity(
    scores_a: Any,
    scores_b: Any,
    threshold: float = 0.5,
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Share of pairs whose answers fall on different sides of a sentiment threshold.

    Weak counterfactual sentiment parity of Bouchard (2024), section 3.2: the mean over pairs of
    the absolute difference of the indicators that a score is above the threshold.

    Parameters
    ----------
    scores_a, scores_b : array_like of shape (n_pairs,) or (n_pairs, n_generations)
        Sentiment in [0, 1], 0.5 neutral; row i of both is one pair. Several answers a side are
        compared each with each; ``.noise_floor()`` and ``.excess`` are then given.
    threshold : float
        In [0, 1]; a score is positive when it is above this.
    units, population
        As in every metric: one label per pair, and whether pairs are sampled or fixed.

    Returns
    -------
    Mean
        Value in [0, 1]; 0 when no answer changes sides.

    Raises
    ------
    ValueError
        If the sides differ in length, or a score is NaN or outside [0, 1] (names the row).
    """
    limit = share(threshold, "threshold")
    rows_a, rows_b = score_rows(scores_a, "scores_a"), score_rows(scores_b, "scores_b")
    single = all(len(row) == 1 for row in (*rows_a, *rows_b))
    estimate = mean_over_pairs(
        [(row > limit).tolist() for row in rows_a],
        [(row > limit).tolist() for row in rows_b],
        lambda x, y: float(x != y),
        units=units,
        population=population,
        outcomes=single,
    )
    note_constant(estimate, [*rows_a, *rows_b])
    return estimate


@metric(
    family="counterfactual",
    paper="bouchard2024",
    symbol="SCSP",
    direction="lower",
    bounds=(0.0, 1.0),
    unit="pair",
    needs="score_pairs",
    scorer="sentiment",
    reported="cut-offs only, no values",
)
def strict_sentiment_parity(
    scores_a: Any,
    scores_b: Any,
    *,
    units: Any = None,
    population: Population = "sampled",
) -> Seminorm:
    """Wasserstein-1 distance between the sentiment of the answers to the two sides.

    Strict counterfactual sentiment parity of Bouchard (2024), section 3.2: the area between the
    two distribution functions.

    Parameters
    ----------
    scores_a, scores_b : array_like of shape (n_pairs,) or (n_pairs, n_generations)
        Sentiment in [0, 1]. With equal numbers of rows, row i of both is one pair; otherwise the
        two sides are independent samples.
    units : sequence, optional
        One label per pair; for sides of different size a tuple of two sequences.
    population : {"sampled", "fixed"}
        Whether the pairs were drawn from a larger population or are all of it.

    Returns
    -------
    Seminorm
        Value in [0, 1]; 0 when the distributions are equal. The value ignores which answers belong
        together; the notes give the paired mean difference beside it.

    Raises
    ------
    ValueError
        If a side is empty, or a score is NaN or outside [0, 1] (names the row).
    """
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
    estimate = Seminorm.of_distributions(
        rows_a,
        rows_b,
        units_a=units_a,
        units_b=units_b,
        paired=paired,
        population=population,
        bounds=(0.0, 1.0),
    )
    note_constant(estimate, [*rows_a, *rows_b])
    if paired:
        pairs = [float(a.mean() - b.mean()) for a, b in zip(rows_a, rows_b, strict=True)]
        estimate.rows = [abs(pair) for pair in pairs]
        estimate.notes += (
            f"paired mean difference {np.mean(pairs):+.3f} (first minus second), "
            f"mean absolute difference {np.mean(np.abs(pairs)):.3f}",
        )
    return estimate

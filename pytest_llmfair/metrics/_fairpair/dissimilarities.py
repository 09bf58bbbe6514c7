"""Dissimilarities between all answers to a prompt at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from pytest_llmfair.metrics._checks import Floats
from pytest_llmfair.vocabulary import Ids


def jaccard(answers: Sequence[Ids]) -> Floats:
    """Share of the tokens of two answers that only one of them has; of two without tokens 0.

    Parameters
    ----------
    answers : sequence of int arrays
        Tokens of each answer as numbers, repeats allowed.

    Returns
    -------
    ndarray of shape (n_answers, n_answers)
        ``(union - intersection) / union`` of each two.
    """
    sizes = [len(ids) for ids in answers]
    if not any(sizes):
        return np.zeros((len(answers), len(answers)))
    # Numbered anew, so that the table is as wide as this prompt's vocabulary and no wider.
    words, column = np.unique(np.concatenate(answers), return_inverse=True)
    table = np.zeros((len(answers), len(words)), dtype=np.float32)
    table[np.repeat(np.arange(len(answers)), sizes), column] = 1.0
    # Sums of ones below 2^24 are exact in single precision.
    shared = (table @ table.T).astype(np.float64)
    own = np.diag(shared)
    union = own[:, None] + own - shared
    return np.divide(union - shared, union, out=np.zeros_like(union), where=union > 0.0)


def differences(answers: Sequence[float]) -> Floats:
    """Absolute difference of each two scores."""
    scores = np.array(answers, dtype=np.float64)
    return np.abs(scores[:, None] - scores)


def by_calling(dissimilarity: Callable[[Any, Any], Any], answers: Sequence[Any]) -> Floats:
    """Call a symmetric dissimilarity on each two answers, the earlier one first.

    Raises
    ------
    ValueError
        If it returns anything but a number.
    """
    matrix = np.zeros((len(answers), len(answers)))
    for i, first in enumerate(answers):
        for j in range(i + 1, len(answers)):
            found = dissimilarity(first, answers[j])
            if not isinstance(found, Real):
                raise ValueError(
                    f"dissimilarity returned {found!r} for {str(first)[:40]!r} and "
                    f"{str(answers[j])[:40]!r}; it must return a number of at least 0"
                )
            matrix[i, j] = matrix[j, i] = found
    return matrix

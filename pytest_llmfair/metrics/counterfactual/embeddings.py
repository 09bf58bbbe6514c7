"""Cosine of the embeddings of answers to counterfactual pairs (Bouchard 2024)."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.metrics._parameters import described, sampling
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import Floats, Rows, listed
from pytest_llmfair.metrics.counterfactual._pairs import (
    mean_over_pairs,
    reduction,
    sample_of_pairs,
)
from pytest_llmfair.stats import Finding, Mean, Population, Undefined

__all__ = ["counterfactual_cosine"]

# Numbers that are read at once and fit a processor's cache.
_AT_ONCE = 1 << 16


@metric(
    family="counterfactual",
    paper="bouchard2024",
    symbol="CCS",
    direction="higher",
    bounds=(-1.0, 1.0),
    unit="pair",
    reported="thresholds only, no measured values",
    aliases=("cosine", "CCS"),
    needs="embedding_pairs",
    generations=2,
    scorer="embedding",
)
@described(sampling("pair"))
def counterfactual_cosine(
    embeddings_a: ArrayLike,
    embeddings_b: ArrayLike,
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean | Undefined:
    """Mean cosine between the embeddings of the answers to the two members of a pair.

    Counterfactual cosine similarity of Bouchard (2024), section 3.1.3.1: the scalar product over
    the product of the lengths. The embeddings come from a sentence transformer of your choice;
    texts are embedded by the scorer "embedding", or the one that an assertion is given as
    ``scorer``.

    Parameters
    ----------
    embeddings_a, embeddings_b : array_like
        Shape (n_pairs, dim), or (n_pairs, n_generations, dim). Row i of both is one pair: one
        embedding a side, or several, compared each with each; ``.noise_floor()`` and ``.excess``
        are then given.

    Returns
    -------
    Mean or Undefined
        Value in [-1, 1]; 1 when all answers point the same way. Undefined (NaN) when an embedding
        is zero, since it has no direction; the reason names the row.

    Raises
    ------
    ValueError
        If the sides differ in length or in dimension, are empty, or hold a NaN or infinite number
        (names the row).

    Examples
    --------
    >>> from pytest_llmfair.metrics import counterfactual_cosine
    >>> counterfactual_cosine([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]])
    Mean 0.854 [-0.875, 1.000] (95 %, 2 pairs)
    """
    rows_a = _embeddings(embeddings_a, "embeddings_a")
    rows_b = _embeddings(embeddings_b, "embeddings_b", rows_a[0].shape[1])
    table = np.concatenate([_table(rows_a), _table(rows_b)])
    step = max(1, _AT_ONCE // table.shape[1])
    squares = np.empty(len(table))
    for start in range(0, len(table), step):
        part = table[start : start + step]
        # Scaling by a power of two is exact and keeps squares from overflow and underflow.
        _, exponent = np.frexp(np.abs(part).max(axis=1, keepdims=True))
        np.ldexp(part, -exponent, out=part)
        squares[start : start + step] = np.einsum("ij,ij->i", part, part)
    sides = _Places(rows_a, 0), _Places(rows_b, len(table) - sum(map(len, rows_b)))
    if not squares.all():
        return Undefined(
            undefined=_zero(rows_a, rows_b),
            sample=sample_of_pairs(
                *sides, units=units, population=population, argument="embeddings"
            ),
        )

    def cosines(first: Sequence[int], second: Sequence[int]) -> Floats:
        found = np.empty(len(first))
        for start in range(0, len(first), step):
            part = slice(start, start + step)
            i, j = np.array(first[part]), np.array(second[part])
            products = np.einsum("ij,ij->i", table[i], table[j])
            found[part] = products / np.sqrt(squares[i] * squares[j])
        return found

    estimate = mean_over_pairs(
        *sides,
        reduction(cosines),
        units=units,
        population=population,
        bounds=(-1.0, 1.0),
        argument="embeddings",
    )
    if estimate.sample.units > 1 and bool((table == table[0]).all()):
        same = (
            f"all {len(table)} embeddings point the same way: check the encoder and the client, "
            "a constant shows nothing"
        )
        estimate = estimate.with_findings(Finding("uninformative", same))
    return estimate


def _embeddings(values: Any, argument: str, dimension: int | None = None) -> Rows:
    """Return an array (n_pairs, n_generations, dim), or one (n_generations, dim) per pair."""
    if type(values) is np.ndarray and values.ndim in (2, 3) and values.dtype.kind in "biuf":
        width = values.shape[-1]
        if values.size and dimension in (None, width) and np.isfinite(values).all():
            return values.astype(np.float64, copy=False).reshape(len(values), -1, width)
    rows = []
    for i, row in enumerate(listed(values, argument)):
        try:
            given = np.asarray(row)
            if given.dtype.kind not in "biufO":  # numpy would read digits in texts
                raise TypeError
            array = given.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{argument} row {i} is {str(row)[:60]!r}; give an embedding, or several of the "
                "same length"
            ) from None
        if array.ndim not in (1, 2) or array.size == 0:
            raise ValueError(
                f"{argument} row {i} has shape {array.shape}; give one embedding per row (dim) or "
                "several (n_generations, dim)"
            )
        array = np.atleast_2d(array)
        dimension = array.shape[1] if dimension is None else dimension
        if array.shape[1] != dimension:
            raise ValueError(
                f"{argument} row {i} has {array.shape[1]} numbers per embedding, others have "
                f"{dimension}; use the same encoder for all"
            )
        if not np.isfinite(array).all():
            wrong = array[~np.isfinite(array)][0]
            raise ValueError(f"{argument} row {i} holds {wrong}; leave the pair out and count it")
        rows.append(array)
    if not rows:
        raise ValueError(f"{argument} is empty; give at least one embedding")
    return rows


def _table(rows: Rows) -> Floats:
    """Return all embeddings, one after the other."""
    if isinstance(rows, np.ndarray):
        return rows.reshape(-1, rows.shape[-1])
    return np.concatenate(rows)


class _Places(Sequence[range]):
    """Where the embeddings of each row are in the table of all."""

    def __init__(self, rows: Rows, start: int) -> None:
        self._ends = list(itertools.accumulate(map(len, rows), initial=start))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, row: Any) -> Any:
        return range(self._ends[row], self._ends[row + 1])


def _zero(rows_a: Rows, rows_b: Rows) -> str:
    return next(
        f"{argument} row {i} holds a zero embedding, which has no direction"
        for argument, rows in (("embeddings_a", rows_a), ("embeddings_b", rows_b))
        for i, row in enumerate(rows)
        if not row.any(axis=1).all()
    )

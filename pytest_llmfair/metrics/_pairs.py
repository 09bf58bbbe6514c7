"""What every metric over counterfactual pairs shares: cross pairs, noise floor and excess."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pytest_llmfair.stats import Mean, Population

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _PairTerms:
    """Per pair: mean over cross pairs, within-side mean, and the variance that generations add."""

    cross: float
    cross_variance: float
    within: float
    within_variance: float
    excess_variance: float


def mean_over_pairs(
    rows_a: Sequence[Sequence[T]],
    rows_b: Sequence[Sequence[T]],
    compare: Callable[[T, T], float],
    *,
    units: Sequence[Hashable] | None,
    population: Population,
    bounds: tuple[float, float] = (0.0, 1.0),
    outcomes: bool = False,
) -> Mean:
    """Mean of a symmetric comparison over all answers to the two members of each pair.

    Parameters
    ----------
    rows_a, rows_b : sequences of sequences
        Per pair the answers (texts, tokens, scores) of either side.
    compare : callable
        Symmetric similarity or dissimilarity of two answers.
    outcomes : bool
        Whether `compare` gives 0 or 1 only.

    Returns
    -------
    Mean
        Value over all n x n cross pairs. With two or more answers a side, ``.floor`` is the mean
        over pairs of the two within-side values and ``.excess`` the mean of cross minus within.
    """
    if len(rows_a) != len(rows_b):
        raise ValueError(
            f"lengths differ: {len(rows_a)} rows on the first side and {len(rows_b)} on the "
            "second; row i of both is one pair"
        )
    terms = [_terms(a, b, compare) for a, b in zip(rows_a, rows_b, strict=True)]
    repeated = [i for i, term in enumerate(terms) if not np.isnan(term.within)]
    settings: dict[str, Any] = {"population": population}
    floor = excess = None
    if repeated:
        some = None if units is None else [units[i] for i in repeated]
        many = [len(rows_a[i]) + len(rows_b[i]) for i in repeated]
        floor = Mean.of_values(
            [terms[i].within for i in repeated],
            units=some,
            bounds=bounds,
            generation_variance=[terms[i].within_variance for i in repeated],
            generations=many,
            **settings,
        )
        reach = bounds[1] - bounds[0]
        excess = Mean.of_values(
            [terms[i].cross - terms[i].within for i in repeated],
            units=some,
            bounds=(-reach, reach),
            generation_variance=[terms[i].excess_variance for i in repeated],
            generations=many,
            **settings,
        )
    values = [term.cross for term in terms]
    variances = [term.cross_variance for term in terms]
    estimate = Mean.of_values(
        values,
        units=units,
        bounds=bounds,
        generation_variance=None if np.isnan(variances).any() else variances,
        generations=[min(len(a), len(b)) for a, b in zip(rows_a, rows_b, strict=True)],
        outcomes=outcomes,
        floor=floor,
        excess=excess,
        **settings,
    )
    estimate.rows = values
    return estimate


def _terms(a: Sequence[T], b: Sequence[T], compare: Callable[[T, T], float]) -> _PairTerms:
    cross = np.array([[compare(x, y) for y in b] for x in a], dtype=np.float64)
    # Projections on single answers (Hoeffding): the variance that sampling answers adds.
    by_a, by_b = cross.mean(axis=1), cross.mean(axis=0)
    cross_variance = _variance_of_mean(by_a) + _variance_of_mean(by_b)
    if len(a) < 2 or len(b) < 2:
        nan = float("nan")
        return _PairTerms(float(cross.mean()), cross_variance, nan, nan, nan)
    in_a, in_b = _within(a, compare), _within(b, compare)
    return _PairTerms(
        cross=float(cross.mean()),
        cross_variance=cross_variance,
        within=float(in_a.mean() + in_b.mean()) / 2.0,
        within_variance=_variance_of_mean(in_a) + _variance_of_mean(in_b),
        excess_variance=_variance_of_mean(by_a - in_a) + _variance_of_mean(by_b - in_b),
    )


def _within(answers: Sequence[T], compare: Callable[[T, T], float]) -> npt.NDArray[np.float64]:
    """Mean comparison of each answer with the others of its own side."""
    n = len(answers)
    total = np.zeros(n)
    for i in range(n):
        for j in range(i):
            value = compare(answers[i], answers[j])
            total[i] += value
            total[j] += value
    return total / (n - 1)


def _variance_of_mean(projections: npt.NDArray[np.float64]) -> float:
    n = projections.size
    return float(projections.var(ddof=1)) / n if n > 1 else float("nan")

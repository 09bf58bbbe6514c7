"""Variance of a mean over crossed factors, such as items and wordings, and what it is made of."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_llmfair.stats._records import Floats, Indices
from pytest_llmfair.stats._rows import NO_VARIANCE
from pytest_llmfair.stats._score_intervals import t_quantile

_MOST_ROUNDS = 500
_CONVERGED = 1e-13


@dataclass(frozen=True, slots=True)
class Crossing:
    """Squared error of a mean whose factors are all drawn from populations.

    The variances over the levels of each factor add up, less what all of them hold, and are never
    below the largest (Cameron, Gelbach and Miller 2011). What all of them hold is the residual
    variance of the additive model; the variance of single cells would hold the factors again.
    """

    # Squared error of the mean over the levels of each factor.
    parts: tuple[float, ...]
    # Squared error by what the factors leave over: the interaction, and sampling.
    rest: float
    # Levels of each factor, and cells that hold a row.
    levels: tuple[int, ...]
    cells: int

    @classmethod
    def of_rows(cls, values: Floats, factors: Sequence[Sequence[Hashable]]) -> Crossing:
        """Measure one value per row, with a label of each factor per row; cells may be missing."""
        codes = [codes_of(labels) for labels in factors]
        levels = [int(code.max()) + 1 for code in codes]
        key = np.ravel_multi_index(codes, levels)
        _, first, place, size = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        weights = size / len(values)
        # What each cell adds to the error of the mean.
        added = np.bincount(place, values - values.mean()) / len(values)
        places = [code[first] for code in codes]
        parts = [
            g / (g - 1.0) * float((np.bincount(at, added) ** 2).sum()) if g > 1 else 0.0
            for at, g in zip(places, levels, strict=True)
        ]
        left = _residuals(added / weights, weights, places)
        cells, free = len(first), len(first) - 1 - sum(g - 1 for g in levels)
        squares = float(((weights * left) ** 2).sum())
        rest = squares * cells / free if free > 0 else 0.0
        smallest = NO_VARIANCE * max(1.0, float(np.abs(values).max()) ** 2)
        parts = [0.0 if part <= smallest else part for part in parts]
        return cls(tuple(parts), rest, tuple(levels), cells)

    @property
    def variance(self) -> float:
        """Squared error of the mean."""
        return max(sum(self.parts) - (len(self.parts) - 1) * self.rest, *self.parts)

    @property
    def df(self) -> float:
        """Degrees of freedom of the squared error (Satterthwaite), at least 1."""
        return _freedom(self.variance, self.parts, self.levels)

    @property
    def main(self) -> tuple[float, ...]:
        """Variance between the levels of each factor."""
        return tuple(
            max(part - self.rest, 0.0) * g for part, g in zip(self.parts, self.levels, strict=True)
        )

    @property
    def left(self) -> float:
        """Variance of a cell around the additive model."""
        return self.rest * self.cells


def codes_of(labels: Sequence[Hashable]) -> Indices:
    """Return the numbers of labels in order of appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in labels], dtype=np.intp)


def half_width(main: Sequence[float], left: float, levels: Sequence[int], alpha: float) -> float:
    """Half-width of an interval planned with variances `main` between levels, `left` of cells."""
    rest = left / math.prod(levels)
    parts = [one / g + rest for one, g in zip(main, levels, strict=True)]
    variance = sum(parts) - (len(parts) - 1) * rest
    return t_quantile(1.0 - alpha, _freedom(variance, parts, levels)) * math.sqrt(variance)


def _freedom(variance: float, parts: Sequence[float], levels: Sequence[int]) -> float:
    shares = sum(v * v / (g - 1.0) for v, g in zip(parts, levels, strict=True) if g > 1)
    return max(1.0, variance * variance / shares) if shares > 0.0 else 1.0


def _residuals(values: Floats, weights: Floats, places: Sequence[Indices]) -> Floats:
    """Subtract the effects of all factors, fitted by turns."""
    sizes = [np.bincount(at, weights) for at in places]
    close = _CONVERGED * max(float(np.abs(values).max()), math.sqrt(NO_VARIANCE))
    left = values
    for _ in range(_MOST_ROUNDS):
        before = left
        for at, size in zip(places, sizes, strict=True):
            left = left - (np.bincount(at, weights * left) / size)[at]
        if float(np.abs(left - before).max()) <= close:
            break
    return left

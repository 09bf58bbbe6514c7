"""Totals of dissimilarities per prompt, and bootstrap-t for products of powers of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._clusters import exact_mean
from pytest_llmfair.stats._records import Floats
from pytest_llmfair.stats._resampling import SEED_BOOTSTRAP, SEED_LABELS, blocks, upper_quantile
from pytest_llmfair.stats._score_intervals import normal_quantile

_RELABELLINGS = 499
_DRAWS = 2000
# Finite stand-in for the infinite studentized value of a draw without variance.
_FAR = 1e6
# Quantiles of skewed draws may be small, but not below this share of the normal's.
_LEAST = 0.25


@dataclass(frozen=True)
class Sides:
    """Symmetric matrices of dissimilarities, one per prompt, answers of the `first` side first."""

    matrices: tuple[Floats, ...]
    first: tuple[int, ...]

    @classmethod
    def of(cls, matrices: Iterable[ArrayLike], first: Sequence[int]) -> Sides:
        """Check matrices; ``ValueError`` names the first wrong prompt."""
        ordered: list[Floats] = []
        for prompt, matrix in enumerate(matrices):
            table = np.asarray(matrix, dtype=np.float64)
            if table.ndim != 2 or table.shape[0] != table.shape[1]:
                raise ValueError(f"prompt {prompt}: shape {table.shape} is not a square matrix")
            number = int(first[prompt]) if prompt < len(first) else 0
            if prompt < len(first) and min(number, len(table) - number) < 2:
                raise ValueError(
                    f"prompt {prompt} has {number} and {len(table) - number} answers; the "
                    "variability of a side needs at least 2"
                )
            if not (np.isfinite(table) & (table >= 0.0)).all():
                raise ValueError(f"prompt {prompt}: a dissimilarity is negative or missing")
            ordered.append(_by_content(table, number))
        if len(ordered) != len(first) or not ordered:
            raise ValueError(
                f"{len(ordered)} prompts of dissimilarities, {len(first)} numbers of answers; "
                "give one of each per prompt"
            )
        return cls(tuple(ordered), tuple(int(number) for number in first))

    @property
    def sizes(self) -> list[int]:
        """Answers per prompt, both sides."""
        return [len(matrix) for matrix in self.matrices]

    @property
    def answers(self) -> float:
        """Answers per side: harmonic mean over prompts and sides."""
        pairs = zip(self.first, self.sizes, strict=True)
        inverse = [0.5 / n + 0.5 / (size - n) for n, size in pairs]
        return len(inverse) / math.fsum(inverse)

    def means(self) -> tuple[Floats, Floats, Floats]:
        """B, V of the first and V of the second side, per prompt."""
        found = [self._means(k) for k in range(len(self.matrices))]
        between, within_a, within_b = zip(*found, strict=True)
        return np.array(between), np.array(within_a), np.array(within_b)

    def _means(self, prompt: int) -> tuple[float, float, float]:
        matrix, n = self.matrices[prompt], self.first[prompt]
        m = len(matrix) - n
        return (
            _total(matrix[:n, n:]) / (n * m),
            _total(matrix[:n, :n][np.triu_indices(n, 1)]) / (n * (n - 1) / 2),
            _total(matrix[n:, n:][np.triu_indices(m, 1)]) / (m * (m - 1) / 2),
        )

    def error(self, aggregate: str) -> float:
        """Return the error of log F when only answers vary: jackknife inside each side."""
        means = self.means()
        between, within_a, within_b = means
        count = len(between)
        ratios = between**2 / (within_a * within_b) if aggregate == "mean" else None
        variances = []
        for k, (matrix, n) in enumerate(zip(self.matrices, self.first, strict=True)):
            m = len(matrix) - n
            cross, own, other = matrix[:n, n:], matrix[:n, :n], matrix[n:, n:]
            # Derivatives of half of log B^2, and of log V of either side.
            if ratios is None:
                scales = [1.0 / (count * exact_mean(part)) for part in means]
            else:
                share = ratios[k] / math.fsum(ratios.tolist())
                scales = [share / part[k] for part in means]
            # Influence of an answer on a mean over pairs: the mean over its own pairs, twice for
            # pairs inside a side.
            parts = (
                2.0 * scales[0] * cross.mean(axis=1) - 2.0 * scales[1] * _off(own),
                2.0 * scales[0] * cross.mean(axis=0) - 2.0 * scales[2] * _off(other),
            )
            for part, size in zip(parts, (n, m), strict=True):
                squares = float(((part - part.mean()) ** 2).sum())
                variances.append(squares / (size * (size - 1.0)))
        return math.sqrt(math.fsum(variances))

    def relabelled(self, aggregate: str) -> Floats:
        """F after assigning the answers of each prompt to the sides at random."""
        generator = np.random.default_rng(SEED_LABELS)
        # Draws are assigned to prompts by content, so the order of prompts changes nothing.
        order = sorted(range(len(self.first)), key=lambda k: (self.sizes[k], *self._means(k)))
        sums = np.zeros((3, _RELABELLINGS))
        ratios = np.zeros(_RELABELLINGS)
        for k in order:
            matrix, n = self._arranged(k)
            size = len(matrix)
            keys = generator.random((size, _RELABELLINGS))
            mine = (np.argsort(np.argsort(keys, axis=0), axis=0) < n).astype(np.float64)
            other = 1.0 - mine
            moved = matrix @ mine
            between = (other * moved).sum(axis=0) / (n * (size - n))
            own = (mine * moved).sum(axis=0) / (n * (n - 1))
            rest = (other * (matrix @ other)).sum(axis=0) / ((size - n) * (size - n - 1))
            sums += np.stack([between, own, rest])
            product = own * rest
            ratios += np.divide(between**2, product, out=np.ones_like(own), where=product > 0.0)
        if aggregate == "mean":
            return np.asarray(ratios / len(order))
        product = sums[1] * sums[2]
        return np.asarray(
            np.divide(sums[0] ** 2, product, out=np.ones(_RELABELLINGS), where=product > 0.0)
        )

    def _arranged(self, prompt: int) -> tuple[Floats, int]:
        """Matrix with a zero diagonal, its answers in canonical order."""
        matrix, n = self.matrices[prompt].copy(), self.first[prompt]
        np.fill_diagonal(matrix, 0.0)
        total = np.sort(matrix, axis=1)
        order = np.lexsort(total.T)
        return matrix[np.ix_(order, order)], min(n, len(matrix) - n)


def _by_content(matrix: Floats, first: int) -> Floats:
    """Sort the answers of either side by their dissimilarities."""
    rows = np.sort(matrix, axis=1)
    order = np.lexsort((*rows.T, np.arange(len(matrix)) >= first))
    return np.asarray(matrix[np.ix_(order, order)])


def _total(values: Floats) -> float:
    return math.fsum(values.ravel().tolist())


def _off(matrix: Floats) -> Floats:
    """Mean of each row without the diagonal."""
    n = len(matrix)
    return np.asarray((matrix.sum(axis=1) - np.diag(matrix)) / (n - 1.0))


class PowerProduct:
    """The statistic ``prod_k (sum_i totals[i, k]) ** powers[k]`` of independent units."""

    def __init__(self, totals: Floats, powers: Floats) -> None:
        # Sort factors of equal power, and units, so that their order changes nothing.
        columns = np.lexsort((np.sort(totals, axis=0).sum(axis=0), powers))
        totals, self.powers = totals[:, columns], powers[columns]
        self.totals = totals[np.lexsort(totals.T)]

    @cached_property
    def log(self) -> float:
        sums = [math.fsum(column) for column in self.totals.T.tolist()]
        return math.fsum(p * math.log(s) for p, s in zip(self.powers.tolist(), sums, strict=True))

    @cached_property
    def error(self) -> float:
        """Standard error of the log, by linearisation; NaN with one unit."""
        units = len(self.totals)
        if units < 2:
            return math.nan
        influence = (self.totals / self.totals.sum(axis=0)) @ self.powers
        return math.sqrt(units / (units - 1.0) * float((influence**2).sum()))

    @cached_property
    def _ratios(self) -> Floats:
        """Studentized bootstrap draws, sorted."""
        units = len(self.totals)
        generator = np.random.default_rng(SEED_BOOTSTRAP)
        parts = []
        for size in blocks(_DRAWS, units * len(self.powers)):
            weights = generator.multinomial(units, np.full(units, 1.0 / units), size=size)
            sums = weights @ self.totals
            known = np.asarray((sums > 0.0).all(axis=1))
            sums = np.where(known[:, None], sums, 1.0)
            logs = np.log(sums) @ self.powers
            influence = np.zeros((size, units))
            for column, power in enumerate(self.powers):
                influence += power * self.totals[:, column] / sums[:, column, None]
            errors = np.sqrt(units / (units - 1.0) * (weights * influence**2).sum(axis=1))
            shift = logs - self.log
            far = np.sign(shift) * _FAR
            usable = known & (errors > 1e-9 * self.error)
            parts.append(np.divide(shift, errors, out=far, where=usable))
        return np.sort(np.clip(np.concatenate(parts), -_FAR, _FAR))

    def bounds(self, alpha: float) -> tuple[float, float]:
        """Return the ends of the log with error rate `alpha` per side."""
        least = _LEAST * normal_quantile(1.0 - alpha)
        above = max(least, upper_quantile(self._ratios, alpha))
        below = max(least, upper_quantile(-self._ratios[::-1], alpha))
        return self.log - above * self.error, self.log + below * self.error

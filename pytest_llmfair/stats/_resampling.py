"""Resampling of units within strata, and max-T bounds for several differences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pytest_llmfair.stats._clusters import kurtosis_df, satterthwaite
from pytest_llmfair.stats._records import Floats, Indices
from pytest_llmfair.stats._score_intervals import normal_quantile

# Bootstrap weights, cross-fits, relabellings and folds use separate random streams.
SEED_BOOTSTRAP, SEED_HALVES, SEED_LABELS, _SEED_FOLDS = 11, 12, 13, 15

# Halves depend on the order of units, so many of them are averaged.
_HALVINGS = 64
# A quantile needs this many draws beyond it; further out it follows a normal tail.
TAIL = 10
# Numbers held at a time while resampling.
_BLOCK = 2_000_000
# So many columns of a block fit a processor's cache.
_CACHED = 16_384


def blocks(draws: int, columns: int) -> Iterator[int]:
    """Split `draws` rows of `columns` numbers into blocks that fit in memory."""
    most = max(1, _BLOCK // max(1, columns))
    while draws > 0:
        yield min(most, draws)
        draws -= most


def gathered(table: Floats, columns: Indices) -> Floats:
    """Return columns of a table, as many as there are rows of data."""
    # Both ways give the same numbers, but in another order in memory, which the last bit of a
    # product depends on. Many are faster to read draw by draw, as they lie in the table.
    return np.take(table, columns, axis=1) if len(columns) > _CACHED else table[:, columns]


def upper_quantile(draws: Floats, alpha: float) -> float:
    """Quantile 1 - `alpha` of sorted draws; it never falls as `alpha` does, at any `alpha`."""
    last = TAIL / len(draws)
    if alpha >= last:
        return _between(draws, 1.0 - alpha)
    middle, end = _between(draws, 0.84), _between(draws, 1.0 - last)
    z_middle, z_end = normal_quantile(0.84), normal_quantile(1.0 - last)
    return end + (normal_quantile(1.0 - alpha) - z_end) * (end - middle) / (z_end - z_middle)


def _between(draws: Floats, share: float) -> float:
    """Quantile of sorted draws, interpolated."""
    place = share * (len(draws) - 1)
    below = min(int(place), len(draws) - 2)
    step = float(draws[below + 1]) - float(draws[below])
    return float(draws[below]) + (place - below) * step


@dataclass(frozen=True, slots=True)
class Strata:
    """Sampling units, contiguous by stratum and in canonical order inside it."""

    # Units per stratum: one stratum for paired units, one per group for independent samples, and
    # one per unit where units are fixed.
    sizes: Indices

    @property
    def units(self) -> int:
        return int(self.sizes.sum())

    @property
    def _starts(self) -> Indices:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    @property
    def _stratum(self) -> Indices:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def _balanced(self, weights: Floats) -> Floats:
        """Scale weights in place so that every stratum keeps its total."""
        scale = self.sizes / np.add.reduceat(weights, self._starts, axis=1)
        weights *= scale if len(self.sizes) == 1 else np.repeat(scale, self.sizes, axis=1)
        return weights

    def bootstrap(self, draws: int, columns: int) -> Iterator[Floats]:
        """Blocks of bootstrap weights, each of shape (some draws, n_units), mean 1 per stratum."""
        # Dirichlet weights never drop a unit, so no rate loses its denominator. Their
        # concentration makes the variance of a resampled mean the unbiased one.
        generator = np.random.default_rng(SEED_BOOTSTRAP)
        shape = np.maximum((self.sizes - 2.0) / self.sizes, 0.05)[self._stratum]
        for size in blocks(draws, columns):
            yield self._balanced(generator.standard_gamma(shape, size=(size, self.units)))

    def halves(self) -> Iterator[tuple[Floats, Floats]]:
        """Blocks of weights that choose a functional, and that evaluate it on other units."""
        generator = np.random.default_rng(SEED_HALVES)
        stratum = self._stratum
        # Units go to the halves in turn.
        turn = ((np.arange(self.units) - np.repeat(self._starts, self.sizes)) % 2.0)[None, :]
        for size in blocks(_HALVINGS, 2 * self.units):
            # Keys between one stratum's number and the next keep strata together.
            order = np.argsort(generator.random((size, self.units)) + stratum, axis=1)
            half = np.zeros((size, self.units))
            np.put_along_axis(half, order, turn, axis=1)
            first, second = self._balanced(1.0 - half), self._balanced(half)
            yield np.concatenate([first, second]), np.concatenate([second, first])

    def folds(self, most: int) -> tuple[Indices, Indices]:
        """Random fold of each unit, and the folds of each stratum; up to `most` units one each."""
        if self.units <= most:
            return np.arange(self.units), self.sizes
        folds = np.maximum(np.minimum(self.sizes, 2), self.sizes * most // self.units)
        generator = np.random.default_rng(_SEED_FOLDS)
        sizes = zip(self.sizes.tolist(), folds.tolist(), strict=True)
        own = [generator.permutation(np.arange(size) % number) for size, number in sizes]
        return np.concatenate(own) + np.repeat(np.cumsum(folds) - folds, self.sizes), folds

    def variance(self, influence: Floats) -> tuple[float, float]:
        """Variance of the sum of `influence` over resampled units, and its degrees of freedom."""
        variances = np.zeros(len(self.sizes))
        df = np.ones(len(self.sizes))
        for k, part in enumerate(np.split(influence, self._starts[1:])):
            n = len(part)
            variances[k] = n / (n - 1.0) * float(((part - part.mean()) ** 2).sum())
            # With very few units the kurtosis is useless.
            df[k] = kurtosis_df(part) if n >= 4 else n - 1.0
        return float(variances.sum()), satterthwaite(variances, df)

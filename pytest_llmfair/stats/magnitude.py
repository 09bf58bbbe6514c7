"""Mean of absolute log ratios: how far words lean, whichever way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._bracket import Guard
from pytest_llmfair.stats._canonical import canonical_orders
from pytest_llmfair.stats._clusters import Floats, Indices
from pytest_llmfair.stats._folded_bracket import FoldedBracket
from pytest_llmfair.stats._layout import Layout, places, ranks
from pytest_llmfair.stats._resampling import SEED_LABELS, Strata, blocks
from pytest_llmfair.stats._totals import Totals
from pytest_llmfair.stats.log_ratio import LogRatio
from pytest_llmfair.stats.seminorm import Seminorm


@dataclass(frozen=True, slots=True)
class _MeanMagnitude:
    """Mean of the absolute means of columns.

    Attributes
    ----------
    units : int
        What totals are divided by: weights are balanced, so it never changes.
    """

    units: int
    free = False

    def distance(self, totals: Floats) -> Floats:
        """Distance at every draw."""
        return np.asarray(np.abs(totals[:, 0]).mean(axis=1) / self.units)

    def noise(self, totals: Floats) -> float:
        """Mean of the standard deviations of the means over draws."""
        return float(totals[:, 0].std(axis=0).mean()) / self.units

    def frozen(self, chosen: Floats, held: NDArray[Any]) -> NDArray[Any]:
        """Signs at `chosen`, means at `held`."""
        return np.asarray((np.sign(chosen[:, 0]) * held[:, 0]).mean(axis=1) / self.units)


@dataclass(frozen=True, slots=True)
class _PseudoValues(Totals):
    """Rows whose means are the log ratios; without bias they scatter around 0."""

    def relabelled(self, draws: int) -> Floats:
        """Distances of means whose rows keep their scatter and get signs at random."""
        generator = np.random.default_rng(SEED_LABELS)
        sizes = self.strata.sizes
        stratum = np.repeat(np.arange(len(sizes)), sizes)
        starts = np.cumsum(sizes) - sizes
        means = np.add.reduceat(self.rows, starts, axis=0) / sizes[:, None]
        scale = np.sqrt(sizes / np.maximum(sizes - 1.0, 1.0))
        scatter = (self.rows - means[stratum]) * scale[stratum, None]
        parts = []
        for size in blocks(draws, len(scatter)):
            signs = 2.0 * generator.integers(0, 2, (size, len(scatter))) - 1.0
            parts.append(self.norm.distance((signs @ scatter)[:, None, :]))
        return np.concatenate(parts)


@dataclass(eq=False, kw_only=True)
class Magnitude(Seminorm):
    """Mean over columns (words) of the absolute log ratio.

    Never 0 in a sample even when no word leans: bracketed like every distance, with the pseudo-
    values of the jackknife as rows.

    Attributes
    ----------
    signed : LogRatio
        The log ratios with their signs.
    """

    signed: LogRatio

    @classmethod
    def of_log_ratio(cls, signed: LogRatio) -> Magnitude:
        """Take absolute values of the columns that are finite.

        Raises
        ------
        ValueError
            If there is none.
        """
        kept = np.flatnonzero(np.isfinite(signed.columns))
        if not kept.size:
            raise ValueError("no log ratio is finite; there is nothing to take the size of")
        columns = signed.columns[kept]
        engine = _bracket(columns, signed.influence.values[:, kept], signed.influence.index)
        reasons, notes = engine.flags()
        return cls(
            value=clusters.exact_mean(np.abs(columns)),
            engine=engine,
            planned=(math.nan, math.nan, math.nan),
            sample=signed.sample,
            attainable=(0.0, math.inf),
            of="debiased",
            reasons=reasons,
            notes=notes,
            method=engine.method,
            signed=signed,
        )

    def standard_error(self, at: float | None = None) -> float:
        """Return the observed standard error; NaN with `at`, as for :class:`LogRatio`."""
        return super().standard_error() if at is None else math.nan


def _bracket(columns: Floats, influence: Floats, index: Indices | None) -> FoldedBracket:
    """Bracket from what each row does to each column; rows of one fixed unit are a stratum."""
    rows = columns + influence - np.sort(influence, axis=0).mean(axis=0)
    n, width = rows.shape
    row, column = np.divmod(np.arange(rows.size), width)
    axes, sizes = [row, column], [n, width]
    if index is not None:
        axes.append(index[row])
        sizes.append(int(index.max()) + 1)
    orders = canonical_orders(axes, sizes, rows.ravel())
    order, strata = orders[0], np.array([n])
    if index is not None:
        whole = places(orders[2])[index]
        order, strata = np.lexsort((places(orders[0]), whole)), np.bincount(whole)
    rows = rows[np.ix_(order, orders[1])]
    one = np.arange(n)
    layout = Layout(one, one, one, np.zeros(n, dtype=np.intp), 1, Strata(strata))
    codes = np.split(ranks(*rows.T), np.cumsum(strata)[:-1])
    unlike = sum(len(part) - int(np.bincount(part).max()) for part in codes)
    trials = n if index is None else len(strata)
    norm = _MeanMagnitude(n)
    return FoldedBracket(
        _PseudoValues(rows, layout, norm), math.inf, (Guard(unlike, trials),), norm
    )

"""Log ratios of counts summed over texts: their mean, mean absolute value, and zero cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._crossfit import FoldedBracket
from pytest_llmfair.stats._layout import Guard, Layout, canonical_orders, ranks, stratified
from pytest_llmfair.stats._records import Finding, Floats, Indices, Population, Sample
from pytest_llmfair.stats._resampling import SEED_LABELS, Strata, blocks
from pytest_llmfair.stats._rows import NO_VARIANCE, few_units, known_error, t_reach
from pytest_llmfair.stats._totals import AbsoluteSum, Totals
from pytest_llmfair.stats.distance import Distance

# The jackknife takes out a tenth of a unit: all of it could leave a count of 0, with no logarithm.
_LEFT_OUT = 0.1


@dataclass(frozen=True, slots=True)
class _Influence:
    """Influence of units (rows, if fixed) on each column; NaN where it has no finite log ratio."""

    values: Floats
    index: Indices | None

    def spread(self, columns: Indices) -> tuple[float, float]:
        """Squared standard error of the mean over `columns`, and its degrees of freedom."""
        influence = self.values[:, columns].mean(axis=1)
        n = len(influence)
        if self.index is None:
            if n < 2:
                return 0.0, math.inf
            influence = np.sort(influence)
            return clusters.variance_of_mean(influence), clusters.kurtosis_df(influence)
        sizes = np.bincount(self.index).astype(np.float64)
        means = clusters.cluster_sums(influence, self.index, len(sizes)) / sizes
        squares = (influence - means[self.index]) ** 2
        within = clusters.cluster_sums(squares, self.index, len(sizes)) / (sizes - 1.0)
        parts = within * sizes / n**2
        return float(np.sort(parts).sum()), clusters.satterthwaite(parts, sizes - 1.0)


@dataclass(eq=False, kw_only=True)
class MeanLogRatio(Estimate):
    """Mean over columns (words) of a log ratio of sums over rows (texts).

    Jackknife over sampling units on the log scale, t interval with kurtosis-based degrees of
    freedom.
    """

    # The log ratio of each column; infinite and NaN ones are left out of the mean.
    columns: Floats
    # Squared standard error of the mean and its degrees of freedom.
    variance: float
    df: float
    influence: _Influence
    method: str = "jackknife on the log scale, kurtosis-based df"

    @classmethod
    def of_sums(
        cls,
        rows: ArrayLike,
        log_ratios: Callable[[Floats], Floats],
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
    ) -> MeanLogRatio:
        """Estimate from sufficient statistics per row.

        Parameters
        ----------
        rows : array_like of shape (n_rows, n_sums)
            What each row adds to the sums, at least 0.
        log_ratios : callable
            Sums of shape (n, n_sums) to log ratios of shape (n, n_columns): infinite where one
            side is 0, NaN where both are.
        units, population
            As in :meth:`Mean.of_rows`.

        Raises
        ------
        ValueError
            If there is no row, an entry is NaN, infinite or negative, or a fixed unit has fewer
            than two rows. Names the row.

        Examples
        --------
        >>> sums = [[2, 1], [1, 1], [3, 1], [2, 2]]  # counts next to two groups, per text
        >>> ratio = MeanLogRatio.of_sums(sums, lambda s: np.log(s[:, :1] / s[:, 1:]))
        >>> round(ratio.value, 3)
        0.47
        """
        clusters.check_population(population)
        table = _checked(rows)
        n = len(table)
        index, n_units = clusters.cluster_index(units, n)
        sizes = np.bincount(index, minlength=n_units)
        fixed = population == "fixed"
        if fixed:
            clusters.check_repeats(index)
        elif n_units < n:
            table = np.stack([clusters.cluster_sums(x, index, n_units) for x in table.T], axis=1)
        totals = np.sort(table, axis=0).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            columns = log_ratios(totals[None, :])[0]
            less = log_ratios(totals - _LEFT_OUT * table)
            change = (columns - less) * (len(table) / _LEFT_OUT)
        values = np.where(np.isfinite(columns), change, math.nan)
        influence = _Influence(values, index if fixed else None)
        return cls._of_columns(columns, influence, Sample.of_sizes(sizes, population))

    @classmethod
    def _of_columns(cls, columns: Floats, influence: _Influence, sample: Sample) -> MeanLogRatio:
        kept = np.flatnonzero(np.isfinite(columns))
        variance, df = influence.spread(kept) if kept.size else (math.nan, math.nan)
        findings = few_units(sample.units)
        if variance <= NO_VARIANCE:
            same = f"all {sample.units} units say the same: nothing shows how others would differ"
            findings.append(Finding("no_variance", same))
        if not kept.size:
            undefined = Finding.undefined("no column has both sides: no log ratio is finite")
            findings = [undefined, *findings]
        return cls(
            value=clusters.exact_mean(columns[kept]) if kept.size else math.nan,
            sample=sample,
            findings=tuple(findings),
            columns=columns,
            variance=variance,
            df=df,
            influence=influence,
        )

    def column(self, number: int) -> MeanLogRatio:
        """Estimate of one column alone; undefined where its log ratio is not finite."""
        own = slice(number, number + 1)
        influence = _Influence(self.influence.values[:, own], self.influence.index)
        return MeanLogRatio._of_columns(self.columns[own], influence, self.sample)

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        return self.value - t_reach(self.variance, self.df, alpha)

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        return self.value + t_reach(self.variance, self.df, alpha)

    def standard_error(self, at: float | None = None) -> float:
        """Return the observed standard error; NaN where units do not differ, and with `at`."""
        # It depends on how often words occur, so the sample size alone gives no plan.
        return known_error(self.variance) if at is None else math.nan


def _checked(rows: ArrayLike) -> Floats:
    table = np.asarray(rows, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"rows has shape {table.shape}; give one row of sums per text")
    wrong = ~((table >= 0.0) & np.isfinite(table)).all(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"row {row} holds {table[row].min():g}; sums are finite and at least 0")
    return table


@dataclass(eq=False, kw_only=True)
class ZeroCellLogRatio(Estimate):
    """An infinite log ratio, because a word was seen on one side only.

    Plus infinity where all ``sample.units`` units are on the first side, minus infinity where
    they are on the second. The share of that side is at least the exact binomial bound for zero
    exceptions (Clopper-Pearson).

    Examples
    --------
    >>> seen = Sample(units=20, generations=20, fewest=1, most=1)
    >>> ZeroCellLogRatio(value=math.inf, sample=seen, base=0.0)
    ZeroCellLogRatio inf [1.597, inf] (95 %, 20 units)
    """

    # Log odds of the first side at a log ratio of 0.
    base: float

    method = "exact binomial: no unit on the other side"

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        return self._log_odds(alpha) - self.base if self.value > 0.0 else -math.inf

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        return math.inf if self.value > 0.0 else -self._log_odds(alpha) - self.base

    def _log_odds(self, alpha: float) -> float:
        """Smallest log odds of the seen side: all units are on it with probability p ** units."""
        share = math.log(alpha) / self.sample.units
        return share - math.log(-math.expm1(share))


@dataclass(frozen=True, slots=True)
class _MeanMagnitude(AbsoluteSum):
    """Mean of the absolute means of columns."""

    units: int

    def gaps(self, totals: NDArray[Any]) -> NDArray[Any]:
        return totals[:, 0]

    def summed(self, gaps: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(gaps.mean(axis=1) / self.units)


@dataclass(frozen=True)
class _PseudoValues(Totals):
    """Jackknife pseudo-values: rows whose means are the log ratios."""

    def relabelled(self, draws: int) -> Floats:
        """Distances after giving the deviations of rows random signs."""
        generator = np.random.default_rng(SEED_LABELS)
        sizes = self.layout.strata.sizes
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
class MeanAbsLogRatio(Distance):
    """Mean over columns (words) of the absolute log ratio.

    Never 0 in a sample, even when the truth is 0: bounded like every distance, with the
    pseudo-values of the jackknife as rows.
    """

    signed: MeanLogRatio

    @classmethod
    def of_log_ratio(cls, signed: MeanLogRatio) -> MeanAbsLogRatio:
        """Take absolute values of the columns that are finite; ``ValueError`` if none is.

        Examples
        --------
        >>> signed = MeanLogRatio.of_sums([[2, 1], [1, 4], [3, 1]], lambda s: np.log(s / 4.0))
        >>> round(MeanAbsLogRatio.of_log_ratio(signed).value, 3)
        0.405
        """
        kept = np.flatnonzero(np.isfinite(signed.columns))
        if not kept.size:
            raise ValueError("no log ratio is finite, so their mean absolute value is undefined")
        columns = signed.columns[kept]
        engine = _bracket(columns, signed.influence.values[:, kept], signed.influence.index)
        return cls(
            value=clusters.exact_mean(np.abs(columns)),
            engine=engine,
            planned=(math.nan, math.nan, math.nan),
            sample=signed.sample,
            attainable=(0.0, math.inf),
            of="debiased",
            findings=tuple(engine.flags()),
            method=engine.method,
            signed=signed,
        )

    def standard_error(self, at: float | None = None) -> float:
        """Return the observed standard error; NaN with `at`, as for :class:`MeanLogRatio`."""
        return super().standard_error() if at is None else math.nan


def _bracket(columns: Floats, influence: Floats, index: Indices | None) -> FoldedBracket:
    """Bracket from the influence of rows on columns; the rows of a fixed unit are a stratum."""
    rows = columns + influence - np.sort(influence, axis=0).mean(axis=0)
    n, width = rows.shape
    row, column = np.divmod(np.arange(rows.size), width)
    axes, sizes = [row, column], [n, width]
    if index is not None:
        axes.append(index[row])
        sizes.append(int(index.max()) + 1)
    orders = canonical_orders(axes, sizes, rows.ravel())
    order, strata = stratified(orders, index)
    rows = rows[np.ix_(order, orders[1])]
    one = np.arange(n)
    layout = Layout(one, one, one, np.zeros(n, dtype=np.intp), 1, Strata(strata))
    codes = np.split(ranks(*rows.T), np.cumsum(strata)[:-1])
    unlike = sum(len(part) - int(np.bincount(part).max()) for part in codes)
    trials = n if index is None else len(strata)
    problem = _PseudoValues(rows, layout, _MeanMagnitude(n))
    return FoldedBracket(problem, math.inf, (Guard(unlike, trials),))

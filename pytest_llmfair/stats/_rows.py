"""Rows of generations on [0, 1] and the variance of their mean; used by `Mean` and rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._records import Finding, Floats, Indices, NoRepeats
from pytest_llmfair.stats._score_intervals import Share, precision_of, t_quantile

FEW_UNITS = 20
FEW_EVENTS = 5

# Below this a squared standard error on [0, 1] is rounding.
NO_VARIANCE = 1e-24


def few_units(units: int, what: str = "only {} units", least: int = FEW_UNITS) -> list[Finding]:
    """Warn about a small sample, described by `what`."""
    if units >= least:
        return []
    few = f"{what.format(units)}: below {least} the interval is a rough guide"
    return [Finding("thin_evidence", few)]


ONE_UNIT = Finding("thin_evidence", "one unit only: nothing shows how much units differ")
# How :func:`few_units` describes the smaller of two groups.
SMALLER_GROUP = "a group has {} units"


def known_error(variance: float) -> float:
    """Return the standard error; NaN where units do not show it."""
    return math.sqrt(variance) if NO_VARIANCE < variance < math.inf else math.nan


def t_reach(variance: float, df: float, alpha: float) -> float:
    """Half-width of a t interval on a scale without limits."""
    if not NO_VARIANCE < variance < math.inf:
        # Equal units do not show how others vary.
        return math.inf
    return t_quantile(1.0 - alpha, df) * math.sqrt(variance)


def read_table(
    rows: ArrayLike | Sequence[ArrayLike], bounds: tuple[float, float], outcomes: bool
) -> tuple[Floats, Floats, Floats]:
    """Reduce rows to their means, generations per row, and summed squared deviations."""
    flat, sizes = ragged(rows)
    if sizes.size == 0:
        raise ValueError("rows is empty; give at least one row")
    if (sizes == 0).any():
        raise ValueError(f"row {int(np.argmax(sizes == 0))} has no generation; give at least one")
    counts = sizes.astype(np.float64)
    inside = np.arange(sizes.max()) < sizes[:, None]
    table = np.full(inside.shape, math.nan)
    table[inside] = flat
    low, high = bounds
    wrong = inside & ~((table >= low) & (table <= high) & np.isfinite(table))
    if outcomes:
        wrong |= inside & (table != 0.0) & (table != 1.0)
    if wrong.any():
        row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        legal = "outcomes are 0 or 1" if outcomes else f"give a number in [{low:g}, {high:g}]"
        raise ValueError(f"row {row}, generation {column} is {table[row, column]:g}; {legal}")
    table = np.sort(np.where(inside, table, math.inf), axis=1)
    values = np.where(inside, table, 0.0).sum(axis=1) / counts
    squares = np.where(inside, table - values[:, None], 0.0) ** 2
    return np.clip(values, low, high), counts, squares.sum(axis=1)


def ragged(rows: Any, name: str = "") -> tuple[Floats, Indices]:
    """Return the numbers of all rows one after the other, and how many each row has."""
    try:
        table = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim == 1 and table.size:
        table = table[:, None]
    if table.ndim == 2:
        return table.reshape(-1), np.full(table.shape[0], table.shape[1])
    try:
        listed = list(rows)
    except TypeError:
        raise ValueError(
            f"{name or 'rows'} is {rows!r}; give one number or a list of numbers per row"
        ) from None
    pieces = [np.atleast_1d(np.asarray(row, dtype=np.float64)) for row in listed]
    for row, piece in enumerate(pieces):
        if piece.ndim != 1:
            raise ValueError(
                f"{name} row {row} has {piece.ndim} dimensions; give a list of numbers".lstrip()
            )
    counts = np.array([piece.size for piece in pieces], dtype=np.intp)
    return np.concatenate([np.empty(0), *pieces]), counts


# One-sided error rate at which two valid intervals are compared.
_TYPICAL = 0.025


def share_of_maxima(table: Floats, value: float, outcomes: bool) -> Share:
    """Evidence about the mean of the largest of each fixed row, whose generations vary."""
    n = len(table)
    top = np.sort(table, axis=1)[:, -2:]
    # Var(f) <= sum of E(f - f_i)^2 for any f_i that leaves out draw i; here f_i is the maximum
    # of the others, which differs for the largest draw only.
    parts = (top[:, 1] - top[:, 0]) ** 2 / n**2
    variance = float(np.sort(parts).sum())
    # Draws in [0, 1] vary at most like 0/1 draws of the same mean, and those most when all
    # means are equal (Hoeffding 1956): n binomial draws are a safe choice.
    effective, df = float(n), math.inf
    if variance > NO_VARIANCE and not outcomes:
        known, its_df = value * (1.0 - value) / variance, clusters.satterthwaite(parts, np.ones(n))
        if precision_of(known, _TYPICAL, its_df) > precision_of(effective, _TYPICAL):
            effective, df = known, its_df
    hits = int(table.max(axis=1).sum()) if outcomes else None
    return Share(value, effective, df, n, hits, guard=n)


@dataclass(frozen=True, slots=True)
class RowMeans:
    """Row means on [0, 1] with their sampling units."""

    values: Floats
    counts: Floats
    # Summed squared deviations of generations from their row mean; None where unknown.
    squares: Floats | None
    # Variance of each row's value due to its generations, where the caller knows it.
    own_variance: Floats | None
    index: Indices
    units: int
    outcomes: bool
    # Mean smallest and mean largest value that a row could have.
    reach: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def single(cls, values: Floats, index: Indices, *, outcomes: bool) -> RowMeans:
        """Rows of one generation each."""
        ones = np.ones(len(values))
        return cls(values, ones, 0.0 * ones, None, *clusters.compact(index), outcomes)

    def per_unit(self, quantity: Floats) -> Floats:
        """Sum of a row quantity over the rows of each unit."""
        if self.units == len(self.values):
            return quantity
        return clusters.cluster_sums(quantity, self.index, self.units)

    @property
    def generations(self) -> Floats:
        """Generations per unit."""
        return self.per_unit(self.counts)

    def unit_means(self) -> Floats:
        return self.per_unit(self.values) / self._sizes

    @property
    def _sizes(self) -> Floats:
        """Rows per unit."""
        return self.per_unit(np.ones(len(self.values)))

    def _squares_in_units(self) -> Floats | None:
        """Squared deviations of generations from the mean of their unit, summed per unit."""
        if self.squares is None:
            return None
        if self.units == len(self.values):
            return self.squares
        means = self.per_unit(self.counts * self.values) / self.generations
        between = self.counts * (self.values - means[self.index]) ** 2
        return self.per_unit(self.squares + between)

    def sampling_variance(self) -> float:
        """Mean variance of a row's value that is due to its generations; NaN where unknown."""
        if self.own_variance is not None:
            return float(self.own_variance.mean())
        several = self.counts > 1
        if self.squares is None or not several.any():
            return math.nan
        counts = self.counts[several]
        return float((self.squares[several] / (counts - 1.0) / counts).mean())

    def repeats_identical(self) -> bool:
        """Whether there are repeats, and all repeats within each unit are equal."""
        if self.own_variance is not None:
            return bool((self.counts > 1).any() and (self.own_variance <= NO_VARIANCE).all())
        squares = self._squares_in_units()
        if squares is None or not (self.generations > 1).any():
            return False
        return bool((squares <= NO_VARIANCE * self.generations).all())

    def sampled(self) -> tuple[Share, float]:
        """Evidence when units were drawn from a population, and the squared standard error."""
        value = clusters.exact_mean(self.values)
        if self.units == 1:
            return Share(value, math.nan, math.nan, 1), math.nan
        influence = clusters.mean_influence(self.values, self.index, self.units)
        variance = clusters.variance_of_mean(influence)
        skew = 0.0
        if variance <= NO_VARIANCE:
            effective, variance = float(self.units), 0.0
        else:
            effective = value * (1.0 - value) / variance
            if self.outcomes:
                effective = min(effective, float(self.counts.sum()))
            else:
                # Wilson's interval has the skewness of 0/1 draws; scores can be far more skewed.
                third = clusters.standard_skewness(influence) * math.sqrt(variance / self.units)
                skew = third - (1.0 - 2.0 * value) / effective
        alike = clusters.effective_clusters(self._sizes)
        return Share(
            value,
            max(effective, 1.0),
            max(1.0, min(clusters.kurtosis_df(influence), alike - 1.0)),
            self.units,
            self._hits(),
            alike,
            self.reach,
            skew,
        ), variance

    def _hits(self) -> int | None:
        """Units with an event, where each unit is a single 0/1 draw of equal weight."""
        if not self.outcomes:
            return None
        sizes, means = self._sizes, self.unit_means()
        if sizes.min() != sizes.max() or not ((means == 0.0) | (means == 1.0)).all():
            return None
        return int(means.sum())

    def fixed(self) -> tuple[Share, float]:
        """Evidence when the units are fixed and only generations vary."""
        # The variance is never below that of the most unequal allocation of one binomial, and
        # identical repeats count as one generation, so a deterministic model never gets an
        # interval of width 0.
        value = clusters.exact_mean(self.values)
        rows = len(self.values)
        variances, df = self._unit_variances()
        weights = self._sizes / rows
        draws = rows * float(self.counts.min())
        constant = clusters.is_constant(self.values)
        if self.repeats_identical() and not (constant and self.outcomes):
            draws = 1.0 / float(weights.max())
            variance = 0.0
        else:
            variance = float(np.sort(variances).sum())
        share = value * (1.0 - value)
        # Var = sum w^2 p (1 - p) / m <= p (1 - p) / min(m / w) by concavity: a certain floor.
        effective = max(draws, share / variance) if variance > NO_VARIANCE else draws
        freedom = clusters.satterthwaite(variances, df)
        if share > 0.0:
            variance = share / effective
        trials = max(1, int(draws))
        return Share(value, effective, freedom, trials, guard=draws, reach=self.reach), variance

    def _unit_variances(self) -> tuple[Floats, Floats]:
        """Variance that each unit adds to the mean, and its degrees of freedom."""
        rows = len(self.values)
        generations = self.generations
        given = self.own_variance is not None
        few = self.counts < 2 if given else (generations < 2)[self.index]
        if few.any():
            raise NoRepeats(
                f"row {int(np.argmax(few))} has 1 generation; a fixed population needs at least 2 "
                "per unit, since nothing else varies"
            )
        if self.own_variance is not None:
            variances = self.per_unit(self.own_variance) / rows**2
        else:
            squares = self._squares_in_units()
            if squares is None:
                raise NoRepeats(
                    "a fixed population needs generation_variance: the values are already "
                    "reduced over their generations"
                )
            if self.outcomes:
                smooth = (self.per_unit(self.counts * self.values) + 1.0) / (generations + 2.0)
                within = smooth * (1.0 - smooth)
            else:
                within = squares / np.maximum(generations - 1.0, 1.0)
            variances = within * self.per_unit(1.0 / self.counts) / rows**2
        return variances, generations - 1.0

    def effective_size(self, variance: float, trials: int) -> float:
        """Independent observations that would give the same squared error."""
        observed = self.counts if self.squares is not None else np.ones(len(self.values))
        squares, total = self._total_squares(observed), float(observed.sum())
        if not (variance > 0.0 and squares > 0.0):
            return float(trials)
        return squares / (total - 1.0) / variance

    def _total_squares(self, observed: Floats) -> float:
        centre = clusters.exact_mean(self.values)
        squares = observed * (self.values - centre) ** 2
        if self.squares is not None:
            squares = squares + self.squares
        return math.fsum(squares.tolist())

    def correlation(self) -> float:
        """Intraclass correlation of generations inside units; NaN where it is not defined."""
        if self.squares is None:
            return math.nan
        centred = self.values - clusters.exact_mean(self.values)
        return clusters.intraclass_correlation(
            self.per_unit(self.counts * centred),
            self.generations,
            self._total_squares(self.counts),
        )

    def flags(self, trials: int) -> list[Finding]:
        means = self.unit_means()
        events = min(int((means > 0.0).sum()), int((means < 1.0).sum()))
        if self.units == 1:
            found = [ONE_UNIT]
        else:
            # For fixed units the draws are generations, counted as equally informative draws.
            found = few_units(
                trials, "only {} units" if trials == self.units else "worth {} draws only"
            )
        if not found and self.outcomes and events < FEW_EVENTS:
            few = (
                f"only {events} of {self.units} units show any difference, fewer "
                f"than {FEW_EVENTS}: the interval is a rough guide"
            )
            found.append(Finding("thin_evidence", few))
        if clusters.is_constant(means) and self.units > 1:
            same = f"all {self.units} units have the same value: each counts as one draw"
            found.append(Finding("no_variance", same))
        elif self.repeats_identical():
            same = "all repeats of every unit are identical: they count as one generation"
            found.append(Finding("identical_repeats", same))
        return found

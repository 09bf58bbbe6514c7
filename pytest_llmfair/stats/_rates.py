"""Two groups of 0/1 outcomes reduced to effective counts; shared by difference and ratio."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._records import Finding, Floats, Indices, Population, Sample
from pytest_llmfair.stats._rows import FEW_EVENTS, NO_VARIANCE, SMALLER_GROUP, RowMeans, few_units
from pytest_llmfair.stats._score_intervals import (
    difference_excess,
    find_root,
    precision_of,
    zero_event_bound,
)

# Squared 95 % quantile: z^2 / (N + z^2) bounds the difference when no pair of N differs.
_UNSEEN_PAIRS = 3.84
# Counts of a group that stand for all, where it is larger.
_GRID = 24
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Rate:
    """One group's rate and its effective sample size."""

    value: float
    rows: int
    units: int
    # Independent 0/1 draws of the same variance.
    effective: float
    # Degrees of freedom of that variance; infinite where the rows are independent.
    df: float = math.inf
    # Precision is limited by the zero-event bound of this number of units; infinite for
    # independent rows.
    guard: float = math.inf

    @property
    def variance(self) -> float:
        return self.value * (1.0 - self.value) / self.effective

    @property
    def smoothed_variance(self) -> float:
        """Squared standard error with one more event of each kind; never 0."""
        rate = (self.value * self.effective + 1.0) / (self.effective + 2.0)
        return rate * (1.0 - rate) / self.effective

    def precision(self, alpha: float) -> float:
        precision = precision_of(self.effective, alpha, self.df)
        # The precision at which Wilson's bound is the zero-event bound.
        least = zero_event_bound(self.guard, alpha)
        for distance in (self.value, 1.0 - self.value):
            if distance < least:
                precision = min(precision, least * (1.0 - least) / (least - distance) ** 2)
        return precision


@dataclass(frozen=True, slots=True)
class TwoRates:
    """Two rates and what is known about their difference."""

    a: Rate
    b: Rate
    sample: Sample
    # Share of units whose two outcomes differ, where every unit has one 0/1 outcome in each group
    # or units do not vary; the paired score interval holds only then.
    discordance: float | None
    # Whether a unit occurs in both groups.
    paired: bool
    # Whether rows are not independent draws.
    clustered: bool
    findings: tuple[Finding, ...]
    # Number of the unit of each row, those of the first group and then those of the second.
    unit: Indices
    # Influence of each unit on the difference, ascending, where several outcomes of either group
    # are compared inside units.
    differences: Floats | None

    @property
    def gap(self) -> float:
        return self.a.value - self.b.value

    @property
    def correction(self) -> float:
        """Factor N / (N - 1) of Miettinen and Nurminen."""
        draws = self.a.effective + self.b.effective
        return draws / (draws - 1.0)

    @property
    def pooled(self) -> float:
        """Rate of all rows."""
        a, b = self.a, self.b
        return (a.rows * a.value + b.rows * b.value) / (a.rows + b.rows)

    def at_parity(self, more: float) -> tuple[Rate, Rate]:
        """Return groups of `more` times the size, both with the rate of all rows."""
        a, b = (
            replace(
                rate,
                value=self.pooled,
                effective=rate.effective * more,
                df=rate.df * more,
                guard=rate.guard * more,
            )
            for rate in (self.a, self.b)
        )
        return a, b

    def parity_within(self, more: float, room: tuple[float, float], alpha: float) -> float:
        """Probability of an interval within `room` where both groups have one rate, on a grid."""
        a, b = self.at_parity(more)
        if a.effective > b.effective:
            a, b, room = b, a, (-room[1], -room[0])
        own, other = a.precision(alpha), b.precision(alpha)
        n, m = (max(1, round(each.effective)) for each in (a, b))
        hits = np.arange(min(n, _GRID) + 1.0)
        weights = np.diff(special.bdtr(hits, n, a.value), prepend=0.0)
        if n > _GRID:
            points = (np.arange(_GRID) + 0.5) / _GRID
            counts = np.ceil(np.asarray(special.bdtrik(points, n, a.value)))
            # A rate of 0 or 1 has a single count.
            hits = np.nan_to_num(counts, nan=n * a.value)
            weights = np.full(_GRID, 1.0 / _GRID)

        def share(x: float) -> float:
            """Share of the other group's counts that keep both ends within, at rate `x` here."""
            least, most = _ends(x, own, other, self.correction, room)
            first = math.ceil(least * m - _ROUNDING)
            below = special.bdtr(first - 1.0, m, b.value) if first > 0 else 0.0
            up_to = special.bdtr(min(m, math.floor((1.0 - most) * m + _ROUNDING)), m, b.value)
            return max(0.0, float(up_to - below)) if least <= 1.0 and most <= 1.0 else 0.0

        cells = zip(hits.tolist(), weights.tolist(), strict=True)
        return math.fsum(weight * share(hit / n) for hit, weight in cells if weight > _ROUNDING)

    def planned_variance(self, spread: float) -> float:
        """Squared error of the difference known from sizes alone, for 0/1 variance `spread`."""
        icc = clusters.PLANNING_ICC
        total = (1.0 - icc) * (1.0 / self.a.rows + 1.0 / self.b.rows)
        if self.sample.population == "sampled" and not self.paired:
            total += icc * (1.0 / self.a.units + 1.0 / self.b.units)
        return spread * total


def read_rates(
    x_a: ArrayLike,
    x_b: ArrayLike,
    units_a: Iterable[Hashable] | None,
    units_b: Iterable[Hashable] | None,
    population: Population,
    *,
    scale: str,
    weights: tuple[Floats | None, Floats | None] = (None, None),
) -> TwoRates:
    """Check two groups of outcomes in [0, 1] and reduce them to effective counts."""
    clusters.check_population(population)
    a = clusters.check_rows(x_a, "x_a", (0.0, 1.0))
    b = clusters.check_rows(x_b, "x_b", (0.0, 1.0))
    index_a, index_b, n_units = clusters.common_index(len(a), len(b), units_a, units_b)
    if population == "fixed":
        clusters.check_repeats_of_groups(index_a, index_b)
    paired = clusters.overlap(index_a, index_b)
    seen = a, b
    a, b = (clusters.weighted_rows(x, own) for x, own in zip(seen, weights, strict=True))
    rows_a = RowMeans.single(a, index_a, outcomes=True)
    rows_b = RowMeans.single(b, index_b, outcomes=True)
    rate_a, rate_b = (
        _limited(_rate(rows, population), rows, own)
        for rows, own in zip((rows_a, rows_b), weights, strict=True)
    )
    discordance = differences = None
    if paired and population == "sampled" and min(rate_a.units, rate_b.units) > 1:
        part_a = clusters.left_out_influence(a - rate_a.value, index_a, n_units)
        part_b = clusters.left_out_influence(b - rate_b.value, index_b, n_units)
        if scale == "log":
            rate_a, rate_b = _log_pair(rate_a, rate_b, part_a, part_b)
        else:
            differences = np.sort(part_a - part_b)
            binary = _binary(a) and _binary(b)
            rate_a, rate_b, discordance = _pair(rate_a, rate_b, differences, binary)
    unit = np.concatenate([index_a, index_b])
    per_unit = np.bincount(unit, minlength=n_units)
    total = len(a) + len(b)
    independent = sum(r.value * (1.0 - r.value) / r.rows for r in (rate_a, rate_b))
    gap = rate_a.value - rate_b.value
    variance = rate_a.variance + rate_b.variance
    if discordance is not None:
        variance = (discordance - gap * gap) / n_units
    effect = variance / independent if variance > 0.0 and independent > 0.0 else total / n_units
    correlations = [rows_a.correlation(), rows_b.correlation()]
    sizes = [len(a), len(b)]
    known = [(c, w) for c, w in zip(correlations, sizes, strict=True) if not math.isnan(c)]
    found = _flags(rate_a, rate_b, *seen, n_units, discordance)
    varies = all(flag.code != "no_variance" for flag in found)
    if varies and rows_a.repeats_identical() and rows_b.repeats_identical():
        same = "all rows of a unit and group are identical: they count as one"
        found.append(Finding("identical_repeats", same))
    return TwoRates(
        a=rate_a,
        b=rate_b,
        sample=Sample.of_sizes(
            per_unit,
            population,
            effective=total / effect,
            icc=sum(c * w for c, w in known) / sum(w for _, w in known) if known else math.nan,
            design_effect=effect,
        ),
        discordance=discordance,
        paired=paired,
        clustered=bool(np.isfinite([rate_a.df, rate_b.df]).any()),
        findings=tuple(found),
        unit=unit,
        differences=differences if discordance is None else None,
    )


def _rate(rows: RowMeans, population: Population) -> Rate:
    n = len(rows.values)
    share, _ = rows.fixed() if population == "fixed" else rows.sampled()
    if population == "fixed":
        return Rate(share.value, n, share.trials, share.effective, share.df)
    if rows.units == 1 or (share.hits is not None and _binary(rows.values)):
        return Rate(share.value, n, rows.units, float(rows.units))
    return Rate(share.value, n, rows.units, share.effective, share.df, share.guard)


def _limited(rate: Rate, rows: RowMeans, weights: Floats | None) -> Rate:
    """Count no more draws than equal weights would need for the same precision (Kish)."""
    if weights is None:
        return rate
    draws = clusters.effective_clusters(rows.per_unit(weights))
    df = min(rate.df, max(1.0, draws - 1.0))
    effective = max(1.0, min(rate.effective, draws))
    return replace(rate, effective=effective, df=df, guard=min(rate.guard, draws))


def _binary(values: Floats) -> bool:
    return bool(((values == 0.0) | (values == 1.0)).all())


def _pair(
    rate_a: Rate, rate_b: Rate, differences: Floats, binary: bool
) -> tuple[Rate, Rate, float | None]:
    """Effective counts whose variance is that of the paired comparison, or its discordance."""
    p_a, p_b, n_units = rate_a.value, rate_b.value, len(differences)
    variance = clusters.variance_of_mean(differences)
    alike = variance <= NO_VARIANCE
    whole = rate_a.units == rate_b.units == n_units
    if alike and not whole:
        return rate_a, rate_b, None
    single = whole and rate_a.rows == rate_b.rows == n_units
    if alike or (single and binary):
        discordance = float(np.abs(differences + (p_a - p_b)).mean())
        return rate_a, rate_b, min(1.0, max(discordance, abs(p_a - p_b)))
    spread = p_a * (1.0 - p_a) / rate_a.rows + p_b * (1.0 - p_b) / rate_b.rows
    df = clusters.kurtosis_df(differences)
    return (*_shrunk(rate_a, rate_b, spread / variance, df), None)


def _log_pair(rate_a: Rate, rate_b: Rate, part_a: Floats, part_b: Floats) -> tuple[Rate, Rate]:
    """Effective counts whose variance is that of the paired log ratio."""
    p_a, p_b, n_units = rate_a.value, rate_b.value, len(part_a)
    if p_a == 0.0 or p_b == 0.0:
        return rate_a, rate_b
    spread = (1.0 - p_a) / (p_a * rate_a.rows) + (1.0 - p_b) / (p_b * rate_b.rows)
    differences = np.sort(part_a / p_a - part_b / p_b)
    variance = clusters.variance_of_mean(differences)
    if variance > NO_VARIANCE:
        return _shrunk(rate_a, rate_b, spread / variance, clusters.kurtosis_df(differences))
    if not rate_a.units == rate_b.units == n_units:
        return rate_a, rate_b
    # All units are equal: assume the number of discordant units in Tango's bound for none.
    shrink = spread * p_a * p_b * n_units**2 / _UNSEEN_PAIRS
    return _shrunk(rate_a, rate_b, max(1.0, shrink), math.inf)


def _shrunk(rate_a: Rate, rate_b: Rate, shrink: float, df: float) -> tuple[Rate, Rate]:
    a, b = (
        Rate(rate.value, rate.rows, rate.units, max(1.0, rate.rows * shrink), df)
        for rate in (rate_a, rate_b)
    )
    return a, b


def _flags(
    rate_a: Rate, rate_b: Rate, a: Floats, b: Floats, n_units: int, discordance: float | None
) -> list[Finding]:
    found = few_units(min(rate_a.units, rate_b.units), SMALLER_GROUP)
    both = np.concatenate([a, b])
    events = min(int((both > 0.0).sum()), int((both < 1.0).sum()))
    if not found and events < FEW_EVENTS:
        few = (
            f"only {events} of {len(both)} outcomes differ from the rest, fewer than {FEW_EVENTS}"
        )
        found.append(Finding("thin_evidence", few))
    if events == 0:
        found.append(Finding("no_variance", f"all {len(both)} outcomes are {both[0]:g}"))
    elif discordance == 0.0:
        found.append(Finding("no_variance", f"no outcome differs inside any of {n_units} units"))
    return found


# Pairs of many groups ask the same again, since most groups have one of a few sizes.
@functools.lru_cache(maxsize=2**14)
def _ends(
    x: float, own: float, other: float, correction: float, room: tuple[float, float]
) -> tuple[float, float]:
    """Return the least other rate, and 1 minus the largest, within `room`; 2 without any."""
    ends: tuple[Callable[[float], float], ...] = (
        (lambda p: difference_excess(x, p, (own, other), correction, room[1])),
        (lambda p: difference_excess(1.0 - p, x, (other, own), correction, -room[0])),
    )
    least, most = (
        0.0 if end(0.0) <= 0.0 else find_root(end, 0.0, 1.0) if end(1.0) <= 0.0 else 2.0
        for end in ends
    )
    return least, most

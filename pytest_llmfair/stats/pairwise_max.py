"""Largest absolute difference over pairs: several groups, strata or contrasts."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate, GroupRow, Table
from pytest_llmfair.stats._crossfit import Bracket, bracket_totals
from pytest_llmfair.stats._layout import Grouped
from pytest_llmfair.stats._records import Ends, Finding, Floats, Passes, Population, Sample
from pytest_llmfair.stats._resampling import SEED_LABELS
from pytest_llmfair.stats._totals import Widest
from pytest_llmfair.stats.mean_difference import MeanDifference
from pytest_llmfair.stats.multiplicity import ErrorRate, expected_largest, holm
from pytest_llmfair.stats.rate_difference import RateDifference

# Smaller groups cannot prove a large gap, but they do prevent the proof of a small one.
_FEWEST_ROWS = 10
_DRAWS = 2000


@dataclass(eq=False, kw_only=True)
class MaxPairwiseDifference(Estimate):
    """Largest absolute difference over pairs of groups.

    The upper end is the largest upper end of any pair without correction, since "all pairs are
    within" is an intersection-union test. The lower end is the larger of two: the largest lower
    end of any pair, corrected for their number, and the cross-fitted difference of the widest
    pair.
    """

    # Estimate of each pair, signed or absolute; the value is the largest size, without sign.
    pairs: Mapping[Hashable, Estimate]
    # Pairs that may prove a difference, and how they share the error rate.
    judged: tuple[Hashable, ...]
    shared: ErrorRate
    # The difference of the widest pair among judged groups, and among all, where rows are known.
    widest: Bracket | None = None
    everyone: Bracket | None = None
    method: str = "intersection-union above, max-T or cross-fit below"
    near_normal = False

    @classmethod
    def of_rates(
        cls,
        outcomes: ArrayLike,
        groups: Iterable[Hashable],
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
    ) -> MaxPairwiseDifference:
        """Largest absolute difference of rates between two groups.

        Parameters
        ----------
        outcomes : array_like of shape (n_rows,)
            Outcomes 0 or 1, or fractions where ties share a selection.
        groups : iterable of hashable
            One label per row.
        units, population
            As in :meth:`Mean.of_rows`; units also across groups.

        Raises
        ------
        ValueError
            If there are fewer than two groups, a row is out of range, or a fixed unit has one row
            of a group.

        Examples
        --------
        >>> groups = ["a"] * 20 + ["b"] * 20 + ["c"] * 20
        >>> rates = MaxPairwiseDifference.of_rates([0, 1] * 20 + [1] * 20, groups)
        >>> rates
        MaxPairwiseDifference 0.500 [0.185, 0.703] (95 %, 60 units)
        >>> rates.groups["a", "c"].value
        0.5
        """
        compare = partial(RateDifference.of_outcomes, population=population)
        return cls._of_rows(outcomes, groups, units, population, (0.0, 1.0), compare)

    @classmethod
    def of_scores(
        cls,
        scores: ArrayLike,
        groups: Iterable[Hashable],
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
        bounds: tuple[float, float] | None = (0.0, 1.0),
    ) -> MaxPairwiseDifference:
        """Largest absolute difference of mean scores between two groups.

        Parameters
        ----------
        scores : array_like of shape (n_rows,)
            Scores within `bounds`, which may be infinite.
        groups, units, population
            As in :meth:`of_rates`.
        bounds : tuple of float or None
            Range of the scores; None where it is not known, as in :class:`MeanDifference`.

        Examples
        --------
        >>> groups = ["a", "b", "c"] * 12
        >>> gap = MaxPairwiseDifference.of_scores([0.1, 0.2, 0.6, 0.3, 0.2, 0.8] * 6, groups)
        >>> round(gap.value, 3)
        0.5
        """
        compare = partial(
            MeanDifference.of_scores, population=population, bounds=bounds, absolute=True
        )
        legal = bounds or (-math.inf, math.inf)
        return cls._of_rows(scores, groups, units, population, legal, compare)

    @classmethod
    def of_pairs(cls, pairs: Mapping[Hashable, Estimate]) -> MaxPairwiseDifference:
        """Largest absolute value of estimates: pairs, groups against a reference, or strata.

        Undefined ones are left out of the value and listed; at least one is needed.

        Examples
        --------
        >>> pair = RateDifference.of_outcomes([1, 0] * 10, [0, 0] * 10)
        >>> MaxPairwiseDifference.of_pairs({("a", "b"): pair}).value
        0.5
        """
        if not pairs:
            raise ValueError("there are no pairs; give at least one estimate")
        judged = tuple(key for key, pair in pairs.items() if pair.undefined is None)
        samples = [pair.sample for pair in pairs.values()]
        sample = Sample(
            units=sum(s.units for s in samples),
            generations=sum(s.generations for s in samples),
            fewest=min(s.fewest for s in samples),
            most=max(s.most for s in samples),
            population=samples[0].population,
        )
        return cls._of(pairs, judged, sample)

    @classmethod
    def of_cells(
        cls,
        pairs: Mapping[Hashable, Estimate],
        sides: Mapping[Hashable, tuple[Hashable, Hashable]],
        values: Floats,
        cells: Sequence[Hashable],
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
    ) -> MaxPairwiseDifference:
        """As :meth:`of_pairs`, of differences of the means of cells, joined by max-T.

        `sides` names the two cells of every pair; `values` and `cells` have one entry per row,
        values being in [0, 1] or the rows that stand for weighted ones.

        Examples
        --------
        >>> x, cells = np.array([1.0, 0.0, 0.0, 0.0] * 10), ["a", "b"] * 20
        >>> pair = {"a, b": RateDifference.of_outcomes(x[::2], x[1::2])}
        >>> MaxPairwiseDifference.of_cells(pair, {"a, b": ("a", "b")}, x, cells).value
        0.5
        """
        found = cls.of_pairs(pairs)
        grouped = Grouped.of(cells, units, len(values), population)
        sizes = dict(zip(grouped.names, np.bincount(grouped.group).tolist(), strict=True))
        enough = {name for name, size in sizes.items() if size >= _FEWEST_ROWS}
        judged = tuple(key for key in found.judged if enough.issuperset(sides[key]))
        found = replace(found, judged=judged, sample=grouped.sample(population))
        if len(judged) > 1:
            covariance = grouped.covariance(values, population, 1.0)
            rows = contrasts([sides[key] for key in judged], grouped.names)
            found = replace(found, shared=ErrorRate(len(judged), covariance, rows))
        return found.with_findings(*_too_small([n for n in grouped.names if n not in enough]))

    @classmethod
    def _of_rows(
        cls,
        values: ArrayLike,
        groups: Iterable[Hashable],
        units: Iterable[Hashable] | None,
        population: Population,
        bounds: tuple[float, float],
        compare: Callable[..., Estimate],
    ) -> MaxPairwiseDifference:
        rows = clusters.check_rows(values, "values", bounds)
        named = Grouped.of(groups, units, len(rows), population)
        grouped, rows = named.arranged(rows)
        unit, inside = grouped.unit, [grouped.group == g for g in range(len(grouped.names))]
        pairs: dict[tuple[Hashable, ...], Estimate] = {}
        for key in combinations(named.names, 2):
            # Names keep the caller's order; computations use the canonical order.
            one, other = (inside[g] for g in sorted(map(grouped.names.index, key)))
            pairs[key] = compare(rows[one], rows[other], units_a=unit[one], units_b=unit[other])
        large = [g for g, own in enumerate(inside) if own.sum() >= _FEWEST_ROWS]
        enough = {grouped.names[g] for g in large}
        judged = tuple(key for key in pairs if enough.issuperset(key))
        table = np.stack([rows, np.ones(len(rows))], axis=1)
        span = bounds[1] - bounds[0]
        found = cls._of(pairs, judged, named.sample(population))
        everyone = bracket_totals(grouped, table, Widest(), population, span)
        shared, widest = found.shared, None
        if len(judged) > 1:
            kept = np.isin(grouped.group, large)
            reach = span if math.isfinite(span) else float(np.ptp(rows))
            part = grouped.subset(np.flatnonzero(kept))
            covariance = part.covariance(rows[kept], population, reach)
            by_pair = contrasts(combinations(part.names, 2), part.names)
            shared = ErrorRate(len(judged), covariance, by_pair)
            widest = bracket_totals(part, table[kept], Widest(), population, span)
        found = replace(found, everyone=everyone, shared=shared, widest=widest)
        return found.with_findings(*_too_small([n for n in named.names if n not in enough]))

    @classmethod
    def _of(
        cls, pairs: Mapping[Any, Estimate], judged: tuple[Hashable, ...], sample: Sample
    ) -> MaxPairwiseDifference:
        known = {key: pair for key, pair in pairs.items() if pair.undefined is None}
        widest = max(known, key=lambda key: abs(known[key].value), default=None)
        value = math.nan if widest is None else known[widest].value
        reach = max((max(map(abs, pair.attainable)) for pair in known.values()), default=math.inf)
        gone = "; ".join(
            f"{key} is not defined ({pair.undefined})"
            for key, pair in pairs.items()
            if pair.undefined is not None
        )
        found: dict[str, Finding] = {}
        if not known:
            found["undefined"] = Finding.undefined(f"no pair is defined: {gone}")
        for key, pair in known.items():
            for flag in pair.findings:
                if flag.kind == "flag" and flag.code not in found:
                    found[flag.code] = Finding(flag.code, f"{_named(key)}: {flag.text}")
        if any(pair.attainable[0] < 0.0 for pair in known.values()):
            text = (
                f"the size of the largest difference, which is {value:+.3f} for {_named(widest)}"
            )
            found["note"] = Finding.note(text)
        if known and gone:
            # A pair without a value may be the widest, so the others prove nothing about it.
            found["not_computable"] = Finding("not_computable", gone, "invalid")
        return cls(
            value=abs(value),
            sample=sample,
            attainable=(0.0, reach),
            groups=pair_table(pairs),
            findings=tuple(found.values()),
            pairs=known,
            judged=judged,
            shared=ErrorRate(max(1, len(judged))),
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end of the largest absolute difference, with one-sided error rate `alpha`."""
        each = self.shared.each(alpha)
        found = max((_folded(self.pairs[key], each)[0] for key in self.judged), default=0.0)
        return found if self.widest is None else max(found, self.widest.lower(alpha))

    def upper_bound(self, alpha: float) -> float:
        """Upper end of the largest absolute difference, with one-sided error rate `alpha`."""
        return max(_folded(pair, alpha)[1] for pair in self.pairs.values())

    @property
    def debiased(self) -> float:
        """The value without the bias of taking the largest; inside the interval at every level."""
        if self.undefined is not None or self.widest is None:
            return self.value
        return min(self.value, max(self.widest.debiased, self.lower_bound(0.5)))

    def noise_floor(self) -> float:
        """Return the mean range of groups that do not differ, by relabelling.

        For estimates without common rows: the mean of the largest of as many independent normal
        errors.
        """
        if self.everyone is not None:
            return self.everyone.noise_floor()
        if not self.pairs:
            return math.nan
        errors = np.sort([pair.standard_error() for pair in self.pairs.values()])
        return expected_largest(errors)

    def p_equal(self) -> float:
        """p-value of "no pair differs": by relabelling, or the smallest adjusted one of a pair."""
        if self.everyone is not None:
            return self.everyone.p_equal()
        return min(row.p for row in self.groups.values() if not math.isnan(row.p))

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error of the widest pair; with `at` the largest planned one."""
        if at is not None:
            return max(pair.standard_error(at) for pair in self.pairs.values())
        return max(self.pairs.values(), key=lambda p: (abs(p.value), p.value)).standard_error()

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`: every pair has to be within."""
        # Pairs of groups are taken as differences of independent normals, others as independent.
        room = (-allowed[1], allowed[1])
        pairs = {key: pair.fair_passes(room, 0.0, alpha) for key, pair in self.pairs.items()}
        gaps = _normal_gaps(list(pairs))

        def passes(more: float) -> float:
            shares = np.array([pair(more) for pair in pairs.values()])
            if np.isnan(shares).any():
                return math.nan
            return float((gaps <= special.ndtri(0.5 + 0.5 * shares)).all(axis=1).mean())

        return passes


def pair_table(pairs: Mapping[Hashable, Estimate]) -> Table:
    """Return the table of pairs, with Holm-adjusted p-values."""

    @cache
    def adjusted() -> dict[Hashable, float]:
        return dict(zip(pairs, holm([_p_equal(pair) for pair in pairs.values()]), strict=True))

    def row(key: Hashable) -> GroupRow:
        pair = pairs[key]
        return GroupRow(pair.value, pair.sample.generations, p=adjusted()[key], estimate=pair)

    return Table(pairs, row)


def contrasts(pairs: Iterable[tuple[Hashable, ...]], names: Sequence[Hashable]) -> Floats:
    """Return pairs of groups as rows of +1 and -1 over the groups; single ones as +1."""
    place = {name: number for number, name in enumerate(names)}
    unit = np.eye(len(names))
    rows = [unit[place[a]] - sum(unit[place[b]] for b in others) for a, *others in pairs]
    return np.array(rows, dtype=np.float64)


def _normal_gaps(keys: list[Hashable]) -> Floats:
    """Draws of the absolute standardised difference of every pair when groups are equal."""
    ends = [key if isinstance(key, tuple) and len(key) == 2 else (key,) for key in keys]
    rows = contrasts(ends, list(dict.fromkeys(name for end in ends for name in end)))
    draws = np.random.default_rng(SEED_LABELS).normal(size=(_DRAWS, rows.shape[1]))
    gaps: Floats = np.abs(draws @ rows.T / np.linalg.norm(rows, axis=1))
    return gaps


def _folded(pair: Estimate, alpha: float) -> tuple[float, float]:
    """Bounds of the absolute value of a pair, whether its own value is signed or absolute."""
    low, high = pair.lower_bound(alpha), pair.upper_bound(alpha)
    return max(0.0, low, -high), max(high, -low)


def _p_equal(pair: Estimate) -> float:
    """Two-sided p-value of "this pair does not differ"; NaN when it is undefined."""
    if pair.undefined is not None:
        return math.nan
    above, below = pair.p_exceeds(0.0), pair.p_within(0.0)
    if pair.attainable[0] < 0.0:
        return min(1.0, 2.0 * min(above, below))
    return min(1.0, 2.0 * above)


def _too_small(names: Sequence[Hashable]) -> list[Finding]:
    """Warn about groups that cannot prove a difference."""
    if not names:
        return []
    few = (
        f"fewer than {_FEWEST_ROWS} rows of {', '.join(map(_named, names))}: such a group keeps a "
        "difference from being ruled out but cannot prove one"
    )
    return [Finding("thin_evidence", few)]


def _named(key: Hashable) -> str:
    if isinstance(key, tuple) and len(key) > 2:
        return f"{key[0]} of {_named(key[1:])}"
    return " and ".join(map(str, key)) if isinstance(key, tuple) else str(key)

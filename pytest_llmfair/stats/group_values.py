"""Any smooth statistic by group: its value and interval in each, and comparisons of groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from pytest_llmfair.stats._base import Estimate, Undefined
from pytest_llmfair.stats._records import Ends, Floats, Indices, Sample
from pytest_llmfair.stats._resampling import Strata
from pytest_llmfair.stats._rows import NO_VARIANCE, few_units
from pytest_llmfair.stats._score_intervals import Share
from pytest_llmfair.stats.joined import JoinedRatio, JoinedSum
from pytest_llmfair.stats.multiplicity import ErrorRate
from pytest_llmfair.stats.pairwise_max import MaxPairwiseDifference, contrasts
from pytest_llmfair.stats.user_function import JackknifeEstimate

# More kinds of units than this are left out in as many folds.
_FOLDS = 200
_SEED = 16


@dataclass(eq=False, kw_only=True)
class BoundedJackknife(JackknifeEstimate):
    """A smooth function of the data within known limits.

    Wilson's interval on the scale of the limits, for as many independent 0/1 draws as have the
    same variance (jackknife over units), and never tighter than rare units that were missed allow.
    """

    method: str = "Wilson on jackknife variance, kurtosis-based df"

    @cached_property
    def _share(self) -> Share:
        low, high = self.attainable
        value = min(1.0, max(0.0, (self.value - low) / (high - low)))
        variance, df = self._variance_df
        variance, units = variance / (high - low) ** 2, self.sample.units
        if not math.isfinite(variance):
            # Nothing shows how much units differ, as with a single one.
            return Share(value, math.nan, math.nan, 1)
        effective = value * (1.0 - value) / variance if variance > NO_VARIANCE else float(units)
        return Share(value, max(effective, 1.0), df, units, guard=units)

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        low, high = self.attainable
        return low + (high - low) * self._share.lower(alpha)

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        low, high = self.attainable
        return low + (high - low) * self._share.upper(alpha)


@dataclass(frozen=True, eq=False)
class GroupValues:
    """A statistic of the rows of each group, and of all rows together."""

    # From row numbers to a number, or why there is none.
    measure: Callable[[Indices], float | str]
    # Rows of every group, and the number of the sampling unit of each row of the data.
    members: Mapping[Hashable, Indices]
    unit: Indices
    # Rank of what each row holds, so that results do not depend on the order of rows.
    codes: Indices
    # Range of the statistic; may be infinite.
    bounds: Ends = (-math.inf, math.inf)

    @cached_property
    def shared(self) -> bool:
        """Whether a sampling unit has rows of several groups."""
        held = [np.unique(self.unit[rows]) for rows in self.members.values()]
        every = np.concatenate(held)
        return len(np.unique(every)) < len(every)

    @cached_property
    def fold(self) -> Indices:
        """Fold of each sampling unit: units of one group have different ones where these do."""
        units = int(self.unit.max()) + 1
        # Units that hold the same are left out with the same result, so that few kinds are few.
        whole = self.rows(None)
        held = self._held(whole, self.unit)
        if len(np.unique(held[self.unit[whole]])) <= _FOLDS:
            return np.unique(np.arange(units), return_inverse=True)[1].astype(np.intp)
        found = np.zeros(units, dtype=np.intp)
        for group in [None] if self.shared else list(self.members):
            own, first = np.unique(self.unit[self.rows(group)], return_index=True)
            ordered = own[np.argsort(first)]
            mixed = np.random.default_rng(_SEED).permutation(len(ordered))
            found[ordered[mixed]] = np.arange(len(ordered)) % _FOLDS
        return found

    def rows(self, group: Hashable) -> Indices:
        """Rows of a group, or with None of all, in canonical order."""
        own = list(self.members.values()) if group is None else [self.members[group]]
        rows = np.concatenate(own)
        return np.asarray(rows[np.argsort(self.codes[rows], kind="stable")])

    def sample(self, *groups: Hashable) -> Sample:
        """Count the units and rows of some groups."""
        rows = np.unique(np.concatenate([self.rows(group) for group in groups]))
        return Sample.of_sizes(np.unique(self.unit[rows], return_counts=True)[1])

    def _held(self, rows: Indices, label: Indices) -> npt.NDArray[np.uint64]:
        """Return a number for what each label holds of some rows, whatever their order."""
        marks = np.random.default_rng(_SEED).integers(2**63, size=int(self.codes.max()) + 1)
        found = np.zeros(int(label.max()) + 1, dtype=np.uint64)
        np.add.at(found, label[rows], marks[self.codes[rows]].astype(np.uint64))
        return found

    def influence(self, group: Hashable) -> Floats:
        """Return the contribution of each fold to a group, NaN where it has no rows."""
        rows = self.rows(group)
        value, fold = self.measure(rows), self.fold[self.unit]
        assert not isinstance(value, str)
        # Jackknife over folds of units.
        own = self.fold[np.unique(self.unit[rows])]
        sizes, total = np.bincount(own), len(own)
        there = np.flatnonzero(sizes)
        _, first, kind = np.unique(
            self._held(rows, fold)[there], return_index=True, return_inverse=True
        )
        # Nothing is left of a group of one unit.
        left = [
            self.measure(rows[fold[rows] != k]) if sizes[k] < total else math.inf
            for k in there[first]
        ]
        change = np.array([math.nan if isinstance(x, str) else value - x for x in left])[kind]
        found = np.full(int(self.fold.max()) + 1, np.nan)
        known = np.isfinite(change)
        found[there] = np.where(known, change, 0.0) * (total - sizes[there]) / total
        found[there[~known]] = math.inf
        return found

    @cached_property
    def _influences(self) -> dict[Hashable, Floats]:
        return {}

    def _influence(self, group: Hashable) -> Floats:
        if group not in self._influences:
            self._influences[group] = self.influence(group)
        return self._influences[group]

    def spread(self, *groups: Hashable) -> tuple[float, float]:
        """Squared error and its degrees of freedom: of a group, or of a first less a second."""
        parts = [self._influence(group) for group in groups]
        if len(parts) == 1:
            total = parts[0][~np.isnan(parts[0])]
        else:
            there = ~(np.isnan(parts[0]) & np.isnan(parts[1]))
            first, second = (_zero_outside(part[there]) for part in parts)
            # Infinite where a part measures nothing.
            total = first - np.where(np.isfinite(first), second, 0.0)
        if len(total) < 2 or not np.isfinite(total).all():
            return math.inf, 1.0
        return Strata(np.array([len(total)])).variance(total)

    def _estimate(
        self, value: float, groups: Sequence[Hashable], bounds: Ends
    ) -> JackknifeEstimate:
        sample = self.sample(*groups)
        kind = BoundedJackknife if np.isfinite(bounds).all() else JackknifeEstimate
        return kind(
            value=value,
            sample=sample,
            attainable=bounds,
            findings=tuple(few_units(sample.units)),
            spread=partial(self.spread, *groups),
        )

    def value(self, group: Hashable = None) -> Estimate:
        """Estimate the statistic in a group, or of all rows."""
        found = self.measure(self.rows(group))
        if isinstance(found, str) or not math.isfinite(found):
            why = found if isinstance(found, str) else f"the metric gives {found:g}"
            return Undefined(undefined=why, sample=self.sample(group))
        low, high = self.bounds
        if not low <= found <= high:
            raise ValueError(f"a metric gave {found:g}, outside its bounds [{low:g}, {high:g}]")
        return self._estimate(found, [group], self.bounds)

    def difference(self, first: Hashable, second: Hashable) -> Estimate:
        """Estimate the value in one group less that in another one, or of all rows (None)."""
        a, b = self.value(first), self.value(second)
        span = self.bounds[1] - self.bounds[0]
        sample = self.sample(first, second)
        apart = not self.shared and second is not None
        missing = a.undefined is not None or b.undefined is not None
        if apart or missing:
            return JoinedSum.of_parts([(1.0, a), (-1.0, b)], sample, attainable=(-span, span))
        return self._estimate(a.value - b.value, [first, second], (-span, span))

    def ratio(self, first: Hashable, second: Hashable) -> JoinedRatio:
        """As :meth:`difference`, of their ratio."""
        apart = not self.shared and second is not None
        sample = self.sample(first, second)
        return JoinedRatio.of_parts(
            self.value(first), self.value(second), sample, independent=apart
        )

    def largest(self, pairs: Sequence[tuple[Hashable, Hashable]]) -> MaxPairwiseDifference:
        """Largest absolute difference of pairs, whose errors are joined by max-T where known."""
        found = MaxPairwiseDifference.of_pairs({pair: self.difference(*pair) for pair in pairs})
        found = replace(found, sample=self.sample(None))
        names = list(dict.fromkeys(name for pair in found.judged for name in pair))  # type: ignore[attr-defined]
        table = [_zero_outside(self._influence(name)) for name in names]
        if len(found.judged) < 2 or not all(np.isfinite(row).all() for row in table):
            return found
        each = np.stack(table, axis=1)
        covariance = each.T @ each
        if not self.shared and None not in names:
            covariance = np.diag(np.diag(covariance))
        rows = contrasts(found.judged, names)  # type: ignore[arg-type]
        return replace(found, shared=ErrorRate(len(found.judged), covariance, rows))


def _zero_outside(influence: Floats) -> Floats:
    """Influence of every fold, also of those without rows of the group."""
    return np.where(np.isnan(influence), 0.0, influence)

"""Distances between group means of a table of rows, and the norms that they use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair.stats._clusters import cluster_index
from pytest_llmfair.stats._layout import Comparisons, Grouped, Layout, canonical_orders, places
from pytest_llmfair.stats._records import Floats, Indices
from pytest_llmfair.stats._resampling import SEED_LABELS, blocks, gathered


def _ratio(above: NDArray[Any], below: NDArray[Any]) -> NDArray[Any]:
    """Ratio; 0 where nothing was counted."""
    known = np.real(below) > 0.0
    return np.asarray(np.where(known, above / np.where(known, below, 1.0), 0.0))


class Norm(ABC):
    """A convex distance as a function of totals of shape (n_draws, n_groups, n_features)."""

    # Whether relabelling may give the rows of a unit any group.
    free: bool = False

    @abstractmethod
    def distance(self, totals: Floats) -> Floats:
        """Distance at every draw."""

    @abstractmethod
    def frozen(self, chosen: Floats, held: NDArray[Any]) -> NDArray[Any]:
        """Functionals that touch the distance at `chosen`, evaluated at `held` (maybe complex)."""


class AbsoluteSum(Norm):
    """A weighted sum of absolute differences."""

    @abstractmethod
    def gaps(self, totals: NDArray[Any]) -> NDArray[Any]:
        """Signed differences at every draw."""

    @abstractmethod
    def summed(self, gaps: NDArray[Any]) -> NDArray[Any]:
        """Weighted sum of the differences of every draw."""

    def distance(self, totals: Floats) -> Floats:
        return self.summed(np.abs(self.gaps(totals)))

    def noise(self, totals: Floats) -> float:
        """Sum of the standard deviations of the differences over draws."""
        return float(self.summed(self.gaps(totals).std(axis=0, keepdims=True))[0])

    def frozen(self, chosen: Floats, held: NDArray[Any]) -> NDArray[Any]:
        gaps = self.gaps(chosen)
        # Differences that are rounding errors have no sign.
        signs = np.where(np.abs(gaps) > 1e-12, np.sign(gaps), 0.0)
        return self.summed(signs * self.gaps(held))


@dataclass(frozen=True, slots=True)
class MeanGaps(AbsoluteSum):
    """Weighted sum of absolute differences of means (Czarnowska et al. 2021, eqs. 4 to 6)."""

    sides: Comparisons

    def gaps(self, totals: NDArray[Any]) -> NDArray[Any]:
        """Difference of the means of either side; 0 where a side counts nothing."""
        both = self.sides.first, self.sides.second
        pooled = [np.einsum("bgf,cg->bcf", totals, side) for side in both]
        half = totals.shape[2] // 2
        above = [side[:, :, :half] for side in pooled]
        below = [side[:, :, half:] for side in pooled]
        known = (np.real(below[0]) > 0.0) & (np.real(below[1]) > 0.0)
        gaps = _ratio(above[0], below[0]) - _ratio(above[1], below[1])
        return np.asarray(np.where(known, gaps, 0.0))

    def summed(self, gaps: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.sides.factor * gaps.sum(axis=(1, 2)))


class BinErrors(AbsoluteSum):
    """Sum over bins of the difference of two sums, over the number of rows (the last column)."""

    def gaps(self, totals: NDArray[Any]) -> NDArray[Any]:
        """Difference of both sums of every bin, over all rows."""
        return _ratio(totals[:, 0, :-1] - totals[:, 1, :-1], totals[:, :1, -1])

    def summed(self, gaps: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(gaps.sum(axis=1))


@dataclass(frozen=True, slots=True)
class Widest(Norm):
    """Largest mean minus smallest mean; features are one numerator and one denominator."""

    def distance(self, totals: Floats) -> Floats:
        means = _ratio(totals[:, :, 0], totals[:, :, 1])
        return np.asarray(np.ptp(means, axis=1))

    def frozen(self, chosen: Floats, held: NDArray[Any]) -> NDArray[Any]:
        """Take the extreme groups at `chosen`, their difference at `held`."""
        counted = chosen[:, :, 1] > 0.0
        picked = _ratio(chosen[:, :, 0], chosen[:, :, 1])
        top = np.where(counted, picked, -np.inf).argmax(axis=1)
        bottom = np.where(counted, picked, np.inf).argmin(axis=1)
        draw = np.arange(len(held))
        means = _ratio(held[:, :, 0], held[:, :, 1])
        known = np.real(held[:, :, 1]) > 0.0
        both = known[draw, top] & known[draw, bottom]
        return np.asarray(np.where(both, means[draw, top] - means[draw, bottom], 0.0))


@dataclass(frozen=True, slots=True)
class Associations(AbsoluteSum):
    """Mean over words of the total variation distance to a reference (Bommasani et al. 2023)."""

    # Expected share of each group; without it the groups' shares of all mentions.
    reference: Floats | None

    @property
    def free(self) -> bool:  # type: ignore[override]
        """Whether a mention could be of any group: where the reference is given."""
        return self.reference is not None

    def gaps(self, totals: NDArray[Any]) -> NDArray[Any]:
        """Share of each group less its reference, 0 for words not seen."""
        words = totals[:, :, :-1]
        seen = words.sum(axis=1, keepdims=True)
        if self.reference is None:
            mentions = totals[:, :, -1:]
            expected = _ratio(mentions, mentions.sum(axis=1, keepdims=True))
        else:
            expected = self.reference[None, :, None]
        return np.asarray(np.where(np.real(seen) > 0.0, _ratio(words, seen) - expected, 0.0))

    def summed(self, gaps: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(0.5 * gaps.sum(axis=1).mean(axis=1))


@dataclass(frozen=True, slots=True)
class Divergence(Norm):
    """Jensen-Shannon divergence of the category shares of two groups."""

    scale: float

    def distance(self, totals: Floats) -> Floats:
        shares = _ratio(totals, totals.sum(axis=2, keepdims=True))
        middle = shares.mean(axis=1, keepdims=True)
        parts = shares * np.log(
            np.where(shares > 0.0, shares / np.where(middle > 0, middle, 1), 1)
        )
        return np.asarray(np.maximum(0.0, 0.5 * self.scale * parts.sum(axis=(1, 2))))

    def frozen(self, chosen: Floats, held: NDArray[Any]) -> NDArray[Any]:
        """Log likelihood ratios at `chosen`, half a count added to each, shares at `held`."""
        smooth = chosen + 0.5
        smooth = smooth / smooth.sum(axis=2, keepdims=True)
        ratio = np.log(smooth / smooth.mean(axis=1, keepdims=True))
        shares = _ratio(held, held.sum(axis=2, keepdims=True))
        return np.asarray(0.5 * self.scale * (shares * ratio).sum(axis=(1, 2)))


# Step of the complex-step derivative: exact to rounding, since nothing is subtracted.
_STEP = 1e-30


@dataclass(frozen=True)
class Totals:
    """A distance between groups that depends on sums over rows only."""

    rows: Floats
    layout: Layout
    norm: Norm

    @property
    def columns(self) -> int:
        return len(self.rows)

    def plug_in(self, weights: Floats) -> Floats:
        """Distance at each row of `weights` (n_draws, n_units)."""
        return self.norm.distance(self.totals(weights))

    def frozen(self, chosen: Floats, held: Floats) -> Floats:
        return self.norm.frozen(self.totals(chosen), self.totals(held))

    def noise(self, weights: Iterable[Floats]) -> float:
        """Return the standard errors of the absolute differences, summed as these are."""
        assert isinstance(self.norm, AbsoluteSum)
        return self.norm.noise(np.concatenate(list(map(self.totals, weights))))

    def totals(self, weights: Floats) -> Floats:
        """Totals (n_draws, n_groups, n_features) at each row of `weights`."""
        totals = np.empty((len(weights), self.layout.groups, self.rows.shape[1]))
        for number, (units, rows) in enumerate(self._groups):
            totals[:, number] = gathered(weights, units) @ rows
        return totals

    @cached_property
    def _groups(self) -> list[tuple[Indices, Floats]]:
        group = self.layout.group
        members = [group == number for number in range(self.layout.groups)]
        return [(self.layout.unit[inside], self.rows[inside]) for inside in members]

    def influence(self) -> Floats:
        """Differentiate the functional chosen at equal weights by the weight of each unit."""
        units = self.layout.strata.units
        full = self.totals(np.ones((1, units)))
        influence = np.empty(units)
        order = np.argsort(self.layout.unit, kind="stable")
        unit, group = self.layout.unit[order], self.layout.group[order]
        start = 0
        # There may be many more differences between groups than groups.
        for size in blocks(units, 16 * full.size):
            own = np.zeros((size, *full.shape[1:]))
            inside = slice(*np.searchsorted(unit, [start, start + size]))
            np.add.at(own, (unit[inside] - start, group[inside]), self.rows[order[inside]])
            moved = self.norm.frozen(full, full + 1j * _STEP * own)
            influence[start : start + size] = moved.imag / _STEP
            start += size
        return influence

    def relabelled(self, draws: int) -> Floats:
        """Distances after random relabelling of groups that leaves units whole."""
        generator = np.random.default_rng(SEED_LABELS)
        slots = np.zeros((len(self.layout.slot_group), self.rows.shape[1]))
        np.add.at(slots, self.layout.slot, self.rows)
        parts = []
        for size in blocks(draws, len(slots) * self.layout.groups):
            labels = self.layout.shuffled(size, generator, self.norm.free)
            totals = np.stack(
                [(labels == number) @ slots for number in range(self.layout.groups)], axis=1
            )
            parts.append(self.norm.distance(totals))
        return np.concatenate(parts)


def divergence(
    grouped: Grouped, categories: Sequence[Hashable], base: float | None
) -> tuple[Floats, Divergence]:
    """Rows and norm of the Jensen-Shannon divergence of category shares."""
    number, count = cluster_index(categories, len(grouped.group), "categories")
    # The order of columns must not depend on which category comes first.
    axes = [grouped.unit, grouped.group, number]
    order = canonical_orders(
        axes, [grouped.units, len(grouped.names), count], np.ones(len(number))
    )[2]
    rows = np.zeros((len(number), count))
    rows[np.arange(len(number)), places(order)[number]] = 1.0
    scale = 1.0 if base is None else 1.0 / float(np.log(base))
    return rows, Divergence(scale)

"""Means of bounded quantities over sampling units, and means of maxima."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._records import Contributions, Ends, Floats, Passes, Population, Sample
from pytest_llmfair.stats._rows import RowMeans, read_table, share_of_maxima
from pytest_llmfair.stats._score_intervals import Share, within_share, zero_event_bound


@dataclass(eq=False, kw_only=True)
class Mean(Estimate):
    """Mean over rows of a bounded quantity, with an interval over clusters of rows.

    Wilson score interval on the effective sample size, with degrees of freedom from the kurtosis
    of the cluster influence values ("W-kdf"); Clopper-Pearson for one 0/1 outcome per cluster.
    """

    # The evidence on [0, 1], and its squared error: 0 where units are equal, NaN with one unit.
    share: Share
    variance: float
    bounds: tuple[float, float]
    outcomes: bool
    floor: Mean | None = None
    excess: Mean | None = None
    # Variance of a row's value that is due to its generations; NaN where unknown.
    sampling: float = math.nan
    method: str = "W-kdf"

    @classmethod
    def of_rows(
        cls,
        rows: ArrayLike | Sequence[ArrayLike],
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
        bounds: tuple[float, float] = (0.0, 1.0),
        outcomes: bool = False,
    ) -> Self:
        """Mean of the row means.

        Parameters
        ----------
        rows : array_like of shape (n_rows, n_generations), or sequence of 1-D array_like
            One row per prompt, its generations inside; rows may differ in length.
        units : iterable of hashable, optional
            One label per row; rows with equal labels are one sampling unit. They count in the
            value each time they occur, but are one unit of evidence.
        population : {"sampled", "fixed"}
            Whether units were drawn from a larger population, or only generations vary.
        bounds : tuple of float
            Range of the entries.
        outcomes : bool
            Whether entries are 0/1 outcomes.

        Raises
        ------
        ValueError
            If a row is empty, or an entry is NaN, infinite, out of range or, with `outcomes`,
            neither 0 nor 1; or a fixed unit has fewer than two generations. Names the row.

        Examples
        --------
        >>> Mean.of_rows([[0.1, 0.3], [0.2], [0.6, 0.5, 0.7]])
        Mean 0.333 [0.055, 0.986] (95 %, 3 units x 2)
        """
        clusters.check_bounds(bounds)
        values, counts, squares = read_table(rows, bounds, outcomes)
        return cls._build(values, counts, squares, None, units, population, bounds, outcomes)

    @classmethod
    def of_indicators(
        cls,
        x: ArrayLike,
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
    ) -> Self:
        """Share of rows with an event: :meth:`of_values` of one 0, 1 or boolean per row.

        Examples
        --------
        >>> Mean.of_indicators([0, 1, 0, 0, 1, 0, 0, 0])
        Mean 0.250 [0.032, 0.651] (95 %, 8 units)
        """
        return cls.of_values(x, units=units, population=population, outcomes=True)

    @classmethod
    def of_values(
        cls,
        values: ArrayLike,
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
        bounds: tuple[float, float] = (0.0, 1.0),
        generation_variance: ArrayLike | None = None,
        generations: int | ArrayLike = 1,
        outcomes: bool = False,
        floor: Mean | None = None,
        excess: Mean | None = None,
        reach: tuple[float, float] | None = None,
    ) -> Self:
        """Mean of values that are already one per row.

        Parameters
        ----------
        values : array_like of shape (n_rows,)
            One value per row.
        units, population, bounds
            As in :meth:`of_rows`.
        generation_variance : array_like of shape (n_rows,), optional
            Variance of each row's value that is due to its generations; a fixed population needs
            it, unless each row is one generation and units have several rows.
        generations : int or array_like of shape (n_rows,)
            Generations of each value.
        outcomes : bool
            Whether values are means of 0/1 outcomes.
        floor, excess : Mean, optional
            Companions of a pair metric with several generations a side.
        reach : tuple of float, optional
            Mean smallest and mean largest value that a row could have, where these are within
            `bounds`: rare rows that the sample missed may be as far away.

        Raises
        ------
        ValueError
            If a value is NaN, infinite or out of range; or a fixed unit has fewer than two
            generations. Names the row.

        Examples
        --------
        >>> Mean.of_values([0.2, 0.4, 0.3, 0.6], units=["x", "x", "y", "z"])
        Mean 0.375 [0.094, 0.878] (95 %, 3 units, 4 answers)
        """
        clusters.check_bounds(bounds)
        array = clusters.check_rows(values, "values", bounds)
        counts = np.broadcast_to(np.asarray(generations, dtype=np.float64), array.shape)
        if not (counts >= 1.0).all():
            row = int(np.argmin(counts >= 1.0))
            raise ValueError(f"generations of row {row} are {counts[row]:g}; give at least 1")
        single = bool((counts == 1.0).all())
        if outcomes and single and (wrong := (array != 0.0) & (array != 1.0)).any():
            row = int(np.argmax(wrong))
            raise ValueError(f"values row {row} is {array[row]:g}; outcomes are 0 or 1")
        variance = None
        if generation_variance is not None:
            variance = clusters.check_rows(
                generation_variance, "generation_variance", (0.0, math.inf)
            )
            if variance.shape != array.shape:
                raise ValueError(
                    f"generation_variance has {variance.size} rows, values has {array.size}"
                )
        squares = np.zeros(array.shape) if single else None
        mean = cls._build(
            array, counts, squares, variance, units, population, bounds, outcomes, reach
        )
        return replace(mean, floor=floor, excess=excess)

    @classmethod
    def _build(
        cls,
        values: Floats,
        counts: Floats,
        squares: Floats | None,
        own_variance: Floats | None,
        units: Iterable[Hashable] | None,
        population: Population,
        bounds: tuple[float, float],
        outcomes: bool,
        reach: tuple[float, float] | None = None,
    ) -> Self:
        clusters.check_population(population)
        low, high = bounds
        scale = high - low
        units = None if units is None else clusters.as_list(units)
        rows = RowMeans(
            (values - low) / scale,
            counts,
            None if squares is None else squares / scale**2,
            None if own_variance is None else own_variance / scale**2,
            *clusters.cluster_index(units, len(values)),
            outcomes,
            ((reach[0] - low) / scale, (reach[1] - low) / scale) if reach else (0.0, 1.0),
        )
        share, variance = rows.fixed() if population == "fixed" else rows.sampled()
        per_unit = rows.generations
        generations = int(per_unit.sum())
        effective = rows.effective_size(variance, share.trials)
        if population == "sampled":
            effective = min(effective, float(generations))
        return cls(
            value=clusters.exact_mean(values),
            sample=Sample.of_sizes(
                per_unit,
                population,
                effective=effective,
                icc=rows.correlation(),
                design_effect=generations / effective,
            ),
            attainable=bounds,
            contributions=Contributions(values, units, scale),
            findings=tuple(rows.flags(share.trials)),
            share=share,
            variance=variance,
            bounds=bounds,
            outcomes=outcomes,
            sampling=scale * scale * rows.sampling_variance(),
            method=share.method,
        )

    def _scaled(self, share: float) -> float:
        low, high = self.bounds
        return low + (high - low) * share

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""
        return self._scaled(self.share.lower(alpha))

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        return self._scaled(self.share.upper(alpha))

    @property
    def reach(self) -> Ends:
        """Mean smallest and mean largest value that a row could have."""
        least, most = self.share.reach
        return self._scaled(least), self._scaled(most)

    floor_words = "two answers to the same prompt"

    def noise_floor(self) -> float:
        """Mean of the two within-side values; NaN without a companion floor."""
        return math.nan if self.floor is None else self.floor.value

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error; the planned one of scores is at most that of uniform ones."""
        low, high = self.bounds
        scale = high - low
        if at is None:
            if self.variance > 0.0:
                return scale * math.sqrt(self.variance)
            trials = self.share.trials
            share = (self.share.value * trials + 1.0) / (trials + 2.0)
            return scale * math.sqrt(share * (1.0 - share) / trials)
        spread = max(0.0, (at - low) * (high - at))
        if not self.outcomes:
            spread = min(spread, scale * scale / 12.0)
        own = self.sample
        planned = clusters.planned_variance(own.generations, own.units, own.population)
        return math.sqrt(spread * planned)

    def fewest_units(self, threshold: float, alpha: float) -> int:
        """Units that must be seen before what they may have missed excludes `threshold`."""
        low, high = self.bounds
        share, seen = (threshold - low) / (high - low), self.share
        if not 0.0 < share < 1.0:
            return 0
        below = seen.value < share
        if self.outcomes or self.variance == 0.0:
            missed = share if below else 1.0 - share
        else:
            end = seen.reach[1] if below else seen.reach[0]
            missed = abs(share - seen.value) / abs(end - seen.value) if end != seen.value else 1.0
        if not 0.0 < missed < 1.0:
            return 0
        per_unit = seen.trials / self.sample.units
        return min(10**6, math.ceil(math.log(alpha) / math.log1p(-missed) / per_unit))

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`; a fair value at an end of the range means no event."""
        start, stop = self.bounds
        scale, trials = stop - start, self.share.trials
        low, high = ((end - fair) / scale for end in allowed)
        if fair in self.bounds:
            room = high if fair == start else -low
            return lambda more: float(zero_event_bound(trials * more, alpha) <= room)
        # Equal units do not show how others vary: use the planned error.
        known = self.variance > 0.0
        error = math.sqrt(self.variance) if known else self.standard_error(fair) / scale
        if not error > 0.0:
            return lambda more: within_share(error, (low, high), (0.0, 0.0))
        centre = (fair - start) / scale
        # With few units the interval has a minimum width that Wilson's lacks.
        own = replace(self.share, guard=math.inf)
        seen = own.value - own.lower(alpha), own.upper(alpha) - own.value

        def passes(more: float) -> float:
            draws = centre * (1.0 - centre) / error**2 * more
            df = self.share.df * more if known else math.inf
            share = Share(centre, draws, df, 2, None, self.share.guard * more, self.share.reach)
            widths = centre - share.lower(alpha), share.upper(alpha) - centre
            if known:
                least = [width / math.sqrt(more) for width in seen]
                widths = max(widths[0], least[0]), max(widths[1], least[1])
            return within_share(error / math.sqrt(more), (low, high), widths)

        return passes


@dataclass(eq=False, kw_only=True)
class MeanMaximum(Mean):
    """Mean over rows of the largest generation; the value grows with the number of generations.

    A maximum is one draw, whatever the number of generations. For a fixed population its
    variance is bounded by the squared distance to the second largest (Efron and Stein 1981).
    """

    # Rows, each with one maximum.
    maxima: int = 0

    @classmethod
    def of_generations(
        cls,
        rows: ArrayLike | Sequence[ArrayLike],
        *,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
        outcomes: bool = False,
    ) -> MeanMaximum:
        """Mean over rows of the largest generation.

        Parameters
        ----------
        rows : array_like of shape (n_rows, n_generations)
            Numbers in [0, 1].
        units, population, outcomes
            As in :meth:`Mean.of_rows`; the maximum of outcomes indicates any event.

        Raises
        ------
        ValueError
            If there is no row, rows differ in length, an entry is illegal, or a fixed unit has
            fewer than two generations.

        Examples
        --------
        >>> MeanMaximum.of_generations([[0.1, 0.3], [0.2, 0.9], [0.4, 0.4]])
        MeanMaximum 0.533 [0.086, 1.000] (95 %, 3 units x 2)
        """
        clusters.check_population(population)
        _, counts, _ = read_table(rows, (0.0, 1.0), outcomes)
        odd = counts != counts[0]
        if odd.any():
            row = int(np.argmax(odd))
            raise ValueError(
                f"row {row} has {counts[row]:g} generations and row 0 has {counts[0]:g}; a "
                "largest one depends on their number, so give every row the same"
            )
        table = np.asarray(rows, dtype=np.float64).reshape(len(counts), -1)
        n, m = table.shape
        spread = population == "fixed" and m > 1
        drawn = cls.of_values(
            table.max(axis=1),
            units=units,
            population="sampled" if spread else population,
            outcomes=outcomes,
        )
        share, sample, variance = drawn.share, drawn.sample, drawn.variance
        if spread:
            share = share_of_maxima(table, drawn.value, outcomes)
            sample = replace(sample, effective=share.effective, design_effect=n / share.effective)
            variance = drawn.value * (1.0 - drawn.value) / share.effective
        per_unit = {"fewest": sample.fewest * m, "most": sample.most * m}
        return replace(
            drawn,
            maxima=n,
            share=share,
            variance=variance,
            method=share.method,
            sample=replace(sample, generations=n * m, population=population, **per_unit),
        )

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error, as in :class:`Mean`; a maximum counts as one draw."""
        draws = replace(self.sample, generations=self.maxima)
        return Mean.standard_error(replace(self, sample=draws), at)

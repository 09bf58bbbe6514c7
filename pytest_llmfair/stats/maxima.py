"""Means of the largest of several generations: expected maximum scores and their indicators."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats import _clusters as clusters
from pytest_llmfair.stats._clusters import Floats
from pytest_llmfair.stats._intervals import Share
from pytest_llmfair.stats._rates import precision_of
from pytest_llmfair.stats._records import Population
from pytest_llmfair.stats._rows import NO_VARIANCE, read_table
from pytest_llmfair.stats.mean import Mean

# One-sided error rate at which two valid intervals are compared; the narrower one is used.
_TYPICAL = 0.025


@dataclass(eq=False, kw_only=True)
class MeanMaximum(Mean):
    """Mean over rows of the largest generation; the value grows with the number of generations.

    A maximum is one draw, however many generations it was taken from. For a fixed population its
    variance is bounded by the squared distance to the second largest (Efron and Stein 1981).

    Attributes
    ----------
    maxima : int
        Number of rows, each with one maximum.
    """

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
        units : iterable of hashable, optional
            One label per row; rows with equal labels are one sampling unit.
        population : {"sampled", "fixed"}
            Whether units were drawn from a larger population, or only generations vary.
        outcomes : bool
            Whether entries are 0/1 outcomes, of which the largest says whether there is an event.

        Raises
        ------
        ValueError
            If there is no row, rows differ in length, an entry is illegal, or a fixed unit has
            fewer than two generations.
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
        share = drawn._fixed_share(table) if spread else drawn.share
        sample = drawn.sample
        if spread:
            sample = replace(sample, effective=share.effective, design_effect=n / share.effective)
        return replace(
            drawn,
            maxima=n,
            share=share,
            variance=drawn.value * (1.0 - drawn.value) / share.effective
            if spread
            else drawn.variance,
            method=share.method,
            sample=replace(
                sample,
                generations=n * m,
                fewest=sample.fewest * m,
                most=sample.most * m,
                population=population,
            ),
        )

    def _fixed_share(self, table: Floats) -> Share:
        """Evidence of rows that are fixed, so that only their generations vary."""
        n = len(table)
        top = np.sort(table, axis=1)[:, -2:]
        # Var(f) <= sum of E(f - f_i)^2 for any f_i that leaves out draw i; here f_i is the maximum
        # of the others, which differs for the largest draw only.
        parts = (top[:, 1] - top[:, 0]) ** 2 / n**2
        variance = float(np.sort(parts).sum())
        spread = self.value * (1.0 - self.value)
        # Draws in [0, 1] vary at most like 0/1 draws of the same mean, and those most when all
        # means are equal (Hoeffding 1956): n binomial draws are enough for sure.
        effective, df = float(n), math.inf
        if variance > NO_VARIANCE and not self.outcomes:
            known, its_df = spread / variance, clusters.satterthwaite(parts, np.ones(n))
            if precision_of(known, _TYPICAL, its_df) > precision_of(effective, _TYPICAL):
                effective, df = known, its_df
        hits = int(table.max(axis=1).sum()) if self.outcomes else None
        return Share(self.value, effective, df, n, hits)

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error, as in :class:`Mean`; a maximum counts as one draw."""
        draws = replace(self.sample, generations=self.maxima)
        return Mean.standard_error(replace(self, sample=draws), at)

"""Signed lean of binomial counts: which of two kinds the generations of each term are."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._intervals import Share
from pytest_llmfair.stats._records import Population
from pytest_llmfair.stats._terms import whole_numbers
from pytest_llmfair.stats.mean import Mean


@dataclass(eq=False, kw_only=True)
class Lean(Mean):
    """Mean over terms of 2 p - 1, with p the share of successes of a term.

    A `Mean` on [-1, 1]. Fixed terms: stratified, each term's variance with a success and a failure
    added, so that one-sided terms are not certain; a single term has its exact binomial interval.

    Attributes
    ----------
    paper_variance : float
        Sampling variance as Lum et al. (2024), section 3.4.2, print it: ``sum 4 p (1 - p) / n``
        over the squared number of terms. 0 where every term is one-sided; no verdict uses it.
    """

    paper_variance: float = math.nan

    @classmethod
    def of_binomials(
        cls,
        successes: ArrayLike,
        trials: ArrayLike,
        *,
        population: Population = "fixed",
        units: Iterable[Hashable] | None = None,
    ) -> Lean:
        """Lean from counts.

        Parameters
        ----------
        successes, trials : array_like of shape (n_terms,)
            Counts per term: generations of one of two kinds, and of both.
        population : {"fixed", "sampled"}
            Whether these terms are all there is, or were drawn from more.
        units : iterable of hashable, optional
            One label per term; terms with equal labels are one unit.

        Raises
        ------
        ValueError
            If a count is negative or not whole, exceeds its trials, or a term has no trial. Names
            the row.
        """
        n = whole_numbers(trials, "trials", 1)
        x = whole_numbers(successes, "successes", 0)
        if x.shape != n.shape:
            raise ValueError(f"successes has {x.size} rows, trials has {n.size}")
        if (x > n).any():
            row = int((x > n).argmax())
            raise ValueError(f"successes row {row} is {x[row]}, more than its {n[row]} trials")
        p, smooth = x / n, (x + 1.0) / (n + 2.0)
        mean = Mean.of_values(
            2.0 * p - 1.0,
            units=units,
            population=population,
            bounds=(-1.0, 1.0),
            generation_variance=4.0 * smooth * (1.0 - smooth) / n,
            # Fixed single generations get their interval below.
            generations=np.maximum(n, 2) if population == "fixed" else n,
            outcomes=True,
        )
        if population == "fixed":
            # Terms that lean alike are no sign of a single draw: their generations vary.
            flags = [
                (code, said)
                for code, said in zip(mean.reasons, mean.notes, strict=True)
                if code != "no_variance"
            ]
            mean.reasons = tuple(code for code, _ in flags)
            mean.notes = tuple(said for _, said in flags)
        if population == "fixed" and (len(n) == 1 or n.min() == 1):
            # As many draws of one kind would vary more than these, whose shares may differ.
            draws = len(n) * int(n.min())
            hits = int(x.sum()) if n.min() == n.max() else None
            mean.share = Share(float(p.mean()), float(draws), math.inf, draws, hits=hits)
            mean.method = mean.share.method
            mean.sample = replace(mean.sample, generations=int(n.sum()), fewest=int(n.min()))
        if mean.sample.units > 1 or population == "fixed":
            # What the interval rests on; a mean over rows would compare the terms' own spread.
            worth = mean.share.effective
            mean.sample = replace(
                mean.sample, effective=worth, design_effect=mean.sample.generations / worth
            )
        variance = math.fsum((4.0 * p * (1.0 - p) / n).tolist()) / len(n) ** 2
        return cls(**vars(mean), paper_variance=variance)

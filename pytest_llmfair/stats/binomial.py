"""Skew of terms with binomial counts: the mean of 2 p - 1, p a share of successes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._records import Population
from pytest_llmfair.stats._score_intervals import Share
from pytest_llmfair.stats._terms import read_counts
from pytest_llmfair.stats.mean import Mean


@dataclass(eq=False, kw_only=True)
class BinomialSkew(Mean):
    """Mean over terms of 2 p - 1, with p the share of successes of a term.

    A `Mean` on [-1, 1]. Fixed terms: stratified, each term's variance with a success and a failure
    added, so that one-sided terms are not certain; a single term has its exact binomial interval.
    """

    # Sampling variance as Lum et al. (2024), section 3.4.2, print it: ``sum 4 p (1 - p) / n``
    # over the squared number of terms. 0 where every term is one-sided; no verdict uses it.
    paper_variance: float = math.nan

    @classmethod
    def of_binomials(
        cls,
        successes: ArrayLike,
        trials: ArrayLike,
        *,
        population: Population = "fixed",
        units: Iterable[Hashable] | None = None,
    ) -> BinomialSkew:
        """Mean of ``2 p - 1`` over terms, from counts.

        Parameters and errors are those of :meth:`Distance.of_binomials`.

        Examples
        --------
        >>> BinomialSkew.of_binomials([18, 5, 10], [20, 20, 20])
        BinomialSkew 0.100 [-0.124, 0.315] (95 %, 3 fixed units x 20)
        """
        x, n = read_counts(successes, trials)
        p, smooth = x / n, (x + 1.0) / (n + 2.0)
        mean = cls.of_values(
            2.0 * p - 1.0,
            units=units,
            population=population,
            bounds=(-1.0, 1.0),
            generation_variance=4.0 * smooth * (1.0 - smooth) / n,
            # The interval for single generations is set below.
            generations=np.maximum(n, 2) if population == "fixed" else n,
            outcomes=True,
        )
        findings, sample, share = mean.findings, mean.sample, mean.share
        if population == "fixed":
            # Equal shares in all terms do not mean zero variance: generations vary within terms.
            findings = tuple(found for found in findings if found.code != "no_variance")
        if population == "fixed" and (len(n) == 1 or n.min() == 1):
            # A lower bound of the precision: equally many draws with one share vary more.
            draws = len(n) * int(n.min())
            hits = int(x.sum()) if n.min() == n.max() else None
            share = Share(float(p.mean()), float(draws), math.inf, draws, hits=hits)
            sample = replace(sample, generations=int(n.sum()), fewest=int(n.min()))
        if sample.units > 1 or population == "fixed":
            # The effective size of the interval, which does not depend on the spread of the terms.
            worth = share.effective
            sample = replace(sample, effective=worth, design_effect=sample.generations / worth)
        return replace(
            mean,
            findings=findings,
            sample=sample,
            share=share,
            method=share.method,
            paper_variance=math.fsum((4.0 * p * (1.0 - p) / n).tolist()) / len(n) ** 2,
        )

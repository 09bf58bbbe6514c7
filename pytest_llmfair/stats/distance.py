"""Distances between distributions, rates or shares, corrected for their upward bias."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._base import Estimate
from pytest_llmfair.stats._clusters import PLANNING_ICC, as_list, check_rows, label_list
from pytest_llmfair.stats._cooccurrence import Cooccurrences
from pytest_llmfair.stats._crossfit import Bracket, bracket_totals
from pytest_llmfair.stats._distributions import (
    GroupedScores,
    ScoreRows,
    pair_labels,
    read_rows,
    sample_of,
)
from pytest_llmfair.stats._layout import Comparisons, Grouped, ranks
from pytest_llmfair.stats._records import Contributions, Ends, Floats, Passes, Population, Sample
from pytest_llmfair.stats._score_intervals import share_of_ends
from pytest_llmfair.stats._terms import SampledTerms, Terms, read_counts
from pytest_llmfair.stats._totals import BinErrors, divergence

# What computes the bounds of a distance.
Engine = Bracket | Terms


@dataclass(eq=False, kw_only=True)
class Distance(Estimate):
    """A distance: 0 exactly when groups are equal, and biased upwards in every sample."""

    # Computes the bounds: by bootstrap and cross-fit, or by exact binomial arguments.
    engine: Engine
    # Squared standard error known from the sample size alone, as the coefficients of 1, of the
    # truth and of its square.
    planned: tuple[float, float, float]
    # Sampling variance by the paper's own formula, where it prints one; else NaN.
    paper_variance: float = math.nan
    method: str = "bracket"
    near_normal = False

    @classmethod
    def of_distributions(
        cls,
        rows_a: ScoreRows,
        rows_b: ScoreRows,
        *,
        units_a: Iterable[Hashable] | None = None,
        units_b: Iterable[Hashable] | None = None,
        paired: bool = False,
        population: Population = "sampled",
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> Distance:
        """Wasserstein-1 distance between the scores of two groups.

        The area between the two distribution functions, on the scale of the scores (Bouchard 2024,
        section 3.2).

        Parameters
        ----------
        rows_a, rows_b : array_like of shape (n_rows,) or (n_rows, n_generations)
            Scores of each group; rows may differ in length. Every row counts alike.
        units_a, units_b, population
            As in :meth:`Mean.of_rows`; units also across groups.
        paired : bool
            Row i of both groups is one unit.
        bounds : tuple of float
            Range of the scores; may be infinite.

        Raises
        ------
        ValueError
            If a group or row is empty, a score NaN or out of range, paired groups differ in rows
            or labels, or a fixed row has fewer than two generations. Names group and row.

        Examples
        --------
        >>> a, b = [0.1, 0.2, 0.3, 0.4] * 5, [0.5, 0.6, 0.7, 0.8] * 5
        >>> round(Distance.of_distributions(a, b).value, 3)
        0.4
        """
        names = ("rows_a", "rows_b")
        parts = [
            read_rows(rows, name, bounds)
            for rows, name in zip((rows_a, rows_b), names, strict=True)
        ]
        sizes = [len(counts) for _, _, counts in parts]
        labels = pair_labels(sizes, (units_a, units_b), names, paired)
        scores = GroupedScores.of_sides(parts, labels, names, population)
        sides = Comparisons(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
        problem = scores.problem(sides, population)
        span = bounds[1] - bounds[0]
        guards = problem.layout.guards(ranks(problem.scores), population)
        engine = Bracket(problem, span, guards)
        scale = span if math.isfinite(span) else float(np.ptp(scores.scores))
        planned = scale**2 / 12.0 * float(scores.grouped.per_draw(population).sum())
        found = cls._bracketed(
            engine, sample_of(scores, problem, engine.error(), population), (planned, 0.0, 0.0)
        )
        if population == "sampled":
            influence = problem.influence()[problem.place]
            contributions = Contributions(
                found.value + len(influence) * influence,
                list(dict.fromkeys([*labels[0], *labels[1]])),
                scale,
            )
            found = replace(found, contributions=contributions)
        return found

    @classmethod
    def of_binomials(
        cls,
        successes: ArrayLike,
        trials: ArrayLike,
        *,
        population: Population = "fixed",
        units: Iterable[Hashable] | None = None,
    ) -> Distance:
        """Mean over terms of ``|2 p - 1|``, p the share of successes of a term.

        Neutrality of Lum et al. (2024), section 3. The interval is for the debiased value.

        Parameters
        ----------
        successes, trials : array_like of shape (n_terms,)
            Counts per term: generations of one of two kinds, and of both.
        units, population
            As in :meth:`Mean.of_rows`, by term.

        Raises
        ------
        ValueError
            If a count is negative or not whole, exceeds its trials, or a term has no trial. Names
            the row.

        Examples
        --------
        >>> Distance.of_binomials([18, 5, 10], [20, 20, 20])
        Distance 0.347 [0.071, 0.643] (plug-in 0.433, floor 0.176) (95 %, 3 fixed units x 20)
        """
        x, n = read_counts(successes, trials)
        labels = None if units is None else label_list(units, len(n))
        # Swapping the two outcomes changes nothing, so the smaller count describes a term.
        order = np.lexsort((np.minimum(x, n - x), n))
        hits, own = np.minimum(x, n - x)[order], n[order]
        fixed = population == "fixed"
        engine: Terms = (
            Terms(hits, own)
            if fixed
            else SampledTerms(hits, own, None if labels is None else [labels[k] for k in order])
        )
        count = len(set(labels)) if labels is not None and not fixed else len(n)
        within = float((1.0 / own).sum()) / len(n) ** 2
        planned = within if fixed else (1.0 - PLANNING_ICC) * within + PLANNING_ICC / count
        return cls(
            value=engine.value,
            engine=engine,
            planned=(planned, 0.0, -planned),
            paper_variance=engine.paper_variance(),
            sample=replace(Sample.of_sizes(n, population), units=count),
            attainable=(0.0, 1.0),
            of="debiased",
            findings=tuple(engine.flags(count)),
            method=engine.method,
        )

    @classmethod
    def of_divergence(
        cls,
        categories: Iterable[Hashable],
        groups: Iterable[Hashable],
        *,
        base: float | None = None,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
    ) -> Distance:
        """Jensen-Shannon divergence of the category shares of two groups.

        The interval is for the debiased value.

        Parameters
        ----------
        categories : iterable of hashable
            Category, or bin of a score, of each row.
        groups : iterable of hashable
            One of two labels per row.
        base : float, optional
            Base of the logarithm; natural by default.
        units, population
            As in :meth:`Mean.of_rows`.

        Raises
        ------
        ValueError
            If there are not exactly two groups, or a fixed unit has one row of a group.

        Examples
        --------
        >>> categories = ["yes", "no"] * 10 + ["yes"] * 20
        >>> round(Distance.of_divergence(categories, ["a"] * 20 + ["b"] * 20).value, 3)
        0.216
        """
        names = as_list(categories, "categories")
        grouped = Grouped.of(groups, units, len(names), population)
        if len(grouped.names) != 2:
            raise ValueError(
                f"groups holds {len(grouped.names)} groups; a divergence compares exactly two"
            )
        rows, norm = divergence(grouped, names, base)
        engine = bracket_totals(grouped, rows, norm, population, math.log(2.0) * norm.scale)
        # Close to equality the squared error is half the divergence per row.
        slope = 0.5 * norm.scale * float(grouped.per_draw(population).sum())
        return cls._bracketed(engine, grouped.sample(population), (0.0, slope, 0.0))

    @classmethod
    def of_associations(
        cls,
        counts: ArrayLike,
        *,
        mentions: ArrayLike | None = None,
        reference: ArrayLike | None = None,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
    ) -> Distance:
        """Mean over words of the total variation distance of their group shares to a reference.

        Stereotypical associations of Bommasani et al. (2023), as in Bouchard (2024), section 3.1.
        Words never seen are left out.

        Parameters
        ----------
        counts : array_like of shape (n_responses, n_groups, n_words)
            How often each response holds a word together with a group.
        mentions : array_like of shape (n_responses, n_groups), optional
            How often each response mentions a group; then the reference is the groups' shares of
            all mentions.
        reference : array_like of shape (n_groups,), optional
            Share expected of each group; without `mentions` uniform by default.
        units, population
            As in :meth:`Mean.of_rows`, by response.

        Examples
        --------
        >>> counts = [[[1, 0], [0, 1]], [[1, 0], [0, 0]], [[0, 0], [1, 0]]]  # 2 groups, 2 words
        >>> round(Distance.of_associations(counts).value, 3)
        0.333
        """
        table = Cooccurrences.of(counts, mentions, units, population)
        shares = None if mentions is not None else table.reference(reference)
        engine = table.bracket(shares, population)
        sample = Sample.of_sizes(np.bincount(table.unit), population)
        # A distance is a mean of values of plus or minus 1/2.
        planned = float((0.25 / table.hits).sum()) / len(table.hits) ** 2
        return cls._bracketed(engine, sample, (planned, 0.0, 0.0))

    @classmethod
    def of_calibration(
        cls,
        outcomes: ArrayLike,
        scores: ArrayLike,
        bins: ArrayLike,
        *,
        weights: Floats | None = None,
        units: Iterable[Hashable] | None = None,
        population: Population = "sampled",
    ) -> Distance:
        """Measure how far the share of ones in bins of scores is from the mean score.

        Expected calibration error of Naeini, Cooper and Hauskrecht (2015), a mean over rows.
        What sampling alone gives is that of outcomes and scores that exchange their places at
        random. The interval is for the debiased value.

        Parameters
        ----------
        outcomes, scores : array_like of shape (n_rows,)
            Outcomes 0 or 1, and the probabilities of 1.
        bins : array_like of int of shape (n_rows,)
            Number of the bin of each row.
        weights : ndarray of shape (n_rows,), optional
            Weights of the rows.
        units, population
            As in :meth:`Mean.of_rows`.

        Examples
        --------
        >>> outcomes, scores = [1, 0, 1, 1] * 10, [0.5, 0.5, 0.9, 0.9] * 10
        >>> round(Distance.of_calibration(outcomes, scores, [0, 0, 1, 1] * 10).value, 3)
        0.05
        """
        y, p = (check_rows(x, name, (0.0, 1.0)) for x, name in ((outcomes, "y"), (scores, "p")))
        n = len(y)
        own = np.ones(n) if weights is None else weights
        column = np.unique(bins, return_inverse=True)[1]
        rows = np.zeros((2 * n, int(column.max()) + 2))
        for side, values in enumerate((y, p)):
            rows[np.arange(n) + side * n, column] = own * values
        rows[:, -1] = np.concatenate([own, own])
        labels = np.arange(n).tolist() if units is None else as_list(units)
        sides = ["outcome"] * n + ["score"] * n
        grouped = Grouped.of(sides, [*labels, *labels], 2 * n, population)
        engine = bracket_totals(grouped, rows, BinErrors(), population, 1.0)
        sample = Sample.of_sizes(np.bincount(grouped.unit[:n]), population)
        # A mean of outcomes of variance 1/4.
        return cls._bracketed(engine, sample, (0.25 / n, 0.0, 0.0))

    @classmethod
    def _bracketed(
        cls, engine: Bracket, sample: Sample, planned: tuple[float, float, float]
    ) -> Distance:
        return cls(
            value=engine.value,
            engine=engine,
            planned=planned,
            sample=sample,
            attainable=(0.0, engine.span),
            of="value" if type(engine) is Bracket else "debiased",
            findings=tuple(engine.flags()),
            method=engine.method,
        )

    def lower_bound(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`; at least 0."""
        return self.engine.lower(alpha)

    def upper_bound(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""
        return self.engine.upper(alpha)

    @property
    def debiased(self) -> float:
        """The value without its upward bias, clipped at 0; inside the interval at every level."""
        return self.engine.debiased

    def noise_floor(self) -> float:
        """Mean distance of groups that do not differ, at this sample size."""
        return self.engine.noise_floor()

    def null_draws(self) -> Floats:
        """Distances of groups that do not differ, in no order."""
        assert isinstance(self.engine, Bracket)
        return self.engine.relabelled

    def p_equal(self) -> float:
        """p-value of "the groups do not differ at all".

        Pairs exchange their sides, independent samples their whole units; terms of shares are
        redrawn at exact parity.
        """
        return self.engine.p_equal()

    def standard_error(self, at: float | None = None) -> float:
        """Return that of the functional the data chose; planned, that of uniform scores."""
        if at is None:
            return self.engine.error()
        constant, linear, square = self.planned
        return math.sqrt(max(0.0, constant + linear * at + square * at * at))

    def fair_passes(self, allowed: Ends, fair: float, alpha: float) -> Passes:
        """As :meth:`Estimate.fair_passes`, from the upper ends of relabelled groups."""
        ends = self.engine.fair_ends(alpha)
        units = math.inf if self.engine.exact_ends else self.sample.units
        return share_of_ends(ends, allowed[1], units, self.engine.rate)

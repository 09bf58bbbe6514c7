"""Distances between groups: never negative, and never 0 in a sample even when groups are equal."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.stats._base import Estimate, Population, Sample
from pytest_llmfair.stats._bracket import Bracket
from pytest_llmfair.stats._clusters import PLANNING_ICC, Indices, check_rows, label_list
from pytest_llmfair.stats._distributions import Comparison
from pytest_llmfair.stats._layout import ranks
from pytest_llmfair.stats._scores import (
    Rows,
    Scores,
    clustering,
    need_two,
    pair_labels,
    read_rows,
)
from pytest_llmfair.stats._terms import SampledTerms, Terms


class Engine(Protocol):
    """What bounds a distance."""

    @property
    def method(self) -> str:
        """The engine in words."""

    @property
    def value(self) -> float:
        """The plug-in."""

    @property
    def debiased(self) -> float:
        """The value without its upward bias."""

    def lower(self, alpha: float) -> float:
        """Lower end with one-sided error rate `alpha`."""

    def upper(self, alpha: float) -> float:
        """Upper end with one-sided error rate `alpha`."""

    def error(self) -> float:
        """Observed standard error."""

    def noise_floor(self) -> float:
        """Mean value when groups are equal."""

    def p_equal(self) -> float:
        """p-value of equal groups."""

    def best_case(self, alpha: float) -> float:
        """Upper end of the fairest data of this size."""


@dataclass(eq=False, kw_only=True)
class Seminorm(Estimate):
    """A distance: 0 exactly when groups are equal, and biased upwards in every sample.

    Attributes
    ----------
    engine : Engine
        What bounds it: a bracket of bootstrap and cross-fit, or exact binomial arguments.
    planned_variance : float
        Squared standard error known from the sample size alone; for shares at a truth of 0.
    shrinks : bool
        Whether that variance falls with the truth as ``1 - truth^2``, as it does for shares.
    paper_variance : float
        Sampling variance by the paper's own formula, where it prints one; else NaN.
    """

    engine: Engine
    planned_variance: float
    shrinks: bool = False
    paper_variance: float = math.nan
    method: str = "bracket"

    @classmethod
    def of_distributions(
        cls,
        rows_a: Rows,
        rows_b: Rows,
        *,
        units_a: Iterable[Hashable] | None = None,
        units_b: Iterable[Hashable] | None = None,
        paired: bool = False,
        population: Population = "sampled",
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> Seminorm:
        """Wasserstein-1 distance between the scores of two groups.

        The area between the two distribution functions, on the scale of the scores (Bouchard 2024,
        section 3.2).

        Parameters
        ----------
        rows_a, rows_b : array_like of shape (n_rows,) or (n_rows, n_generations)
            Scores of each group; rows may differ in length. Every row counts alike.
        units_a, units_b : iterable of hashable, optional
            One label per row. Rows with equal labels are one sampling unit, also across groups.
        paired : bool
            Row i of both groups is one unit.
        population : {"sampled", "fixed"}
            Whether units were drawn from a larger population, or only generations vary.
        bounds : tuple of float
            Range of the scores; may be infinite.

        Raises
        ------
        ValueError
            If a group or row is empty, a score NaN or out of range, paired groups differ in rows
            or labels, or a fixed row has fewer than two generations. Names group and row.
        """
        names = ("rows_a", "rows_b")
        counts = [
            read_rows(rows, name, bounds)[2]
            for rows, name in zip((rows_a, rows_b), names, strict=True)
        ]
        labels = pair_labels([len(own) for own in counts], (units_a, units_b), names, paired)
        if population == "fixed":
            for own, label, name in zip(counts, labels, names, strict=True):
                need_two(own, label, name)
        scores = Scores.of((rows_a, rows_b), labels, names, bounds)
        sides = Comparison(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
        return cls._of_scores(scores, [sides], population, bounds)

    @classmethod
    def of_binomials(
        cls,
        successes: ArrayLike,
        trials: ArrayLike,
        *,
        population: Population = "fixed",
        units: Iterable[Hashable] | None = None,
    ) -> Seminorm:
        """Mean over terms of ``|2 p - 1|``, p the share of successes of a term.

        Neutrality of Lum et al. (2024), section 3. The interval surrounds the debiased value.

        Parameters
        ----------
        successes, trials : array_like of shape (n_terms,)
            Counts per term: generations of one of two kinds, and of both.
        population : {"fixed", "sampled"}
            Whether these terms are all there is, or were drawn from more.
        units : iterable of hashable, optional
            One label per term; sampled terms with equal labels are one unit.

        Raises
        ------
        ValueError
            If a count is negative or not whole, exceeds its trials, or a term has fewer than two
            trials. Names the row.
        """
        n = _whole(trials, "trials", 2)
        x = _whole(successes, "successes", 0)
        if x.shape != n.shape:
            raise ValueError(f"successes has {x.size} rows, trials has {n.size}")
        if (x > n).any():
            row = int(np.argmax(x > n))
            raise ValueError(f"successes row {row} is {x[row]}, more than its {n[row]} trials")
        labels = None if units is None else label_list(units, len(n))
        # Swapping the two kinds changes nothing, so either count describes a term.
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
        reasons, notes = engine.flags(count)
        return cls(
            value=engine.value,
            engine=engine,
            planned_variance=(
                within if fixed else (1.0 - PLANNING_ICC) * within + PLANNING_ICC / count
            ),
            shrinks=True,
            paper_variance=engine.paper_variance(),
            sample=Sample(
                units=count,
                generations=int(n.sum()),
                fewest=int(n.min()),
                most=int(n.max()),
                population=population,
            ),
            attainable=(0.0, 1.0),
            of="debiased",
            reasons=reasons,
            notes=notes,
            method=engine.method,
        )

    @classmethod
    def _of_scores(
        cls,
        scores: Scores,
        comparisons: Sequence[Comparison],
        population: Population,
        bounds: tuple[float, float],
    ) -> Seminorm:
        problem = scores.problem(comparisons, population)
        span = sum(comparison.weight for comparison in comparisons) * (bounds[1] - bounds[0])
        codes = ranks(problem.scores)
        engine = Bracket(problem, span, problem.layout.guards(codes, population))
        effective, icc, design = clustering(problem, engine.error())
        per_unit = np.bincount(scores.unit)
        scale = span if math.isfinite(span) else float(np.ptp(scores.scores))
        reasons, notes = engine.flags()
        return cls(
            value=engine.value,
            engine=engine,
            planned_variance=scale**2 / 12.0 * _per_draw(scores, population),
            sample=Sample(
                units=scores.units,
                generations=len(scores.scores),
                fewest=int(per_unit.min()),
                most=int(per_unit.max()),
                population=population,
                effective=effective,
                icc=icc,
                design_effect=design,
            ),
            attainable=(0.0, span),
            reasons=reasons,
            notes=notes,
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
        """Return what groups that do not differ would score at this sample size."""
        return self.engine.noise_floor()

    def p_equal(self) -> float:
        """p-value of "the groups do not differ at all".

        Pairs exchange their sides, independent samples their whole units; terms of shares are
        redrawn at exact parity.
        """
        return self.engine.p_equal()

    def standard_error(self, at: float | None = None) -> float:
        """Return the standard error.

        Parameters
        ----------
        at : float, optional
            Without it the observed error of the functional that the data chose. With it the error
            planned for when the truth is `at`, from the sample size alone: scores uniform over
            their range, generations of a unit correlated by 0.3.
        """
        if at is None:
            return self.engine.error()
        factor = max(0.0, 1.0 - at * at) if self.shrinks else 1.0
        return math.sqrt(factor * self.planned_variance)

    def best_case_gap(self, alpha: float) -> float:
        """Upper end of the fairest data of this size: no pair differs, every share is even."""
        return self.engine.best_case(alpha)


def _whole(values: ArrayLike, name: str, least: int) -> Indices:
    array = check_rows(values, name, (0.0, math.inf))
    wrong = (array != np.floor(array)) | (array < least)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{name} row {row} is {array[row]:g}; give whole numbers from {least}")
    return array.astype(np.intp)


def _per_draw(scores: Scores, population: Population) -> float:
    """Variance of a difference of group means in units of the variance of one score."""
    total = 0.0
    for group in range(scores.groups):
        inside = scores.group == group
        between = PLANNING_ICC / len(np.unique(scores.unit[inside]))
        total += (1.0 - PLANNING_ICC) / int(inside.sum())
        total += between if population == "sampled" else 0.0
    return total

"""The placebo floor: difference of answers when a prompt is reworded inside its own group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

from pytest_llmfair.metrics.counterfactual._pairs import Compare, variance_of_mean
from pytest_llmfair.stats import Mean, Population

T = TypeVar("T", bound=Hashable)


def placebo_floor(
    originals: Sequence[Sequence[T]],
    counterfactuals: Sequence[Sequence[T]],
    placebos: Sequence[Sequence[T]],
    compare: Compare[T],
    *,
    units: Sequence[Hashable] | None,
    population: Population,
) -> tuple[Mean | None, Mean | None]:
    """Return the mean comparison of a prompt with its placebo, and what the twin adds to it."""
    # The placebo is the original reworded inside its group. Pairs without enough answers to it are
    # left out; both are None if no pair is left.
    fewest = 2 if population == "fixed" else 1
    kept = [i for i, row in enumerate(placebos) if len(row) >= fewest]
    if not kept:
        return None, None
    answers = [(originals[i], counterfactuals[i], placebos[i]) for i in kept]
    table = np.array([_terms(*sides, compare) for sides in answers])
    floor, floor_variance, excess, excess_variance = table.T
    settings: dict[str, Any] = {
        "units": None if units is None else [units[i] for i in kept],
        "population": population,
    }
    return (
        Mean.of_values(
            floor,
            generation_variance=None if np.isnan(floor_variance).any() else floor_variance,
            generations=[min(len(o), len(p)) for o, _, p in answers],
            **settings,
        ),
        Mean.of_values(
            excess,
            bounds=(-1.0, 1.0),
            generation_variance=None if np.isnan(excess_variance).any() else excess_variance,
            generations=[min(map(len, sides)) for sides in answers],
            **settings,
        ),
    )


def _terms(
    original: Sequence[T], counterfactual: Sequence[T], placebo: Sequence[T], compare: Compare[T]
) -> tuple[float, float, float, float]:
    """Return floor and excess of a pair, each with the variance that generations add to it."""
    others = [*counterfactual, *placebo]
    first = [answer for answer in original for _ in others]
    values = np.asarray(compare(first, others * len(original)), dtype=np.float64)
    table = values.reshape(len(original), len(others))
    swapped, reworded = table[:, : len(counterfactual)], table[:, len(counterfactual) :]
    # Both comparisons share the answers to the original, whose part in the variance is joint.
    by_original = swapped.mean(axis=1), reworded.mean(axis=1)
    own = variance_of_mean(reworded.mean(axis=0))
    return (
        float(reworded.mean()),
        variance_of_mean(by_original[1]) + own,
        float(swapped.mean() - reworded.mean()),
        variance_of_mean(by_original[0] - by_original[1])
        + variance_of_mean(swapped.mean(axis=0))
        + own,
    )

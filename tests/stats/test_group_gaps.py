"""Sums of distances between groups and any background."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.stats import distribution_gaps, rate_gaps


def shares(seed, groups=3, n=30):
    """Rows that count up to three times."""
    rng = np.random.default_rng(seed)
    counted = rng.integers(0, 4, n + groups)
    counted[:groups] = 1
    hits = np.array([int(rng.integers(0, c + 1)) for c in counted])
    return hits, counted, [*range(groups), *rng.integers(0, groups, n).tolist()]


def area(x, y):
    points = np.sort(np.concatenate([x, y]))
    below = [np.searchsorted(np.sort(side), points[:-1], "right") / len(side) for side in (x, y)]
    return float(np.abs(below[0] - below[1]) @ np.diff(points))


def sides(against, groups):
    """Groups on either side of every comparison."""
    everyone = range(groups)
    if against == "pairs":
        return [([a], [b]) for a in everyone for b in range(a)]
    if against == "background":
        return [([a], list(everyone)) for a in everyone]
    if against == "rest":
        return [([a], [b for b in everyone if b != a]) for a in everyone]
    return [([a], list(against)) for a in everyone if a not in against]


AGAINST = ["pairs", "background", "rest", (1,), (0, 2)]


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(AGAINST), st.sampled_from([1.0, 0.25]))
def test_rates_are_sums_of_hits_over_sums_of_what_counts(seed, against, factor):
    hits, counted, groups = shares(seed)
    group = np.array(groups)

    def rate(chosen):
        inside = np.isin(group, chosen)
        return hits[inside].sum() / counted[inside].sum()

    expected = sum(abs(rate(a) - rate(b)) for a, b in sides(against, 3))
    estimate = rate_gaps(hits, counted, groups, against=against, factor=factor)
    assert estimate.value == pytest.approx(factor * expected)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(AGAINST))
def test_sets_of_scores_are_compared_by_their_distributions(seed, against):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, 33) / 4.0
    group = np.array([*range(3), *rng.integers(0, 3, 30)])
    expected = sum(
        area(scores[np.isin(group, a)], scores[np.isin(group, b)]) for a, b in sides(against, 3)
    )
    estimate = distribution_gaps(scores, group.tolist(), against=against, factor=1.0)
    assert estimate.value == pytest.approx(expected)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), st.sampled_from(AGAINST[:3]))
def test_the_largest_sum_is_that_of_groups_at_either_end(sizes, against):
    groups = [g for g, size in enumerate(sizes) for _ in range(size)]
    largest = 0.0
    for ends in product([0.0, 1.0], repeat=len(sizes)):
        hits = [ends[g] for g in groups]
        estimate = rate_gaps(hits, np.ones(len(groups)), groups, against=against, factor=1.0)
        largest = max(largest, estimate.value)
    attainable = estimate.attainable[1]
    if against == "rest":
        assert attainable >= largest - 1e-12
    else:
        assert attainable == pytest.approx(largest)

"""Distances of totals per group (means, shares, words), compared with transcriptions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.stats import Distance, rate_gaps


def mean_gap(outcomes, labels, groups):
    """Mean over pairs of groups of the absolute difference of their rates."""
    pairs = groups * (groups - 1) / 2
    return rate_gaps(outcomes, np.ones(len(outcomes)), labels, against="pairs", factor=1 / pairs)


@pytest.mark.parametrize(("base", "most"), [(None, math.log(2)), (2, 1.0)])
def test_disjoint_categories_diverge_by_log_two_but_not_for_certain(base, most):
    rows, groups = list("x" * 30 + "y" * 30), ["a"] * 30 + ["b"] * 30
    estimate = Distance.of_divergence(rows, groups, base=base)
    assert (estimate.value, estimate.attainable) == (pytest.approx(most), (0.0, estimate.value))
    assert estimate.interval().lower < 0.95 * most


def words(rng, responses=60, share=(0.5, 0.3, 0.2), vocabulary=4):
    counts = np.zeros((responses, len(share), vocabulary))
    for row in range(responses):
        for _ in range(int(rng.integers(0, 3))):
            counts[row, rng.choice(len(share), p=share), rng.integers(vocabulary)] += 1
    return counts


def test_unequal_mentions_are_no_association_against_the_groups_own_shares():
    rng = np.random.default_rng(7)
    counts = words(rng, responses=300, share=(0.9, 0.1))
    observed = Distance.of_associations(counts, mentions=counts.sum(axis=2))
    assert observed.p_equal() > 0.05
    assert Distance.of_associations(counts).p_equal() < 0.01
    assert observed.noise_floor() == pytest.approx(observed.value, rel=0.9)


def build(kind, rng):
    if kind == "vectors":
        return mean_gap(rng.integers(0, 5, 18) / 4.0, ["a", "b", "c"] * 6, 3)
    if kind == "divergence":
        return Distance.of_divergence(rng.integers(0, 3, 30).tolist(), ["a", "b"] * 15)
    counts = words(rng, responses=15)
    counts[0, 1, 1] += 1
    return Distance.of_associations(counts)


@pytest.mark.parametrize("kind", ["vectors", "divergence", "words"])
def test_influence_is_the_change_when_one_unit_counts_more(kind):
    problem = build(kind, np.random.default_rng(8)).engine.problem
    ones = np.ones((1, problem.layout.strata.units))
    base = problem.frozen(ones, ones)[0]
    influence = problem.influence()
    for unit in range(problem.layout.strata.units):
        heavier = ones.copy()
        heavier[0, unit] += 1e-6
        change = (problem.frozen(ones, heavier)[0] - base) / 1e-6
        assert influence[unit] == pytest.approx(change, abs=1e-5)


def test_divergence_of_equal_groups_is_not_doubled_by_the_bootstrap():
    rng = np.random.default_rng(12)
    ends = [
        Distance.of_divergence(rng.integers(0, 10, 200).tolist(), ["a", "b"] * 100).interval()
        for _ in range(10)
    ]
    # The bias of the plug-in is 9 / 8 * (1 / 100 + 1 / 100) = 0.0225.
    assert np.median([end.upper for end in ends]) < 2 * 0.0225
    assert sum(end.lower == 0.0 for end in ends) >= 8


def test_few_responses_with_hits_allow_for_others():
    counts = np.zeros((500, 2, 3))
    counts[0, 0, 0] = counts[1, 1, 1] = counts[2, 0, 2] = 1
    estimate = Distance.of_associations(counts)
    assert estimate.value == 0.5
    assert estimate.interval().lower < 0.2
    assert "thin_evidence" in estimate.reasons


@pytest.mark.filterwarnings("error")
def test_a_half_without_one_of_the_groups_divides_by_nothing():
    found = Distance.of_divergence(["x", "y", "x"], ["a", "a", "b"], units=[0, 0, 1])
    assert found.interval().lower < found.interval().upper


def equal_groups(seed, groups=8, rows=50):
    rng = np.random.default_rng(seed)
    outcomes = (rng.random(groups * rows) < 0.3).astype(float)
    return mean_gap(outcomes, np.repeat(np.arange(groups), rows).tolist(), groups)


def test_the_lower_end_is_above_zero_only_where_relabelling_rejects_too():
    above = 0
    for seed in range(12, 17):
        estimate = equal_groups(seed)
        for alpha in (0.25, 0.1, 0.025):
            if estimate.lower_bound(alpha) > 0.0:
                above += 1
                assert estimate.engine.as_far_if_equal <= alpha
    assert above > 0


def test_all_pairs_far_apart_lose_nothing():
    rows = [*([0.0] * 49), 1.0, *([1.0] * 49), 0.0]
    estimate = mean_gap(rows, ["a"] * 50 + ["b"] * 50, 2)
    assert estimate.interval().lower > 0.85
    assert estimate.interval().upper > estimate.value

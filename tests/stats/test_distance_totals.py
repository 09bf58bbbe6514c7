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


def jensen_shannon(p, q):
    total = 0.0
    for a, b in zip(p, q, strict=True):
        m = (a + b) / 2
        total += 0.5 * (a * math.log(a / m) if a else 0) + 0.5 * (b * math.log(b / m) if b else 0)
    return total


def test_divergence_is_the_printed_formula():
    categories = list("xxyyyzzzzz") + list("xyyyyyyww")
    labels = ["a"] * 10 + ["b"] * 9
    direct = jensen_shannon([0.2, 0.3, 0.5, 0.0], [1 / 9, 6 / 9, 0.0, 2 / 9])
    assert Distance.of_divergence(categories, labels).value == pytest.approx(direct)
    bits = Distance.of_divergence(categories, labels, base=2)
    assert bits.value == pytest.approx(direct / math.log(2))
    assert bits.attainable == (0.0, pytest.approx(1.0))


def test_disjoint_categories_diverge_by_log_two_but_not_for_certain():
    estimate = Distance.of_divergence(list("x" * 30 + "y" * 30), ["a"] * 30 + ["b"] * 30)
    assert estimate.value == pytest.approx(math.log(2))
    assert estimate.interval().lower < 0.95 * math.log(2)


def words(rng, responses=60, share=(0.5, 0.3, 0.2), vocabulary=4):
    counts = np.zeros((responses, len(share), vocabulary))
    for row in range(responses):
        for _ in range(int(rng.integers(0, 3))):
            counts[row, rng.choice(len(share), p=share), rng.integers(vocabulary)] += 1
    return counts


def associations(counts, reference):
    total, seen = 0.0, 0
    for w in range(counts.shape[2]):
        hits = counts[:, :, w].sum(axis=0)
        if hits.sum():
            seen += 1
            total += 0.5 * sum(
                abs(h / hits.sum() - r) for h, r in zip(hits, reference, strict=True)
            )
    return total / seen


def test_associations_are_the_mean_distance_to_the_uniform_share():
    counts = words(np.random.default_rng(5))
    counts[:, :, 2] = 0
    estimate = Distance.of_associations(counts)
    assert estimate.value == pytest.approx(associations(counts, [1 / 3] * 3))
    assert estimate.attainable == (0.0, pytest.approx(2 / 3))


def test_associations_against_given_shares_and_the_groups_own_mentions():
    rng = np.random.default_rng(6)
    counts = words(rng)
    mentions = counts.sum(axis=2) + rng.integers(0, 2, counts.shape[:2])
    own = mentions.sum(axis=0) / mentions.sum()
    given = Distance.of_associations(counts, reference=[0.5, 0.25, 0.25])
    assert given.value == pytest.approx(associations(counts, [0.5, 0.25, 0.25]))
    observed = Distance.of_associations(counts, mentions=mentions)
    assert observed.value == pytest.approx(associations(counts, own))


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

"""Memory of estimates that resample, as units grow."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from pytest_llmfair.stats import Distance, JackknifeEstimate, MaxPairwiseDifference, rate_gaps

# Blocks of draws take the same however many units there are, so growth is measured.
FEW, MANY = 32_000, 64_000
MOST_BYTES = 1000

GROUPS = np.array(list("abcdefgh"))


def distributions(x, groups):
    return Distance.of_distributions(x, 1.0 - x, paired=True)


def rates(x, groups):
    return MaxPairwiseDifference.of_rates(x < 0.5, groups)


def scores(x, groups):
    return MaxPairwiseDifference.of_scores(x, groups)


def gaps(x, groups):
    return rate_gaps(x < 0.5, np.ones(len(x)), groups, against="pairs", factor=1.0)


def associations(x, groups):
    counts = (np.stack([x, x[::-1]], axis=1)[:, :, None] < [0.1, 0.2]).astype(float)
    return Distance.of_associations(counts)


def divergence(x, groups):
    return Distance.of_divergence((10 * x).astype(int), groups > "d")


def peak(estimate, units):
    rng = np.random.default_rng(0)
    x, groups = rng.random(units), rng.choice(GROUPS, units)
    tracemalloc.start()
    estimate(x, groups).interval(0.95)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimate", [distributions, rates, scores, gaps, associations, divergence]
)
def test_a_unit_takes_little_memory(estimate):
    assert peak(estimate, MANY) - peak(estimate, FEW) < MOST_BYTES * (MANY - FEW)


def test_more_units_are_left_out_in_folds_with_the_same_error():
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=3000), rng.choice(["a", "b", "b"], 3000)
    asked = []

    def gap(rows, number):
        asked.append(len(rows))
        return float(x[rows][number == 1].mean() - x[rows][number == 0].mean())

    found = JackknifeEstimate.of_measure(gap, group, np.argsort(np.argsort(x)))
    parts = [x[group == name] for name in "ab"]
    exact = np.sqrt(sum(part.var(ddof=1) / len(part) for part in parts))
    assert found.standard_error() == pytest.approx(exact, rel=0.15)
    assert len(asked) < 600

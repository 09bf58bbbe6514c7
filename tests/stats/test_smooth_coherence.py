"""What holds for every smooth kind of estimate, on random data."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.stats import Mean, MeanLogRatio, RankBiserial, RateDifference, RateRatio

LEVELS = (0.5, 0.6827, 0.8, 0.85, 0.9, 0.95, 0.975, 0.98, 0.99)


def _log_ratios(sums):
    return np.log(sums[:, :2]) - np.log(sums[:, 2:])


class Data:
    """Random rows with units, which can be put in another order and get other names."""

    def __init__(self, seed, n_a, n_b, shared):
        rng = np.random.default_rng(seed)
        self.outcomes = [(rng.random(n) < rng.random()).astype(float) for n in (n_a, n_b)]
        self.scores = [rng.random(n).round(int(rng.integers(0, 4))) for n in (n_a, n_b)]
        pool = int(rng.integers(1, n_a + 1))
        self.units = [rng.integers(0, pool, n_a), rng.integers(0, pool, n_b)]
        if not shared:
            self.units[1] += pool
        self.sums = rng.poisson(1.0, (n_a, 4)).astype(float)
        self.rng = rng

    def mixed(self):
        """Yield the same data in another order with other names."""
        other = object.__new__(Data)
        orders = [self.rng.permutation(len(x)) for x in self.outcomes]
        other.outcomes = [x[o] for x, o in zip(self.outcomes, orders, strict=True)]
        other.scores = [x[o] for x, o in zip(self.scores, orders, strict=True)]
        other.units = [
            [f"u{1000 - u}" for u in x[o]] for x, o in zip(self.units, orders, strict=True)
        ]
        other.sums = self.sums[orders[0]]
        return other


KINDS = {
    "mean of scores": lambda d: Mean.of_values(d.scores[0], units=d.units[0]),
    "mean of outcomes": lambda d: Mean.of_indicators(d.outcomes[0], units=d.units[0]),
    "difference": lambda d: RateDifference.of_outcomes(
        *d.outcomes, units_a=d.units[0], units_b=d.units[1]
    ),
    "signed difference": lambda d: RateDifference.of_outcomes(*d.outcomes, absolute=False),
    "ratio": lambda d: RateRatio.of_outcomes(*d.outcomes, units_a=d.units[0], units_b=d.units[1]),
    "folded ratio": lambda d: RateRatio.of_outcomes(*d.outcomes, form="smaller"),
    "ranks": lambda d: RankBiserial.of_scores(*d.scores, units_a=d.units[0], units_b=d.units[1]),
    "log ratio": lambda d: MeanLogRatio.of_sums(d.sums, _log_ratios, units=d.units[0]),
}

data = st.builds(
    Data, st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 30), st.booleans()
)
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@kinds
@settings(max_examples=40)
@given(data)
def test_order_of_rows_and_names_of_units_change_not_one_bit(kind, data):
    one, other = kind(data), kind(data.mixed())
    for level in (0.5, 0.95):
        a, b = one.interval(level), other.interval(level)
        assert np.array_equal(
            [one.value, a.lower, a.upper, one.sample.effective],
            [other.value, b.lower, b.upper, other.sample.effective],
            equal_nan=True,
        )


@kinds
@settings(max_examples=40)
@given(data)
def test_a_higher_level_never_narrows_the_interval(kind, data):
    estimate = kind(data)
    if estimate.undefined:
        return
    intervals = [estimate.interval(level) for level in LEVELS]
    for narrow, wide in pairwise(intervals):
        assert wide.lower <= narrow.lower <= estimate.value <= narrow.upper <= wide.upper


@kinds
@settings(max_examples=25)
@given(data, st.floats(0, 1), st.sampled_from(LEVELS))
def test_p_values_agree_with_the_interval_at_every_level(kind, data, where, level):
    estimate = kind(data)
    if estimate.undefined:
        return
    interval = estimate.interval(level)
    alpha = round((1 - level) / 2, 15)
    for bound in (where, interval.lower, interval.upper):
        if math.isfinite(bound):
            assert (estimate.p_exceeds(bound) < alpha) == (interval.lower > bound)
            assert (estimate.p_within(bound) < alpha) == (interval.upper <= bound)


@kinds
@settings(max_examples=40)
@given(data)
def test_what_is_known_of_the_sample_is_finite_and_positive(kind, data):
    sample = kind(data).sample
    assert 1 <= sample.fewest <= sample.most <= sample.generations
    assert 1 <= sample.units <= sample.generations
    if not math.isnan(sample.effective):
        assert sample.effective > 0
        assert sample.design_effect == pytest.approx(sample.generations / sample.effective)

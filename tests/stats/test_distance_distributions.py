"""Wasserstein-1 between two groups, compared with a slow transcription from sorted quantiles."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.stats import Distance

scores = st.integers(0, 20).map(lambda k: k / 20.0)
rows = st.lists(scores, min_size=1, max_size=12)


def wasserstein(a, b):
    """Mean distance of equal quantiles, walking both sorted samples in exact steps."""
    a, b = sorted(map(Fraction, a)), sorted(map(Fraction, b))
    steps = sorted(
        {Fraction(i, len(a)) for i in range(len(a) + 1)}
        | {Fraction(i, len(b)) for i in range(len(b) + 1)}
    )
    total = Fraction(0)
    for low, high in itertools.pairwise(steps):
        total += (high - low) * abs(a[int(low * len(a))] - b[int(low * len(b))])
    return float(total)


def estimate(a, b, **keywords):
    return Distance.of_distributions(a, b, **keywords)


@given(rows, rows)
@settings(deadline=None, max_examples=60)
def test_value_is_the_distance_of_sorted_quantiles(a, b):
    assert estimate(a, b).value == pytest.approx(wasserstein(a, b), abs=1e-12)


def test_generations_are_pooled():
    rng = np.random.default_rng(1)
    a, b = rng.random((6, 3)), rng.random((4, 5))
    assert estimate(a, b).value == pytest.approx(wasserstein(a.ravel(), b.ravel()), abs=1e-12)


def test_rows_of_different_length_count_alike():
    ragged = estimate([[0.1, 0.1, 0.4], [0.9]], [0.0, 0.0])
    repeated = estimate([0.1, 0.1, 0.4, 0.9, 0.9, 0.9], [0.0])
    assert ragged.value == pytest.approx(repeated.value, abs=1e-12)


def everything(e):
    return (
        e.value, e.debiased, e.lower_bound(0.025), e.upper_bound(0.025), e.upper_bound(0.001),
        e.p_equal(), e.noise_floor(), e.standard_error(),
    )  # fmt: skip


def test_equal_labels_on_both_sides_are_pairs():
    rng = np.random.default_rng(4)
    a, b = rng.random(20), rng.random(20)
    labels = [str(k) for k in range(20)]
    order = rng.permutation(20)
    paired = estimate(a, b, paired=True)
    labelled = estimate(a, b[order], units_a=labels, units_b=[labels[k] for k in order])
    assert everything(paired) == everything(labelled)
    assert paired.sample.units == 20
    assert estimate(a, b).sample.units == 40


def test_identical_pairs_leave_the_rule_of_three():
    a = np.random.default_rng(7).random(60)
    e = estimate(a, a, paired=True)
    ends = e.interval(0.95)
    assert (e.value, ends.lower) == (0.0, 0.0)
    assert ends.upper == pytest.approx(1.0 - 0.025 ** (1 / 60))
    assert e.p_equal() == 1.0
    assert {"no_variance", "thin_evidence"} <= set(e.reasons)


def test_one_different_pair_never_narrows_the_interval_below_none():
    a = np.random.default_rng(8).random(60)
    none = estimate(a, a, paired=True).upper_bound(0.025)
    for k in range(1, 5):
        b = a.copy()
        b[:k] = 1.0 - b[:k]
        assert estimate(a, b, paired=True).upper_bound(0.025) >= none


def test_total_separation_is_not_certain():
    e = estimate(np.zeros(40), np.ones(40))
    ends = e.interval()
    assert (e.value, ends.upper) == (1.0, 1.0)
    assert ends.lower == pytest.approx(0.025 ** (1 / 40))


def test_constant_shift_of_all_pairs_has_width_on_both_sides():
    ends = estimate(np.full(30, 0.25), np.full(30, 0.5), paired=True).interval()
    assert 0.0 < ends.lower < 0.25 < ends.upper < 1.0


@pytest.mark.parametrize(("a", "b"), [([0.2], [0.2]), ([0.2], [0.9]), ([0.1, 0.4], [0.3])])
def test_one_unit_gives_the_widest_interval(a, b):
    e = estimate(a, b)
    assert e.interval().lower == 0.0
    assert e.interval().upper == 1.0
    assert "thin_evidence" in e.reasons


@pytest.mark.slow
def test_noise_floor_is_what_equal_groups_score():
    rng = np.random.default_rng(9)
    values, floors = [], []
    for _ in range(150):
        e = estimate(rng.beta(2, 5, 40), rng.beta(2, 5, 40))
        values.append(e.value)
        floors.append(e.noise_floor())
    assert np.mean(floors) == pytest.approx(np.mean(values), rel=0.1)


def test_noise_floor_of_pairs_exchanges_sides_inside_pairs():
    a, b = [0.1, 0.6], [0.3, 0.6]
    # Of the four exchanges two leave {.1, .6} against {.3, .6}, two turn it round.
    assert estimate(a, b, paired=True).noise_floor() == pytest.approx(0.1)


def test_p_equal_sees_a_shift_and_respects_pairs():
    rng = np.random.default_rng(10)
    a = rng.random(60)
    b = np.clip(a + rng.normal(0.03, 0.01, 60), 0, 1.2)
    assert estimate(a, b, paired=True, bounds=(0, 2)).p_equal() < 0.01
    assert estimate(a, b, bounds=(0, 2)).p_equal() > 0.2


def test_fixed_units_with_identical_repeats_count_as_one_generation_each():
    a, b = np.repeat(np.linspace(0, 0.5, 30), 3), np.repeat(np.linspace(0.1, 0.6, 30), 3)
    e = estimate(a.reshape(30, 3), b.reshape(30, 3), paired=True, population="fixed")
    assert e.interval().lower == pytest.approx(0.1 * 0.025 ** (1 / 30))
    assert "no_variance" in e.reasons


def test_unlimited_scores_without_variance_have_no_upper_end():
    ends = estimate([2.0] * 9, [2.0] * 9, bounds=(-np.inf, np.inf)).interval()
    assert (ends.lower, ends.upper) == (0.0, np.inf)


def test_clustered_rows_have_a_design_effect():
    rng = np.random.default_rng(13)
    level = rng.random((40, 1)) * 0.8
    a = level + 0.05 * rng.random((40, 5))
    b = rng.random((40, 1)) * 0.8 + 0.1 + 0.05 * rng.random((40, 5))
    sample = estimate(a, b).sample
    assert sample.icc > 0.8
    assert sample.design_effect > 3.0
    assert sample.effective == pytest.approx(sample.generations / sample.design_effect)


def test_a_resample_of_few_shared_units_may_leave_a_side_empty():
    estimate = Distance.of_distributions(
        [0.1, 0.2, 0.5], [0.3, 0.4], units_a=[1, 2, 3], units_b=[1, 2]
    )
    interval = estimate.interval()
    assert 0 <= interval.lower < interval.upper <= 1

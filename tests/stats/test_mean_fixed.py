"""Means over a fixed list of units: only their generations vary."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.stats import Mean

RNG = np.random.default_rng(11)


def test_error_of_scores_is_that_of_the_generations_inside_units():
    rows = np.clip(RNG.beta(2, 2, (10, 5)), 0, 1)
    within = rows.var(axis=1, ddof=1)
    by_hand = math.sqrt(float(within.sum()) / 5 / 100)
    assert Mean.of_rows(rows, population="fixed").standard_error() == pytest.approx(by_hand)


def test_error_of_outcomes_is_smoothed_by_one_event_of_either_kind():
    rows = RNG.permuted(np.tile([1.0] * 12 + [0.0] * 28, (10, 1)), axis=1)
    rate = 13 / 42
    by_hand = math.sqrt(rate * (1 - rate) / 40 / 10)
    observed = 0.3 * 0.7
    estimate = Mean.of_rows(rows, outcomes=True, population="fixed")
    # Never below one binomial of all generations, which equal units would be.
    assert estimate.standard_error() == pytest.approx(
        min(by_hand, math.sqrt(observed / 400)), rel=1e-9
    )


def test_rows_of_a_unit_are_its_generations():
    table = np.random.default_rng(12).random((8, 3))
    long = Mean.of_values(table.ravel(), units=np.repeat(np.arange(8), 3), population="fixed")
    wide = Mean.of_rows(table, population="fixed")
    assert long.value == pytest.approx(wide.value)
    assert long.interval().upper == pytest.approx(wide.interval().upper)


def test_reduced_values_with_their_variance_equal_the_rows_themselves():
    table = np.random.default_rng(13).random((9, 4))
    reduced = Mean.of_values(
        table.mean(axis=1),
        generations=4,
        generation_variance=table.var(axis=1, ddof=1) / 4,
        population="fixed",
    )
    rows = Mean.of_rows(table, population="fixed")
    assert reduced.interval().lower == pytest.approx(rows.interval().lower)
    assert reduced.interval().upper == pytest.approx(rows.interval().upper)


def test_no_event_at_all_bounds_the_rate_by_all_generations():
    estimate = Mean.of_rows(np.zeros((40, 30)), outcomes=True, population="fixed")
    assert estimate.interval().upper == pytest.approx(1 - 0.025 ** (1 / 1200))


def test_identical_repeats_count_as_one_generation_per_unit():
    rows = np.repeat(np.linspace(0.1, 0.9, 30)[:, None], 10, axis=1)
    estimate = Mean.of_rows(rows, population="fixed")
    assert "identical_repeats" in estimate.reasons
    # One draw a unit is at worst as variable as one 0/1 draw a unit.
    assert estimate.standard_error() == pytest.approx(math.sqrt(0.25 / 30))

"""Means of maxima: sampled and fixed rows."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_llmfair.stats import Mean, MeanMaximum

of = MeanMaximum.of_generations


def test_the_value_is_the_mean_of_the_largest():
    assert of([[0.1, 0.7], [0.3, 0.2], [0.0, 0.0]]).value == pytest.approx(1.0 / 3.0)


def test_a_maximum_of_a_sampled_row_is_one_draw():
    rows = np.random.default_rng(0).random((40, 5))
    estimate, plain = of(rows), Mean.of_values(rows.max(axis=1))
    assert estimate.interval() == plain.interval()
    assert estimate.standard_error(0.5) == plain.standard_error(0.5)
    assert (estimate.sample.units, estimate.sample.generations) == (40, 200)


def test_indicators_of_sampled_rows_have_the_exact_binomial_interval():
    estimate = of([[0, 0, 1]] * 6 + [[0, 0, 0]] * 34, outcomes=True)
    assert estimate.value == 0.15
    assert estimate.method == "Clopper-Pearson"
    assert of(np.zeros((60, 25)), outcomes=True).interval().upper == pytest.approx(
        1 - 0.025 ** (1 / 60)
    )


def test_rows_of_one_unit_count_once_as_evidence():
    rows = np.random.default_rng(1).random((30, 4))
    twice = of(np.concatenate([rows, rows]), units=[*range(30), *range(30)])
    assert twice.value == pytest.approx(of(rows).value)
    assert twice.sample.units == 30
    assert twice.interval().width >= of(rows).interval().width - 1e-9


@pytest.mark.parametrize("outcomes", [False, True])
def test_fixed_rows_whose_generations_never_differ_count_as_one_draw_each(outcomes):
    rows = np.repeat([[1.0], [0.0], [0.0], [1.0]], 5, axis=1)
    estimate = of(rows, population="fixed", outcomes=outcomes)
    assert estimate.sample.effective == 4
    assert estimate.interval().width > 0.5


def test_the_squared_distance_to_the_second_largest_bounds_the_variance():
    """Efron and Stein (1981): its mean is at least the variance of the maximum."""
    rng = np.random.default_rng(3)
    for draws in (rng.random((20_000, 6)), rng.beta(0.3, 3, (20_000, 6))):
        top = np.sort(draws, axis=1)[:, -2:]
        assert ((top[:, 1] - top[:, 0]) ** 2).mean() > top[:, 1].var()


@pytest.mark.parametrize("outcomes", [False, True])
def test_intervals_of_fixed_rows_hold_the_truth(outcomes):
    rng = np.random.default_rng(4)
    harm = rng.beta(0.5, 6, 25)
    if outcomes:
        truth = float(np.mean(1 - (1 - harm) ** 5))
    else:
        truth = float(np.mean(rng.beta(harm[:, None, None] * 6, 2, (25, 8_000, 5)).max(axis=2)))
    missed = np.zeros(2)
    for _ in range(300):
        rows = (
            (rng.random((25, 5)) < harm[:, None]).astype(float)
            if outcomes
            else rng.beta(harm[:, None] * 6, 2, (25, 5))
        )
        ends = of(rows, population="fixed", outcomes=outcomes).interval()
        missed += [ends.lower > truth, ends.upper < truth]
    # At most 2.5 % a side, with three standard errors of 300 runs.
    assert (missed <= 15).all()

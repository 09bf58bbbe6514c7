"""F = B^2 / (V_a V_b) over prompts, compared with plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.stats import FairPairRatio


def distances(a, b):
    """Matrices of absolute differences; answers of `a` first."""
    both = np.concatenate([a, b], axis=1)
    return np.abs(both[:, :, None] - both[:, None, :])


def sampled(rng, prompts=20, answers=6, shift=0.5):
    a = rng.normal(0, 1, (prompts, answers))
    return a, rng.normal(shift, 1, (prompts, answers))


def by_loops(a, b):
    """B, V_a and V_b of each prompt."""
    rows = []
    for x, y in zip(a, b, strict=True):
        n, m = len(x), len(y)
        rows.append(
            (
                sum(abs(u - v) for u in x for v in y) / (n * m),
                sum(abs(x[i] - x[j]) for i in range(n) for j in range(i)) / (n * (n - 1) / 2),
                sum(abs(y[i] - y[j]) for i in range(m) for j in range(i)) / (m * (m - 1) / 2),
            )
        )
    return np.array(rows)


def of(a, b, **keywords):
    return FairPairRatio.of_dissimilarities(distances(a, b), [a.shape[1]] * len(a), **keywords)


def test_pooled_and_mean_are_the_printed_ratios():
    a, b = sampled(np.random.default_rng(1))
    table = by_loops(a, b)
    means = table.mean(axis=0)
    pooled, mean = of(a, b), of(a, b, aggregate="mean")
    assert pooled.value == pytest.approx(means[0] ** 2 / (means[1] * means[2]))
    assert mean.value == pytest.approx(np.mean(table[:, 0] ** 2 / (table[:, 1] * table[:, 2])))
    assert (pooled.bias, pooled.variability_original, pooled.variability_perturbed) == (
        pytest.approx(tuple(means))
    )


def test_bootstrap_t_is_studentized_resampling_of_prompts():
    rng = np.random.default_rng(2)
    table = by_loops(*sampled(rng, prompts=25))
    e = FairPairRatio.of_prompts(*table.T, answers=6)
    powers = np.array([2.0, -1.0, -1.0])

    def log_and_error(rows):
        shares = rows / rows.sum(axis=0)
        return powers @ np.log(rows.sum(axis=0)), math.sqrt(
            25 / 24 * ((shares @ powers) ** 2).sum()
        )

    log, error = log_and_error(table)
    draws = []
    for _ in range(4000):
        other, own = log_and_error(table[rng.integers(0, 25, 25)])
        draws.append((other - log) / own)
    low, high = np.quantile(draws, [0.025, 0.975])
    assert e.upper_bound(0.025) == pytest.approx(math.exp(log - low * error), rel=0.05)
    assert e.lower_bound(0.025) == pytest.approx(max(1.0, math.exp(log - high * error)), rel=0.05)


def test_upper_end_never_closes_on_one():
    rng = np.random.default_rng(3)
    ends = [of(*sampled(rng, 30, 8, shift=0.0)).interval() for _ in range(20)]
    assert all(end.upper > 1.01 for end in ends)
    assert sum(end.lower == 1.0 for end in ends) >= 17


def test_units_join_prompts():
    a, b = sampled(np.random.default_rng(4), 10, 5)
    twice = np.repeat(a, 3, axis=0), np.repeat(b, 3, axis=0)
    joined = of(*twice, units=np.repeat(np.arange(10), 3))
    assert joined.interval().upper == pytest.approx(of(a, b).interval().upper)
    assert joined.sample.units == 10


def test_permutation_inside_prompts_separates_noise_from_a_difference():
    rng = np.random.default_rng(5)
    fair, unfair = of(*sampled(rng, 20, 8, 0.0)), of(*sampled(rng, 20, 8, 0.7))
    assert fair.p_equal() > 0.05
    assert unfair.p_equal() < 0.01
    assert fair.noise_floor() == pytest.approx(1.0, abs=0.03)
    # The mean of ratios is biased upwards, and its floor says so.
    assert of(*sampled(rng, 40, 4, 0.0), aggregate="mean").noise_floor() > 1.1


def test_jackknife_over_answers_agrees_with_leaving_each_out():
    a, b = sampled(np.random.default_rng(7), 3, 7)
    e = of(a, b, population="fixed")
    variance = 0.0
    for prompt in range(3):
        for side in range(2):
            logs = []
            for out in range(7):
                sides = [list(map(list, a)), list(map(list, b))]
                del sides[side][prompt][out]
                means = by_loops([np.array(r) for r in sides[0]], [np.array(r) for r in sides[1]])
                total = means.mean(axis=0)
                logs.append(math.log(total[0] ** 2 / (total[1] * total[2])))
            variance += 6 / 7 * np.sum((np.array(logs) - np.mean(logs)) ** 2)
    assert e.error() == pytest.approx(math.sqrt(variance), rel=0.15)


@pytest.mark.parametrize("population", ["sampled", "fixed"])
@pytest.mark.parametrize("aggregate", ["pooled", "mean"])
def test_answers_that_never_vary(population, aggregate):
    same = np.zeros((5, 3))
    equal = of(same, same, population=population, aggregate=aggregate)
    assert math.isnan(equal.value)
    assert "0/0" in equal.undefined
    apart = of(same, same + 1.0, population=population, aggregate=aggregate)
    assert apart.value == math.inf
    ends = apart.interval()
    assert (ends.lower, ends.upper) == (1.0, math.inf)


def test_one_prompt_and_equal_prompts_have_no_upper_end():
    a, b = sampled(np.random.default_rng(8), 1, 10, 1.0)
    for e in (of(a, b), of(np.repeat(a, 4, axis=0), np.repeat(b, 4, axis=0))):
        assert (e.interval().lower, e.interval().upper) == (1.0, math.inf)
        assert "thin_evidence" in e.reasons


def test_prompts_with_equal_f_have_no_upper_end():
    # Both sides hold the same answers, in another order.
    a, _ = sampled(np.random.default_rng(11), 40, 20)
    e = of(a, a[:, ::-1])
    assert e.value == pytest.approx(0.95**2)
    assert "no_variance" in e.reasons
    assert (e.interval().lower, e.interval().upper) == (1.0, math.inf)


def test_planned_error_is_that_of_fair_prompts():
    rng = np.random.default_rng(9)
    values = [of(*sampled(rng, 25, 12, 0.0)).value for _ in range(200)]
    planned = of(*sampled(rng, 25, 12, 0.0)).standard_error(at=1.0)
    assert np.std(values) == pytest.approx(planned, rel=0.35)


def test_noise_quantiles_are_those_of_exchanged_answers():
    a, b = sampled(np.random.default_rng(3), shift=1.0)
    found = of(a, b)
    low, high = found.noise_quantile(0.025), found.noise_quantile(0.975)
    assert low < found.noise_floor() < high < found.value
    assert of(*sampled(np.random.default_rng(3), shift=0.0)).value < high
    assert math.isnan(of(np.ones((5, 4)), np.ones((5, 4))).noise_quantile(0.5))

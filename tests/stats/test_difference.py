from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_llmfair.stats import (
    Distance,
    Mean,
    PairedDifference,
    RankBiserial,
    RateDifference,
    RateRatio,
)

SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=20)


def means(a, b, **keywords):
    return PairedDifference.between(
        Mean.of_values(a, **keywords), Mean.of_values(b, **keywords), folded=False
    )


@given(SHARES, SHARES)
def test_contributions_of_two_groups_average_to_the_value(a, b):
    hits_a, hits_b = np.round(a), np.round(b)
    for estimate in (
        RateDifference.of_outcomes(hits_a, hits_b, absolute=False),
        RankBiserial.of_scores(a, b),
    ):
        assert estimate.contributions.values.mean() == pytest.approx(estimate.value, abs=1e-9)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20))
def test_difference_of_means_is_the_mean_of_paired_differences(rows):
    a, b = np.array(rows).T
    assume(np.ptp(a - b) > 1e-9)
    estimate = means(a, b)
    assert estimate.value == pytest.approx(np.mean(a - b), abs=1e-12)
    reach = (-np.mean(b), 1 - np.mean(b))
    direct = Mean.of_values(a - b, bounds=(-1, 1), reach=reach).interval()
    assert estimate.interval().lower == pytest.approx(direct.lower)
    assert estimate.interval().upper == pytest.approx(direct.upper)


def test_pairing_makes_the_interval_narrow():
    rng = np.random.default_rng(0)
    hard = rng.random(2_000)
    a = np.clip(hard + rng.normal(0, 0.02, 2_000), 0, 1)
    paired = means(a, hard).interval().width
    alone = Mean.of_values(a).interval().width
    assert paired < 0.2 * alone


def test_a_difference_of_absolute_values_takes_the_worst_sign():
    rng = np.random.default_rng(1)
    a, b = rng.random(400) < 0.6, rng.random(400) < 0.3
    small = RateDifference.of_outcomes(b, rng.random(400) < 0.3)
    large = RateDifference.of_outcomes(b, a)
    estimate = PairedDifference.between(large, small, folded=True)
    assert estimate.value == pytest.approx(large.value - small.value)
    assert 0.15 < estimate.interval().lower < estimate.value < estimate.interval().upper < 0.45


@pytest.mark.parametrize("truth", [0.0, 0.05])
def test_interval_holds_the_true_difference_of_rabbi(truth):
    rng = np.random.default_rng(2)
    held = 0
    runs = 300
    n = 60
    shift = {0.0: 0.0, 0.05: 0.0891}[truth]  # R = 2 Phi(shift / sqrt 2) - 1, at a shift of .6
    for _ in range(runs):
        skill_a, skill_b = rng.normal(0.6, 1, n), rng.normal(0, 1, n)
        baseline = RankBiserial.of_scores(skill_a, skill_b)
        noise = rng.normal(0, 0.3, (2, n))
        candidate = RankBiserial.of_scores((skill_a + noise[0]) + shift, skill_b + noise[1])
        interval = PairedDifference.between(candidate, baseline, folded=True).interval()
        true = _rabbi(0.6 + shift, 2 + 2 * 0.09) - _rabbi(0.6, 2)
        held += interval.lower <= true <= interval.upper
    assert held >= 0.93 * runs


def _rabbi(shift, variance):
    from statistics import NormalDist

    return 2 * NormalDist().cdf(shift / variance**0.5) - 1


def test_rare_flips_do_not_pass_falsely():
    rng = np.random.default_rng(3)
    passed = 0
    runs = 400
    for _ in range(runs):
        # The candidate is worse in 5 % of the rows, exactly the margin.
        worse = rng.random(100) < 0.05
        base = rng.random(100) < 0.02
        estimate = means((base | worse).astype(float), base.astype(float))
        passed += estimate.interval().upper <= 0.05 * 0.98
    assert passed <= 0.05 * runs


def test_fixed_units_join_the_two_intervals():
    rng = np.random.default_rng(4)
    a, b = (rng.random((40, 10)) < 0.3).astype(float), (rng.random((40, 10)) < 0.3).astype(float)
    first, second = (Mean.of_rows(x, outcomes=True, population="fixed") for x in (a, b))
    estimate = PairedDifference.between(first, second, folded=False)
    up = np.hypot(first.interval().upper - first.value, second.value - second.interval().lower)
    assert estimate.interval().upper == pytest.approx(estimate.value + up)


@pytest.mark.parametrize("population", ["sampled", "fixed"])
@pytest.mark.parametrize("absolute", [False, True])
def test_signs_count_unless_folded_however_the_rates_were_given(population, absolute):
    def rates(a, b):
        return RateDifference.of_outcomes(
            a,
            b,
            units_a=[i // 2 for i in range(20)],
            units_b=[i // 2 for i in range(20)],
            population=population,
            absolute=absolute,
        )

    ones, few = [1] * 12 + [0] * 8, [1, 0, 0, 0] * 5
    difference = PairedDifference.between(rates(few, ones), rates(ones, few), folded=False)
    assert difference.value == pytest.approx(-0.7)
    assert difference.value in difference.interval()
    assert PairedDifference.between(rates(few, ones), rates(ones, few), folded=True).value == 0.0


def test_a_folded_difference_stays_within_what_is_attainable():
    one = Mean.of_values([0.5, 0.9])
    ends = PairedDifference.between(one, Mean.of_values([0.1, 0.2]), folded=True).interval(0.99)
    assert -1.0 <= ends.lower < ends.upper <= 1.0


def distance(rng, hard, noise, shift):
    """Return the distance of two groups whose scores lie `shift` apart."""
    shape = (len(hard), 2)
    skill = (hard + rng.normal(0, 0.07, len(hard)))[:, None]
    first, second = (skill + rng.normal(0, noise, shape) for _ in range(2))
    return Distance.of_distributions(first, second + shift, paired=True, bounds=(-2, 3))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("candidate", "baseline"),
    [
        ((0.07, 0.0), (0.07, 0.0)),
        ((0.07, 0.15), (0.07, 0.1)),
        ((0.02, 0.05), (0.2, 0.0)),  # all that the baseline shows is noise
        ((0.2, 0.0), (0.02, 0.0)),  # all that the candidate shows is noise
    ],
)
def test_interval_holds_the_true_difference_of_distances(candidate, baseline):
    rng = np.random.default_rng(5)
    true = candidate[1] - baseline[1]
    runs = 60
    above = below = 0
    for _ in range(runs):
        hard = rng.normal(0.4, 0.1, 40)
        sides = distance(rng, hard, *candidate), distance(rng, hard, *baseline)
        found = PairedDifference.between(*sides, folded=False)
        above += found.lower_bound(0.025) > true
        below += found.upper_bound(0.025) < true
    # Five of 60 have a chance of 2 % where the error rate is 3.5 %.
    assert max(above, below) < 6


@pytest.mark.slow
def test_a_planted_difference_of_distances_is_found_and_pairing_helps():
    rng = np.random.default_rng(6)
    found = 0
    for _ in range(30):
        hard = rng.normal(0.4, 0.1, 100)
        sides = distance(rng, hard, 0.07, 0.2), distance(rng, hard, 0.07, 0.1)
        difference = PairedDifference.between(*sides, folded=False)
        found += difference.lower_bound(0.025) > 0.03
    assert found >= 24
    # Some prompts set the groups apart more than others, whichever model answers.
    gap = rng.normal(0.3, 0.1, 100)
    sides = distance(rng, hard, 0.02, gap[:, None] + 0.1), distance(rng, hard, 0.02, gap[:, None])
    paired = PairedDifference.between(*sides, folded=False)
    apart = np.hypot(*(side.interval().width for side in sides))
    assert paired.interval().width < 0.8 * apart


def test_equal_distances_keep_an_open_interval():
    rng = np.random.default_rng(7)
    one = distance(rng, rng.normal(0.4, 0.1, 40), 0.05, 0.3)
    interval = PairedDifference.between(one, one, folded=False).interval()
    assert interval.lower < 0 < interval.upper


def test_without_contributions_each_estimate_gets_half_the_error_rate():
    one, other = (
        RateRatio.of_outcomes([1, 0] * 40, second) for second in ([1, 1, 0] * 30, [1, 0, 0] * 30)
    )
    estimate = PairedDifference.between(one, other, folded=False)
    assert estimate.upper_bound(0.025) == one.upper_bound(0.0125) - other.lower_bound(0.0125)
    assert estimate.lower_bound(0.025) == one.lower_bound(0.0125) - other.upper_bound(0.0125)

"""Means over sampled and fixed units, and of maxima, compared with transcriptions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from pytest_llmfair.stats import Mean, MeanMaximum

LEVELS = (0.5, 0.8, 0.95, 0.99, 0.999)
rows_of_scores = st.lists(
    st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=1, max_size=12
)
outcomes = st.lists(st.integers(0, 1), min_size=1, max_size=40)


def slow_interval(means, level, most=math.inf):
    """W-kdf of equally large clusters, as the note states it, with the skewness term."""
    n = len(means)
    p = math.fsum(means) / n
    centred = [x - p for x in means]
    v = math.fsum(c**2 for c in centred) / n
    m3 = math.fsum(c**3 for c in centred) / n
    m4 = math.fsum(c**4 for c in centred) / n
    squared_error = v / (n - 1)
    df = min(max(2 * n * v**2 / (m4 - v**2 * (n - 3) / (n - 1)), 1), n - 1)
    effective = max(1, min(p * (1 - p) / squared_error, most))
    alpha = (1 - level) / 2
    t, z = special.stdtrit(df, 1 - alpha), special.ndtri(1 - alpha)
    draws = effective * (z / t) ** 2
    centre = (p + z**2 / (2 * draws)) / (1 + z**2 / draws)
    reach = z * math.sqrt(p * (1 - p) / draws + z**2 / (4 * draws**2)) / (1 + z**2 / draws)
    unseen = 1 - alpha ** (1 / n)
    least, largest = (1 - unseen) * p, (1 - unseen) * p + unseen
    if most < math.inf:
        return min(centre - reach, least), max(centre + reach, largest)
    asymmetry = m3 / v**1.5 * math.sqrt(squared_error / n) - (1 - 2 * p) / effective
    tail = (1 + 2 * t**2) / 6 * asymmetry
    low, high = max(0, centre - reach + min(0, tail)), min(1, centre + reach + max(0, tail))
    return min(low, least), max(high, largest)


@given(rows_of_scores)
def test_the_value_is_the_mean_of_the_row_means(rows):
    by_hand = sum(sum(row) / len(row) for row in rows) / len(rows)
    assert Mean.of_rows(rows).value == pytest.approx(by_hand)


@pytest.mark.parametrize("level", LEVELS)
def test_scores_have_the_interval_of_the_note_with_the_skewness_term(level):
    means = np.random.default_rng(1).beta(0.5, 4.0, 30)
    interval = Mean.of_values(means).interval(level)
    assert (interval.lower, interval.upper) == pytest.approx(slow_interval(means, level))


def test_small_scores_do_not_exclude_rare_large_ones():
    rng = np.random.default_rng(4)
    # One prompt in twenty scores about .9, the others almost nothing.
    truth = 0.05 * 0.9 + 0.95 / 201
    missed = 0
    for _ in range(300):
        hot = rng.random(20) < 0.05
        means = np.where(hot, rng.beta(18, 2, 20), rng.beta(1, 200, 20))
        missed += Mean.of_values(means).interval().upper < truth
    assert missed <= 0.05 * 300


@pytest.mark.parametrize("level", LEVELS)
def test_outcomes_have_the_interval_of_the_note_and_its_guard(level):
    rows = np.random.default_rng(2).binomial(1, 0.1, (50, 5)).astype(float)
    interval = Mean.of_rows(rows, outcomes=True).interval(level)
    assert (interval.lower, interval.upper) == pytest.approx(
        slow_interval(rows.mean(axis=1), level, most=250)
    )


@pytest.mark.parametrize(("hits", "low", "high"), [(2, 0.0024, 0.0704), (0, 0.0, 0.0362)])
def test_one_outcome_per_prompt_has_the_printed_exact_interval(hits, low, high):
    interval = Mean.of_indicators([1] * hits + [0] * (100 - hits)).interval()
    assert interval.lower == pytest.approx(low, abs=5e-5)
    assert interval.upper == pytest.approx(high, abs=5e-5)


@pytest.mark.parametrize("rows", [np.zeros((60, 25)), np.zeros((60, 1)), np.zeros(60)])
@pytest.mark.parametrize("made_of_outcomes", [True, False])
def test_all_zero_gives_exactly_the_zero_event_bound_of_the_prompts(rows, made_of_outcomes):
    interval = Mean.of_rows(rows, outcomes=made_of_outcomes).interval()
    assert interval.lower == 0.0
    assert interval.upper == pytest.approx(1 - 0.025 ** (1 / 60), rel=1e-12)


@given(st.integers(2, 40), st.integers(1, 6), st.randoms(use_true_random=False))
def test_no_pattern_of_hits_gives_a_lower_bound_on_toxicity_than_no_hit(prompts, repeats, random):
    clean = Mean.of_rows(np.zeros((prompts, repeats)), outcomes=True).interval().upper
    rows = [[float(random.random() < 0.1) for _ in range(repeats)] for _ in range(prompts)]
    assert Mean.of_rows(rows, outcomes=True).interval().upper >= clean


def test_a_constant_inside_the_range_counts_as_one_draw_per_prompt():
    estimate = Mean.of_values([0.3] * 40)
    interval = estimate.interval()
    for bound in (interval.lower, interval.upper):
        score = abs(0.3 - bound) / math.sqrt(bound * (1 - bound) / 40)
        assert score == pytest.approx(special.stdtrit(39, 0.975))
    assert estimate.reasons == ("no_variance",)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0.5, 0.999))
def test_one_unit_gives_the_widest_honest_interval(row, level):
    estimate = Mean.of_rows([row])
    interval = estimate.interval(level)
    alpha = (1 - level) / 2
    assert interval.lower == pytest.approx(alpha * estimate.value, abs=1e-12)
    assert interval.upper == pytest.approx(1 - alpha * (1 - estimate.value), abs=1e-12)
    assert "thin_evidence" in estimate.reasons


def test_a_prompt_that_occurs_often_counts_as_often_in_the_value():
    estimate = Mean.of_values([1.0, 1.0, 1.0, 0.0], units=["a", "a", "a", "b"])
    assert estimate.value == 0.75
    assert estimate.sample.units == 2


def test_correlated_generations_are_worth_fewer_draws():
    rng = np.random.default_rng(4)
    rows = np.repeat(rng.random((50, 1)), 10, axis=1) + rng.uniform(-0.01, 0.01, (50, 10))
    sample = Mean.of_rows(np.clip(rows, 0, 1)).sample
    assert sample.generations == 500
    assert sample.icc > 0.95
    assert sample.effective == pytest.approx(50, rel=0.05)
    assert sample.design_effect == pytest.approx(500 / sample.effective)


def test_identical_repeats_count_as_one_generation_and_say_so():
    column = np.array([1.0] * 7 + [0.0] * 23)[:, None]
    repeated = Mean.of_rows(np.repeat(column, 5, axis=1), outcomes=True)
    assert "identical_repeats" in repeated.reasons
    assert repeated.interval() == Mean.of_rows(column, outcomes=True).interval()


def test_bounds_other_than_zero_and_one_rescale_the_interval():
    values = np.random.default_rng(5).random(40)
    plain = Mean.of_values(values).interval()
    scaled = Mean.of_values(2 * values - 1, bounds=(-1.0, 1.0)).interval()
    assert scaled.lower == pytest.approx(2 * plain.lower - 1)
    assert scaled.upper == pytest.approx(2 * plain.upper - 1)


def test_few_prompts_and_few_events_are_thin_evidence():
    assert "thin_evidence" in Mean.of_values(np.linspace(0, 1, 19)).reasons
    assert "thin_evidence" not in Mean.of_values(np.linspace(0, 1, 20)).reasons
    assert "thin_evidence" in Mean.of_indicators([1] * 4 + [0] * 96).reasons
    assert "thin_evidence" not in Mean.of_indicators([1] * 5 + [0] * 95).reasons


def test_observed_error_is_that_of_the_cluster_means():
    rows = np.random.default_rng(6).random((30, 4))
    by_hand = rows.mean(axis=1).std(ddof=1) / math.sqrt(30)
    assert Mean.of_rows(rows).standard_error() == pytest.approx(by_hand)


@pytest.mark.parametrize("fair", [0.0, 1.0])
def test_a_fair_model_at_an_end_of_the_range_passes_from_the_zero_event_bound_on(fair):
    estimate = Mean.of_rows(np.full((40, 3), 0.2))
    gap = 1 - 0.025 ** (1 / 40)
    shares = [
        estimate.fair_passes((fair - room, fair + room), fair, 0.025)(1.0)
        for room in (0.999 * gap, 1.001 * gap)
    ]
    assert shares == [0.0, 1.0]


def test_a_fair_mean_inside_its_range_passes_as_often_as_its_spread_allows():
    rng = np.random.default_rng(0)
    drawn = [Mean.of_values(rng.uniform(-0.6, 0.6, 80), bounds=(-1.0, 1.0)) for _ in range(300)]
    for allowed in ((-0.1, 0.1), (-math.inf, 0.1)):
        low, high = allowed
        inside = [low <= e.lower_bound(0.025) and e.upper_bound(0.025) <= high for e in drawn]
        share = drawn[0].fair_passes(allowed, 0.0, 0.025)(1.0)
        assert share == pytest.approx(np.mean(inside), abs=0.12)


def test_noise_floor_is_the_value_of_the_companion():
    floor = Mean.of_values([0.2, 0.4])
    assert Mean.of_values([0.5, 0.5], floor=floor).noise_floor() == floor.value
    assert math.isnan(Mean.of_values([0.5, 0.5]).noise_floor())


@pytest.mark.parametrize("units", [10, 30, 100])
def test_no_fewer_units_are_called_enough_than_could_pass_without_an_event(units):
    least, most = Mean.of_indicators([0] * units).needed_units(0.05)
    assert 0.95**72 < 0.025 < 0.95**71
    assert 72 <= least <= most


def test_a_handful_of_units_is_planned_with_the_quantile_of_t():
    scores = np.linspace(0.10, 0.70, 12)
    estimate = Mean.of_values(scores)
    least, _ = estimate.needed_units(0.8)
    far = 0.4 + 0.5 * estimate.interval(0.5).width
    error = estimate.standard_error() * math.sqrt(12)

    def error_at(n):
        return (special.stdtrit(n - 1, 0.975) + special.ndtri(0.8)) * error / math.sqrt(n)

    assert error_at(least) <= far < error_at(least - 1)


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


def test_generations_are_rows_of_a_unit_or_reduced_values_with_their_variance():
    table = np.random.default_rng(13).random((9, 4))
    rows = Mean.of_rows(table, population="fixed")
    variance = table.var(axis=1, ddof=1) / 4
    for values, how in (
        (table.ravel(), {"units": np.repeat(np.arange(9), 4)}),
        (table.mean(axis=1), {"generations": 4, "generation_variance": variance}),
    ):
        other = Mean.of_values(values, **how, population="fixed")
        assert other.value == pytest.approx(rows.value)
        assert other.interval().lower == pytest.approx(rows.interval().lower)
        assert other.interval().upper == pytest.approx(rows.interval().upper)


def test_no_event_at_all_bounds_the_rate_by_all_generations():
    estimate = Mean.of_rows(np.zeros((40, 30)), outcomes=True, population="fixed")
    assert estimate.interval().upper == pytest.approx(1 - 0.025 ** (1 / 1200))


def test_identical_repeats_count_as_one_generation_per_unit():
    rows = np.repeat(np.linspace(0.1, 0.9, 30)[:, None], 10, axis=1)
    estimate = Mean.of_rows(rows, population="fixed")
    assert "identical_repeats" in estimate.reasons
    # One draw a unit is at worst as variable as one 0/1 draw a unit.
    assert estimate.standard_error() == pytest.approx(math.sqrt(0.25 / 30))


maximum = MeanMaximum.of_generations


def test_a_maximum_of_a_sampled_row_is_one_draw():
    rows = np.random.default_rng(0).random((40, 5))
    estimate, plain = maximum(rows), Mean.of_values(rows.max(axis=1))
    assert (estimate.value, estimate.interval()) == (plain.value, plain.interval())
    assert estimate.standard_error(0.5) == plain.standard_error(0.5)
    assert (estimate.sample.units, estimate.sample.generations) == (40, 200)


def test_indicators_of_sampled_rows_have_the_exact_binomial_interval():
    estimate = maximum([[0, 0, 1]] * 6 + [[0, 0, 0]] * 34, outcomes=True)
    assert estimate.value == 0.15
    assert estimate.method == "Clopper-Pearson"
    assert maximum(np.zeros((60, 25)), outcomes=True).interval().upper == pytest.approx(
        1 - 0.025 ** (1 / 60)
    )


def test_rows_of_one_unit_count_once_as_evidence():
    rows = np.random.default_rng(1).random((30, 4))
    twice = maximum(np.concatenate([rows, rows]), units=[*range(30), *range(30)])
    assert twice.value == pytest.approx(maximum(rows).value)
    assert twice.sample.units == 30
    assert twice.interval().width >= maximum(rows).interval().width - 1e-9


@pytest.mark.parametrize("outcomes", [False, True])
def test_fixed_rows_whose_generations_never_differ_count_as_one_draw_each(outcomes):
    rows = np.repeat([[1.0], [0.0], [0.0], [1.0]], 5, axis=1)
    estimate = maximum(rows, population="fixed", outcomes=outcomes)
    assert estimate.sample.effective == 4
    assert estimate.interval().width > 0.5

"""Sampling units, the same for every kind: repeats, pairs, fixed units, and labels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.stats import (
    Distance,
    FairPairRatio,
    JackknifeEstimate,
    MaxPairwiseDifference,
    Mean,
    MeanAbsLogRatio,
    MeanDifference,
    MeanLogRatio,
    MeanMaximum,
    RankBiserial,
    RateDifference,
    RateRatio,
    rate_gaps,
)


def log_ratio(rows, **how):
    """Log ratio of two columns made of a score."""
    return MeanLogRatio.of_sums(np.stack([1.0 + rows, 2.0 - rows], axis=1), _log, **how)


def _log(sums):
    return np.log(sums[:, :1]) - np.log(sums[:, 1:])


def gaps(values, groups, **how):
    return rate_gaps(values, np.ones(len(values)), groups, against="pairs", factor=1.0, **how)


def jackknife(values, groups, **how):
    def gap(rows, group):
        return float(values[rows[group == 1]].mean() - values[rows[group == 0]].mean())

    codes = np.unique(values, return_inverse=True)[1]
    return JackknifeEstimate.of_measure(gap, groups, codes, **how)


# From rows of one group to an estimate.
ONE = {
    "mean": Mean.of_values,
    "log ratio": log_ratio,
    "abs log ratio": lambda rows, **how: MeanAbsLogRatio.of_log_ratio(log_ratio(rows, **how)),
}
# From rows of two groups; `of_labels` is the same for kinds that take labels of groups.
TWO = {
    "difference": RateDifference.of_outcomes,
    "ratio": RateRatio.of_outcomes,
    "mean difference": MeanDifference.of_scores,
    "ranks": RankBiserial.of_scores,
    "distributions": Distance.of_distributions,
}
LABELLED = {
    "gaps": gaps,
    "widest": MaxPairwiseDifference.of_scores,
    "jackknife": jackknife,
}


def estimate(name, a, b, units_a=None, units_b=None, **how):
    """Make any kind from two groups and the units of their rows."""
    if name in ONE:
        return ONE[name](a, units=units_a, **how)
    if name in TWO:
        return TWO[name](a, b, units_a=units_a, units_b=units_b, **how)
    units = None if units_a is None else [*units_a, *units_b]
    return LABELLED[name](np.concatenate([a, b]), [0] * len(a) + [1] * len(b), units=units, **how)


def ends(estimate):
    return estimate.lower_bound(0.025), estimate.upper_bound(0.025)


@pytest.mark.parametrize("name", [*ONE, *TWO, *LABELLED])
def test_copies_of_the_rows_of_a_unit_are_no_new_evidence(name):
    rng = np.random.default_rng(3)
    a, b = rng.random(30).round(1), rng.random(30).round(1)
    if name in ("difference", "ratio"):
        a, b = (a > 0.5).astype(float), (b > 0.5).astype(float)
    once = estimate(name, a, b, range(30), range(30, 60))
    units = np.repeat(np.arange(30), 3)
    often = estimate(name, np.repeat(a, 3), np.repeat(b, 3), units, units + 30)
    assert often.value == pytest.approx(once.value)
    # Resampled kinds draw other numbers for more rows.
    assert ends(often) == pytest.approx(ends(once), rel=0.05, abs=0.02)
    assert often.sample.units == once.sample.units


@pytest.mark.parametrize("name", [*TWO, *LABELLED])
def test_groups_that_share_units_are_compared_inside_them(name):
    rng = np.random.default_rng(5)
    # Nearly the same in both groups: few outcomes turn, or scores move a little.
    a = (rng.random(320) < 0.5).astype(float)
    b = a.copy()
    b[:24] = 1.0 - b[:24]
    if name not in ("difference", "ratio", "gaps"):
        a = rng.random(320) * 0.8
        b = a + rng.random(320) * 0.1
    order = rng.permutation(320)
    units = [f"u{k}" for k in range(320)]
    paired = estimate(name, a, b[order], units, [units[k] for k in order])
    low, high = ends(paired)
    apart = ends(estimate(name, a, b))
    assert high - low < 0.6 * (apart[1] - apart[0])
    assert paired.sample.units == 320


@pytest.mark.parametrize("name", [*ONE, *TWO, *LABELLED])
def test_differences_between_fixed_units_are_no_uncertainty(name):
    rng = np.random.default_rng(4)
    units = np.repeat(np.arange(30), 8)
    level = np.linspace(0.02, 0.98, 30)[units]
    a, b = ((rng.random(240) < level).astype(float) for _ in range(2))
    fixed = estimate(name, a, b, units, units + 30, population="fixed")
    sampled = estimate(name, a, b, units, units + 30)
    assert fixed.value == pytest.approx(sampled.value)
    assert fixed.sample.population == "fixed"
    widths = [high - low for low, high in (ends(fixed), ends(sampled))]
    assert widths[0] < 0.7 * widths[1]


@pytest.mark.parametrize("make", [MeanMaximum.of_generations, Mean.of_rows])
def test_rows_with_generations_are_fixed_in_the_same_way(make):
    centre = np.linspace(0.1, 0.8, 30)[:, None]
    rows = centre + 0.1 * np.random.default_rng(2).random((30, 10))
    # The largest of ten answers may be one that none of the rows has shown, fixed or not.
    assert make(rows, population="fixed").interval().width < 0.8 * make(rows).interval().width


def test_fixed_prompts_of_fairpair_leave_only_the_answers():
    rng = np.random.default_rng(6)
    answers = rng.normal(0, 1, (30, 80))
    answers[:, 40:] += rng.random((30, 1)) * 3
    matrices = np.abs(answers[:, :, None] - answers[:, None, :])
    fixed, sampled = (
        FairPairRatio.of_dissimilarities(matrices, [40] * 30, population=population)
        for population in ("fixed", "sampled")
    )
    assert fixed.interval().width < 0.5 * sampled.interval().width


@pytest.mark.parametrize("name", [*ONE, *TWO, *LABELLED])
def test_a_fixed_unit_with_one_row_is_named(name):
    a, b = np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5])
    with pytest.raises(ValueError, match=r"row [02] .*(has 1 generation|is the only)"):
        estimate(name, a, b, ["u", "u", "v"], ["w", "w"], population="fixed")


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ("ab", "units is 'ab'; give a list with one label per row"),
        (5, "units is 5"),
        (["a"], "units has 1 labels for 2 rows; give one per row"),
        (["a", None], "units row 1 is None; give every row a label"),
        (["a", math.nan], "units row 1 is NaN"),
        (["a", [1]], r"units row 1 is \[1\], which cannot be a label"),
    ],
)
def test_a_wrong_label_is_named(units, message):
    with pytest.raises(ValueError, match=message):
        Mean.of_values([0.1, 0.2], units=units)


def test_labels_of_any_kind_are_compared_by_equality():
    labels = ["a", ("b", 1), "a", 7, ("b", 1)]
    assert Mean.of_values([0.1, 0.2, 0.3, 0.4, 0.5], units=labels).sample.units == 3
    assert Mean.of_values([0.1, 0.2], units=np.array([3, 3])).sample.units == 1


def test_made_up_labels_of_one_group_never_equal_those_of_the_caller():
    found = RateDifference.of_outcomes([0, 1], [1, 0], units_b=[("units_a", 0), "x"])
    assert found.sample.units == 4


@pytest.mark.parametrize("wrong", [1.1, -0.1, math.nan, math.inf, "x", {}])
def test_a_wrong_value_is_named_with_argument_and_row(wrong):
    with pytest.raises(ValueError, match=r"x_a row 1 is .*; give (a number in \[0, 1\]|one numb)"):
        MeanDifference.of_scores([0.5, wrong], [0.5])


def test_a_value_beyond_its_range_by_rounding_is_clipped():
    assert Mean.of_values([1.0 + 1e-15]).value == 1.0


@pytest.mark.parametrize("name", ["mean", "difference", "ratio", "ranks"])
def test_an_unknown_population_is_refused(name):
    with pytest.raises(ValueError, match="population is 'all'; choose"):
        estimate(name, [0.0, 1.0], [1.0, 0.0], population="all")

"""Rows that share the levels of several factors: two-way intervals, and too few levels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.stats import Crossed, Estimate, Finding, Mean, MeanDifference, RankBiserial
from pytest_llmfair.stats.crossed import over_factors
from pytest_llmfair.stats.pairwise_max import MaxPairwiseDifference

ITEMS, WORDINGS = 30, 8
ITEM = np.repeat(np.arange(ITEMS), WORDINGS).tolist()
WORDING = np.tile(np.arange(WORDINGS), ITEMS).tolist()
ALL = ["all"] * len(ITEM)


def answers(rng, of_item, of_wording):
    values = rng.normal(0, of_item, ITEMS)[ITEM] + rng.normal(0, of_wording, WORDINGS)[WORDING]
    return np.clip(0.5 + values + rng.normal(0, 0.05, len(ITEM)), 0, 1)


def mean(values):
    return lambda units: Mean.of_values(values, units=units)


def crossed(values) -> Estimate:
    return over_factors(mean(values), {"item": ITEM, "wording": WORDING}, ALL)


def test_the_variance_is_that_of_two_way_clustering():
    values = answers(np.random.default_rng(1), 0.05, 0.05)
    table = values.reshape(ITEMS, WORDINGS)
    parts = [side.var(ddof=1) / len(side) for side in (table.mean(axis=1), table.mean(axis=0))]
    # One row a cell: what the two factors share is the variance of single rows.
    expected = sum(parts) - values.var(ddof=1) / values.size
    assert crossed(values).standard_error() ** 2 == pytest.approx(expected, rel=1e-9)


def test_the_interval_is_never_narrower_than_over_the_first_factor():
    for seed in range(20):
        values = answers(np.random.default_rng(seed), 0.1, 0.0)
        alone, both = mean(values)(ITEM).interval(), crossed(values).interval()
        assert both.lower <= alone.lower + 1e-12
        assert both.upper >= alone.upper - 1e-12


def test_the_interval_holds_the_truth_where_wordings_matter():
    missed = {"one way": 0, "two way": 0}
    for seed in range(300):
        values = answers(np.random.default_rng(seed), 0.05, 0.2)
        missed["one way"] += 0.5 not in mean(values)(ITEM).interval()
        missed["two way"] += 0.5 not in crossed(values).interval()
    assert missed["one way"] > 75
    assert missed["two way"] <= 25


def test_rows_that_are_all_equal_keep_the_interval_of_the_first_factor():
    values = np.zeros(len(ITEM))
    assert crossed(values).interval().upper == mean(values)(ITEM).interval().upper > 0.0


def test_a_factor_with_few_levels_in_a_group_is_fixed_and_named():
    groups = ["a"] * 6 + ["b"] * 6
    levels = ["x", "y", "z"] * 2 + ["u", "v"] * 3
    values = np.linspace(0, 1, 12)
    found = over_factors(mean(values), {"item": range(12), "term": levels}, groups)
    assert isinstance(found, Mean)
    assert "fixed_terms" in found.reasons
    assert any("b has 2 terms, too few to show what other terms would" in n for n in found.notes)


def test_every_comparison_of_several_groups_is_two_way():
    rng = np.random.default_rng(3)
    names, rounds = np.tile(np.arange(8), 12), np.repeat(np.arange(12), 8)
    group = {key: rng.normal(0, 1, 8)[names] + rng.normal(0, 1, 96) for key in "abc"}

    def worst(units):
        pairs = {}
        for key in "bc":
            one, other = (
                [f"{name}{unit}" for unit in units] if units is names else units
                for name in (key, "a")
            )
            pairs[key] = RankBiserial.of_scores(group[key], group["a"], units_a=one, units_b=other)
        return MaxPairwiseDifference.of_pairs(pairs)

    one_way, joined = worst(rounds), Crossed.join(worst(rounds), worst(names), worst(None))
    assert type(joined) is MaxPairwiseDifference
    assert joined.value == one_way.value
    assert joined.interval().width > one_way.interval().width
    for key, row in joined.groups.items():
        assert isinstance(row.estimate, Crossed)
        assert row.estimate.interval().width > one_way.groups[key].interval().width
        assert row.p > one_way.groups[key].p


def test_an_undefined_part_leaves_the_first_as_it_is():
    first = MeanDifference.of_scores([0.1, 0.4, 0.5], [0.2, 0.3, 0.6])
    nothing = first.with_findings(Finding.undefined("nothing to compare"))
    assert Crossed.join(first, nothing, first) is first
    assert math.isfinite(first.value)

"""Differences and ratios of the four error rates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair import BoundExceeded, assert_false_negative_rate_ratio_within, metrics
from pytest_llmfair.metrics import get_metric

KINDS = ("negative", "omission", "positive", "discovery")
# Group a: 3 true and 1 false positives, 4 true and 2 false negatives; group b: 1, 1, 6 and 2.
COUNTS = {"a": (3, 1, 4, 2), "b": (1, 1, 6, 2)}
RATES = {
    "negative": (2 / 5, 2 / 3),
    "omission": (2 / 6, 2 / 8),
    "positive": (1 / 5, 1 / 7),
    "discovery": (1 / 4, 1 / 2),
}


def difference(kind):
    return getattr(metrics, f"false_{kind}_rate_difference")


def ratio(kind):
    return getattr(metrics, f"false_{kind}_rate_ratio")


def rows_of(counts):
    """Rows with these true and false positives, true and false negatives per group."""
    y_true, y_pred, groups = [], [], []
    for group, (tp, fp, tn, fn) in counts.items():
        y_true += [1] * tp + [0] * fp + [0] * tn + [1] * fn
        y_pred += [1] * tp + [1] * fp + [0] * tn + [0] * fn
        groups += [group] * (tp + fp + tn + fn)
    return y_true, y_pred, groups


@pytest.mark.parametrize("kind", KINDS)
def test_ratios_of_a_worked_table(kind):
    y_true, y_pred, groups = rows_of(COUNTS)
    a, b = RATES[kind]
    estimate = ratio(kind)(y_true, y_pred, groups=groups)
    assert estimate.value == pytest.approx(a / b)
    assert estimate.groups["a", "b"].value == estimate.value
    assert [estimate.groups[name].rate for name in "ab"] == pytest.approx([a, b])
    assert any(f"a {a:.3f} of" in note and f"b {b:.3f} of" in note for note in estimate.notes)


def test_a_ratio_says_which_group_is_over_which():
    y_true, y_pred, groups = rows_of(COUNTS)
    assert "the value is a over b" in ratio("negative")(y_true, y_pred, groups=groups).notes
    three = rows_of({"b": (5, 5, 5, 5), "a": (9, 5, 5, 1), "c": (5, 5, 5, 5)})
    estimate = ratio("negative")(three[0], three[1], groups=three[2])
    assert estimate.value == pytest.approx(5)
    assert "the value is b over a" in estimate.notes


@pytest.mark.parametrize("kind", KINDS)
def test_a_perfect_classifier_has_no_difference(kind):
    y = [1, 0, 1, 0] * 5
    estimate = difference(kind)(y, y, groups=["a", "a", "b", "b"] * 5)
    assert estimate.value == 0
    assert estimate.interval().upper > 0.1
    assert "uninformative" not in estimate.reasons


@pytest.mark.parametrize("kind", KINDS)
def test_a_perfect_classifier_has_no_ratio(kind):
    y = [1, 0, 1, 0] * 5
    estimate = ratio(kind)(y, y, groups=["a", "a", "b", "b"] * 5)
    assert math.isnan(estimate.value)
    assert f"false {kind} rate of a and of b is 0: 0 over 0" in estimate.undefined


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_rate_of_zero_in_one_group_is_a_rate(kind):
    y_true, y_pred, groups = rows_of({"a": (3, 1, 4, 2), "b": (5, 0, 5, 0)})
    assert difference(kind)(y_true, y_pred, groups=groups).value > 0
    assert ratio(kind)(y_true, y_pred, groups=groups).value == math.inf
    assert ratio(kind)(y_true[::-1], y_pred[::-1], groups=groups[::-1]).value == 0


EMPTY = {
    "negative": (0, 2, 2, 0),
    "omission": (2, 2, 0, 0),
    "positive": (2, 0, 0, 2),
    "discovery": (0, 0, 2, 2),
}
WORDS = {
    "negative": "with y_true = 1",
    "omission": "with y_pred other than 1",
    "positive": "with y_true other than 1",
    "discovery": "with y_pred = 1",
}


@pytest.mark.parametrize("groups", ["ab", "abc"])
@pytest.mark.parametrize("make", [difference, ratio])
@pytest.mark.parametrize("kind", KINDS)
def test_a_rate_without_a_row_is_undefined_and_names_the_group(make, kind, groups):
    counts = {"a": (3, 1, 4, 2), "b": EMPTY[kind], "c": (1, 1, 6, 2)}
    y_true, y_pred, labels = rows_of({name: counts[name] for name in groups})
    estimate = make(kind)(y_true, y_pred, groups=labels)
    assert math.isnan(estimate.value)
    assert estimate.undefined == (
        f"group b has no row {WORDS[kind]}: its false {kind} rate is not defined"
    )
    assert math.isnan(estimate.groups["a", "b"].value)
    if groups == "abc":
        assert not math.isnan(estimate.groups["a", "c"].value)


def test_order_of_appearance_is_that_of_all_rows():
    # The first positive row is of group b, the first row of group a.
    y_true, y_pred = [0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0]
    groups = ["a", "b", "b", "a", "a", "a"]
    estimate = ratio("negative")(y_true, y_pred, groups=groups)
    assert estimate.value == pytest.approx((2 / 3) / (1 / 2))
    three = difference("negative")([*y_true, 1], [*y_pred, 1], groups=[*groups, "c"])
    assert list(three.groups) == [("a", "b"), ("a", "c"), ("b", "c"), "a", "b", "c"]


def test_a_unit_in_both_groups_makes_a_pair():
    rng = np.random.default_rng(2)
    hard = rng.random(100) < 0.3
    y_true, y_pred = [1] * 200, [*~hard, *~hard]
    groups, units = ["a"] * 100 + ["b"] * 100, [*range(100), *range(100)]
    apart = difference("negative")(y_true, y_pred, groups=groups)
    paired = difference("negative")(y_true, y_pred, groups=groups, units=units)
    assert paired.value == apart.value == 0
    assert paired.interval().width < 0.5 * apart.interval().width


@pytest.mark.parametrize(
    ("y_true", "y_pred", "groups", "message"),
    [
        ([1, 0], [1], ["a", "b"], "lengths differ: y_true has 2, y_pred has 1"),
        ([1, 0], [1, 0], ["a"], "lengths differ: groups has 1 labels for 2 rows"),
        ([1, 0], [1, 0], ["a", "a"], r"1 group \(a\)"),
        ([1, math.nan], [1, 0], ["a", "b"], "y_true row 1 is missing"),
        ([1, 0], [None, 0], ["a", "b"], "y_pred row 0 is missing"),
        ([1, 0], [0.7, 0], ["a", "b"], r"y_pred row 0 is 0\.7, no class"),
        ([1, 0], ["1", "0"], ["a", "b"], "no row of y_pred is positive=1"),
    ],
)
def test_bad_input_is_named(y_true, y_pred, groups, message):
    for kind in KINDS:
        for make in (difference, ratio):
            with pytest.raises(ValueError, match=message):
                make(kind)(y_true, y_pred, groups=groups)


def test_a_bound_on_a_ratio_is_on_its_logarithm_on_either_side():
    counts = {"a": (30, 100, 100, 70), "b": (70, 100, 100, 30)}
    for names in ("ab", "ba"):
        y_true, y_pred, groups = rows_of({name: counts[name] for name in names})
        with pytest.raises(BoundExceeded):
            assert_false_negative_rate_ratio_within(y_true, y_pred, groups=groups, bound=0.1)
        assert assert_false_negative_rate_ratio_within(
            y_true, y_pred, groups=groups, bound=math.log(5)
        )


def test_the_papers_symbols_are_names_too():
    for kind, letter in zip(KINDS, ("FN", "FO", "FP", "FD"), strict=True):
        assert get_metric(f"{letter}RD").function is difference(kind)
        info = get_metric(f"{letter}RR")
        assert info.function is ratio(kind)
        assert (info.direction, info.fair_value, info.scale) == ("two-sided", 1.0, "log")
        assert info.bounds == (0.0, math.inf)


def test_a_fixed_unit_with_one_row_of_a_group_is_judged_as_a_sample():
    y_true, y_pred, groups = [1, 1, 1, 0], [1, 0, 1, 0], ["a", "a", "b", "b"]
    known = {"groups": groups, "units": ["u"] * 4}
    fixed = difference("negative")(y_true, y_pred, **known, population="fixed")
    sampled = difference("negative")(y_true, y_pred, **known)
    assert (fixed.value, fixed.interval()) == (sampled.value, sampled.interval())
    assert fixed.sample.population == "fixed"
    assert "no_repeats" in fixed.reasons
    assert "a fixed unit has a single row" in fixed.notes[-1]

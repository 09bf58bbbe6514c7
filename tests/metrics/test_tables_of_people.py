"""What the metrics of tables share: reference, weights, small groups and missing values."""

from __future__ import annotations

import inspect
import math
import re

import numpy as np
import pandas as pd
import pytest

from pytest_llmfair import (
    InvalidEvidence,
    assert_accuracy_difference_within,
    assert_equalized_odds_difference_within,
    assert_tpr_gap_within,
)
from pytest_llmfair import metrics as ours
from pytest_llmfair.metrics import (
    accuracy_difference,
    average_odds_difference,
    calibration_gap,
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
    false_negative_rate_difference,
    get_metric,
    impact_ratio,
    roc_auc_difference,
)

RATES = (
    "accuracy_difference",
    "average_odds_difference",
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "false_discovery_rate_difference",
    "false_negative_rate_ratio",
    "false_omission_rate_difference",
    "false_positive_rate_difference",
    "impact_ratio",
)
SCORES = ("brier_score_difference", "calibration_gap", "roc_auc_difference")


def table(seed=0, n=600, shares=(0.6, 0.3, 0.1)):
    rng = np.random.default_rng(seed)
    group = rng.choice(list("xyz")[: len(shares)], n, p=shares)
    y_true = rng.integers(0, 2, n)
    y_score = np.clip(0.3 + 0.4 * y_true + rng.normal(0, 0.25, n), 0, 1).round(2)
    return {
        "y_true": y_true.tolist(),
        "y_pred": (y_score > 0.5).astype(int).tolist(),
        "y_score": y_score.tolist(),
        "groups": group.tolist(),
        "weights": (rng.random(n) + 0.2).tolist(),
    }


def measure(name, rows, **more):
    parameters = inspect.signature(getattr(ours, name)).parameters
    data = {
        key: rows[key] for key in ("y_true", "y_pred", "y_score", "groups") if key in parameters
    }
    return getattr(ours, name)(**data, **more)


@pytest.mark.parametrize("name", [*RATES, *SCORES])
def test_a_reference_is_in_every_comparison(name):
    found = measure(name, table(), reference="y")
    pairs = [key for key in found.groups if isinstance(key, tuple) and key[-1] in "xyz"]
    pairs = [key for key in pairs if key[-2] in "xyz"]
    assert pairs
    assert all(key[-1] == "y" for key in pairs)
    with pytest.raises(ValueError, match="reference 'q' is no group; groups are"):
        measure(name, table(), reference="q")


@pytest.mark.parametrize("name", [*RATES[:-1], *SCORES])
def test_small_groups_are_left_out_by_name(name):
    rows = table(shares=(0.7, 0.29, 0.01))
    count = rows["groups"].count("z")
    every = measure(name, rows)
    assert f"minimum_n=20 would leave small groups unjudged, by name: z of {count}" in every.notes
    found = measure(name, rows, minimum_n=50)
    kept = [i for i, g in enumerate(rows["groups"]) if g != "z"]
    without = {key: [column[i] for i in kept] for key, column in rows.items()}
    assert found.value == pytest.approx(measure(name, without).value, nan_ok=True)
    assert any("not judged, fewer than 50 rows: z" in note for note in found.notes)
    assert any(re.search(rf"[( ]{count}( rows|,|$)", note) for note in found.notes)
    alone = measure(name, rows, minimum_n=500)
    assert "at least 500 rows (minimum_n): nothing is left to compare" in alone.undefined
    with pytest.raises(ValueError, match="reference 'z' has"):
        measure(name, rows, minimum_n=50, reference="z")


@pytest.mark.parametrize("name", [*RATES, *SCORES])
def test_missing_values_stop_a_test_or_are_dropped_and_counted(name):
    rows = table()
    column = "y_score" if name in SCORES else "y_pred"
    gone = [i for i, g in enumerate(rows["groups"]) if g == "x"][:4]
    for i, nothing in zip(gone, (None, math.nan, pd.NA, np.float64("nan")), strict=True):
        rows[column][i] = nothing
    with pytest.raises(ValueError, match=r"missing|holds nan"):
        measure(name, rows)
    found = measure(name, rows, missing="drop")
    kept = [i for i in range(600) if i not in gone]
    without = {key: [values[i] for i in kept] for key, values in rows.items()}
    assert found.value == pytest.approx(measure(name, without).value)
    total = rows["groups"].count("x")
    assert f"dropped 4 of 600 rows, which lack a value: x 4 of {total}" in found.notes
    assert "dropped_rows" in found.reasons


@pytest.mark.parametrize("name", [name for name in (*RATES, *SCORES) if "roc" not in name])
def test_weights_of_one_change_no_value_and_whole_weights_count_as_repeats(name):
    rows = table(1, 300)
    plain = measure(name, rows)
    assert measure(name, rows, weights=[1.0] * 300).value == pytest.approx(plain.value)
    counts = np.random.default_rng(2).integers(1, 4, 300)
    again = {key: np.repeat(np.array(column), counts).tolist() for key, column in rows.items()}
    weighted = measure(name, rows, weights=counts)
    assert weighted.value == pytest.approx(measure(name, again).value)
    units = np.repeat(np.arange(300), counts).tolist()
    repeated = measure(name, again, units=units).interval()
    ends = weighted.interval()
    if name != "calibration_gap":
        assert ends.width == pytest.approx(repeated.width, rel=0.15)


def test_uneven_weights_are_less_evidence():
    rows = table(3, 400, (0.5, 0.5))
    heavy = np.where(np.arange(400) % 10 == 0, 20.0, 1.0).tolist()
    even = demographic_parity_difference(rows["y_pred"], groups=rows["groups"])
    uneven = demographic_parity_difference(rows["y_pred"], groups=rows["groups"], weights=heavy)
    assert uneven.interval().width > 1.4 * even.interval().width


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"weights": [1.0] * 3}, "lengths differ"),
        ({"weights": [-1.0] + [1.0] * 7}, "weights row 0 is -1"),
        ({"weights": [0.0] * 4 + [1.0] * 4}, "every weight of group a is 0"),
        ({"weights": [1.0] * 8, "population": "fixed"}, "units drawn from more"),
        ({"minimum_n": -1}, "minimum_n"),
        ({"minimum_share": 1.5}, "minimum_share"),
        ({"missing": "ignore"}, 'choose "error" or "drop"'),
    ],
)
def test_wrong_keywords_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        demographic_parity_difference([1, 0] * 4, **({"groups": ["a"] * 4 + ["b"] * 4} | wrong))


# The worst of two rates, and ratios, have no sign.
UNSIGNED = ("equalized_odds_difference", "false_negative_rate_ratio", "impact_ratio")


@pytest.mark.parametrize("name", [x for x in (*RATES, *SCORES) if x not in UNSIGNED])
def test_two_groups_have_a_sign_that_a_reference_turns(name):
    rows = table(4, 200, (0.5, 0.5))
    first, second = dict.fromkeys(rows["groups"])
    one, other = (measure(name, rows, reference=g) for g in (second, first))
    if name != "accuracy_difference":
        assert one.value == other.value == abs(one.signed.value)
        one, other = one.signed, other.signed
    assert one.value == pytest.approx(-other.value)
    ends, mirrored = one.interval(), other.interval()
    assert (ends.lower, ends.upper) == pytest.approx((-mirrored.upper, -mirrored.lower), abs=1e-9)


@pytest.mark.parametrize(
    "found",
    [
        equal_opportunity_difference([1, 0, 0, 0], [1, 0, 1, 0], groups=list("aabb")),
        average_odds_difference([1, 0, 0, 0], [1, 0, 1, 0], groups=list("aabb")),
        roc_auc_difference([1, 0, 0, 0], [0.4, 0.2, 0.1, 0.3], groups=list("aabb")),
        false_negative_rate_difference([1, 0, 0, 0], [1, 0, 1, 0], groups=list("aabb")),
    ],
)
def test_an_undefined_difference_has_an_undefined_sign(found):
    assert math.isnan(found.value)
    assert math.isnan(found.signed.value)
    assert "group b has no row" in found.undefined
    assert found.signed.undefined == found.undefined


def test_equalized_odds_is_the_worst_of_both_rates_and_names_it():
    y_true = [1] * 40 + [0] * 40
    rows = {"y_true": y_true * 2, "groups": ["a"] * 80 + ["b"] * 80}
    y_pred = [1] * 30 + [0] * 10 + [0] * 40 + [1] * 30 + [0] * 10 + [1] * 20 + [0] * 20
    found = equalized_odds_difference(y_pred=y_pred, **rows)
    assert found.value == 0.5
    assert found.groups["false positive rate", "a", "b"].value == -0.5
    assert found.groups["true positive rate", "a", "b"].value == 0.0
    assert found.groups["false positive rate", "b"].rate == 0.5
    assert "which is -0.500 for false positive rate of a and b" in " ".join(found.notes)
    assert average_odds_difference(y_pred=y_pred, **rows).value == 0.25


def test_both_rates_share_one_error_rate():
    rows = table(5, 400, (0.5, 0.5))
    both = equalized_odds_difference(rows["y_true"], rows["y_pred"], groups=rows["groups"])
    assert len(both.judged) == 2
    # Two comparisons in both directions each have nearly a quarter: they are independent.
    assert 0.00625 <= both.shared.each(0.025) < 0.0065


def test_accuracy_of_more_than_two_groups_and_of_all_classes():
    rows = table(6)
    y_true = [(y + i % 2) for i, y in enumerate(rows["y_true"])]
    found = accuracy_difference(y_true, rows["y_pred"], groups=rows["groups"], positive=None)
    rates = [
        np.mean(
            [
                t == p
                for t, p, h in zip(y_true, rows["y_pred"], rows["groups"], strict=True)
                if g == h
            ]
        )
        for g in "xyz"
    ]
    assert found.value == pytest.approx(max(rates) - min(rates))
    with pytest.raises(ValueError, match="compares y_true and y_pred; give both"):
        accuracy_difference(y_true, y_prob=[0.5] * 600, groups=rows["groups"], minimum_n=9)
    with pytest.raises(ValueError, match="two groups"):
        ours.named(
            "Accuracy Difference", y_true=y_true, y_pred=rows["y_pred"], groups=rows["groups"]
        )


def test_the_floor_of_calibration_is_that_of_calibrated_groups():
    rng = np.random.default_rng(7)
    groups = np.array(["a"] * 60 + ["b"] * 1500)
    score = rng.random(1560)
    gaps = []
    for _ in range(25):
        y_true = (rng.random(1560) < score).astype(int)
        gaps.append(calibration_gap(y_true, score, groups=groups).value)
    found = calibration_gap((rng.random(1560) < score).astype(int), score, groups=groups)
    assert found.noise_floor() == pytest.approx(np.mean(gaps), rel=0.3)
    assert found.debiased < 0.6 * np.mean(gaps)
    assert found.interval().lower == 0.0


def test_scores_have_to_be_probabilities_except_for_their_order():
    rows = {"y_true": [1, 0, 1, 0], "y_score": [2.0, 0.1, 3.0, 0.4], "groups": list("aabb")}
    with pytest.raises(ValueError, match=r"y_score row 0 is 2; give probabilities"):
        calibration_gap(**rows)
    assert roc_auc_difference(**rows).value == 0.0


def test_families_take_true_and_predicted_classes_by_position():
    rows = table(8)
    data = rows["y_true"], rows["y_pred"]
    for name in ("tpr_gap", "fped_star", "disparity_score", "equalized_odds_difference"):
        metric = get_metric(name).function
        by_name = metric(y_true=data[0], y_pred=data[1], groups=rows["groups"])
        assert metric(*data, groups=rows["groups"]).value == by_name.value
    assert assert_tpr_gap_within(*data, groups=rows["groups"], bound=0.5).value < 0.5
    assert assert_accuracy_difference_within(*data, groups=rows["groups"], bound=0.5).value < 0.5
    found = assert_equalized_odds_difference_within(*data, groups=rows["groups"], bound=0.5)
    assert found.verdict.value == "PASS"


def test_an_undefined_rate_is_invalid_evidence():
    with pytest.raises(InvalidEvidence, match="group b has no row"):
        assert_equalized_odds_difference_within(
            [1, 0] * 20 + [0] * 20, [1, 0] * 30, groups=["a"] * 40 + ["b"] * 20, bound=0.2
        )


def test_labels_that_differ_in_blanks_or_case_are_named():
    found = impact_ratio([1, 0, 1, 1] * 10, groups=["F ", "M", "f", "M"] * 10)
    assert any("groups 'F ' and 'f' differ in blanks, case or type only" in n for n in found.notes)
    with pytest.raises(ValueError, match="no row of y_pred is positive='Yes'"):
        impact_ratio(["yes", "no"] * 4, groups=["a"] * 4 + ["b"] * 4, positive="Yes")


def test_intersections_of_a_data_frame_keep_their_names_when_rows_are_dropped():
    frame = pd.DataFrame({"sex": ["F", "M", "F", "M"] * 10, "old": ["y", "y", "n", "n"] * 10})
    frame.loc[0, "old"] = None
    found = impact_ratio([1, 0, 1, 1] * 10, groups=frame, missing="drop")
    assert "sex=F & old=n" in found.groups
    assert any("1 without a group" in note for note in found.notes)

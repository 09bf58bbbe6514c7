"""Rows of Table 2 over data by group: names, identities, printed numbers, edge rules."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.metrics import (
    all_metrics,
    get_metric,
    named,
    rabbi,
)
from pytest_llmfair.stats import Distance, MaxPairwiseRatio, RateDifference, RateRatio

GROUP_ROWS = [
    *["FPED", "FNED", "AvgGF", "FPR Ratio", "PosAvgEG", "NegAvgEG", "Disparity Score", "TPR Gap"],
    *["TNR Gap", "Parity Gap", "Accuracy Difference", "TPR Difference", "F1 Difference"],
    *["LAS Difference", "Recall Difference", "F1 Ratio"],
]
PAPER = [*GROUP_ROWS, "CFGap", "PertSS", "PertSD", "PertSR", "AvgIF", "Average Score Difference"]
VARIANTS = [
    "FPED*",
    "FNED*",
    "Disparity Score*",
    "AvgGF(TC)",
    "CFGap(TC)",
    "AvgIF(TC)",
    "FNR Ratio",
]


def labelled(seed, groups, n=60, classes=2):
    """Random rows in which every group has both gold classes and both predictions."""
    rng = np.random.default_rng(seed)
    names = [f"g{k}" for k in range(groups)]
    return {
        "y_true": [0, 0, 1, 1] * groups + rng.integers(0, classes, n).tolist(),
        "y_pred": [0, 1, 0, 1] * groups + rng.integers(0, classes, n).tolist(),
        "groups": [name for name in names for _ in range(4)] + rng.choice(names, n).tolist(),
    }


def counted(**rates):
    """Rows of gold positives with a given false negative rate per group, of so many rows."""
    y_pred, groups = [], []
    for name, (missed, n) in rates.items():
        y_pred += [0] * missed + [1] * (n - missed)
        groups += [name] * n
    return {"y_true": [1] * len(groups), "y_pred": y_pred, "groups": groups}


def values(estimate):
    return {key: row.value for key, row in estimate.groups.items()}


# Names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAPER + VARIANTS)
def test_every_name_of_the_paper_is_a_metric(name):
    info = get_metric(name)
    assert info.symbol == name
    assert info.paper == "czarnowska2021"
    assert info.function.__doc__.count("Parameters") == 1


def test_named_is_the_metric_of_that_name():
    data = labelled(1, 3)
    assert named("FPED*", **data).value == get_metric("fped_star").function(**data).value
    assert named("FPED*", **data).metric.name == "fped_star"


@pytest.mark.parametrize(
    ("given_name", "row"),
    [
        ("fped_star", "FPED*"),
        ("Disparity", "Disparity Score"),
        ("Disparity*", "Disparity Score*"),
        ("fpr ratio", "FPR Ratio"),
        ("AvgGF (TC)", "AvgGF(TC)"),
        ("False Negative Equality Difference", "FNED"),
        ("AvgEG", "PosAvgEG"),
    ],
)
def test_names_are_found_however_they_are_written(given_name, row):
    data = labelled(2, 2) | {"y_prob": np.linspace(0, 1, 68)}
    assert named(given_name, **data).metric.symbol == row


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"'FPEDs'; did you mean FPED"):
        named("FPEDs", y_true=[0, 1], y_pred=[0, 1], groups=["a", "b"])


def test_reported_values_are_those_of_the_paper():
    reported = {info.symbol: info.reported for info in all_metrics().values()}
    assert reported["AvgGF"].startswith("0.002 to 0.045")
    assert reported["PertSR"].startswith("0.026 to 0.35")
    assert reported["TPR Gap"].startswith("0.003 to 0.13")
    assert reported["FNED*"].startswith("0.002 to 0.095")
    assert reported["FPED"] == "no values"


def test_ratios_are_judged_on_the_log_scale_and_signed_rows_on_both_sides():
    for name in ("FPR Ratio", "FNR Ratio", "F1 Ratio"):
        info = get_metric(name)
        assert (info.scale, info.direction, info.fair_value) == ("log", "two-sided", 1.0)
    assert get_metric("PosAvgEG").direction == "two-sided"
    assert get_metric("PosAvgEG").bounds == (-0.5, 0.5)
    assert get_metric("FPED*").direction == "lower"


# Identities ---------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_the_average_equality_gap_is_half_of_rabbi(seed, groups):
    data = labelled(seed, groups)
    scores = np.random.default_rng(seed).integers(0, 5, len(data["groups"])) / 4.0
    gold = [i for i, t in enumerate(data["y_true"]) if t == 1]
    r = rabbi(scores[gold], groups=[data["groups"][i] for i in gold], reference="rest")
    gap = named("PosAvgEG", y_true=data["y_true"], y_prob=scores, groups=data["groups"])
    for name, row in r.groups.items():
        assert gap.groups[name].value == row.value / 2
        assert gap.groups[name].interval().lower == pytest.approx(row.interval().lower / 2)


def test_the_background_of_a_true_class_variant_holds_the_group_itself():
    # The published code leaves it out there, which doubles the value of two equal groups.
    scores, groups = [0.2, 0.4, 0.6, 0.8], ["a", "a", "b", "b"]
    estimate = named("AvgGF(TC)", y_true=[1] * 4, y_prob=scores, groups=groups)
    assert estimate.value == pytest.approx(0.2)


def test_pairs_come_first_in_the_table_and_then_the_mean_of_each_groups_pairs():
    estimate = named("TPR Gap", **counted(a=(1, 10), b=(2, 10), c=(6, 10)))
    found = values(estimate)
    assert list(found) == [("a", "b"), ("a", "c"), ("b", "c"), "a", "b", "c"]
    assert found["a"] == pytest.approx((found["a", "b"] + found["a", "c"]) / 2)
    assert estimate.value == pytest.approx((found["a"] + found["b"] + found["c"]) / 3)
    assert estimate.groups["c"].rate == pytest.approx(0.4)


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("name", ["TPR Gap", "Disparity*"])
def test_every_row_of_the_table_has_an_interval_of_its_own_value(name, groups):
    for row in named(name, **labelled(5, groups)).groups.values():
        assert row.estimate.value == pytest.approx(row.value)
        assert row.interval().lower <= row.interval().upper


def test_a_group_without_a_rate_leaves_its_pairs_and_its_row_undefined():
    data = {"y_true": [0, 1, 1], "y_pred": [0, 1, 0], "groups": ["a", "b", "c"]}
    table = named("TPR Gap", **data).groups
    assert math.isnan(table["a"].value)
    assert math.isnan(table["a"].interval().lower)


# Printed numbers ----------------------------------------------------------------------------

# Of each attribute with this many groups: the plain cells for three classes, the starred ones.
GROUPS = (3, 13, 8, 6, 6, 10, 5)
PRINTED = {
    "FNED": (
        (0.111, 1.239, 0.487, 0.027, 0.189, 0.220, 0.366),
        (0.037, 0.095, 0.061, 0.005, 0.031, 0.022, 0.073),
    ),
    "FPED": (
        (0.057, 0.372, 0.264, 0.075, 0.251, 0.481, 0.260),
        (0.019, 0.029, 0.033, 0.012, 0.042, 0.048, 0.052),
    ),
    "Disparity": (
        (0.009, 0.414, 0.148, 0.026, 0.095, 0.206, 0.018),
        (0.009, 0.069, 0.042, 0.010, 0.038, 0.046, 0.009),
    ),
}


@pytest.mark.parametrize("name", PRINTED)
def test_the_starred_cells_of_figure_1_are_the_plain_ones_by_our_normalisation(name):
    for groups, plain, star in zip(GROUPS, *PRINTED[name], strict=True):
        data = labelled(0, groups)
        factor = named(f"{name}*", **data).value / named(name, **data).value
        # Both cells are rounded to three places.
        assert star == pytest.approx(plain * factor, abs=0.0005 * (1 + factor) + 1e-9)


def test_two_groups_of_names_print_as_in_figure_2b():
    estimate = named("FNED", **counted(female=(4, 900), male=(1, 900)))
    assert {key: round(x, 3) for key, x in values(estimate).items()} == {
        "female": 0.002,
        "male": 0.002,
    }
    assert round(estimate.value, 3) == 0.003
    ratio = named("FNR Ratio", **counted(female=(4, 900), male=(1, 900)))
    assert values(ratio) == {"female": 4.0, "male": 0.25}


# False negatives of 1,000 spans per quantile of countries, from printed differences and ratios.
NATIONS = {"1q": 236, "2q": 94, "3q": 75, "4q": 56, "5q": 50, "6q": 37}
FIGURE_3 = {
    "FNED": (0.144, 0.002, 0.017, 0.036, 0.042, 0.055),
    "FNR Ratio": (3.728, 1.025, 0.788, 0.569, 0.505, 0.365),
    "TPR Gap": (0.174, 0.060, 0.052, 0.052, 0.055, 0.065),
}


@pytest.mark.parametrize(
    ("name", "total"), [("FNED", 0.296), ("FNR Ratio", None), ("TPR Gap", 0.076)]
)
def test_countries_by_income_print_as_in_figure_3(name, total):
    estimate = named(name, **counted(**{q: (x, 1000) for q, x in NATIONS.items()}))
    printed = dict(zip(NATIONS, FIGURE_3[name], strict=True))
    found = {q: estimate.groups[q].value for q in NATIONS}
    assert found == pytest.approx(printed, abs=0.002, rel=0.015)
    if total is None:
        assert estimate.value == found["1q"]
    else:
        assert estimate.value == pytest.approx(total, abs=0.002)


# Signs, reference, several groups -------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["Accuracy Difference", "TPR Difference", "F1 Difference", "Recall Difference", "F1 Ratio"],
)
def test_two_group_rows_go_by_order_of_appearance_or_by_reference(name):
    data = counted(b=(1, 10), a=(4, 10))
    plain = named(name, **data)
    turned = named(name, **data, reference="b")
    assert list(plain.groups) == [("b", "a")]
    assert list(turned.groups) == [("a", "b")]
    assert named(name, **data, reference="a").value == plain.value
    if name == "F1 Ratio":
        assert plain.value == pytest.approx(1 / turned.value)
        assert plain.value > 1
    else:
        assert plain.value == -turned.value
        assert plain.value > 0


@pytest.mark.parametrize(
    "name",
    [
        "Accuracy Difference",
        "TPR Difference",
        "F1 Difference",
        "LAS Difference",
        "Recall Difference",
        "F1 Ratio",
        "Average Score Difference",
    ],
)
def test_two_group_rows_refuse_three(name):
    data = labelled(3, 3)
    data["y_prob"] = np.linspace(0, 1, len(data["groups"]))
    with pytest.raises(ValueError, match=r"defined for two groups, groups holds 3 \(g0, g1, g2\)"):
        named(name, **data)


def test_a_reference_group_is_the_background_and_is_not_compared():
    data = counted(a=(1, 10), b=(5, 10), c=(2, 20))
    estimate = named("FNED", **data, reference="b")
    assert values(estimate) == pytest.approx({"a": 0.4, "c": 0.4})
    assert estimate.value == pytest.approx(0.8)
    assert named("FNED*", **data, reference="b").value == pytest.approx(0.4)
    ratio = named("FNR Ratio", **data, reference="b")
    assert values(ratio) == pytest.approx({"a": 0.2, "c": 0.2})


def test_several_reference_groups_are_pooled():
    data = counted(a=(1, 10), b=(5, 10), c=(2, 20))
    assert named("FNED", **data, reference=["b", "c"]).value == pytest.approx(7 / 30 - 0.1)
    ratio = named("FNR Ratio", **data, reference=["b", "c"])
    assert isinstance(ratio, RateRatio)
    assert ratio.value == pytest.approx(0.1 / (7 / 30))


def test_the_rest_can_be_the_background():
    data = counted(a=(1, 10), b=(5, 10), c=(2, 20))
    estimate = named("FNED", **data, reference="rest")
    assert estimate.value == pytest.approx(abs(0.1 - 7 / 30) + abs(0.5 - 0.1) + abs(0.1 - 6 / 20))
    two = named("FNED", **counted(a=(1, 10), b=(5, 10)), reference="rest")
    assert two.value == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("name", "reference", "message"),
    [
        ("FNED", "z", "reference 'z' is no group; groups are a, b"),
        ("FNED", ["a", "b"], "but not all"),
        ("TPR Gap", "a", "compares all pairs"),
        ("TPR Difference", "z", "reference 'z' is no group"),
    ],
)
def test_a_wrong_reference_is_refused(name, reference, message):
    with pytest.raises(ValueError, match=message):
        named(name, **counted(a=(1, 10), b=(5, 10)), reference=reference)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("TPR Difference", "b minus a"),
        ("F1 Ratio", "b over a"),
        ("PosAvgEG", "b against a"),
        ("FNR Ratio", "b against a"),
        ("Average Score Difference", "b minus a"),
    ],
)
def test_the_notes_of_a_signed_value_name_both_groups(name, message):
    data = counted(b=(1, 10), a=(4, 10)) | {"y_prob": np.linspace(0, 1, 20)}
    assert message in named(name, **data).notes


def test_the_value_of_a_vector_is_the_one_furthest_from_fair():
    data = counted(a=(1, 10), b=(5, 10), c=(2, 10))
    ratio = named("FNR Ratio", **data)
    assert isinstance(ratio, MaxPairwiseRatio)
    assert ratio.value == max(values(ratio).values(), key=lambda r: abs(math.log(r)))
    scores = [0.1, 0.2, 0.5, 0.6, 0.9, 0.95]
    gap = named("PosAvgEG", y_true=[1] * 6, y_prob=scores, groups=["a", "a", "b", "b", "c", "c"])
    assert values(gap) == {"a": -0.5, "b": 0.0, "c": 0.5}
    assert abs(gap.value) == 0.5


def test_two_groups_give_the_sharper_bounds_of_one_difference():
    assert isinstance(named("TPR Gap", **labelled(1, 2)), RateDifference)
    assert isinstance(named("TPR Gap", **labelled(1, 3)), Distance)


def test_other_classes_are_the_rest():
    data = labelled(5, 2, classes=3)
    for c in (0, 1, 2):
        binary = {
            "y_true": [int(t == c) for t in data["y_true"]],
            "y_pred": [int(p == c) for p in data["y_pred"]],
            "groups": data["groups"],
        }
        for name in ("FPED", "Parity Gap", "Accuracy Difference", "F1 Difference"):
            assert named(name, **data, positive=c).value == named(name, **binary).value


def test_classes_may_have_names():
    data = {
        "y_true": ["pos", "neg", "pos", "pos"],
        "y_pred": ["pos", "neg", "neg", "pos"],
        "groups": ["a", "a", "b", "b"],
    }
    assert named("FNED", **data, positive="pos").value == pytest.approx(0.5)
    with pytest.raises(ValueError, match="no row of y_true is positive=1"):
        named("FNED", **data)


def test_named_columns_of_a_table_are_classes():
    groups = ["a", "a", "b", "b"]
    table = pd.DataFrame({"neg": [0.1, 0.4, 0.8, 0.9], "pos": [0.9, 0.6, 0.2, 0.1]})
    estimate = named("AvgGF", y_prob=table, groups=groups, positive="pos")
    plain = named("AvgGF", y_prob=[0.9, 0.6, 0.2, 0.1], groups=groups)
    assert estimate.value == plain.value


# Undefined ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["FPED", "FPED*", "TNR Gap", "FPR Ratio"])
@pytest.mark.parametrize("groups", [2, 3])
def test_a_group_without_gold_negatives_leaves_the_row_undefined(name, groups):
    # The published code spreads NaN without a word, or drops the class for all groups.
    data = labelled(1, groups)
    data = {
        "y_true": [*data["y_true"], 1, 1],
        "y_pred": [*data["y_pred"], 0, 1],
        "groups": [*data["groups"], "new", "new"],
    }
    estimate = named(name, **data)
    assert math.isnan(estimate.value)
    assert "new has no example of another gold class" in estimate.undefined


def test_f1_without_gold_or_predicted_examples_is_undefined_and_never_0():
    data = {"y_true": [1, 1, 0, 0], "y_pred": [1, 0, 0, 0], "groups": ["a", "a", "b", "b"]}
    estimate = named("F1 Difference", **data)
    assert math.isnan(estimate.value)
    assert "b has no example of this class" in estimate.undefined


def test_no_errors_at_all_are_no_ratio_and_never_0():
    estimate = named("FPR Ratio", y_true=[0] * 4, y_pred=[0] * 4, groups=["a", "a", "b", "b"])
    assert math.isnan(estimate.value)
    assert "0 over 0" in estimate.undefined


def test_errors_over_none_are_infinite():
    data = counted(a=(2, 10), b=(0, 10), c=(0, 10))
    estimate = named("FNR Ratio", **data)
    assert estimate.value == math.inf
    assert values(estimate) == {"a": math.inf, "b": 0.0, "c": 0.0}
    assert estimate.interval().lower > 0


@pytest.mark.parametrize("name", ["AvgGF(TC)", "PosAvgEG", "NegAvgEG"])
def test_a_group_without_the_gold_class_is_named(name):
    y_true = [0, 0, 1, 1] if name != "NegAvgEG" else [1, 1, 0, 0]
    estimate = named(name, y_true=y_true, y_prob=[0.1, 0.2, 0.3, 0.4], groups=["a", "a", "b", "b"])
    assert math.isnan(estimate.value)
    assert "a has no example" in estimate.undefined


def test_the_negative_gap_needs_two_classes():
    table = np.full((4, 3), 1 / 3)
    with pytest.raises(ValueError, match="defined for two classes"):
        named("NegAvgEG", y_true=[0, 1, 2, 0], y_prob=table, groups=["a", "a", "b", "b"])


# Input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("FPED", {"y_pred": [1, 0]}, "FPR needs y_true"),
        ("FPED", {"y_true": [1, 0]}, "FPR needs y_pred"),
        ("FPED", {}, "there is no data"),
        ("AvgGF", {"y_true": [1, 0]}, "AvgGF needs y_prob"),
        ("AvgGF(TC)", {"y_prob": [0.1, 0.2]}, "needs y_true"),
        ("AvgGF", {"y_prob": [0.1, 1.2]}, r"row 1 holds 1.2, outside \[0, 1\]"),
        ("AvgGF", {"y_prob": [[0.1, 0.2], [0.3]]}, "row 1 has 1 classes and row 0 has 2"),
        ("AvgGF", {"y_prob": [[[0.1, 0.2]], [[0.3, 0.4]]]}, "takes data by group"),
        ("FPED", {"y_true": [0, 1], "y_pred": [0, 1, 1]}, "y_true has 2 rows, y_pred has 3"),
        ("CFGap", {"y_true": [0, 1]}, r"needs y_prob\[example\]\[group\]\[class\]"),
        ("FPED", {"y_true": [0, 1], "y_pred": [0, 1], "groups": ["a", "a"]}, "1 group"),
        (
            "AvgGF",
            {"y_prob": [[0.5, 0.5]] * 2, "positive": 7},
            "class 7 has no column in y_prob, w",
        ),
    ],
)
def test_wrong_data_are_named_in_the_error(name, data, message):
    with pytest.raises(ValueError, match=message):
        named(name, **({"groups": ["a", "b"]} | data))


def test_constant_predictions_are_flagged():
    estimate = named("Parity Gap", y_pred=[1] * 6, groups=["a", "b"] * 3)
    assert "uninformative" in estimate.reasons


def test_both_base_rates_are_printed():
    notes = named("FNR Ratio", **counted(a=(1, 10), b=(5, 10))).notes
    assert "FNR: a 0.100 of 10, b 0.500 of 10" in notes


# Evidence -----------------------------------------------------------------------------------


def test_repeated_rows_of_one_unit_are_no_more_evidence():
    data = labelled(4, 3)
    often = {key: list(np.repeat(x, 5)) for key, x in data.items()}
    units = list(np.repeat(np.arange(len(data["groups"])), 5))
    for name in ("FNED", "Disparity"):
        once = named(name, **data)
        again = named(name, **often, units=units)
        assert again.value == pytest.approx(once.value)
        assert again.interval().upper >= 0.95 * once.interval().upper


def test_f1_rests_on_rows_and_not_on_how_often_it_counts_them():
    estimate = named("F1 Difference", **labelled(4, 2))
    assert estimate.sample.units == estimate.sample.generations <= 68
    data = counted(a=(5, 30), b=(10, 30))
    assert "identical_repeats" not in named("F1 Ratio", **data).reasons


def test_a_fixed_population_needs_repeats():
    data = labelled(4, 2)
    for name in ("F1 Difference", "TPR Gap"):
        assert "no_repeats" in named(name, **data, population="fixed").reasons


@pytest.mark.parametrize("name", ["F1 Difference", "F1 Ratio", "Disparity", "FNED"])
def test_a_fixed_population_of_repeated_prompts_has_an_interval(name):
    rng = np.random.default_rng(0)
    data = {
        "y_true": [1] * 80,
        "y_pred": rng.integers(0, 2, 80).tolist(),
        "groups": ["a"] * 40 + ["b"] * 40,
    }
    estimate = named(name, **data, units=[i // 4 for i in range(80)], population="fixed")
    assert estimate.sample.population == "fixed"
    assert estimate.sample.units == 20
    assert estimate.interval().lower < estimate.interval().upper < math.inf


def test_a_bound_that_no_data_could_exceed_is_known():
    data = labelled(1, 4)
    assert named("TPR Gap", **data).attainable == pytest.approx((0.0, 4 / 6))
    assert named("Disparity", **data).attainable == pytest.approx((0.0, 1.0))
    assert named(
        "PertSD", y_true=[0], y_prob=[[[1.0, 0]] * 4], groups=list("abcd")
    ).attainable == (
        0.0,
        0.5,
    )

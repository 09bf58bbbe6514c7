"""Metrics by group: fairlearn's and scikit-learn's numbers, and what theirs lack."""

from __future__ import annotations

import math
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fairlearn_metrics
from fairlearn.metrics import MetricFrame
from sklearn import metrics as sklearn_metrics

from pytest_llmfair import InvalidEvidence, assert_within
from pytest_llmfair.metrics import (
    accuracy_difference,
    average_odds_difference,
    brier_score_difference,
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
    false_positive_rate_difference,
    false_positive_rate_ratio,
    group_metrics,
    impact_ratio,
    roc_auc_difference,
)
from pytest_llmfair.stats import GroupValues


def people(seed=0, n=400):
    """A hiring classifier: true and predicted outcome, score, group, job, weight."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["x", "y"], n, p=[0.7, 0.3])
    y_true = rng.integers(0, 2, n)
    y_score = np.clip(0.3 + 0.4 * y_true - 0.1 * (group == "y") + rng.normal(0, 0.2, n), 0, 1)
    return pd.DataFrame(
        {
            "y_true": y_true,
            "y_pred": (y_score > 0.5).astype(int),
            "y_score": y_score,
            "sex": group,
            "job": rng.choice(["desk", "shop"], n),
            "weight": rng.random(n) + 0.1,
        }
    )


SCORES = {
    "accuracy": sklearn_metrics.accuracy_score,
    "precision": sklearn_metrics.precision_score,
    "recall": sklearn_metrics.recall_score,
    "f1": sklearn_metrics.f1_score,
    "selection": fairlearn_metrics.selection_rate,
    "fpr": fairlearn_metrics.false_positive_rate,
    "count": fairlearn_metrics.count,
}


def confusion(rows):
    """True and false positives and negatives of some rows, as AIF360 counts them."""
    tp = int(((rows.y_true == 1) & (rows.y_pred == 1)).sum())
    fp = int(((rows.y_true == 0) & (rows.y_pred == 1)).sum())
    return tp, fp, int((rows.y_true == 1).sum()) - tp, int((rows.y_true == 0).sum()) - fp


def aif360(table, privileged):
    """ClassificationMetric of AIF360 0.6.1, its formulas transcribed: unprivileged first."""
    (tp, fp, fn, tn), (tp_p, fp_p, fn_p, tn_p) = (
        confusion(table[same]) for same in (table.sex != privileged, table.sex == privileged)
    )
    rate, rate_p = (tp + fp) / (tp + fp + fn + tn), (tp_p + fp_p) / (tp_p + fp_p + fn_p + tn_p)
    tpr, fpr = tp / (tp + fn) - tp_p / (tp_p + fn_p), fp / (fp + tn) - fp_p / (fp_p + tn_p)
    return {
        "statistical_parity_difference": rate - rate_p,
        "disparate_impact": rate / rate_p,
        "equal_opportunity_difference": tpr,
        "average_odds_difference": 0.5 * (fpr + tpr),
        "error_rate_difference": (fp + fn) / (tp + fp + fn + tn)
        - (fp_p + fn_p) / (tp_p + fp_p + fn_p + tn_p),
    }


def test_one_table_through_fairlearn_scikit_learn_aif360_and_here():
    table = people()
    both = (table.y_true, table.y_pred)
    theirs = MetricFrame(
        metrics=SCORES, y_true=table.y_true, y_pred=table.y_pred, sensitive_features=table.sex
    )
    ours = group_metrics(SCORES, *both, groups=table.sex)
    assert ours.to_frame().equals(theirs.by_group.astype(float))
    for name, metric in SCORES.items():
        assert ours.overall[name].value == metric(*both)
        for sex, rows in table.groupby("sex"):
            assert ours.by_group[name][sex].value == metric(rows.y_true, rows.y_pred)
        for method in ("between_groups", "to_overall"):
            found = ours.difference(name, method=method).value
            assert found == pytest.approx(theirs.difference(method=method)[name], abs=1e-15)
        (ratio,) = ours.ratio(name).values()
        # fairlearn has the smaller over the larger.
        smaller = min(ratio.value, 1 / ratio.value)
        assert smaller == pytest.approx(theirs.ratio()[name], abs=1e-15)
    given = {"y_true": table.y_true, "y_pred": table.y_pred, "sensitive_features": table.sex}
    groups = {"groups": table.sex}
    same = {
        "equalized_odds_difference": equalized_odds_difference(*both, **groups),
        "equal_opportunity_difference": equal_opportunity_difference(*both, **groups),
        "demographic_parity_difference": demographic_parity_difference(table.y_pred, **groups),
        "demographic_parity_ratio": impact_ratio(table.y_pred, **groups),
        "false_positive_rate_difference": false_positive_rate_difference(*both, **groups),
    }
    for name, found in same.items():
        assert found.value == pytest.approx(getattr(fairlearn_metrics, name)(**given), abs=1e-15)
    assert abs(accuracy_difference(*both, **groups).value) == theirs.difference()["accuracy"]
    want = aif360(table, "x")
    against = groups | {"reference": "x"}
    parity = demographic_parity_difference(table.y_pred, **against).signed.value
    assert parity == pytest.approx(want["statistical_parity_difference"], abs=1e-15)
    impact = impact_ratio(table.y_pred, **against).value
    assert impact == pytest.approx(min(want["disparate_impact"], 1 / want["disparate_impact"]))
    for metric in (equal_opportunity_difference, average_odds_difference):
        found = metric(*both, **against).signed.value
        assert found == pytest.approx(want[metric.__name__], abs=1e-15)
    found = accuracy_difference(*both, **against).value
    assert found == pytest.approx(-want["error_rate_difference"], abs=1e-15)


def test_scores_are_those_of_scikit_learn():
    table = people()
    own = {
        sex: (
            sklearn_metrics.roc_auc_score(rows.y_true, rows.y_score),
            sklearn_metrics.brier_score_loss(rows.y_true, rows.y_score),
        )
        for sex, rows in table.groupby("sex")
    }
    auc = roc_auc_difference(table.y_true, table.y_score, groups=table.sex)
    brier = brier_score_difference(table.y_true, table.y_score, groups=table.sex)
    assert auc.value == pytest.approx(abs(own["x"][0] - own["y"][0]), abs=1e-15)
    assert brier.value == pytest.approx(abs(own["x"][1] - own["y"][1]), abs=1e-15)
    for sex, (area, score) in own.items():
        assert auc.groups[sex].value == pytest.approx(area)
        assert brier.groups[sex].value == pytest.approx(score)


def test_the_quickstart_of_metric_frame():
    # From the user guide of fairlearn, "Performing a Fairness Assessment".
    y_true = [0, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0]
    y_pred = [0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0]
    sex = list("aabbbaacbbbbacccbaca")
    recall = sklearn_metrics.recall_score
    theirs = MetricFrame(metrics=recall, y_true=y_true, y_pred=y_pred, sensitive_features=sex)
    ours = group_metrics(recall, y_true, y_pred, groups=sex)
    assert ours.overall["recall_score"].value == theirs.overall
    assert ours.to_frame()["recall_score"].to_dict() == theirs.by_group.to_dict()
    assert ours.difference().value == pytest.approx(theirs.difference())
    first = next(iter(ours.ratio().values())).value
    assert min(first, 1 / first) == pytest.approx(theirs.ratio())
    assert 0.0 <= ours.by_group["recall_score"]["a"].interval().lower < theirs.by_group["a"]


def test_intersections_and_control_features_have_the_shape_of_metric_frame():
    table = people(1)
    two = {"metrics": SCORES, "y_true": table.y_true, "y_pred": table.y_pred}
    theirs = MetricFrame(**two, sensitive_features=table[["sex"]], control_features=table[["job"]])
    ours = group_metrics(
        SCORES, table.y_true, table.y_pred, groups=table[["sex"]], control=table[["job"]]
    )
    assert ours.to_frame().equals(theirs.by_group.astype(float))
    for job in ("desk", "shop"):
        found = ours.difference("accuracy")[job].value
        assert found == pytest.approx(theirs.difference().loc[job, "accuracy"])
        assert ours.overall["accuracy"][job].value == theirs.overall.loc[job, "accuracy"]
    kept = table[~((table.sex == "y") & (table.job == "shop"))]
    crossed = group_metrics(SCORES, kept.y_true, kept.y_pred, groups=kept[["sex", "job"]])
    theirs = MetricFrame(
        metrics=SCORES,
        y_true=kept.y_true,
        y_pred=kept.y_pred,
        sensitive_features=kept[["sex", "job"]],
    )
    assert crossed.to_frame()["accuracy"].isna().sum() == 1
    assert crossed.to_frame()["accuracy"].equals(theirs.by_group["accuracy"])
    assert crossed.to_frame().index.equals(theirs.by_group.index)


def test_weights_reach_the_metric_as_in_metric_frame():
    table = people(2)
    accuracy = sklearn_metrics.accuracy_score
    theirs = MetricFrame(
        metrics=accuracy,
        y_true=table.y_true,
        y_pred=table.y_pred,
        sensitive_features=table.sex,
        sample_params={"sample_weight": table.weight},
    )
    ours = group_metrics(
        accuracy, table.y_true, table.y_pred, groups=table.sex, weights=table.weight
    )
    for sex, value in theirs.by_group.items():
        assert ours.by_group["accuracy_score"][sex].value == pytest.approx(value)


def test_a_score_metric_is_given_the_scores():
    table = people()
    ours = group_metrics(
        [sklearn_metrics.roc_auc_score, sklearn_metrics.accuracy_score],
        table.y_true,
        table.y_pred,
        y_score=table.y_score,
        groups=table.sex,
    )
    rows = table[table.sex == "y"]
    found = ours.by_group["roc_auc_score"]["y"].value
    assert found == pytest.approx(sklearn_metrics.roc_auc_score(rows.y_true, rows.y_score))


def test_what_is_not_defined_in_a_group_is_never_0():
    y_true, y_pred = [1, 0, 1, 0] * 5 + [0] * 5, [1, 0, 0, 0] * 5 + [0] * 5
    table = group_metrics(
        [sklearn_metrics.precision_score, sklearn_metrics.roc_auc_score],
        y_true,
        y_pred,
        groups=["a"] * 20 + ["b"] * 5,
    )
    for name in ("precision_score", "roc_auc_score"):
        assert math.isnan(table.by_group[name]["b"].value)
        assert "not defined" in table.by_group[name]["b"].undefined
        assert table.difference(name).undefined is not None
        assert "undefined" in repr(table)
    assert "undefined" in table._repr_html_()


def test_repeated_rows_of_a_person_are_no_evidence_of_their_own():
    table = people(4, 60)
    again = pd.concat([table] * 4)
    units = list(range(60)) * 4
    once = group_metrics(
        sklearn_metrics.accuracy_score, table.y_true, table.y_pred, groups=table.sex
    )
    four = group_metrics(
        sklearn_metrics.accuracy_score, again.y_true, again.y_pred, groups=again.sex, units=units
    )
    for sex in ("x", "y"):
        one, other = (each.by_group["accuracy_score"][sex].interval() for each in (once, four))
        assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper))


def test_the_order_of_rows_changes_nothing():
    table = people(6, 900)
    mixed = table.sample(frac=1.0, random_state=1)
    one, other = (
        group_metrics(SCORES["f1"], rows.y_true, rows.y_pred, groups=rows.sex)
        for rows in (table, mixed)
    )
    for sex in ("x", "y"):
        assert (
            one.by_group["f1_score"][sex].interval() == other.by_group["f1_score"][sex].interval()
        )


def test_small_groups_are_shown_and_left_out_by_name():
    table = people(7)
    table.loc[:6, "sex"] = "z"
    ours = group_metrics(
        SCORES["accuracy"], table.y_true, table.y_pred, groups=table.sex, minimum_n=20
    )
    found = ours.difference()
    assert set(found.groups) <= {("x", "y"), ("y", "x")}
    assert "z" in ours.to_frame().index
    assert any("fewer than 20 rows: z of 7" in note for note in found.notes)


def test_missing_rows_are_dropped_on_request_and_counted_by_group():
    table = people(8).astype({"y_pred": object})
    table.loc[table.index[table.sex == "x"][:3], "y_pred"] = None
    table.loc[table.index[table.sex == "y"][:2], "sex"] = None
    given = (SCORES["accuracy"], table.y_true, table.y_pred.tolist())
    with pytest.raises(ValueError, match=r"row \d+ is missing"):
        group_metrics(*given, groups=table.sex)
    ours = group_metrics(*given, groups=table.sex, missing="drop")
    (said,) = (each.text for each in ours.findings)
    assert said.startswith("dropped 5 of 400 rows")
    assert "x 3 of" in said
    assert "2 without a group" in said


def test_a_column_of_a_matrix_is_a_column():
    df = people()
    table = group_metrics(
        sklearn_metrics.accuracy_score, df[["y_true"]].to_numpy(), df.y_pred, groups=df.sex
    )
    plain = group_metrics(sklearn_metrics.accuracy_score, df.y_true, df.y_pred, groups=df.sex)
    assert repr(table) == repr(plain)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"metrics": 3}, "not iterable"),
        ({"metrics": [3]}, "give a function"),
        ({"metrics": []}, "at least one"),
        ({"y_pred": None}, "give y_pred or y_score"),
        ({"groups": ["a"] * 4}, "at least two"),
        ({"bounds": {"f2": (0, 1)}}, "not one of"),
        ({"weights": [1.0, 1.0, -1.0, 1.0]}, "weights row 2 is -1"),
        ({"missing": "ignore"}, "drop"),
        ({"control": ["x"] * 3}, "columns of"),
        ({"y_true": [1, 0]}, "lengths differ"),
        ({"y_score": [[0.1, 0.9]] * 4}, "y_score row 0 holds 2 numbers"),
        ({"sensitive_features": list("aabb")}, r"takes groups=\.\.\., not"),
        (
            {"y_true": pd.Series([1, 0, 1, 0]), "groups": pd.Series(list("aabb"), [3, 2, 1, 0])},
            "y_true and groups have different pandas indexes",
        ),
    ],
)
def test_wrong_input_is_named(wrong, message):
    given = {
        "metrics": SCORES["accuracy"],
        "y_true": [1, 0, 1, 0],
        "y_pred": [1, 1, 1, 0],
        "groups": list("aabb"),
    }
    with pytest.raises((ValueError, TypeError), match=message):
        group_metrics(**(given | wrong))


def test_what_a_metric_gives_is_checked():
    def pair(y_true, y_pred):
        return y_true[:2]

    def percent(y_true, y_pred):
        return 100.0 * float((y_true == y_pred).mean())

    given = {"y_true": [1, 0, 1, 0], "y_pred": [1, 1, 1, 0], "groups": list("aabb")}
    for wrong in (pair, lambda y_true, y_pred: None):
        with pytest.raises(ValueError, match="gives one number"):
            repr(group_metrics(wrong, **given))
    with pytest.raises(InvalidEvidence, match="no pair is defined"):
        assert_within(group_metrics(lambda t, p: math.nan, **given).difference(), 0.5)
    with pytest.raises(ValueError, match=r"50, outside its bounds \[0, 1\]"):
        repr(group_metrics(percent, **given, bounds={"percent": (0.0, 1.0)}))
    with pytest.raises(TypeError, match="takes no sample_weight"):
        repr(group_metrics(percent, **given, weights=[1.0] * 4))
    table = group_metrics(percent, **given)
    with pytest.raises(ValueError, match="metric is 'f1'; choose one of percent"):
        table.difference("f1")
    with pytest.raises(ValueError, match="reference 'c' is no group; groups are a, b"):
        table.difference(reference="c")
    with pytest.raises(ValueError, match="between_groups"):
        table.difference(method="all")


def test_labels_of_several_types_and_functions_with_filled_in_arguments():
    y_true, y_score = [1, 0] * 20, [0.9, 0.1] * 19 + [0.9, 0.9999]
    loss = partial(sklearn_metrics.log_loss, labels=[0, 1])
    table = group_metrics(loss, y_true, y_score=y_score, groups=[1, "1", 1, "1"] * 10)
    assert list(table.to_frame(intervals=True)["log_loss"].index) == [1, "1"]
    # A loss is never below 0, however uncertain it is.
    assert table.by_group["log_loss"]["1"].interval().lower == 0.0


def test_a_notebook_shows_every_group_and_escapes_names():
    table = people(9)
    table["sex"] = table.sex.replace({"x": "<b>x</b>"})
    html = group_metrics(
        [SCORES["f1"], SCORES["accuracy"]], table.y_true, table.y_pred, groups=table.sex
    )._repr_html_()
    assert html.count("<svg") == 2
    assert html.count("<circle") == 6
    assert "<b>" not in html


def test_a_comparison_can_be_pickled():
    table = people(10, 60)
    found = group_metrics(SCORES["f1"], table.y_true, table.y_pred, groups=table.sex).difference()
    assert pickle.loads(pickle.dumps(found)).interval() == found.interval()


def test_folds_of_a_small_group_stay_apart_among_many_units():
    rows = {"big": np.arange(3000), "small": np.arange(3000, 3012)}
    mixed = np.random.default_rng(11).permutation(3012)
    engine = GroupValues(lambda _: 0.5, rows, np.arange(3012), mixed)
    assert len(set(engine.fold[3000:].tolist())) == 12
    assert np.bincount(engine.fold[:3000]).tolist() == [15] * 200


def test_a_reference_turns_ratios_to_group_over_reference():
    table = people()
    both = (table.y_true, table.y_pred)
    found = false_positive_rate_ratio(*both, groups=table.sex, reference="x").value
    ratio = group_metrics(SCORES["fpr"], *both, groups=table.sex).ratio(reference="x")
    assert found == pytest.approx(ratio["y", "x"].value)

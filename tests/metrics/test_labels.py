"""Group labels from pandas, NumPy and lists, in one column or several."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from pytest_llmfair import assert_metric
from pytest_llmfair.metrics import (
    demographic_parity_difference,
    false_negative_rate_difference,
    rabbi,
    toxic_fraction,
    tpr_gap,
)
from pytest_llmfair.metrics.arguments import group_rows

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "sex": RNG.choice(["F", "M"], 200),
        "age": RNG.choice([20, 40], 200),
        "hired": RNG.integers(0, 2, 200),
        "fit": RNG.integers(0, 2, 200),
    }
)
BOTH = TABLE[["sex", "age"]]
CELLS = sorted(itertools.product(["F", "M"], [20, 40]))


def rates(estimate):
    return {key: row.rate for key, row in estimate.groups.items() if isinstance(key, str)}


@pytest.mark.parametrize(
    ("groups", "name"),
    [
        (BOTH, "sex={} & age={}"),
        (BOTH.astype("category"), "sex={} & age={}"),
        (BOTH.convert_dtypes(), "sex={} & age={}"),
        ({"sex": TABLE.sex, "age": list(TABLE.age)}, "sex={} & age={}"),
        ([TABLE.sex, TABLE.age], "sex={} & age={}"),
        (BOTH.to_numpy(), "{} & {}"),
        ([list(TABLE.sex), list(TABLE.age)], "{} & {}"),
        ([[sex, age] for sex, age in zip(TABLE.sex, TABLE.age, strict=True)], "{} & {}"),
    ],
)
def test_several_columns_are_intersections(groups, name):
    estimate = demographic_parity_difference(TABLE.hired, groups=groups)
    own = {
        name.format(sex, age): TABLE.hired[(TABLE.sex == sex) & (TABLE.age == age)].mean()
        for sex, age in CELLS
    }
    assert rates(estimate) == pytest.approx(own)
    assert estimate.value == pytest.approx(max(own.values()) - min(own.values()))


def test_every_metric_with_groups_takes_several_columns():
    names = {"sex=F & age=20", "sex=F & age=40", "sex=M & age=20", "sex=M & age=40"}
    errors = false_negative_rate_difference(TABLE.fit, TABLE.hired, groups=BOTH)
    assert set(rates(errors)) == names
    gap = tpr_gap(y_true=TABLE.fit.tolist(), y_pred=TABLE.hired.tolist(), groups=BOTH)
    assert names <= set(gap.groups)
    ranks = rabbi(TABLE.hired, groups=BOTH, reference="sex=F & age=20")
    assert set(ranks.groups) == names - {"sex=F & age=20"}


@pytest.mark.parametrize("kind", ["category", "string", "object"])
def test_one_column_is_read_as_it_is(kind):
    plain = demographic_parity_difference(TABLE.hired.tolist(), groups=TABLE.sex.tolist())
    framed = demographic_parity_difference(
        TABLE[["hired"]].convert_dtypes(), groups=TABLE[["sex"]].astype(kind)
    )
    assert list(framed.groups) == list(plain.groups)
    assert framed.interval() == plain.interval()


def test_scores_may_be_a_data_frame_of_one_column():
    scores = RNG.random(40)
    framed = toxic_fraction(pd.DataFrame({"score": scores}))
    assert framed.interval() == toxic_fraction(scores).interval()


def test_different_labels_with_the_same_text_stay_apart():
    groups = np.array([["1", "x"], [1, "x"], ["1", "y"], [1, "y"]], dtype=object)
    estimate = demographic_parity_difference([1, 0, 1, 0], groups=groups)
    assert set(rates(estimate)) == {"'1' & 'x'", "1 & 'x'", "'1' & 'y'", "1 & 'y'"}


@pytest.mark.parametrize(
    ("hired", "groups", "message"),
    [
        (TABLE[["hired", "fit"]], TABLE.sex, "y_pred has 2 columns; give one"),
        (TABLE.hired, BOTH.replace({"sex": "F"}, None), "groups sex row [0-9]+ is missing"),
        (
            TABLE.hired,
            {"sex": TABLE.sex[:3], "age": TABLE.age},
            "groups has columns of 3, 200 rows; give one label per row in each",
        ),
        (TABLE.hired, BOTH[:50], "groups has 50 labels for 200 rows"),
        (TABLE.hired, {"Ada": "a"}, "groups is a dict; give a list or an array"),
    ],
)
def test_wrong_columns_are_named(hired, groups, message):
    with pytest.raises(ValueError, match=message):
        demographic_parity_difference(hired, groups=groups)


SHUFFLED = TABLE.sample(frac=1.0, random_state=1)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "groups", "named"),
    [
        (SHUFFLED.fit, TABLE.hired, TABLE.sex, "y_true and y_pred"),
        (TABLE.fit, TABLE.hired, SHUFFLED.sex, "y_pred and groups"),
        (TABLE.fit.to_list(), TABLE.hired, SHUFFLED[["sex", "age"]], "y_pred and groups"),
        (TABLE.fit, TABLE.hired.to_numpy(), [SHUFFLED.sex, SHUFFLED.age], "y_true and groups"),
        (TABLE.fit, TABLE.hired, {"sex": TABLE.sex, "age": SHUFFLED.age}, "groups and groups"),
        (TABLE.fit, TABLE.hired, TABLE.sex.set_axis(range(200, 0, -1)), "row 0 is 0 in y_pred"),
        (TABLE.fit, TABLE.hired, TABLE.sex.set_axis([f"p{i}" for i in range(200)]), "'p0' in gr"),
    ],
)
def test_columns_with_different_indexes_are_an_error(y_true, y_pred, groups, named):
    with pytest.raises(ValueError, match=named):
        false_negative_rate_difference(y_true, y_pred, groups=groups)
    with pytest.raises(ValueError, match=rf"{named}.*\.to_numpy\(\) of each if rows match by"):
        assert_metric("false_negative_rate_difference", y_true, y_pred, groups=groups, bound=0.9)


def test_columns_with_equal_indexes_in_any_order_give_one_value():
    expected = false_negative_rate_difference(TABLE.fit, TABLE.hired, groups=TABLE.sex).value
    for table in (SHUFFLED, SHUFFLED.reset_index(drop=True), TABLE.set_axis(np.arange(200.0))):
        found = false_negative_rate_difference(table.fit, table.hired, groups=table.sex)
        assert found.value == pytest.approx(expected)
    # Positions decide where the caller says so, and where only one of them has an index.
    by_position = (TABLE.fit, TABLE.hired.to_numpy()), (TABLE.fit.to_list(), TABLE.hired)
    for y_true, y_pred in by_position:
        found = false_negative_rate_difference(y_true, y_pred, groups=TABLE.sex.to_list())
        assert found.value == pytest.approx(expected)


def test_many_groups_are_a_warning_before_their_pairs_are_compared():
    groups = [f"person {i}" for i in range(1000)]
    with pytest.warns(UserWarning, match=r"1,000 groups, and all 499,500 pairs .* fewer groups"):
        group_rows(groups, 1000)
    assert len(group_rows(groups[:100], 100)) == 100

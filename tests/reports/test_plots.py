"""Where marks stand on the common scale of a page."""

from __future__ import annotations

import math

import pytest

from pytest_llmfair.reports.html import runs
from pytest_llmfair.reports.plots import bounds_of, forest, matrix, natural, relative, side_of

LOWER = {"direction": "lower", "fair_value": 0.0, "bound": 0.1, "scale": "linear", "of": "value"}
LOWER |= {"judged": "value"}
HIGHER = {**LOWER, "direction": "higher", "fair_value": 1.0, "bound": 0.8}
DIFFERENCE = {**LOWER, "direction": "two-sided"}
RATIO = {**DIFFERENCE, "fair_value": 1.0, "bound": math.log(2), "scale": "log"}
STRICT = {**LOWER, "bound": 0.0}


@pytest.mark.parametrize(
    ("record", "value", "place"),
    [
        (LOWER, 0.0, 0.0),
        (LOWER, 0.1, 1.0),
        (LOWER, -0.05, -0.5),
        (LOWER, "inf", math.inf),
        (HIGHER, 1.0, 0.0),
        (HIGHER, 0.6, 2.0),
        (DIFFERENCE, -0.2, -2.0),
        (RATIO, 4.0, 2.0),
        (RATIO, 0.5, -1.0),
        (RATIO, 0.0, -math.inf),
        (STRICT, 0.0, 0.0),
        (STRICT, 0.01, math.inf),
    ],
)
def test_fair_is_0_and_the_bound_is_1(record, value, place):
    assert relative(record, value) == pytest.approx(place)


def check(record, value, lower, upper, floor=None):
    return {**record, "value": value, "lower": lower, "upper": upper, "noise_floor": floor}


def test_the_scale_ends_where_intervals_become_useless():
    records = [
        check(LOWER, 0.05, 0.0, 0.08, 0.02),
        check(LOWER, 0.9, 0.8, 0.95),
        check(LOWER, 0.1, 0.05, "inf"),
        check(HIGHER, None, None, None),
    ]
    axis, (near, far, open_end, unknown) = forest(records)
    assert axis.high == 4.0
    assert near.far == ""
    assert not near.beyond_right
    assert axis.at(0.0) < near.floor < near.value < axis.at(1.0)
    assert (far.value, far.far, far.beyond_right) == (None, "9.0\N{MULTIPLICATION SIGN}", True)
    assert open_end.beyond_right
    assert open_end.value == axis.at(1.0)
    assert unknown.value is None
    assert [label for _, label, _ in axis.ticks][:2] == ["fair", "bound"]


def test_an_interval_of_a_similarity_is_turned_round():
    axis, (marks,) = forest([check(HIGHER, 0.9, 0.8, 1.0)])
    assert (marks.lower, marks.upper) == (axis.at(0.0), axis.at(1.0))


def test_both_bounds_are_drawn_where_both_sides_count():
    axis, _ = forest([check(LOWER, 0.0, 0.0, 0.1), check(DIFFERENCE, 0.0, -0.1, 0.1)])
    assert bounds_of(axis, LOWER) == (axis.at(1.0),)
    assert bounds_of(axis, DIFFERENCE) == (axis.at(-1.0), axis.at(1.0))


def test_a_scale_of_its_own_holds_rows_and_bound_between_round_ticks():
    rows = [{"value": 0.31, "lower": 0.26, "upper": 0.37}]
    axis, (marks,) = natural(rows, (0.15,))
    assert (axis.low, axis.high) == (pytest.approx(0.15), pytest.approx(0.4))
    assert [label for _, label, _ in axis.ticks] == ["0.15", "0.2", "0.25", "0.3", "0.35", "0.4"]
    assert marks.lower < marks.value < marks.upper
    axis, (marks,) = natural([{"value": None, "lower": None, "upper": None}], ())
    assert marks.value is None


def test_a_matrix_needs_three_groups():
    rows = [{"key": "a / b"}, {"key": "a"}, {"key": "b"}]
    assert matrix(rows) == ([], {})
    groups, cells = matrix([*rows, {"key": "c / a"}])
    assert groups == ["a", "b", "c"]
    assert set(cells) == {("a", "b"), ("c", "a")}


@pytest.mark.parametrize(
    ("lower", "upper", "side"),
    [
        (0.0, 0.1, "within"),
        (0.2, 0.3, "beyond"),
        (0.0, 0.3, "undecided"),
        (None, None, "undecided"),
    ],
)
def test_the_side_of_a_row(lower, upper, side):
    assert side_of(LOWER, {"lower": lower, "upper": upper}) == side


def test_runs_of_words_give_both_texts_back_and_mark_what_differs():
    one = "She is warm, caring and calm.\nI like her."
    other = "He is a natural leader, calm.\nI like him."
    first, second = runs(one, other)
    assert "".join(text for text, _ in first) == one
    assert "".join(text for text, _ in second) == other
    assert [text for text, differs in second if differs] == ["He", "a natural leader", "him"]
    same, _ = runs("the same", "the same")
    assert same == [("the same", False)]


def test_long_texts_are_cut():
    (text, _), *_ = runs("word " * 1000, "word " * 1000)[0]
    assert len(text) < 2100
    assert text.endswith("... (5,000 characters)")

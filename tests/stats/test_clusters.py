"""Sampling units and the variance of a mean over them, beside slow transcriptions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.stats import _clusters as clusters

labelled = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6)), min_size=3, max_size=30).filter(
    lambda rows: len({unit for _, unit in rows}) > 1
)


def split(rows):
    values = np.array([value for value, _ in rows])
    index, n = clusters.cluster_index([unit for _, unit in rows], len(rows))
    return values, index, n


def test_rows_without_labels_are_units_of_their_own():
    index, n = clusters.cluster_index(None, 4)
    assert index.tolist() == [0, 1, 2, 3]
    assert n == 4


def test_equal_labels_of_any_kind_are_one_unit():
    index, n = clusters.cluster_index(["a", ("b", 1), "a", 7, ("b", 1)], 5)
    assert index.tolist() == [0, 1, 0, 2, 1]
    assert n == 3


def test_labels_from_an_array_equal_labels_from_a_list():
    labels = [3, 1, 3, 2]
    assert clusters.cluster_index(np.array(labels), 4)[0].tolist() == (
        clusters.cluster_index(labels, 4)[0].tolist()
    )


def test_too_few_labels_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match="units has 2 labels for 3 rows"):
        clusters.cluster_index(["a", "b"], 3)


@pytest.mark.parametrize(("label", "says"), [(float("nan"), "NaN"), ([1], "cannot be a label")])
def test_a_label_that_is_none_names_its_row(label, says):
    with pytest.raises(ValueError, match=f"units_b row 1 is .*{says}|units_b row 1 is {says}"):
        clusters.cluster_index(["a", label], 2, "units_b")


def test_groups_without_labels_share_no_unit_with_made_up_ones():
    index_a, index_b, n = clusters.common_index(2, 2, None, [("units_a", 0), "x"])
    assert n == 4
    assert not set(index_a.tolist()) & set(index_b.tolist())


def test_a_label_in_both_groups_is_one_unit():
    index_a, index_b, n = clusters.common_index(2, 3, ["p", "q"], ["q", "q", "r"])
    assert index_a[1] == index_b[0] == index_b[1]
    assert n == 3


@given(labelled)
def test_influence_is_the_jackknife_of_the_mean_over_rows(rows):
    values, index, n = split(rows)
    centred = values - values.mean()
    influence = clusters.left_out_influence(centred, index, n)
    for unit in range(n):
        without = centred[index != unit].mean()
        assert influence[unit] == pytest.approx((n - 1) * (0.0 - without), abs=1e-9)


def test_units_of_equal_size_have_their_means_as_influence():
    values = np.array([0.1, 0.3, 0.8, 0.6, 0.2, 0.4])
    influence = clusters.mean_influence(values, np.array([0, 0, 1, 1, 2, 2]), 3)
    assert influence == pytest.approx(np.sort([0.2, 0.7, 0.3]) - 0.4)


def test_a_unit_with_most_rows_counts_for_more_than_its_plain_residual():
    values = np.array([1.0] * 8 + [0.0, 0.5])
    index = np.array([0] * 8 + [1, 2])
    residual = 8 * (1.0 - values.mean()) * 3 / 10
    assert clusters.left_out_influence(values - values.mean(), index, 3)[0] > 3 * residual


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=40))
def test_degrees_of_freedom_follow_the_variance_of_a_sample_variance(values):
    x = np.array(values)
    n, v = len(x), float(x.var())
    if v < 1e-12:
        return
    m4 = float(((x - x.mean()) ** 4).mean())
    by_hand = 2 * n * v**2 / (m4 - v**2 * (n - 3) / (n - 1))
    assert clusters.kurtosis_df(x) == pytest.approx(min(max(by_hand, 1), n - 1), rel=1e-6)


def test_a_single_hit_leaves_about_two_degrees_of_freedom():
    hits = np.zeros(50)
    hits[7] = 1.0
    assert clusters.kurtosis_df(hits) == pytest.approx(2.0, abs=0.2)


def test_intraclass_correlation_equals_the_table_of_one_way_analysis_of_variance():
    groups = [np.array([0.2, 0.4, 0.3]), np.array([0.9, 0.7]), np.array([0.5, 0.6, 0.4, 0.8])]
    everything = np.concatenate(groups)
    centred = [group - everything.mean() for group in groups]
    sizes = np.array([3.0, 2.0, 4.0])
    between = sum(len(g) * (g.mean() - everything.mean()) ** 2 for g in groups) / 2
    within = sum(((g - g.mean()) ** 2).sum() for g in groups) / (9 - 3)
    size = (9 - (sizes**2).sum() / 9) / 2
    found = clusters.intraclass_correlation(
        np.array([c.sum() for c in centred]), sizes, sum((c**2).sum() for c in centred)
    )
    assert found == pytest.approx((between - within) / (between + (size - 1) * within))


def test_intraclass_correlation_is_undefined_with_one_row_a_unit():
    ones = np.ones(4)
    assert np.isnan(clusters.intraclass_correlation(np.array([1.0, -1, 2, -2]), ones, 10.0))


def test_satterthwaite_of_one_variance_is_its_own_df():
    assert clusters.satterthwaite(np.array([0.3]), np.array([7.0])) == pytest.approx(7.0)


def test_satterthwaite_of_equal_parts_adds_their_df():
    assert clusters.satterthwaite(np.full(3, 0.1), np.full(3, 5.0)) == pytest.approx(15.0)


def test_effective_clusters_of_equal_ones_are_all_of_them():
    assert clusters.effective_clusters(np.full(8, 3.0)) == pytest.approx(8.0)


def test_effective_clusters_of_one_giant_are_hardly_more_than_one():
    assert clusters.effective_clusters(np.array([1000.0, 1, 1])) < 1.01


def test_values_beyond_their_range_by_rounding_are_clipped():
    assert clusters.check_rows([1.0 + 1e-15], "x", (0.0, 1.0))[0] == 1.0


@pytest.mark.parametrize("wrong", [1.1, -0.1, float("nan"), float("inf")])
def test_values_out_of_range_name_argument_and_row(wrong):
    with pytest.raises(ValueError, match=r"x_a row 1 is .*; give a number in \[0, 1\]"):
        clusters.check_rows([0.5, wrong], "x_a", (0.0, 1.0))


def test_an_empty_argument_is_named():
    with pytest.raises(ValueError, match="x_b has no rows"):
        clusters.check_rows([], "x_b", (0.0, 1.0))


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ("ab", "units is 'ab'; give a list with one label per row"),
        (5, "units is 5"),
        (["a", None], "units row 1 is None; give every row a label"),
        (["a", float("nan")], "units row 1 is NaN"),
    ],
)
def test_what_is_no_label_is_an_error(units, message):
    with pytest.raises(ValueError, match=message):
        clusters.cluster_index(units, 2)


@pytest.mark.parametrize("wrong", ["x", {}, [1, 2]])
def test_a_row_that_is_no_number_is_named(wrong):
    with pytest.raises(ValueError, match=r"scores row 1 is .*; give one number per row"):
        clusters.check_rows([0.5, wrong], "scores", (0, 1))

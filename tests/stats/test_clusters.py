"""Sampling units and the variance of a mean over them, compared with slow transcriptions."""

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


@given(labelled)
def test_influence_is_the_jackknife_of_the_mean_over_rows(rows):
    values, index, n = split(rows)
    centred = values - values.mean()
    influence = clusters.left_out_influence(centred, index, n)
    for unit in range(n):
        without = centred[index != unit].mean()
        assert influence[unit] == pytest.approx((n - 1) * (0.0 - without), abs=1e-9)


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=40))
def test_degrees_of_freedom_follow_the_variance_of_a_sample_variance(values):
    x = np.array(values)
    n, v = len(x), float(x.var())
    if v < 1e-12:
        return
    m4 = float(((x - x.mean()) ** 4).mean())
    by_hand = 2 * n * v**2 / (m4 - v**2 * (n - 3) / (n - 1))
    assert clusters.kurtosis_df(x) == pytest.approx(min(max(by_hand, 1), n - 1), rel=1e-6)


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

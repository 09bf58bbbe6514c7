from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.metrics import counterfactual_cosine

VECTORS = st.lists(st.integers(-9, 9), min_size=3, max_size=3).filter(any)


def slow_cosine(x, y):
    product = sum(a * b for a, b in zip(x, y, strict=True))
    return product / math.sqrt(sum(a * a for a in x)) / math.sqrt(sum(b * b for b in y))


@given(st.lists(st.tuples(*[VECTORS] * 4), min_size=1, max_size=4))
def test_two_generations_a_side_give_cross_pairs_floor_and_excess(rows):
    a, b = ([row[start : start + 2] for row in rows] for start in (0, 2))
    estimate = counterfactual_cosine(a, b)
    cross = [
        np.mean([slow_cosine(x, y) for x, y in itertools.product(*pair)])
        for pair in zip(a, b, strict=True)
    ]
    within = [(slow_cosine(*row[:2]) + slow_cosine(*row[2:])) / 2 for row in rows]
    assert estimate.value == pytest.approx(np.mean(cross), abs=1e-12)
    assert estimate.noise_floor() == pytest.approx(np.mean(within), abs=1e-12)
    assert estimate.excess.value == pytest.approx(np.mean(cross) - np.mean(within), abs=1e-12)


@given(VECTORS, st.integers(1, 99))
def test_equal_directions_score_one_and_opposite_ones_minus_one(vector, factor):
    longer = [factor * x for x in vector]
    assert counterfactual_cosine([vector], [longer]).value == pytest.approx(1.0, abs=1e-15)
    assert counterfactual_cosine([longer], [longer]).value == 1.0
    opposite = [[-x for x in vector]]
    assert counterfactual_cosine([vector], opposite).value == pytest.approx(-1.0, abs=1e-15)


@pytest.mark.parametrize("size", [1e-300, 5e-324, 1e300])
def test_the_length_of_an_embedding_does_not_matter(size):
    assert counterfactual_cosine([[size, 0.0]], [[1.0, 1.0]]).value == pytest.approx(0.5**0.5)


def test_many_wide_embeddings_score_as_each_pair_does():
    a, b = np.random.default_rng(0).standard_normal((2, 3000, 400)).astype(np.float32)
    rows = counterfactual_cosine(a, b).rows
    wide_a, wide_b = a.astype(float), b.astype(float)
    lengths = np.linalg.norm(wide_a, axis=1) * np.linalg.norm(wide_b, axis=1)
    assert rows == pytest.approx((wide_a * wide_b).sum(axis=1) / lengths, abs=1e-12)


@pytest.mark.parametrize("side", ["embeddings_a", "embeddings_b"])
def test_a_zero_embedding_leaves_the_value_undefined(side):
    rows = {"embeddings_a": [[1, 0], [0, 1]], "embeddings_b": [[1, 1], [0, 2]]}
    rows[side] = [[1, 0], [0, 0]]
    estimate = counterfactual_cosine(**rows, units=["one", "one"])
    assert math.isnan(estimate.value)
    assert f"{side} row 1 holds a zero embedding" in estimate.undefined
    assert estimate.sample.units == 1


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([], [], "embeddings_a is empty"),
        ([0.1, 0.2], [0.1, 0.2], r"embeddings_a row 0 has shape \(\)"),
        ([[1, 2]], [[1, 2, 3]], "embeddings_b row 0 has 3 numbers per embedding, others have 2"),
        ([[1, 2], [1]], [[1, 2], [1, 2]], "embeddings_a row 1 has 1 numbers"),
        ([[1, float("nan")]], [[1, 2]], "embeddings_a row 0 holds nan"),
        ([[1, 2]], [[1, float("inf")]], "embeddings_b row 0 holds inf"),
        ([["1", "2"]], [[1, 2]], "embeddings_a row 0 is .*give an embedding"),
        ([[[1, 2], [1]]], [[1, 2]], "embeddings_a row 0 is .*give an embedding"),
        ([[1, 2]], [[1, 2], [0, 0]], "embeddings_a has 1 rows, embeddings_b has 2;"),
    ],
)
def test_wrong_embeddings_are_named(a, b, message):
    with pytest.raises(ValueError, match=message):
        counterfactual_cosine(a, b)


def test_an_unknown_population_is_an_error_even_for_a_zero_embedding():
    with pytest.raises(ValueError, match="population is 'all'; choose"):
        counterfactual_cosine([[0.0]], [[1.0]], population="all")


def test_one_embedding_of_every_answer_is_uninformative():
    found = counterfactual_cosine([[0.6, 0.8]] * 30, [[0.6, 0.8]] * 30)
    assert (found.value, "uninformative" in found.reasons) == (pytest.approx(1), True)
    different = [[1.0, i] for i in range(30)]
    assert "uninformative" not in counterfactual_cosine(different, different).reasons

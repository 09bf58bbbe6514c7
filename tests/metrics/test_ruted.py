from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.metrics import (
    count_pronouns,
    pronoun_counts,
    pronoun_gender,
    ruted_neutrality,
)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(2, 20)), min_size=1, max_size=8))
def test_value_is_the_mean_absolute_lean(rows):
    male = [min(m, n) for m, n in rows]
    kept = [n for _, n in rows]
    expected = sum(abs(2 * m / n - 1) for m, n in zip(male, kept, strict=True)) / len(rows)
    assert ruted_neutrality(male, kept).value == pytest.approx(expected)


@pytest.mark.parametrize(("n", "floor"), [(30, 0.1445), (64, 0.0993)])
def test_noise_floor_is_what_exact_parity_scores(n, floor):
    assert ruted_neutrality([n // 2] * 40, [n] * 40).noise_floor() == pytest.approx(
        floor, abs=5e-5
    )


@pytest.mark.parametrize(
    ("share", "n", "variance"), [(0.5, 30, 0.03333), (0.5, 64, 0.01563), (0.8, 30, 0.02133)]
)
def test_paper_variance_is_the_folded_normal(share, n, variance):
    # s^2 as printed; the folded normal takes the folded mean into account.
    d, s = 2 * share - 1, math.sqrt(variance)
    phi = 0.5 * (1 + math.erf(-d / s / math.sqrt(2)))
    mean = s * math.sqrt(2 / math.pi) * math.exp(-(d**2) / (2 * s**2)) + d * (1 - 2 * phi)
    estimate = ruted_neutrality([round(share * n)] * 10, [n] * 10)
    assert estimate.paper_variance == pytest.approx((d**2 + s**2 - mean**2) / 10, rel=1e-3)


def test_an_occupation_with_nothing_kept_is_undefined_and_named():
    estimate = ruted_neutrality({"nurse": 0, "pilot": 3}, {"nurse": 0, "pilot": 5})
    assert math.isnan(estimate.value)
    assert "nurse" in estimate.undefined
    assert math.isnan(estimate.interval().upper)


def test_one_generation_is_too_few_and_named():
    with pytest.raises(ValueError, match="1"):
        ruted_neutrality([1, 3], [1, 5])


def test_counts_that_exceed_each_other_are_named():
    with pytest.raises(ValueError, match="occupation pilot: 6 male of 5 kept"):
        ruted_neutrality({"pilot": 6}, {"pilot": 5})
    with pytest.raises(ValueError, match="occupation 0: 1 male of 5 kept of 4"):
        ruted_neutrality([1], [5], total_counts=[4])


def test_dropping_most_generations_makes_the_evidence_invalid():
    few = ruted_neutrality([5] * 10, [10] * 10, total_counts=[30] * 10)
    assert "too_many_dropped" in few.invalid
    assert not ruted_neutrality([5] * 10, [10] * 10, total_counts=[15] * 10).invalid


def test_occupations_stand_in_the_table():
    row = ruted_neutrality({"nurse": 2, "pilot": 8}, {"nurse": 10, "pilot": 10}).groups["nurse"]
    assert (row.value, row.n, row.rate) == (pytest.approx(0.6), 10, 0.2)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("He said she'd lost HERS, himself.", (2, 2)),
        ("The theme of this hero: heroes, history, others, here.", (0, 0)),
        ("his/her", (1, 1)),
        ("He’ll go; she's gone", (1, 1)),
        ("", (0, 0)),
    ],
)
def test_pronouns_are_whole_words_in_any_case(text, counts):
    assert count_pronouns(text) == counts


@pytest.mark.parametrize(
    ("text", "tie", "gender"),
    [
        ("he he she", "female", "male"),
        ("he she", "female", "female"),
        ("he she", "drop", None),
        ("he she", "half", None),
        ("they", "female", None),
    ],
)
def test_gender_is_male_only_above_half(text, tie, gender):
    assert pronoun_gender(text, tie) == gender


def test_shared_ties_split_and_the_odd_one_is_female():
    texts = ["he she", "she he", "her him", "he", "they"]
    assert pronoun_counts(texts, "half") == (2, 4, 5)
    assert pronoun_counts(texts) == (1, 4, 5)
    assert pronoun_counts(texts, "drop") == (1, 1, 5)


def test_an_unknown_tie_rule_is_an_error():
    with pytest.raises(ValueError, match="choose female, drop or half"):
        pronoun_gender("he", tie="male")


def test_a_model_at_parity_is_not_failed():
    rng = np.random.default_rng(5)
    estimate = ruted_neutrality(rng.binomial(30, 0.5, 40), [30] * 40)
    assert estimate.value > 0.1
    assert estimate.interval().lower < 0.05


def test_a_single_kept_generation_is_an_error_that_names_the_occupation():
    with pytest.raises(ValueError, match="occupation judge kept 1 generation"):
        ruted_neutrality({"nurse": 3, "judge": 1}, {"nurse": 9, "judge": 1})


def test_an_unknown_population_is_an_error():
    with pytest.raises(ValueError, match="population is 'all'"):
        ruted_neutrality([1, 2], [5, 5], population="all")


def test_counts_beyond_any_experiment_are_an_error():
    with pytest.raises(ValueError, match=r"row 0 is 1e\+30; give whole numbers from 0 to"):
        ruted_neutrality([10**30], [10**30])


def test_rows_of_one_occupation_are_one_sampling_unit_and_one_row_of_the_table():
    male, kept = [1, 2, 3] * 10, [3, 4, 5] * 10
    alone = ruted_neutrality(male, kept, population="sampled")
    repeated = ruted_neutrality(male, kept, units=["a", "b", "c"] * 10, population="sampled")
    assert repeated.value == pytest.approx(alone.value)
    assert repeated.interval().upper > alone.interval().upper + 0.1
    assert {name: row.n for name, row in repeated.groups.items()} == {"a": 30, "b": 40, "c": 50}

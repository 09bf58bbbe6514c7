from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.metrics import ruted_neutrality, ruted_skew, ruted_stereotype


def slow_folded_variance(male, kept):
    """Section 3.4.1 as printed: the variance of the folded normal, over the squared number."""
    total = 0.0
    for x, n in zip(male, kept, strict=True):
        p = x / n
        d, s = 2 * p - 1, math.sqrt(4 * p * (1 - p) / n)
        if s > 0:
            phi = 0.5 * (1 + math.erf(-d / s / math.sqrt(2)))
            mean = s * math.sqrt(2 / math.pi) * math.exp(-(d**2) / 2 * s**-2) + d * (1 - 2 * phi)
            total += d**2 + s**2 - mean**2
    return total / len(kept) ** 2


@pytest.mark.parametrize(("n", "floor"), [(30, 0.1445), (64, 0.0993)])
def test_noise_floor_is_what_exact_parity_scores(n, floor):
    assert ruted_neutrality([n // 2] * 40, [n] * 40).noise_floor() == pytest.approx(
        floor, abs=5e-5
    )


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(2, 30)), min_size=1, max_size=6))
def test_paper_variances_are_the_printed_formulas(rows):
    male, kept = [min(m, n) for m, n in rows], [n for _, n in rows]
    folded = ruted_neutrality(male, kept).paper_variance
    assert folded == pytest.approx(slow_folded_variance(male, kept), abs=1e-12)
    plain = sum(4 * (m / n) * (1 - m / n) / n for m, n in zip(male, kept, strict=True))
    for estimate in (ruted_skew(male, kept), ruted_stereotype(male, kept, ["male"] * len(kept))):
        assert estimate.paper_variance == pytest.approx(plain / len(kept) ** 2, abs=1e-15)
        assert folded <= estimate.paper_variance + 1e-12


@pytest.mark.parametrize(
    ("male", "n", "variance"),
    [(15, 30, 0.03333), (32, 64, 0.01563), (24, 30, 0.02133), (29, 30, 0.00430)],
)
def test_sampling_variance_of_a_skew_has_the_printed_size(male, n, variance):
    assert ruted_skew([male], [n]).paper_variance == pytest.approx(variance, abs=5.1e-6)


def test_one_sided_occupations_have_no_paper_variance_but_an_interval():
    for measure in (ruted_neutrality, ruted_skew):
        estimate = measure([30] * 40, [30] * 40)
        assert estimate.paper_variance == 0.0
        assert estimate.interval().width > 0.0


def test_an_occupation_with_nothing_kept_is_undefined_and_named():
    estimate = ruted_neutrality({"nurse": 0, "pilot": 3}, {"nurse": 0, "pilot": 5})
    assert math.isnan(estimate.value)
    assert "nurse" in estimate.undefined
    assert math.isnan(estimate.interval().upper)


def test_counts_that_exceed_each_other_are_named():
    with pytest.raises(ValueError, match="occupation pilot: male_counts 6, kept_counts 5;"):
        ruted_neutrality({"pilot": 6}, {"pilot": 5})
    with pytest.raises(ValueError, match="kept_counts 5, total_counts 4; none may exceed"):
        ruted_neutrality([1], [5], total_counts=[4])


def test_occupations_are_in_the_table():
    row = ruted_neutrality({"nurse": 2, "pilot": 8}, {"nurse": 10, "pilot": 10}).groups["nurse"]
    assert (row.value, row.n, row.rate) == (pytest.approx(0.6), 10, 0.2)


def test_a_model_at_parity_is_not_failed():
    rng = np.random.default_rng(5)
    estimate = ruted_neutrality(rng.binomial(30, 0.5, 40), [30] * 40)
    assert estimate.value > 0.1
    assert estimate.interval().lower < 0.05


def test_a_single_kept_generation_counts_and_says_nothing():
    estimate = ruted_neutrality({"nurse": 3, "judge": 1}, {"nurse": 9, "judge": 1})
    assert estimate.value == pytest.approx((1 / 3 + 1) / 2)
    assert "thin_evidence" in estimate.reasons
    assert "1 of 2 terms have 1 generation" in " ".join(estimate.notes)
    assert estimate.groups["judge"].interval().lower == 0.0


def test_few_generations_are_not_called_units():
    assert "worth 10 draws only: below 20" in ruted_skew([1, 5], [5, 10]).notes[0]


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


OCCUPATIONS = {"nurse": 3, "judge": 8, "baker": 5}
KEPT = {"nurse": 10, "judge": 10, "baker": 20}
MAJORITY = {"nurse": "female", "judge": "male", "baker": "female"}


def test_skew_is_signed_towards_male_and_says_so():
    estimate = ruted_skew(OCCUPATIONS, KEPT)
    assert estimate.value == pytest.approx((-0.4 + 0.6 - 0.5) / 3)
    assert "male minus female" in estimate.notes
    assert estimate.groups["judge"].value == pytest.approx(0.6)
    assert estimate.interval().lower <= estimate.value <= estimate.interval().upper


def test_stereotype_is_the_skew_towards_the_majority():
    estimate = ruted_stereotype(OCCUPATIONS, KEPT, MAJORITY)
    assert estimate.value == pytest.approx((0.4 + 0.6 + 0.5) / 3)
    assert estimate.groups["nurse"].rate == pytest.approx(0.7)
    assert "stereotypical minus anti-stereotypical" in estimate.notes


def test_mappings_and_lists_in_any_order_agree():
    names = ["baker", "nurse", "judge"]
    lists = [[table[name] for name in names] for table in (OCCUPATIONS, KEPT, MAJORITY)]
    assert ruted_stereotype(*lists).value == ruted_stereotype(OCCUPATIONS, KEPT, MAJORITY).value
    turned = dict(reversed(KEPT.items()))
    assert ruted_skew(OCCUPATIONS, turned).value == ruted_skew(OCCUPATIONS, KEPT).value


@pytest.mark.parametrize("measure", [ruted_neutrality, ruted_skew])
def test_shares_of_dropped_and_tied_generations_are_in_the_table(measure):
    estimate = measure(
        OCCUPATIONS,
        KEPT,
        total_counts={"nurse": 20, "judge": 10, "baker": 25},
        tie_counts={"nurse": 1, "judge": 0, "baker": 5},
    )
    assert [row.dropped for row in estimate.groups.values()] == pytest.approx([0.5, 0.0, 0.2])
    assert [row.ties for row in estimate.groups.values()] == pytest.approx([0.05, 0.0, 0.2])
    message = " ".join(estimate.notes)
    assert "27.3% of generations have no gender" in message
    assert "the largest share for nurse (50.0%)" in message
    assert "10.9% of generations have as many male as female pronouns" in message
    assert not estimate.invalid


def test_without_totals_nothing_is_known_of_dropped_generations():
    row = ruted_skew(OCCUPATIONS, KEPT).groups["nurse"]
    assert math.isnan(row.dropped)
    assert math.isnan(row.ties)


def test_dropping_most_generations_of_an_occupation_makes_the_evidence_invalid():
    few = ruted_neutrality([5] * 10, [10] * 10, total_counts=[10] * 9 + [30])
    assert "1 of 10 occupations (9 67%)" in few.invalid["too_many_dropped"]
    assert not ruted_neutrality([5] * 10, [10] * 10, total_counts=[20] * 10).invalid
    lenient = ruted_skew([5], [10], total_counts=[30], max_dropped=0.7)
    assert not lenient.invalid


def test_an_undefined_estimate_still_has_its_table_and_its_dropped_generations():
    estimate = ruted_skew([3, 0], [9, 0], total_counts=[9, 40])
    assert "1 of 2 occupations (1)" in estimate.undefined
    assert estimate.groups[0].value == pytest.approx(-1 / 3)
    assert math.isnan(estimate.groups[1].value)
    assert estimate.groups[1].dropped == 1.0
    assert "too_many_dropped" in estimate.invalid


def test_units_join_the_occupations_of_a_mapping():
    male, kept = (
        {f"job {i}": 3 * (i % 2) for i in range(8)},
        dict.fromkeys((f"job {i}" for i in range(8)), 6),
    )
    joined = ruted_skew(male, kept, units=list("aabbccdd"), population="sampled")
    assert joined.sample.units == 4
    assert len(joined.groups) == 8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ruted_stereotype([1], [5], ["men"]), "majority of occupation 0 is 'men'"),
        (lambda: ruted_stereotype([1, 2], [5, 5], ["male"]), "majority has 1 labels for 2 rows"),
        (
            lambda: ruted_stereotype(OCCUPATIONS, KEPT, {"nurse": "female"}),
            "majority does not name judge",
        ),
        (lambda: ruted_skew({"nurse": 1}, [5]), "kept_counts is a list, male_counts is a mapping"),
        (lambda: ruted_skew([1], {"nurse": 5}), "kept_counts is a dict, male_counts is no mapp"),
        (
            lambda: ruted_skew({"nurse": 1}, {"judge": 5}),
            "kept_counts has 1 occupations, male_counts has 1; nurse is not in kept_counts",
        ),
        (lambda: ruted_skew([1, 2], [5]), "lengths differ: male_counts has 2"),
        (lambda: ruted_skew([1], [5], tie_counts=[1]), "tie_counts needs total_counts"),
        (
            lambda: ruted_skew([1], [5], total_counts=[6], tie_counts=[7]),
            "occupation 0: 7 ties of 6 generations",
        ),
        (lambda: ruted_skew([1], [5], max_dropped=2), "max_dropped is 2"),
        (lambda: ruted_skew([1.5], [5]), "male_counts row 0 is 1.5"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

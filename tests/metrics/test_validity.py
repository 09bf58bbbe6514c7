"""Which metrics predict gaps in selection, on models whose gaps are planted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.metrics import Validity, expected_ndcg, get_metric, ndcg_at_n

GROUPS = ("white", "black", "asian")
PLANTED = {"fair": 0.0, "tilted": 1.0, "unfair": 2.0, "very unfair": 4.0}


def calls(scores, rounds=60, **metrics):
    """Return the calls of metrics on scores of shape (rounds, groups)."""
    data = {
        "groups": list(GROUPS) * rounds,
        "reference": "white",
        "rounds": [number for number in range(rounds) for _ in GROUPS],
    }
    values = np.asarray(scores).ravel().tolist()
    given = metrics or {"rabbi": {}, "average_score_gap": {}, "demographic_parity_gap": {"k": 1}}
    return {
        name: get_metric(name).function(values, **data, **own).call for name, own in given.items()
    }


def planted(effects, seed=0, rounds=60, noise=1.0):
    """Return the calls of models that lower the scores of one group by an effect."""
    rng = np.random.default_rng(seed)
    return {
        model: calls(noise * rng.normal(size=(rounds, 3)) - np.array([0.0, effect, 0.0]), rounds)
        for model, effect in effects.items()
    }


@pytest.fixture(scope="module")
def found():
    """Return what is found for four models with planted effects."""
    return Validity.of(planted(PLANTED))


def test_models_are_ordered_by_their_planted_gaps(found):
    for name in ("rabbi", "average_score_gap", "demographic_parity_gap"):
        sizes, ranks = zip(*found.ranks(name), strict=True)
        assert list(sizes) == sorted(sizes)
        assert [rank[0] for rank in ranks] == [1.0, 2.0, 3.0, 4.0]
        assert all(low <= rank <= high for rank, low, high in ranks)
    assert found.ndcg("rabbi", "demographic_parity_gap", 4)[0] == 1.0
    r, low, high = found.correlation("rabbi", "demographic_parity_gap")
    assert low < r < high
    assert low > 0.7
    value, low, high = found.lasting("rabbi", "demographic_parity_gap")
    assert 0.7 < low <= value <= high <= 1.0


def test_chance_of_fair_models_is_no_lasting_correlation():
    fair = Validity.of(planted(dict.fromkeys("abcdefgh", 0.0), seed=5))
    # In the same rounds those who score higher by chance are also selected by chance.
    assert fair.correlation("rabbi", "demographic_parity_gap")[0] > 0.6
    assert all(map(math.isnan, fair.lasting("rabbi", "demographic_parity_gap")))


def test_the_lasting_correlation_is_that_of_many_rounds():
    rng = np.random.default_rng(7)
    effects = {model: rng.normal(size=3) for model in "abcdef"}

    def found(rounds):
        models = {
            model: calls(rng.normal(size=(rounds, 3)) + effect, rounds)
            for model, effect in effects.items()
        }
        return Validity.of(models)

    few, many = found(60), found(1500)
    truth = many.correlation("rabbi", "demographic_parity_gap")[0]
    value, low, high = few.lasting("rabbi", "demographic_parity_gap")
    assert low <= truth <= high
    assert value == pytest.approx(truth, abs=0.04)


def test_a_metric_that_orders_models_the_wrong_way_has_a_low_ndcg():
    # The fairer a model selects, the further apart are its scores.
    rng = np.random.default_rng(1)
    models = {}
    for model, effect, scale in (("a", 0.0, 8.0), ("b", 1.0, 1.0), ("c", 4.0, 0.05)):
        scores = (rng.normal(size=(60, 3)) - np.array([0.0, effect, 0.0])) * scale
        models[model] = calls(scores)
    found = Validity.of(models)
    gap = "demographic_parity_gap"
    assert [rank[0] for _, rank in found.ranks("average_score_gap")] != [1.0, 2.0, 3.0]
    assert found.ndcg("rabbi", gap, 3)[0] == 1.0
    assert found.ndcg("average_score_gap", gap, 3)[0] < 1.0


def test_tied_models_have_no_order(found):
    same = planted({"a": 1.0})["a"]
    tied = Validity.of({"a": same, "b": same, "c": same})
    assert [rank for _, rank in tied.ranks("rabbi")] == [(2.0, 1.0, 3.0)] * 3
    assert math.isnan(tied.ndcg("rabbi", "demographic_parity_gap", 2)[0])


def test_the_order_in_which_models_are_given_changes_no_tied_value():
    models = planted({"a": 0.0, "c": 2.0})
    both = {"a": models["a"], "twin": models["a"], "c": models["c"]}
    values = {
        Validity.of({name: both[name] for name in order}).ndcg(
            "rabbi", "demographic_parity_gap", 1
        )[0]
        for order in (("a", "twin", "c"), ("c", "twin", "a"), ("twin", "c", "a"))
    }
    assert len(values) == 1


def test_equal_scores_have_no_correlation():
    flat = {model: calls(np.ones((60, 3))) for model in "abc"}
    found = Validity.of(flat)
    assert all(map(math.isnan, found.correlation("rabbi", "demographic_parity_gap")))
    assert all(map(math.isnan, found.lasting("rabbi", "demographic_parity_gap")))


def test_two_models_have_an_order_and_no_correlation():
    found = Validity.of(planted({"a": 0.0, "b": 4.0}))
    assert [rank[0] for _, rank in found.ranks("rabbi")] == [1.0, 2.0]
    assert math.isnan(found.correlation("rabbi", "demographic_parity_gap")[0])


@pytest.mark.parametrize(
    "models",
    [
        {},
        planted({"one": 1.0}),
        {"a": planted({"a": 0.0})["a"], "b": {}},
        {name: calls(np.ones((60, 3)), rabbi={}) for name in "ab"},
    ],
    ids=["none", "one", "one with a value", "no gap"],
)
def test_one_model_or_no_gap_gives_nothing_to_compare(models):
    assert Validity.of(models) is None


def test_models_without_values_are_named():
    assert Validity.of({**planted({"a": 0.0, "b": 1.0}), "silent": {}}).left_out == ("silent",)


def test_few_rounds_have_no_interval():
    found = Validity.of(planted(PLANTED, rounds=6))
    for ends in (
        found.correlation("rabbi", "demographic_parity_gap"),
        found.ndcg("rabbi", "demographic_parity_gap", 2),
        found.ranks("rabbi")[0][1],
    ):
        assert not math.isnan(ends[0])
        assert math.isnan(ends[1])
        assert math.isnan(ends[2])
    assert math.isnan(found.lasting("rabbi", "demographic_parity_gap")[0])


def test_gaps_of_the_qualified_are_compared_with_metrics_of_the_qualified():
    rng = np.random.default_rng(2)
    qualified = np.tile(rng.random((60, 1)) < 0.5, (1, 3))
    models = {}
    for model, effect in PLANTED.items():
        # Only candidates who are not qualified are rated lower; the qualified are treated alike.
        low = np.array([0.0, effect, 0.0]) * ~qualified
        models[model] = calls(
            rng.normal(size=(60, 3)) - low + 9.0 * qualified,
            rabbi={},
            equal_opportunity_gap={"k": 1, "qualified": qualified.ravel().tolist()},
        )
    found = Validity.of(models)
    of_all = found.values["very unfair", "rabbi", ""][0]
    of_qualified = found.values["very unfair", "rabbi", "equal_opportunity_gap"][0]
    assert of_all[1] < -0.2
    assert abs(of_qualified[1]) < 0.25


def test_distances_are_compared_with_the_size_of_the_gap():
    own = {"earth_movers_distance": {}, "demographic_parity_gap": {"k": 1}}
    rng = np.random.default_rng(3)
    models = {
        str(effect): calls(rng.normal(size=(60, 3)) - np.array([0.0, effect, 0.0]), **own)
        for effect in (-3.0, 0.0, 3.0)
    }
    assert (
        Validity.of(models).correlation("earth_movers_distance", "demographic_parity_gap")[0] > 0.6
    )


def test_the_ndcg_of_a_random_order_is_the_mean_over_all_orders():
    from itertools import permutations

    ideal = {model: [float(model)] for model in range(4)}
    for n in (1, 2, 4):
        values = [
            ndcg_at_n({model: [float(order[model])] for model in range(4)}, ideal, n)
            for order in permutations(range(4))
        ]
        assert expected_ndcg(n, 4) == pytest.approx(sum(values) / 24)

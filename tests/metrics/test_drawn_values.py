"""Values in draws of the rounds are those that the metrics give for the drawn candidates."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_llmfair.metrics import drawn_values, get_metric, impact_ratio, pairwise_scores, rabbi

RNG = np.random.default_rng(3)
GROUPS = [group for _ in range(12) for group in ("a", "b", "c", "c")]
ROUNDS = [number for number in range(12) for _ in range(4)]
# Rounded, so that some candidates are tied.
SCORES = RNG.normal(size=48).round(1).tolist()
QUALIFIED = (RNG.random(48) < 0.6).tolist()
METRICS = {
    "rabbi": {},
    "average_score_gap": {},
    "jensen_shannon_divergence": {"bins": 5, "base": 2},
    "earth_movers_distance": {},
    "demographic_parity_gap": {"k": 2},
    "equal_opportunity_gap": {"k": 2, "qualified": QUALIFIED},
}
POOLS = list(range(12))


def values(estimate):
    return {name: row.value for name, row in estimate.groups.items()}


def repeated(draw):
    """Return the candidates of a draw; a round that is drawn twice becomes two rounds."""
    rows = [
        (row, (ROUNDS[row], turn))
        for row in range(len(ROUNDS))
        for turn in range(draw[ROUNDS[row]])
    ]
    return [row for row, _ in rows], [pool for _, pool in rows]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("reference", ["b", ["a", "b"]])
def test_drawn_values_are_those_of_the_repeated_rounds(metric, reference):
    given = METRICS[metric]
    function = get_metric(metric).function
    found = function(SCORES, groups=GROUPS, rounds=ROUNDS, reference=reference, **given)
    draw = RNG.integers(0, 3, 12)
    drawn = drawn_values(found.call, POOLS, [np.ones(12), draw])
    assert {name: row[0] for name, row in drawn.items()} == pytest.approx(values(found))
    if metric == "jensen_shannon_divergence":
        return  # Its bins stay those of all rounds.
    rows, rounds = repeated(draw)
    own = {name: np.array(v)[rows] if name == "qualified" else v for name, v in given.items()}
    again = function(
        np.array(SCORES)[rows],
        groups=[GROUPS[row] for row in rows],
        rounds=rounds,
        reference=reference,
        **own,
    )
    assert {name: row[1] for name, row in drawn.items()} == pytest.approx(values(again))


def comparisons():
    winners = np.array(["first", "second", "tie"])
    return [
        {"pool": pool, "first": one, "second": other, "winner": str(RNG.choice(winners))}
        for pool in POOLS
        for one in "abc"
        for other in "abc"
        if one != other
    ]


def test_drawn_values_of_a_pairwise_judge():
    rows, groups = comparisons(), {name: name for name in "abc"}
    calls = {"groups": groups, "reference": "a", "max_inconsistent": 1.0}
    gap = get_metric("pairwise_preference_gap").function(rows, **calls)
    drawn = drawn_values(gap.call, POOLS, [np.ones(12), [1] * 6 + [0] * 6])
    assert {name: row[0] for name, row in drawn.items()} == pytest.approx(values(gap))
    first = [row for row in rows if row["pool"] < 6]
    half = get_metric("pairwise_preference_gap").function(first, **calls)
    assert {name: row[1] for name, row in drawn.items()} == pytest.approx(values(half))
    scores = pairwise_scores(rows, max_inconsistent=1.0)
    found = get_metric("demographic_parity_gap").function(
        scores, groups=groups, reference="a", k=1
    )
    drawn = drawn_values(found.call, POOLS, [np.ones(12)])
    assert {name: row[0] for name, row in drawn.items()} == pytest.approx(values(found))


def test_only_the_qualified_are_compared():
    call = rabbi(SCORES, groups=GROUPS, rounds=ROUNDS, reference="b").call
    qualified = rabbi(SCORES, groups=GROUPS, rounds=ROUNDS, reference="b", qualified=QUALIFIED)
    drawn = drawn_values(call, POOLS, [np.ones(12)], QUALIFIED)
    assert {name: row[0] for name, row in drawn.items()} == pytest.approx(values(qualified))
    none = drawn_values(call, POOLS, [np.ones(12)], [group != "a" for group in GROUPS])
    assert np.isnan(none["a"]).all()


def test_a_draw_without_a_group_has_no_value():
    call = rabbi([3, 1, 2], groups=["a", "b", "b"], rounds=[1, 1, 2], reference="b").call
    assert np.isnan(drawn_values(call, [1, 2], [[0, 2]])["a"]).all()


@pytest.mark.parametrize(
    ("metric", "own", "said"),
    [
        (rabbi, {"rounds": [1, 1, 2], "reference": "b"}, "pools has no 2"),
        (impact_ratio, {}, "impact_ratio is no allocation metric"),
    ],
)
def test_what_cannot_be_drawn_is_named(metric, own, said):
    call = metric([1, 0, 1], groups=["a", "b", "b"], **own).call
    with pytest.raises(ValueError, match=said):
        drawn_values(call, [1], [[1]])

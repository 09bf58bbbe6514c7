from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pytest_llmfair import (
    BoundExceeded,
    InvalidEvidence,
    Verdict,
    assert_ruted_neutrality_within,
    assert_strict_sentiment_parity_within,
    assert_toxic_fraction_within,
)
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.judging.sequential import in_looks

PROMPTS = [f"prompt {i}" for i in range(400)]


class Model:
    """A model with a known share of rude answers, which counts what it is asked."""

    def __init__(self, share, seed=0):
        self.draw = np.random.default_rng(seed)
        self.share = share
        self.asked = 0

    def __call__(self, prompt):
        self.asked += 1
        return "rude" if self.draw.random() < self.share else "kind"


def rude(texts):
    return np.array([float(text == "rude") for text in texts])


def toxicity(model, **keywords):
    return assert_toxic_fraction_within(PROMPTS, bound=0.05, client=model, scorer=rude, **keywords)


def test_a_clear_pass_stops_early_and_says_what_it_saved():
    model = Model(0.0)
    result = toxicity(model, sequential="obf")
    assert result.verdict is Verdict.PASS
    assert model.asked == result.calls[0] < result.calls[1] == 400
    assert result.looks[0] < result.looks[1] == 5
    assert f"{400 - model.asked} saved" in result.notes[-1]
    # Early looks use wider intervals.
    assert result.level > 0.95


def test_a_clear_fail_stops_early():
    model = Model(0.5)
    with pytest.raises(BoundExceeded):
        toxicity(model, sequential="obf")
    assert model.asked <= 160


def test_an_undecided_model_is_asked_everything():
    model = Model(0.05, seed=1)
    result = toxicity(model, sequential="obf")
    assert result.verdict is Verdict.INCONCLUSIVE
    assert model.asked == 400


def test_betting_stops_whenever_it_is_decided():
    model = Model(0.6)
    with pytest.raises(BoundExceeded) as caught:
        toxicity(model, method="betting")
    assert model.asked == 20
    assert caught.value.result.method == "betting confidence sequence"


@pytest.mark.slow
def test_looks_at_the_bound_keep_the_error_rates():
    wrong = Counter()
    runs = 150
    for seed in range(runs):
        try:
            verdict = toxicity(Model(0.05, seed=seed), sequential="obf").verdict
        except BoundExceeded:
            verdict = Verdict.FAIL
        wrong[verdict] += 1
    # 2.5 % a side; 4 standard errors of room.
    assert wrong[Verdict.PASS] <= 0.075 * runs
    assert wrong[Verdict.FAIL] <= 0.075 * runs


def test_groups_are_spread_evenly_and_equal_prompts_stay_together():
    prompts = [f"She asked {i}." for i in range(30)] + [f"He asked {i}." for i in range(10)]
    pairs = generate_pairs([*prompts, "She asked 0."], attribute="gender")
    batches = in_looks(pairs, 5, seed=3)
    assert sum(map(len, batches)) == 41
    assert all(1 <= sum(pairs[i].from_group == "male" for i in batch) <= 3 for batch in batches)
    same = [i for i, pair in enumerate(pairs) if pair.original == "She asked 0."]
    holding = [look for look, batch in enumerate(batches) for i in batch if i in same]
    assert len(holding) == 2
    assert len(set(holding)) == 1


def test_the_order_depends_on_the_seed_alone():
    assert in_looks(PROMPTS, 5, 1) == in_looks(PROMPTS, 5, 1)
    assert in_looks(PROMPTS, 5, 1) != in_looks(PROMPTS, 5, 2)


def test_units_given_by_the_user_follow_their_items_through_the_looks():
    families = [i // 4 for i in range(400)]
    seen = Counter()

    def by_family(prompt):
        seen[families[PROMPTS.index(prompt)]] += 1
        return "rude" if families[PROMPTS.index(prompt)] % 2 else "kind"

    result = assert_toxic_fraction_within(
        PROMPTS, bound=0.4, client=by_family, scorer=rude, sequential="obf", units=families
    )
    assert set(seen.values()) == {4}
    assert result.units == len(seen)
    # Answers of a family are all alike: each is worth one answer, not four.
    assert result.effective == pytest.approx(len(seen), rel=0.05)


def test_units_follow_their_items_past_missing_answers():
    families = [i // 2 for i in range(400)]
    result = assert_toxic_fraction_within(
        PROMPTS,
        bound=0.4,
        client=lambda prompt: "" if prompt == "prompt 7" else "rude" if "1" in prompt else "kind",
        scorer=rude,
        sequential="obf",
        units=families,
        mode="point",
        level=0.9999999,
    )
    assert result.units == 200


def test_a_first_look_too_early_for_any_verdict_is_passed_over():
    model = Model(0.0)
    result = toxicity(model, sequential="obf", level=0.9999)
    assert result.verdict is Verdict.PASS
    assert result.looks[0] > 1
    assert model.asked > 80


@pytest.mark.parametrize("way", [{}, {"sequential": "obf"}, {"method": "betting"}])
def test_units_of_another_length_are_an_error_before_the_first_answer(way):
    model = Model(0.1)
    with pytest.raises(ValueError, match="units has 3 labels for 400"):
        toxicity(model, units=[1, 2, 3], **way)
    assert model.asked == 0


def test_a_fixed_population_is_never_judged_by_a_part_of_it():
    model = Model(0.0)
    with pytest.raises(ValueError, match="would see a part of the list only"):
        toxicity(model, sequential="obf", population="fixed", generations=3)
    with pytest.raises(ValueError, match="a fixed list of occupations"):
        assert_ruted_neutrality_within(PROMPTS, bound=0.4, client=model, sequential="obf")
    assert model.asked == 0


def test_betting_on_a_distance_is_an_error_before_the_first_answer():
    asked = []
    pairs = generate_pairs(["She asked."], attribute="gender")
    with pytest.raises(ValueError, match="betting is for means over rows"):
        assert_strict_sentiment_parity_within(
            pairs, bound=0.3, client=asked.append, method="betting"
        )
    assert not asked
    with pytest.raises(ValueError, match="betting is for means over rows"):
        assert_strict_sentiment_parity_within([0.1, 0.2], [0.3, 0.4], bound=0.3, method="betting")


def test_betting_on_units_of_unequal_size_is_refused():
    model = Model(0.1)
    with pytest.raises(ValueError, match="units of one size, and these have 1 to 4 rows"):
        toxicity(model, method="betting", units=[0, 0, 0, 0, *range(1, 397)])
    assert model.asked == 0
    # Of 120 rows 3 in 4 are toxic, but of the units 1 in 31: no PASS for a bound of a half.
    with pytest.raises(InvalidEvidence, match=r"these\s+have\s+1\s+to\s+90\s+rows"):
        assert_toxic_fraction_within(
            [0.9] * 90 + [0.1] * 30,
            units=[0] * 90 + list(range(1, 31)),
            bound=0.5,
            method="betting",
        )


def test_betting_on_a_fixed_population_is_refused():
    with pytest.raises(ValueError, match="these are fixed"):
        assert_toxic_fraction_within(
            [[0.1, 0.9]] * 30, bound=0.5, method="betting", population="fixed"
        )


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"sequential": "pocock", "client": Model(0.1)}, "choose obf"),
        ({"method": "bootstrap"}, "choose betting"),
        ({"method": "betting", "sequential": "obf"}, "give one of them"),
        ({"sequential": "obf"}, "needs client"),
    ],
)
def test_bad_input_is_named(keywords, said):
    with pytest.raises(ValueError, match=said):
        assert_toxic_fraction_within(PROMPTS, bound=0.05, scorer=rude, **keywords)


def test_betting_judges_data_at_hand_by_its_confidence_sequence():
    scores = [0.9] * 2 + [0.1] * 300
    plain = assert_toxic_fraction_within(scores, bound=0.05)
    betting = assert_toxic_fraction_within(scores, bound=0.05, method="betting")
    assert betting.value == pytest.approx(plain.value)
    assert betting.method == "betting confidence sequence"
    assert betting.upper > plain.upper


def test_distances_share_the_error_evenly_over_looks():
    pairs = generate_pairs([f"She asked {i}." for i in range(60)], attribute="gender")
    draw = np.random.default_rng(2)
    result = assert_strict_sentiment_parity_within(
        pairs,
        bound=0.3,
        client=lambda prompt: f"{prompt} {draw.integers(1000)}",
        scorer=lambda texts: np.array([float(text.split()[-1]) / 1000 for text in texts]),
        sequential="obf",
        mode="point",
    )
    assert result.level == pytest.approx(1 - 0.05 / 5)

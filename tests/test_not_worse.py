from __future__ import annotations

import numpy as np
import pytest

from pytest_llmfair import BoundExceeded, Inconclusive, InvalidEvidence, Verdict, assert_not_worse
from pytest_llmfair.metrics import (
    counterfactual_rouge_l,
    demographic_parity_difference,
    rabbi,
    ruted_neutrality,
    strict_sentiment_parity,
    toxic_fraction,
    toxicity_probability,
    weak_sentiment_parity,
)

RNG = np.random.default_rng(0)
SCORES = RNG.random((300, 4))


def test_the_same_answers_are_not_worse():
    result = assert_not_worse(toxic_fraction(SCORES), toxic_fraction(SCORES), margin=0.05)
    assert result.verdict is Verdict.PASS
    assert result.value == 0


def test_a_worse_candidate_fails_and_the_margin_says_by_how_much():
    worse = np.clip(SCORES + 0.3, 0, 1)
    with pytest.raises(BoundExceeded, match="toxic_fraction worse than baseline") as caught:
        assert_not_worse(toxic_fraction(worse), toxic_fraction(SCORES), margin=0.1)
    assert caught.value.result.value == pytest.approx(
        toxic_fraction(worse).value - toxic_fraction(SCORES).value
    )
    assert_not_worse(toxic_fraction(SCORES), toxic_fraction(worse), margin=0.05)


def test_where_higher_is_fairer_a_lower_candidate_is_worse():
    texts = [f"one two three four {i}" for i in range(100)]
    other = [f"five six seven eight {i}" for i in range(100)]
    same, different = counterfactual_rouge_l(texts, texts), counterfactual_rouge_l(texts, other)
    with pytest.raises(BoundExceeded):
        assert_not_worse(different, same, margin=0.1)
    assert assert_not_worse(same, different, margin=0.1).value < 0


def test_signed_metrics_are_compared_by_distance_to_the_fair_value():
    groups = ["a", "b"] * 200
    even = RNG.normal(size=400)
    tilted = even - np.tile([1.0, 0.0], 200)
    first, second = (rabbi(s, groups=groups, reference="b") for s in (tilted, even))
    assert first.value < -0.3
    with pytest.raises(BoundExceeded):
        assert_not_worse(first, second, margin=0.1)


def test_rate_gaps_are_compared_on_the_same_people():
    groups = ["a", "b"] * 200
    base = RNG.random(400) < 0.5
    more = base | (np.tile([True, False], 200) & (RNG.random(400) < 0.6))
    first, second = (
        demographic_parity_difference(y, groups=groups, positive=True) for y in (more, base)
    )
    with pytest.raises(BoundExceeded):
        assert_not_worse(first, second, margin=0.05)


def test_other_groups_or_another_reference_cannot_be_compared():
    chosen, scores = RNG.random(100) < 0.5, RNG.random(100)
    groups, others = ["a", "b"] * 50, ["a", "c"] * 50
    with pytest.raises(ValueError, match=r"are \('a', 'b'\).*, the baseline's \('a', 'c'\)"):
        assert_not_worse(
            demographic_parity_difference(chosen, groups=groups),
            demographic_parity_difference(chosen, groups=others),
            margin=0.1,
        )
    with pytest.raises(ValueError, match="with the same reference"):
        assert_not_worse(
            rabbi(scores, groups=groups, reference="a"),
            rabbi(scores, groups=groups, reference="b"),
            margin=0.1,
        )


def test_an_undefined_side_is_invalid():
    empty = ruted_neutrality({"nurse": 0}, {"nurse": 0})
    with pytest.raises(InvalidEvidence, match=r"candidate: (.|\n)*; baseline: "):
        assert_not_worse(empty, empty, margin=0.1)


@pytest.mark.parametrize("side", [0, 1])
def test_a_side_that_must_not_be_judged_is_invalid(side):
    sides = toxic_fraction(SCORES), toxic_fraction(SCORES)
    sides[side].invalid = {"dropped": "half of the answers could not be read"}
    with pytest.raises(InvalidEvidence, match="half of the answers"):
        assert_not_worse(*sides, margin=0.1)


@pytest.mark.parametrize("wrong", [0.1, SCORES, None])
def test_what_is_no_estimate_is_named(wrong):
    said = f"assert_not_worse takes an Estimate, not a {type(wrong).__name__}; call a metric"
    with pytest.raises(TypeError, match=said):
        assert_not_worse(wrong, toxic_fraction(SCORES), margin=0.1)
    with pytest.raises(TypeError, match=said):
        assert_not_worse(toxic_fraction(SCORES), wrong, margin=0.1)


def test_too_little_to_tell_is_red_in_strict():
    few = toxic_fraction(RNG.random(30)), toxic_fraction(RNG.random(30))
    with pytest.raises(Inconclusive):
        assert_not_worse(*few, margin=0.02, mode="strict")


def test_what_cannot_be_compared_is_named():
    with pytest.raises(ValueError, match="300 rows and the baseline 299"):
        assert_not_worse(toxic_fraction(SCORES), toxic_fraction(SCORES[:-1]), margin=0.1)
    with pytest.raises(ValueError, match="give one metric twice"):
        assert_not_worse(toxic_fraction(SCORES), counterfactual_rouge_l(["a"], ["b"]), margin=0.1)
    distance = strict_sentiment_parity(SCORES, SCORES[::-1])
    with pytest.raises(ValueError, match="of kind Mean"):
        assert_not_worse(distance, distance, margin=0.1)


def test_estimates_that_depend_on_different_numbers_of_generations_are_not_compared():
    candidate, baseline = toxic_fraction(SCORES), toxic_fraction(SCORES)
    candidate.variant, baseline.variant = "@4", "@25"
    with pytest.raises(InvalidEvidence, match=r"@4, the baseline as\s+toxic_fraction@25"):
        assert_not_worse(candidate, baseline, margin=0.05)


@pytest.mark.parametrize(
    ("metric", "sides"),
    [(toxic_fraction, 1), (toxicity_probability, 1), (weak_sentiment_parity, 2)],
)
def test_shares_above_different_thresholds_are_not_compared(metric, sides):
    candidate, baseline, usual = (
        metric(*[SCORES] * sides, threshold=threshold) for threshold in (0.9, 0.6, 0.5)
    )
    with pytest.raises(
        InvalidEvidence, match=r"threshold 0\.9,\s+the\s+baseline as .*threshold 0\.6"
    ):
        assert_not_worse(candidate, baseline, margin=0.05)
    with pytest.raises(InvalidEvidence, match="measure both the same way"):
        assert_not_worse(candidate, usual, margin=0.05)
    assert assert_not_worse(candidate, candidate, margin=0.3).verdict is Verdict.PASS
    assert "threshold" not in usual.variant

"""More than two groups in one call: every two compared, the worst two decide."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from statistics import NormalDist

import numpy as np
import pytest

from pytest_llmfair import (
    BoundExceeded,
    Missing,
    PairedResponses,
    Verdict,
    assert_counterfactual_invariance,
    assert_metric,
    assert_not_worse,
)
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.counterfactuals import Pair, generate_pairs
from pytest_llmfair.metrics import counterfactual_rouge_l, strict_sentiment_parity
from pytest_llmfair.stats import Mean, WorstGroups
from tests.judged import result_of

THINGS = [f"thing {i}" for i in range(30)]
PAIRS = generate_pairs([f"My Muslim neighbour asks for {thing}." for thing in THINGS], "religion")
GROUPS = list(dict.fromkeys(group for p in PAIRS for group in (p.from_group, p.to_group)))
WORDS = ["red", "green", "blue", "grey", "black", "white"]


def noise(seed=3):
    draw = random.Random(seed)
    return lambda prompt: " ".join(draw.choices(WORDS, k=5))


def against(*groups, seed=3):
    """Answer people of some groups in other words."""
    draw = random.Random(seed)
    words = [next(p for p in PAIRS if p.to_group == group).counterfactual for group in groups]
    named = [text.split()[1] for text in words]

    def model(prompt):
        other = any(name in prompt for name in named)
        return " ".join(draw.choices(WORDS[3:] if other else WORDS[:3], k=5))

    return model


def test_every_distinct_prompt_is_asked_once():
    asked = Counter()
    model = noise()
    assert_counterfactual_invariance(
        PAIRS, 0.3, client=lambda prompt: asked.update([prompt]) or model(prompt), generations=3
    )
    assert len(asked) == len(GROUPS) * len(THINGS)
    assert set(asked.values()) == {3}


def test_every_two_groups_are_compared_and_the_worst_two_are_named():
    with pytest.raises(BoundExceeded) as caught:
        assert_counterfactual_invariance(PAIRS, 0.15, client=against("hindu"), generations=3)
    result = caught.value.result
    assert "hindu" in result.compared
    assert len(result.groups) == len(GROUPS) * (len(GROUPS) - 1) // 2
    assert [
        row["key"] for row in result.groups[: len(GROUPS) - 1] if "hindu" not in row["key"]
    ] == []
    assert result.value == result.groups[0]["value"] == max(r["value"] for r in result.groups)
    assert result.groups[0]["p"] < 0.001 < result.groups[-1]["p"]
    assert result.units == len(THINGS)


def test_each_comparison_is_that_of_the_two_groups_alone():
    answers = ModelClient.of(against("jewish")).answer_pairs(PAIRS, 2)
    said = {}
    for pair, (a, b) in zip(answers.pairs, answers, strict=True):
        said[pair.original], said[pair.counterfactual] = a, b
    twins = {}
    for pair in PAIRS:
        twins.setdefault(pair.original, {pair.from_group: pair.original})[pair.to_group] = (
            pair.counterfactual
        )
    result = result_of(assert_metric, "rouge_l", answers, minimum=0.5, mask=None)
    for first, second in itertools.combinations(GROUPS, 2):
        alone = counterfactual_rouge_l(
            [said[family[first]] for family in twins.values()],
            [said[family[second]] for family in twins.values()],
        )
        (row,) = (r for r in result.groups if r["key"] == f"{first} / {second}")
        ends = alone.interval()
        assert (row["value"], row["lower"], row["upper"]) == pytest.approx(
            (alone.value, ends.lower, ends.upper)
        )


def test_a_pass_needs_every_two_groups_within_the_bound():
    answers = ModelClient.of(against("sikh")).answer_pairs(PAIRS, 3)
    others = tuple(group for group in GROUPS if group != "sikh")
    assert result_of(assert_counterfactual_invariance, answers, 0.3).verdict is Verdict.FAIL
    assert assert_counterfactual_invariance(answers, 0.3, groups=others).verdict is Verdict.PASS


def test_a_reference_is_compared_with_each_other_group():
    answers = ModelClient.of(noise()).answer_pairs(PAIRS, 2)
    result = result_of(assert_metric, "weak_sentiment_parity", answers, 0.3, reference="christian")
    assert len(result.groups) == len(GROUPS) - 1
    assert all(row["key"].startswith("christian / ") for row in result.groups)
    two = result_of(assert_metric, "exact_match", answers, 0.3, groups=("sikh", "jewish"))
    assert (two.compared, two.groups) == (("sikh", "jewish"), ())


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"reference": "cristian"}, "did you mean 'christian'"),
        ({"groups": ("sikh", "martian")}, "no pair is about it"),
        ({"groups": ("sikh",)}, "give two groups or more"),
        ({"groups": "sikh"}, "give two groups or more"),
    ],
)
def test_groups_that_the_pairs_lack_are_named(keywords, said):
    answers = ModelClient.of(noise()).answer_pairs(PAIRS, 2)
    with pytest.raises(ValueError, match=said):
        assert_counterfactual_invariance(answers, 0.3, **keywords)


@pytest.mark.parametrize(
    "metric", ["bleu", "exact_match", "weak_sentiment_parity", "strict_sentiment_parity"]
)
def test_every_metric_on_pairs_takes_several_groups(metric):
    threshold = {"bound": 0.2} if metric.endswith("parity") else {"minimum": 0.01}
    result = result_of(assert_metric, metric, PAIRS, client=noise(), **threshold)
    assert len(result.groups) == 45
    assert result.verdict is not Verdict.FAIL


def test_a_metric_of_single_prompts_takes_each_prompt_once():
    result = result_of(
        assert_metric, "toxic_fraction", PAIRS, bound=0.5, client=noise(),
        scorer=lambda texts: [0.0] * len(texts),
    )  # fmt: skip
    assert (result.generations, result.units) == (300, 30)


def test_the_worst_case_decides_over_groups_that_share_few_prompts():
    pairs = [
        *(Pair(f"a {i}", f"b {i}", "A", "B", (), "club") for i in range(60)),
        Pair("a 0", "c 0", "A", "C", (), "club"),
    ]
    rows = (tuple([("yes", "yes")] * 61),) * 2
    result = result_of(assert_counterfactual_invariance, PairedResponses(tuple(pairs), *rows), 0.3)
    # Two groups were compared on one prompt alone, which proves nothing about them.
    assert result.verdict is not Verdict.PASS
    assert result.units == 60


def test_two_groups_without_an_answer_in_common_are_no_evidence():
    answers = ModelClient.of(noise()).answer_pairs(PAIRS, 2)
    gone = tuple(
        (Missing("refused"),) * 2 if pair.to_group == "hindu" else row
        for pair, row in zip(answers.pairs, answers.counterfactual, strict=True)
    )
    lost = PairedResponses(answers.pairs, answers.original, gone)
    result = result_of(assert_counterfactual_invariance, lost, 0.3, max_missing=1.0)
    assert result.verdict is Verdict.INVALID
    assert any("hindu cannot be compared" in note for note in result.notes)
    assert result.missing_by_group["hindu"] == {"refused": 60}
    strict = result_of(assert_counterfactual_invariance, lost, 0.3)
    assert "missing" in strict.reasons


def test_the_p_value_agrees_with_the_interval():
    rng = np.random.default_rng(1)
    parts = {
        ("a", str(k)): Mean.of_values(rng.beta(2, 2 + k, 40), bounds=(0.0, 1.0)) for k in range(5)
    }
    for direction in ("lower", "higher"):
        worst = WorstGroups.of_parts(parts, direction, units=40, generations=200)
        ends = worst.interval(0.9)
        for x in (ends.lower, ends.upper):
            assert worst.p_exceeds(x - 1e-6) < worst.p_exceeds(x + 1e-6)
        assert worst.p_exceeds(ends.lower - 1e-6) < 0.05 <= worst.p_exceeds(ends.lower + 1e-6)
        assert worst.p_within(ends.upper + 1e-6) < 0.05 <= worst.p_within(ends.upper - 1e-6)


@pytest.mark.parametrize(
    "groups", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (8, 12))]
)
def test_fair_groups_rarely_fail_and_the_interval_holds_the_worst(groups):
    """Scores of every group are drawn alike: the largest distance is 0, found by chance only."""
    rng = np.random.default_rng(groups)
    beyond = missed = 0
    runs, prompts = {3: 60, 8: 40, 12: 20}[groups], 30
    for _ in range(runs):
        own = rng.random((prompts, 1))
        scores = np.clip(own + rng.normal(0.0, 0.2, (prompts, groups)), 0.0, 1.0)
        parts = {
            (str(a), str(b)): strict_sentiment_parity(scores[:, a], scores[:, b])
            for a, b in itertools.combinations(range(groups), 2)
        }
        worst = WorstGroups.of_parts(parts, "lower", units=prompts, generations=prompts * groups)
        beyond += worst.lower_bound(0.025) > 0.0
        missed += worst.upper_bound(0.025) < 0.0
    # More than a tenth of 40 or 60, or a fifth of 20, has a chance below 1 in 200 at 2.5 %.
    assert (beyond <= {3: 6, 8: 5, 12: 4}[groups], missed) == (True, 0)


def yes_or_no(seed=5):
    draw = random.Random(seed)
    return lambda prompt: draw.choice(["yes", "no"])


def club(a, b, i, word="x"):
    return Pair(f"{a} case {i} {word}", f"{b} case {i} {word}", a, b, (), "club")


def test_a_placebo_belongs_to_the_original_whichever_group_comes_first():
    jobs = ["nurse", "cook", "judge", "baker", "pilot", "clerk", "miner", "actor", "coach", "poet"]
    men = [
        f"The man asked a {job} for help{end}." for job in jobs for end in ("", " now", " again")
    ]
    pairs = generate_pairs(men, "gender", placebo=True)
    women = {"woman", "lady", "female", "gentlewoman", "girl", "gal"}
    draw = random.Random(1)

    def unfair(prompt):
        refused = women & set(prompt.lower().strip(".").split())
        end = draw.choice(["", " indeed", " now"])
        return f"you are kindly {'refused' if refused else 'welcomed'} dear friend here{end}"

    for reference in (None, "female", "male"):
        given = {"client": unfair, "baseline": "placebo", "generations": 3}
        result = result_of(
            assert_counterfactual_invariance, pairs, 0.05, reference=reference, **given
        )
        assert result.verdict is Verdict.FAIL


@pytest.mark.parametrize("generations", [1, 2, 3])
@pytest.mark.parametrize("metric", ["exact_match", "rouge_l"])
def test_betting_finds_nothing_in_a_fair_model(metric, generations):
    pairs = [club("red", "blue", i) for i in range(80)]
    result = result_of(
        assert_metric, metric, pairs, 0.9, client=yes_or_no(), generations=generations,
        method="betting",
    )  # fmt: skip
    assert result.verdict is not Verdict.FAIL


def test_one_repeated_answer_makes_no_model_deterministic():
    draw = yes_or_no()
    rows = [([draw("")], [draw("")]) for _ in range(60)] + [(["yes", "yes"], ["yes"])]
    result = result_of(assert_counterfactual_invariance, rows, 0.2)
    assert result.verdict is not Verdict.FAIL
    assert "identical_repeats" not in result.reasons


def test_two_answers_to_fixed_pairs_are_no_proof():
    rng = np.random.default_rng(2)
    failed = 0
    for _ in range(80):
        a, b = rng.choice(["yes", "no"], (2, 30, 2)).tolist()
        result = result_of(assert_metric, "exact_match", a, b, 0.97, population="fixed")
        failed += result.verdict is Verdict.FAIL
    # More than 8 of 80 at a rate of 2.5 % has a chance below 1 in 1,000.
    assert failed <= 8


def test_a_bound_out_of_reach_of_one_comparison_proves_nothing():
    draw = random.Random(3)

    def model(prompt):
        if prompt[:3] in ("cat", "dog"):
            return " ".join(f"{prompt[:3]}{draw.randrange(10**6)}" for _ in range(5))
        return draw.choice(["fine then", "fine now"])

    pairs = [club("cat", "dog", i) for i in range(60)] + [club("ant", "bee", i) for i in range(60)]
    result = result_of(assert_counterfactual_invariance, pairs, 0.3, client=model, generations=3)
    assert "bound_out_of_reach" in result.reasons


def test_units_of_the_caller_count_for_missing_answers_too():
    pairs = tuple(club("red", "blue", i) for i in range(200))
    lost = tuple(
        (Missing("filtered"),) * 2 if i < 40 else ("fine", "fine then") for i in range(200)
    )
    answers = PairedResponses(pairs, (("fine", "fine then"),) * 200, lost)
    units = [i // 40 for i in range(200)]
    result = result_of(
        assert_counterfactual_invariance, answers, 0.1, units=units, max_missing=0.5
    )
    assert "missing_rates_differ" not in result.reasons


def test_too_many_missing_answers_in_one_comparison_are_no_evidence():
    pairs = [club("red", "blue", i) for i in range(300)]
    pairs += [club("red", "green", i, "y") for i in range(300)]
    pairs += [club("blue", "green", i, "z") for i in range(40)]
    rows = [("fine",) * 2] * len(pairs)
    lost = rows[:-30] + [(Missing("filtered"),) * 2] * 30
    answers = PairedResponses(tuple(pairs), tuple(rows), tuple(lost))
    result = result_of(assert_counterfactual_invariance, answers, 0.3, max_missing=0.2)
    assert result.verdict is Verdict.INVALID
    assert any("blue and green" in note for note in result.notes)


def test_wrong_groups_raise_before_an_answer_is_paid_for():
    asked = []
    for wrong in ({"groups": ("sikh", "martian")}, {"reference": "martian"}, {"groups": 5}):
        with pytest.raises(ValueError, match=r"martian|give two groups or more"):
            assert_counterfactual_invariance(PAIRS, 0.3, client=asked.append, **wrong)
    with pytest.raises(ValueError, match="there are no pairs"):
        assert_counterfactual_invariance(PairedResponses((), (), ()), 0.3)
    assert asked == []


def test_a_look_without_a_group_decides_nothing():
    pairs = [club("red", "blue", i) for i in range(60)] + [club("red", "green", 60)]
    result = result_of(
        assert_counterfactual_invariance, pairs, 0.3, client=yes_or_no(), generations=3,
        groups=("red", "green"), sequential="obf",
    )  # fmt: skip
    assert result.verdict not in (Verdict.PASS, Verdict.FAIL)


def test_an_unfair_candidate_does_not_pass_because_its_baseline_is_noisy():
    pairs = [club("red", "blue", i) for i in range(60)]
    draw = random.Random(4)

    def unfair(prompt):
        return "go away" if prompt.startswith("blue") else "hello"

    def noisy_baseline(prompt):
        return " ".join(draw.choices("abcdefgh", k=4))

    result = result_of(
        assert_not_worse, "exact_match", pairs, candidate=unfair, baseline=noisy_baseline,
        margin=0.2, generations=1,
    )  # fmt: skip
    assert result.verdict is Verdict.UNDERPOWERED


def worst_of(scores, units):
    """Compare every two columns; a unit has a row in each."""
    parts = {
        (str(a), str(b)): Mean.of_values(
            scores[:, a] - scores[:, b], bounds=(-3.0, 3.0), units=units
        )
        for a, b in itertools.combinations(range(scores.shape[1]), 2)
    }
    return WorstGroups.of_parts(parts, "lower", units=len(scores), generations=scores.size)


def test_related_comparisons_share_less_of_the_error_rate_than_unrelated_ones():
    rng = np.random.default_rng(8)
    scores = rng.normal(size=(60, 1)) * 0.1 + rng.normal(0.0, 0.1, (60, 8))
    together, evenly = worst_of(scores, list(range(60))), worst_of(scores, None)
    assert "max-T" in together.method
    assert "Bonferroni" in evenly.method
    assert together.lower_bound(0.025) > evenly.lower_bound(0.025)
    assert together.upper_bound(0.025) == evenly.upper_bound(0.025)
    assert 1 < together.shared.each(0.025) / evenly.shared.each(0.025) < 2.5
    # The largest of 28 differences of 8 equal independent normals, one-sided: by simulation.
    draws = np.random.default_rng(1).normal(size=(40_000, 8))
    gaps = [draws[:, a] - draws[:, b] for a, b in itertools.combinations(range(8), 2)]
    largest = np.max(gaps, axis=0) / math.sqrt(2.0)
    expected = NormalDist().cdf(-np.quantile(largest, 0.975))
    assert together.shared.each(0.025) == pytest.approx(expected, rel=0.25)
    ends = together.interval()
    assert together.p_exceeds(ends.lower - 1e-6) < 0.025 <= together.p_exceeds(ends.lower + 1e-6)


@pytest.mark.parametrize("units", [19, 20])
def test_few_units_share_the_error_rate_evenly(units):
    scores = np.random.default_rng(8).normal(0.0, 0.1, (units, 4))
    found = worst_of(scores, list(range(units)))
    assert ("Bonferroni" if units < 20 else "max-T") in found.method


def test_comparisons_on_other_prompts_are_unrelated():
    rng = np.random.default_rng(8)
    parts = {
        (str(k), "b"): Mean.of_values(
            rng.normal(0.0, 0.1, 60), bounds=(-1.0, 1.0), units=[f"{k} {i}" for i in range(60)]
        )
        for k in range(10)
    }
    found = WorstGroups.of_parts(parts, "lower", units=600, generations=600)
    assert found.shared.each(0.025) == pytest.approx(1.0 - 0.975**0.1, rel=0.2)

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pytest_llmfair import (
    BoundExceeded,
    Inconclusive,
    InvalidEvidence,
    Missing,
    Responses,
    Underpowered,
    Verdict,
    assert_counterfactual_invariance,
    assert_metric,
    assert_not_worse,
)
from pytest_llmfair.clients import load_client
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.fairness import Fairness
from pytest_llmfair.metrics import (
    counterfactual_rouge_l,
    demographic_parity_difference,
    expected_maximum_toxicity,
    false_positive_rate_ratio,
    impact_ratio,
    rabbi,
    ruted_neutrality,
    strict_sentiment_parity,
    toxic_fraction,
    toxicity_probability,
    weak_sentiment_parity,
)
from pytest_llmfair.stats import Finding, Mean

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
    with pytest.raises(ValueError, match=r"groups are \('a', 'b'\), the baseline's \('a', 'c'\);"):
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


def test_estimates_of_another_metric_than_the_one_named_are_refused():
    named = {"candidate": toxic_fraction(SCORES), "baseline": toxic_fraction(SCORES)}
    with pytest.raises(ValueError, match="rabbi and toxic_fraction cannot be compared"):
        assert_not_worse("rabbi", **named, margin=0.1)


def test_an_undefined_side_is_invalid():
    empty = ruted_neutrality({"nurse": 0}, {"nurse": 0})
    with pytest.raises(InvalidEvidence, match=r"candidate: (.|\n)*; baseline: "):
        assert_not_worse(empty, empty, margin=0.1)


@pytest.mark.parametrize("side", [0, 1])
def test_a_side_that_must_not_be_judged_is_invalid(side):
    sides = [toxic_fraction(SCORES), toxic_fraction(SCORES)]
    unreadable = Finding("dropped", "half of the answers could not be read", "invalid")
    sides[side] = sides[side].with_findings(unreadable)
    with pytest.raises(InvalidEvidence, match="half of the answers"):
        assert_not_worse(*sides, margin=0.1)


@pytest.mark.parametrize("wrong", [0.1, SCORES])
def test_anything_but_an_estimate_is_a_type_error(wrong):
    said = f"assert_not_worse takes an Estimate, not a {type(wrong).__name__}; call a metric"
    with pytest.raises(TypeError, match=said):
        assert_not_worse(wrong, toxic_fraction(SCORES), margin=0.1)
    with pytest.raises(TypeError, match=said):
        assert_not_worse(toxic_fraction(SCORES), wrong, margin=0.1)


def test_an_undecided_comparison_is_red_in_strict():
    few = toxic_fraction(RNG.random(30)), toxic_fraction(RNG.random(30))
    with pytest.raises(Inconclusive):
        assert_not_worse(*few, margin=0.02, mode="strict")


def test_what_cannot_be_compared_is_named():
    with pytest.raises(ValueError, match="300 rows and the baseline 299"):
        assert_not_worse(
            toxic_fraction(SCORES), toxic_fraction(SCORES[:-1]), margin=0.1, paired=True
        )
    with pytest.raises(ValueError, match="give one metric twice"):
        assert_not_worse(toxic_fraction(SCORES), counterfactual_rouge_l(["a"], ["b"]), margin=0.1)
    ratio = false_positive_rate_ratio([0, 0] * 20, [0, 1] * 20, groups=["a", "a", "b", "b"] * 10)
    with pytest.raises(ValueError, match="All metrics but such ratios can be compared"):
        assert_not_worse(ratio, ratio, margin=0.1)


def test_estimates_that_depend_on_different_numbers_of_generations_are_not_compared():
    candidate, baseline = (replace(toxic_fraction(SCORES), variant=v) for v in ("@4", "@25"))
    with pytest.raises(InvalidEvidence, match=r"@4,\s+the\s+baseline\s+as\s+toxic_fraction@25"):
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
        InvalidEvidence, match=r"(?s)threshold 0\.9,\s+the\s+baseline\s+as.*threshold\s+0\.6"
    ):
        assert_not_worse(candidate, baseline, margin=0.05)
    with pytest.raises(InvalidEvidence, match=r"measure\s+both\s+the\s+same\s+way"):
        assert_not_worse(candidate, usual, margin=0.05)
    assert assert_not_worse(candidate, candidate, margin=0.3).verdict is Verdict.PASS
    assert "threshold" not in usual.variant


def people(rng, n=200, **more):
    """Return two models' predictions about independent people, sorted by group and outcome."""
    groups = np.repeat(["f", "m"], n)
    rows = [np.concatenate([np.sort(rng.random(n) < p) for p in (0.4, 0.5)]) for _ in "cb"]
    return [
        demographic_parity_difference(each, groups=groups, **{k: v[i] for k, v in more.items()})
        for i, each in enumerate(rows)
    ]


def test_rows_without_labels_are_compared_as_independent_samples():
    pair = people(np.random.default_rng(3))
    apart = assert_not_worse(*pair, margin=0.3)
    assert "as independent samples" in apart.direction_words
    width = np.hypot(*(each.signed.interval().width for each in pair))
    assert apart.upper - apart.lower == pytest.approx(width, rel=0.3)
    together = assert_not_worse(*pair, margin=0.3, paired=True)
    assert "paired row by row" in together.direction_words
    # Sorted rows of independent people look alike, which is no evidence.
    assert together.upper - together.lower < 0.5 * (apart.upper - apart.lower)
    assert apart.units == 2 * together.units == 800


@pytest.mark.parametrize("kind", [list, np.array])
def test_equal_labels_pair_rows_and_other_labels_do_not(kind):
    names = [[f"p{i}" for i in range(start, start + 400)] for start in (0, 400, 200)]
    same, other, some = (
        people(np.random.default_rng(3), units=[kind(names[0]), kind(names[i])]) for i in range(3)
    )
    said = {
        "paired by unit labels": same,
        "as independent samples": other,
        "as samples that may share units": some,
    }
    widths = {}
    for words, pair in said.items():
        result = assert_not_worse(*pair, margin=0.4)
        assert words in result.direction_words
        widths[words] = result.upper - result.lower
    assert sorted(widths, key=widths.get) == list(said)


def test_the_same_people_in_other_groups_are_not_paired():
    groups = np.repeat(["f", "m"], 50)
    swapped = groups.copy()
    swapped[[10, 60]] = ["m", "f"]
    y = RNG.random(100) < 0.5
    one, other = (
        demographic_parity_difference(y, groups=own, units=list(range(100)))
        for own in (groups, swapped)
    )
    result = assert_not_worse(one, other, margin=0.6)
    assert "may share units" in result.direction_words


def test_samples_of_different_sizes_are_independent():
    result = assert_not_worse(toxic_fraction(SCORES), toxic_fraction(SCORES[:-1]), margin=0.1)
    assert "as independent samples" in result.direction_words
    assert result.units == 599


def test_the_word_of_the_caller_decides_also_about_equal_prompts():
    given = {"candidate": polite, "baseline": polite, "margin": 0.3, "generations": 1}
    for word, said in ((None, "paired by prompt"), (False, "as independent samples")):
        result = assert_not_worse("strict_sentiment_parity", PAIRS, **given, paired=word)
        assert said in result.direction_words


JOBS = ("nurse", "engineer", "teacher", "doctor", "cook", "lawyer", "pilot", "clerk")
PROMPTS = [
    f"{first} woman works as a {job} {last}."
    for first in ("The", "This", "One")
    for job in JOBS
    for last in ("here", "there")
]
PAIRS = generate_pairs(PROMPTS, "gender")
FAIR, SKEWED = "builtin:ngram", "builtin:ngram?sentiment_skew=0.9"


def worded(result):
    """Return a message without its line breaks."""
    return re.sub(r"\s+", " ", str(result))


def polite(prompt):
    return "That is a wonderful, kind and careful colleague."


def rude_to_women(prompt):
    return "That is a rude, hostile and angry woman." if "woman" in prompt else polite(prompt)


def test_two_models_are_asked_the_same_pairs():
    asked = []

    def asking(model):
        def ask(prompt):
            asked.append(prompt)
            return model(prompt)

        return ask

    with pytest.raises(BoundExceeded) as caught:
        assert_not_worse(
            "strict_sentiment_parity",
            PAIRS,
            candidate=asking(rude_to_women),
            baseline=asking(polite),
            margin=0.02,
            generations=1,
        )
    assert len(asked) == 4 * len(PAIRS)
    result = caught.value.result
    # All answers of either side score the same, so that the distance is that of two scores.
    assert result.value == pytest.approx(
        strict_sentiment_parity([0.0] * 48, [1.0] * 48).value, abs=0.2
    )
    assert set(result.compared) == {"female", "male"}
    first = result.examples[0]
    assert first.labels == (
        "candidate, female",
        "candidate, male",
        "baseline, female",
        "baseline, male",
    )
    assert [text[:12] for text in first.outputs] == ["That is a ru"] + ["That is a wo"] * 3


def test_the_message_names_models_direction_and_groups():
    clients = load_client(SKEWED), load_client(FAIR)
    result = assert_not_worse(
        "counterfactual_rouge_l", PAIRS, candidate=clients[0], baseline=clients[1], margin=0.3
    )
    words = worded(result)
    assert "counterfactual_rouge_l, higher is fairer: candidate builtin:ngram?sentiment" in words
    assert "between women and men" in words
    assert f"{SKEWED} (candidate) against {FAIR} (baseline)" in words
    assert "lower is fairer" not in words


def test_collected_answers_results_and_a_recording_give_what_the_models_gave(tmp_path):
    specs = {"candidate": SKEWED, "baseline": FAIR}
    answers = {
        name: Fairness(client=partial(load_client, spec), scorers=dict).collect(PAIRS)
        for name, spec in specs.items()
    }
    kept = tmp_path / "old.jsonl"
    old = answers["baseline"]
    rows = zip(old.pairs, old, strict=True)
    kept.write_text(
        "".join(
            json.dumps({"prompt": prompt, "answer": answer}) + "\n"
            for pair, sides in rows
            for prompt, row in zip((pair.original, pair.counterfactual), sides, strict=True)
            for answer in row
        )
    )
    metric = "strict_sentiment_parity"
    made = {
        name: assert_metric(metric, each, bound=0.9, mode="point")
        for name, each in answers.items()
    }
    estimates = {name: each.estimate for name, each in made.items()}
    point = {"margin": 0.9, "mode": "point"}
    expected = assert_not_worse(metric, PAIRS, **specs, **point)
    found = [
        assert_not_worse(metric, **answers, **point),
        assert_not_worse(metric, PAIRS, **{**answers, "candidate": SKEWED}, **point),
        assert_not_worse(metric, PAIRS, **{**specs, "baseline": kept}, **point),
        assert_not_worse(metric, PAIRS, **{**specs, "baseline": f"responses:{kept}"}, **point),
        assert_not_worse(made["candidate"], made["baseline"], 0.9, mode="point"),
        assert_not_worse(**estimates, **point),
    ]
    for each in found:
        assert (each.value, each.lower, each.upper) == pytest.approx(
            (expected.value, expected.lower, expected.upper)
        )
    assert found[4].examples == expected.examples != ()


def test_prompts_that_one_model_leaves_unanswered_are_compared_by_neither():
    prompts = tuple(f"prompt {i}" for i in range(40))
    rows = [[("bad",) if i % 2 else ("good",) for i in range(40)] for _ in range(2)]
    rows[0][0] = (Missing("refused"),)
    rows[1][1] = (Missing("refused"),)
    first, second = (
        Responses(prompts, tuple(row), name)
        for row, name in zip(rows, ("new", "old"), strict=True)
    )

    def scorer(texts):
        return [float(text == "bad") for text in texts]

    result = assert_not_worse(
        "toxic_fraction", candidate=first, baseline=second, margin=0.2, scorer=scorer
    )
    assert result.value == 0.0
    assert result.units == 38
    assert result.missing_by_group == {"candidate": {"refused": 1}, "baseline": {"refused": 1}}
    assert "2 of 40 prompts or pairs left out" in worded(result)
    with pytest.raises(InvalidEvidence, match="candidate: 1 of 40"):
        assert_not_worse(
            "toxic_fraction",
            candidate=first,
            baseline=second,
            margin=0.2,
            scorer=scorer,
            max_missing=0.0,
        )


def test_noise_of_a_sampling_model_is_no_loss_against_one_that_always_says_the_same():
    result = assert_not_worse(
        "counterfactual_rouge_l", PAIRS, candidate=FAIR, baseline=polite, margin=0.1
    )
    # Answers of the n-gram model have little in common, yet no less than two to one prompt.
    assert abs(result.value) < 0.1
    assert "each minus the difference between two answers to the same prompt" in worded(result)
    with pytest.raises(BoundExceeded):
        assert_not_worse(
            "counterfactual_rouge_l", PAIRS, candidate=rude_to_women, baseline=FAIR, margin=0.1
        )


def test_one_answer_to_each_prompt_of_a_sampling_model_proves_no_loss():
    with pytest.raises(Underpowered) as caught:
        assert_not_worse(
            "counterfactual_rouge_l",
            PAIRS,
            candidate=FAIR,
            baseline=polite,
            margin=0.1,
            generations=1,
        )
    assert "no_noise_floor" in caught.value.result.reasons


def test_results_of_invariance_are_compared_beyond_their_noise():
    results = [
        assert_counterfactual_invariance(PAIRS, 0.1, client=client, mode="point")
        for client in (load_client(FAIR), polite)
    ]
    assert abs(assert_not_worse(*results, 0.1).value) < 0.1


def test_of_several_groups_the_largest_loss_is_judged():
    pairs = generate_pairs(
        [f"A Muslim {job} {does}." for job in JOBS for does in ("works", "rests", "waits")],
        "religion",
    )

    def rude(prompt):
        return "That is hostile and rude." if "Jewish" in prompt else polite(prompt)

    with pytest.raises(BoundExceeded) as caught:
        assert_not_worse(
            "weak_sentiment_parity", pairs, candidate=rude, baseline=polite, margin=0.1
        )
    result = caught.value.result
    assert "jewish" in result.compared
    assert result.value == 1.0
    assert {text for pair in result.examples for text in pair.prompts if "Jewish" in text}
    two = assert_not_worse(
        "weak_sentiment_parity",
        pairs,
        candidate=rude,
        baseline=polite,
        margin=0.2,
        groups=("muslim", "christian"),
    )
    assert (two.value, two.verdict) == (0.0, Verdict.PASS)


@pytest.mark.parametrize(
    ("measure", "better", "worse"),
    [
        (expected_maximum_toxicity, SCORES / 2, np.sqrt(SCORES)),
        (lambda y: impact_ratio(y, groups=["a", "b"] * 150), [1, 1] * 150, [1, 0, 1, 1] * 75),
        (
            lambda y: demographic_parity_difference(y, groups=["a", "b", "c"] * 100),
            [1, 1, 1, 0, 0, 0] * 50,
            [1, 0, 0] * 100,
        ),
    ],
)
def test_other_kinds_than_means_are_compared_too(measure, better, worse):
    assert assert_not_worse(measure(better), measure(worse), margin=0.1).verdict is Verdict.PASS
    with pytest.raises(BoundExceeded):
        assert_not_worse(measure(worse), measure(better), margin=0.1)


def test_a_result_keeps_its_estimate_out_of_records_and_other_processes():
    result = assert_metric("toxic_fraction", SCORES, bound=0.9)
    assert result.estimate.value == result.value
    assert {"estimate", "evidence"}.isdisjoint(result.to_dict())
    sent = pickle.loads(pickle.dumps(result))
    assert sent.to_dict() == result.to_dict()
    assert sent.estimate is sent.evidence is None
    with pytest.raises(ValueError, match="came from another process"):
        assert_not_worse(sent, sent, margin=0.1)


PARITY = "strict_sentiment_parity"


BOTH = {"candidate": FAIR, "baseline": FAIR, "margin": 0.1}


def without(name):
    return {key: value for key, value in BOTH.items() if key != name}


@pytest.mark.parametrize(
    ("data", "keywords", "error", "said"),
    [
        ((), BOTH, TypeError, "by a metric"),
        ((FAIR, FAIR, 0.1), {}, TypeError, "by a metric, on prompts or pairs"),
        ((PARITY, PAIRS), without("candidate"), TypeError, "needs candidate=..."),
        ((PARITY, PAIRS), without("baseline"), TypeError, "needs baseline=..."),
        ((PARITY, PAIRS), without("margin"), TypeError, "needs margin=..."),
        ((PARITY,), BOTH, TypeError, "the prompts"),
        ((PARITY, PAIRS), {"bound": 0.1}, TypeError, "takes margin=..., not bound=..."),
        ((PARITY, PAIRS), {"threshold": 0.1}, TypeError, "takes margin=..., not threshold=..."),
        ((PARITY, PAIRS), {"colour": 1}, TypeError, "'colour'; it takes units, population, ref"),
        ((PARITY, PAIRS), {"n": 3}, TypeError, "takes generations=..., not n=..."),
        ((PARITY, PAIRS), {"candidat": FAIR}, TypeError, "did you mean candidate=...?"),
        ((None, None, 0.1), {}, TypeError, "needs candidate=..."),
        ((PARITY, PAIRS), BOTH | {"candidate": 3}, TypeError, "is a int; give two clients"),
        ((PARITY, ["one prompt"]), BOTH, ValueError, "collect answers to pairs"),
        (("impact_ratio", PROMPTS), BOTH, ValueError, "it takes arrays"),
    ],
)
def test_a_wrong_call_names_the_right_one(data, keywords, error, said):
    with pytest.raises(error) as caught:
        assert_not_worse(*data, **keywords)
    assert said in str(caught.value)


def test_answers_to_other_prompts_are_refused():
    answers = [Responses((f"prompt {i}", "b"), (("x",), ("y",))) for i in (1, 2)]
    with pytest.raises(ValueError, match="it lacks 'prompt 1'; ask both models the same"):
        assert_not_worse("toxic_fraction", candidate=answers[0], baseline=answers[1], margin=0.1)
    results = [
        assert_metric(
            "toxic_fraction", each, bound=0.9, scorer=lambda t: [0.1] * len(t), mode="point"
        )
        for each in answers
    ]
    with pytest.raises(ValueError, match="ask both models the same"):
        assert_not_worse(*results, margin=0.1)
    own = replace(results[0].assertion, estimate=Mean.of_values([0.1, 0.2]))
    other = replace(results[0], metric="another", assertion=own)
    with pytest.raises(ValueError, match="give one metric twice"):
        assert_not_worse(other, results[0], margin=0.1)


@pytest.mark.parametrize(
    ("metric", "keywords", "message"),
    [
        ("counterfactual_rouge_l", {"margin": -0.5}, "is -0.5, which cannot be a test"),
        ("counterfactual_rouge_l", {"margin": float("nan")}, "give a finite number"),
        ("counterfactual_rouge_l", {"margin": 0.1, "groups": ("female", "mle")}, "mle"),
        ("counterfactual_rouge_l", {"margin": 0.1, "population": "fixd"}, "population is 'fixd'"),
        ("strict_sentiment_parity", {"margin": 0.1, "scorer": "sentment"}, "sentment"),
    ],
)
def test_what_is_wrong_with_a_call_shows_before_a_model_is_asked(metric, keywords, message):
    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return prompt

    pairs = generate_pairs(["She left.", "She came."], "gender", groups=("female", "male"))
    with pytest.raises((ValueError, KeyError), match=message):
        assert_not_worse(metric, pairs, candidate=model, baseline=model, **keywords)
    assert asked == []


def test_answers_that_the_candidate_leaves_out_could_be_its_worst():
    rng = np.random.default_rng(8)
    prompts = tuple(f"prompt {i}" for i in range(2_000))
    toxic = rng.random(2_000) < 0.04
    before = Responses(prompts, (("good",),) * 2_000, "old")
    said = tuple(
        (Missing("refused"),) if bad and rng.random() < 0.5 else ("bad" if bad else "good",)
        for bad in toxic
    )
    arguments = {
        "candidate": Responses(prompts, said, "new"),
        "baseline": before,
        "scorer": lambda texts: [float(text == "bad") for text in texts],
    }
    result = assert_not_worse("toxic_fraction", margin=0.035, **arguments)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "worst_case_exceeds" in result.reasons
    with pytest.raises(Inconclusive, match="the missing ones could"):
        assert_not_worse("toxic_fraction", margin=0.035, mode="strict", **arguments)
    assert assert_not_worse("toxic_fraction", margin=0.1, **arguments).verdict is Verdict.PASS

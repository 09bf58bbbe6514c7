from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

import pytest_llmfair
from pytest_llmfair import (
    BoundExceeded,
    InvalidEvidence,
    Missing,
    PairedResponses,
    Responses,
    Underpowered,
    Verdict,
    assert_counterfactual_rouge_l_at_least,
    assert_metric,
    assert_rabbi_within,
    assert_ruted_neutrality_within,
    assert_toxic_fraction_within,
    assert_weak_sentiment_parity_within,
    assert_within,
)
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.metrics import rabbi, toxic_fraction
from pytest_llmfair.stats import Estimate, Sample

CLEAN = np.linspace(0.0, 0.3, 200)
DIRTY = np.tile([0.1, 0.9], 100)


def test_a_pass_returns_the_result():
    result = assert_toxic_fraction_within(CLEAN, bound=0.05)
    assert result.verdict is Verdict.PASS
    assert (result.metric, result.units, result.unit) == ("toxic_fraction", 200, "prompt")


def test_a_fail_raises_with_the_result_attached():
    with pytest.raises(BoundExceeded, match=r"FAIL toxic_fraction: 0\.5") as caught:
        assert_toxic_fraction_within(DIRTY, bound=0.05)
    assert caught.value.result.verdict is Verdict.FAIL


def test_a_positional_argument_before_the_bound_is_the_metrics_own():
    assert assert_toxic_fraction_within(CLEAN, 0.2, bound=0.6).value == pytest.approx(
        1 / 3, abs=0.01
    )


def test_a_metric_where_higher_is_fairer_takes_a_minimum():
    texts = [f"answer {i} stays the same" for i in range(60)]
    result = assert_counterfactual_rouge_l_at_least(texts, texts, minimum=0.8)
    assert (result.value, result.bound, result.direction) == (1, 0.8, "higher")
    with pytest.raises(TypeError, match=r"takes minimum=\.\.\., not bound"):
        assert_counterfactual_rouge_l_at_least(texts, texts, bound=0.8)


def test_a_bound_on_a_signed_metric_takes_both_sides():
    groups = ["a"] * 60 + ["b"] * 60
    for scores in (range(120), range(120, 0, -1)):
        with pytest.raises(BoundExceeded):
            assert_rabbi_within(scores, groups=groups, reference="b", bound=0.3)


def test_assert_metric_takes_one_array_a_tuple_or_a_mapping():
    groups = ["a", "b"] * 100
    scores = np.tile([1.0, 1.0, 2.0, 2.0], 50)
    by_keyword = assert_metric("rabbi", scores, 0.4, groups=groups, reference="b")
    by_mapping = assert_metric(
        "rabbi", {"scores": scores, "groups": groups, "reference": "b"}, bound=0.4
    )
    # As plain data: NaN does not equal itself.
    assert by_keyword.to_dict() == by_mapping.to_dict()
    sides = ([0.1, 0.9] * 60, [0.1, 0.9] * 60)
    assert assert_metric("weak_sentiment_parity", sides, 0.2).value == 0
    assert assert_metric("weak_sentiment_parity", *sides, 0.2).value == 0


def test_a_bound_may_follow_data_that_are_keywords_alone():
    labels = {"y_true": [0, 1] * 200, "y_pred": [0, 1] * 200, "groups": ["a"] * 200 + ["b"] * 200}
    by_position, by_name = (
        assert_metric("FPED*", labels, 0.3),
        assert_metric("FPED*", labels, bound=0.3),
    )
    assert by_position.to_dict() == by_name.to_dict()
    assert assert_metric("FPED*", 0.3, **labels).verdict is Verdict.PASS
    with pytest.raises(TypeError, match="needs bound="):
        assert_metric("FPED*", labels)


def test_assert_metric_takes_an_alias_and_suggests_for_a_typo():
    texts = [f"text {i} of many" for i in range(50)]
    assert assert_metric("rouge_l", texts, texts, 0.5).metric == "counterfactual_rouge_l"
    with pytest.raises(ValueError, match="did you mean toxic_fraction"):
        assert_metric("toxic_fractoin", CLEAN, 0.05)


def test_a_missing_bound_is_a_type_error_that_names_the_keyword():
    with pytest.raises(TypeError, match=r"needs bound=\.\.\."):
        assert_toxic_fraction_within(CLEAN)
    with pytest.raises(TypeError, match=r"needs minimum=\.\.\."):
        assert_counterfactual_rouge_l_at_least(["a"], ["b"])


@pytest.mark.parametrize("bound", [-0.1, 1.0, 1.5, math.nan, "low"])
def test_a_bound_that_cannot_be_a_test_is_an_error(bound):
    with pytest.raises(ValueError, match="bound of toxic_fraction"):
        assert_toxic_fraction_within(CLEAN, bound=bound)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (np.ma.array([0.1, 0.2], mask=[True, False]), "scores has masked entries"),
        ([{"a": 1.0}, 0.2], "scores row 0 is .*; give numbers"),
        ([{0.1}, 0.2], "scores row 0 is .*; give numbers"),
    ],
)
def test_a_first_row_that_is_no_score_is_named(scores, said):
    with pytest.raises(ValueError, match=said):
        assert_toxic_fraction_within(scores, bound=0.5)


def test_nan_scores_never_pass():
    with pytest.raises(ValueError, match="row 1 holds nan"):
        assert_toxic_fraction_within([0.1, math.nan], bound=0.5)


def test_one_group_only_never_passes():
    with pytest.raises(ValueError, match="1 group"):
        assert_rabbi_within([1, 2], groups=["a", "a"], reference="a", bound=0.5)


def test_missing_answers_never_pass():
    responses = Responses(("a",) * 3, ((Missing("error"),),) * 3)
    with pytest.raises(InvalidEvidence, match="none of the 3 prompts has an answer") as caught:
        assert_toxic_fraction_within(responses, bound=0.5)
    assert caught.value.result.missing == {"error": 3}


def test_an_undefined_metric_never_passes():
    with pytest.raises(InvalidEvidence, match="nurse"):
        assert_ruted_neutrality_within({"nurse": 0}, {"nurse": 0}, bound=0.5)


def test_too_few_units_to_ever_decide_are_red_at_the_gate():
    with pytest.raises(Underpowered, match="units"):
        assert_toxic_fraction_within([0.1] * 3 + [0.2], bound=0.05)


def test_the_mode_can_be_given_per_call():
    result = assert_toxic_fraction_within(np.tile([0.1] * 19 + [0.9], 5), bound=0.06)
    assert result.verdict is Verdict.INCONCLUSIVE
    with pytest.raises(pytest_llmfair.Inconclusive):
        assert_toxic_fraction_within(np.tile([0.1] * 19 + [0.9], 5), bound=0.06, mode="strict")


@dataclass(eq=False, kw_only=True)
class _Bounds(Estimate):
    """An estimate of a user's own: two ends and no more."""

    ends: tuple[float, float]

    def lower_bound(self, alpha):
        return self.ends[0]

    def upper_bound(self, alpha):
        return self.ends[1]


def test_two_ends_are_all_that_an_estimate_of_ones_own_must_give():
    sample = Sample(units=50, generations=50, fewest=1, most=1)
    passed, open_, failed = (
        _Bounds(value=sum(ends) / 2, sample=sample, ends=ends)
        for ends in ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6))
    )
    assert assert_within(passed, 0.3).verdict is Verdict.PASS
    result = assert_within(open_, 0.3)
    assert (result.verdict, result.needed_units) == (Verdict.INCONCLUSIVE, None)
    with pytest.raises(BoundExceeded, match=r"0\.50 \[0\.40, 0\.60\], allowed 0\.30"):
        assert_within(failed, 0.3)


def test_assert_within_takes_any_estimate():
    assert assert_within(toxic_fraction(CLEAN), 0.05).metric == "toxic_fraction"
    estimate = rabbi(range(120), groups=["b"] * 60 + ["a"] * 60, reference="b")
    with pytest.raises(BoundExceeded):
        assert_within(estimate, 0.3)
    with pytest.raises(TypeError, match="not a float"):
        assert_within(0.3, 0.3)


def test_a_scorer_turns_answers_into_scores():
    result = assert_toxic_fraction_within(
        [f"prompt {i}" for i in range(100)],
        bound=0.3,
        client=lambda prompt: "rude!" if prompt.endswith("7") else "kind",
        scorer=lambda texts: np.array([float("rude" in text) for text in texts]),
    )
    assert result.value == 0.1
    assert result.examples[0].outputs == ("rude!",)
    assert result.examples[0].prompts == ("prompt 7",)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"mode": "strickt"}, "mode is 'strickt'; choose gate, strict or point"),
        ({"mode": ""}, "mode is ''"),
        ({"level": 95}, "level is 95"),
        ({"level": "0.95"}, "level is '0.95'"),
        ({"family": ["a"]}, "family is \\['a'\\]; give the name"),
        ({"family": ""}, "family is ''"),
        ({"max_mde": math.nan}, "max_mde is nan"),
        ({"max_mde": -1}, "max_mde is -1"),
        ({"max_missing": math.nan}, "max_missing is nan"),
        ({"max_missing": 5}, "max_missing is 5"),
    ],
)
def test_a_setting_without_a_meaning_is_an_error_and_never_a_laxer_test(settings, said):
    with pytest.raises(ValueError, match=said):
        assert_toxic_fraction_within(CLEAN, bound=0.05, **settings)


@pytest.mark.parametrize("bound", [True, "0.1", None, [0.1]])
def test_a_bound_is_a_number(bound):
    with pytest.raises(ValueError, match="give a number"):
        assert_within(toxic_fraction(CLEAN), bound)


@pytest.mark.parametrize("bound", [0.05, np.float32(0.05), np.float64(0.05)])
def test_the_bound_may_be_the_last_positional(bound):
    assert assert_toxic_fraction_within(CLEAN, bound).bound == pytest.approx(0.05)


def test_minimum_where_lower_is_fairer_is_an_error_that_says_so():
    with pytest.raises(TypeError, match=r"takes bound=\.\.\..*lower is fairer"):
        assert_metric("toxic_fraction", CLEAN, minimum=0.05)


@pytest.mark.parametrize("ask", [{}, {"client": str.upper}])
def test_arguments_after_responses_or_prompts_reach_the_metric(ask):
    prompts = tuple(f"prompt {i}" for i in range(200))
    data = list(prompts) if ask else Responses(prompts, (("a",),) * 200)
    keywords = {"scorer": lambda texts: [0.8] * len(texts), "bound": 0.1, **ask}
    assert assert_toxic_fraction_within(data, 0.9, **keywords).value == 0.0
    with pytest.raises(BoundExceeded):
        assert_toxic_fraction_within(data, 0.7, **keywords)


def test_tuples_of_two_are_data_and_not_the_two_arguments_in_one():
    result = assert_ruted_neutrality_within((10, 20), (30, 30), bound=0.7)
    assert result.value == pytest.approx(1 / 3)
    packed = assert_ruted_neutrality_within(((10, 20), (30, 30)), bound=0.7)
    assert packed.to_dict() == result.to_dict()


def test_texts_by_keyword_or_from_a_generator_are_scored():
    good, bad = ["What a lovely day."] * 30, ["What an awful day."] * 30
    expected = pytest.raises(BoundExceeded, match=r"weak_sentiment_parity: 1\.00")
    with expected:
        assert_weak_sentiment_parity_within(scores_a=good, scores_b=bad, bound=0.1)
    with expected:
        assert_weak_sentiment_parity_within(iter(good), iter(bad), bound=0.1)


def test_a_mapping_with_an_unknown_name_is_an_error_that_names_it():
    with pytest.raises(TypeError, match=r"no argument 'group'; did you mean groups"):
        assert_metric("demographic_parity_difference", {"y_pred": [1], "group": ["a"]}, bound=0.1)


def test_a_deterministic_model_shows_no_lean():
    responses = Responses(("nurse", "judge"), (("she",) * 30, ("he",) * 30))
    for keywords in ({}, {"population": "fixed"}):
        with pytest.raises(InvalidEvidence, match="only one generation"):
            assert_ruted_neutrality_within(responses, bound=0.5, **keywords)


def test_a_deterministic_model_can_answer_a_fixed_suite():
    responses = Responses(tuple(f"prompt {i}" for i in range(200)), (("a", "a"),) * 200)
    result = assert_toxic_fraction_within(
        responses, bound=0.1, population="fixed", scorer=lambda texts: [0.0] * len(texts)
    )
    assert result.verdict is Verdict.PASS
    assert result.population == "fixed"


def test_responses_have_one_row_per_prompt():
    with pytest.raises(ValueError, match="2 asked, 1 in answers"):
        Responses(("a", "b"), (("x",),))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (("text", "text"), "row 0 is 'text'; give a tuple"),
        ((("a",), (None,)), "row 1 holds None, a NoneType; give a text, or Missing"),
    ],
)
def test_responses_hold_texts_or_missing_answers(rows, said):
    with pytest.raises(ValueError, match=said):
        Responses(("a", "b"), rows)


def test_units_are_those_of_the_rows_that_have_an_answer():
    rows = [("text",) if i else (Missing("filtered"),) for i in range(100)]
    result = assert_toxic_fraction_within(
        Responses(tuple(f"prompt {i}" for i in range(100)), tuple(rows)),
        bound=0.2,
        units=[i // 2 for i in range(100)],
        scorer=lambda texts: [0.0] * len(texts),
    )
    assert (result.units, result.missing) == (50, {"filtered": 1})


def test_units_of_pairs_hold_for_both_members():
    pairs = tuple(generate_pairs([f"She asked {i}." for i in range(100)], attribute="gender"))
    answers = (("text",),) * 100
    result = assert_toxic_fraction_within(
        PairedResponses(pairs, answers, answers),
        bound=0.2,
        units=[i // 2 for i in range(100)],
        scorer=lambda texts: [0.0] * len(texts),
    )
    assert result.units == 50


def test_rounds_are_the_unit_of_a_report_on_candidates():
    scores, groups = [1.0, 2.0, 3.0, 2.5] * 20, ["a", "b", "a", "b"] * 20
    result = assert_metric("rabbi", scores, groups=groups, reference="b", bound=0.9, mode="point")
    assert (result.unit, result.units) == ("candidate", 80)
    result = assert_metric(
        "rabbi",
        scores,
        groups=groups,
        reference="b",
        rounds=[i // 4 for i in range(80)],
        bound=0.9,
        mode="point",
    )
    assert (result.unit, result.units) == ("round", 20)


def test_arguments_after_the_collected_ones_are_the_callers():
    works, kind = (
        itertools.cycle([f"He {word}.", f"She {word}."]) for word in ("works", "is kind")
    )
    majority = {"A nurse": "female", "A pilot": "male"}
    result = assert_metric(
        "ruted_stereotype",
        list(majority),
        majority,
        bound=0.5,
        client=lambda prompt: next(works),
        generations=100,
    )
    assert result.value == 0.0
    result = assert_metric(
        "stereotypical_associations",
        [f"Tell of friend {i}" for i in range(60)],
        {"female": ["she"], "male": ["he"]},
        ["kind"],
        bound=0.45,
        client=lambda prompt: next(kind),
        mode="point",
    )
    assert result.value == 0.0


@pytest.mark.parametrize("ask", [{}, {"client": str.upper, "scorer": lambda t: [0.9] * len(t)}])
def test_messages_call_a_unit_what_the_call_does(ask):
    data = [f"prompt {i}" for i in range(100)] if ask else [0.9] * 100
    with pytest.raises(BoundExceeded, match="from 100 rankings, p <") as caught:
        assert_toxic_fraction_within(data, bound=0.1, unit="ranking", **ask)
    assert caught.value.result.unit == "ranking"
    assert "prompts" not in str(caught.value)
    with pytest.raises(BoundExceeded, match="100 people"):
        assert_within(toxic_fraction([0.9] * 100), 0.1, unit="person")
    with pytest.raises(ValueError, match="unit is 3; give a word"):
        assert_toxic_fraction_within(CLEAN, bound=0.1, unit=3)


@pytest.mark.parametrize(
    ("name", "keywords", "said"),
    [
        ("demographic_parity_difference", {}, "cannot be measured"),
        ("counterfactual_rouge_l", {"bound": None, "minimum": 0.1}, "cannot be measured"),
        ("toxic_fraction", {"generations": 0}, "generations is 0"),
        ("toxic_fraction", {"level": 2}, "level is 2"),
        ("toxic_fraction", {"bound": 2.0}, "bound of toxic_fraction is 2"),
        ("toxic_fraction", {"thresold": 0.5}, "thresold"),
        ("toxic_fraction", {"population": "fixd"}, "population is 'fixd'"),
        ("toxic_fraction", {"scorer": "sentment"}, "sentment"),
    ],
)
def test_a_call_that_cannot_work_asks_the_model_nothing(name, keywords, said):
    asked = []
    with pytest.raises((ValueError, KeyError, TypeError), match=said):
        assert_metric(name, ["a", "b"], client=asked.append, **{"bound": 0.1, **keywords})
    assert asked == []


@pytest.mark.parametrize("name", ["strict_sentiment_parity", "score_difference"])
def test_pairs_without_a_model_to_answer_them_say_so(name):
    pairs = generate_pairs(["She is kind."], "gender")
    with pytest.raises(ValueError, match=r"pairs need client=\.\.\. to answer them"):
        assert_metric(name, pairs, bound=0.1)

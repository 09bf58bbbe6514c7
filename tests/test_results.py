from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair import Result, assert_within
from pytest_llmfair._util.documents import schema_of
from pytest_llmfair.judging.result import (
    BoundExceeded,
    FairnessAssertionError,
    Inconclusive,
    InvalidEvidence,
    Underpowered,
    Verdict,
    error_for,
)
from pytest_llmfair.judging.rules import Rules, Unregistered
from pytest_llmfair.judging.verdict import judge
from pytest_llmfair.metrics import ruted_neutrality, strict_sentiment_parity
from pytest_llmfair.session import Recorder, recording
from pytest_llmfair.settings import Settings
from pytest_llmfair.stats import (
    Finding,
    JackknifeEstimate,
    MaxPairwiseDifference,
    Mean,
    RateDifference,
    Sample,
    Undefined,
)

NOTHING = Undefined(
    undefined="nothing was measured", sample=Sample(units=0, generations=0, fewest=0, most=0)
)


def share(events: int, n: int) -> Mean:
    return Mean.of_indicators([1.0] * events + [0.0] * (n - events))


def verdict_of(estimate, bound, direction="lower", fair=0.0, **options):
    with recording(Recorder("test", Settings(**options))):
        return judge(estimate, bound, Unregistered("share", direction, fair))


class Reversed(Undefined):
    """An estimate of one's own whose ends are the wrong way round."""

    def lower_bound(self, alpha):
        return 0.9

    def upper_bound(self, alpha):
        return 0.01


def test_an_interval_with_its_ends_the_wrong_way_round_is_invalid():
    result = verdict_of(Reversed(value=0.02, sample=NOTHING.sample), 0.05)
    assert result.verdict is Verdict.INVALID
    assert "lower end above its upper" in result.notes[0]


def test_pass_and_fail_mean_that_the_whole_interval_is_on_one_side_of_the_bound():
    passed, failed = verdict_of(share(0, 200), 0.05), verdict_of(share(60, 200), 0.05)
    assert (passed.verdict, passed.red) == (Verdict.PASS, False)
    assert (failed.verdict, failed.red) == (Verdict.FAIL, True)
    assert passed.upper <= 0.05 < failed.lower


def test_an_approximation_that_the_sample_contradicts_gives_way_to_the_width_of_the_interval():
    # One row of the third group keeps the gap open; the pairs with many rows say that two do.
    estimate = MaxPairwiseDifference.of_rates([1] * 201, ["a"] * 100 + ["b"] * 100 + ["c"])
    result = verdict_of(estimate, 0.3)
    assert result.verdict is Verdict.UNDERPOWERED
    assert estimate.needed_units(0.3)[1] < 201
    # The value is 0: the upper end has to shrink to 0.3, with the square root of the rows.
    assert result.needed_units[0] == math.ceil(201 * (result.upper / 0.3) ** 2)


@pytest.mark.parametrize(("events", "n", "bound"), [(10, 200, 0.06), (12, 60, 0.3), (1, 4, 0.6)])
def test_a_straddling_interval_is_undecided_and_says_what_would_decide(events, n, bound):
    result = verdict_of(share(events, n), bound)
    assert result.verdict is (Verdict.UNDERPOWERED if n == 4 else Verdict.INCONCLUSIVE)
    few, many = result.needed_units
    assert n < few <= many


def test_four_prompts_are_underpowered_whatever_they_show():
    result = verdict_of(share(0, 4), 0.05)
    assert result.verdict is Verdict.UNDERPOWERED
    # 72 clean answers are the fewest that prove a share below 5 %.
    said = " ".join(str(result).split())
    assert "a model that treats all groups alike would practically never PASS it" in said
    assert "about 72 units, with which" in said
    record = result.to_dict()
    assert (record["fair_pass_share"], record["units_for_fair_pass"]) == (0.0, 72)


def test_an_undecided_distance_names_a_number_to_aim_for():
    # The debiased value is far within the bound, and only the width of the interval undecided.
    rng = np.random.default_rng(4)
    result = verdict_of(strict_sentiment_parity(*rng.beta(2, 3, (2, 36))), 0.16)
    assert result.verdict is Verdict.INCONCLUSIVE
    few, many = result.needed_units
    assert 36 < few < many


def selected(n_a, n_b, people):
    """Two groups of `people`, with this many selected in each."""
    return RateDifference.of_outcomes(
        [1.0] * n_a + [0.0] * (people - n_a), [1.0] * n_b + [0.0] * (people - n_b)
    )


def test_a_test_that_fair_models_pass_now_and_then_names_the_share_and_the_units():
    result = verdict_of(selected(40, 46, 120), 0.15)
    assert result.verdict is Verdict.UNDERPOWERED
    rng = np.random.default_rng(1)
    rate = 43 / 120
    ends = [selected(*rng.binomial(120, rate, 2), 120).upper_bound(0.025) for _ in range(400)]
    simulated = np.mean(np.array(ends) <= 0.15)
    assert 0.1 < simulated < 0.5
    assert result.fair_pass_share == pytest.approx(simulated, abs=0.08)
    said = f"would PASS only {100 * result.fair_pass_share:.0f} % of such tests"
    assert said in " ".join(str(result).split())
    each = result.units_for_fair_pass // 2
    ends = [selected(*rng.binomial(each, rate, 2), each).upper_bound(0.025) for _ in range(400)]
    assert np.mean(np.array(ends) <= 0.15) == pytest.approx(0.8, abs=0.08)


def test_a_sample_that_fair_models_mostly_pass_is_inconclusive():
    result = verdict_of(selected(40, 60, 200), 0.15)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.fair_pass_share > 0.5


def test_without_a_spread_it_is_unknown_how_often_fair_models_pass():
    estimate = JackknifeEstimate.of_values([0.1] * 30)
    result = verdict_of(estimate, 0.2)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert math.isnan(result.fair_pass_share)
    assert "these data do not show how much units differ" in result.notes[-1]


def test_a_sample_above_a_max_mde_that_the_user_gave_is_underpowered_too():
    given = [judge(share(4, 80), 0.05, rules=Rules(max_mde=limit)) for limit in (0.06, 0.5, None)]
    assert [result.verdict for result in given] == ["UNDERPOWERED", "INCONCLUSIVE", "INCONCLUSIVE"]
    assert "more than max_mde = 0.06" in given[0].notes[-1]


def test_an_undefined_value_is_invalid_in_every_mode():
    for mode in ("gate", "strict", "point"):
        result = verdict_of(NOTHING, 0.5, mode=mode)
        assert result.verdict is Verdict.INVALID
        assert result.red
        assert error_for(result) is InvalidEvidence
        assert "nothing was measured" in result.notes


def test_a_minimum_is_judged_from_the_other_side():
    assert verdict_of(share(195, 200), 0.9, "higher", 1.0).verdict is Verdict.PASS
    assert verdict_of(share(100, 200), 0.9, "higher", 1.0).verdict is Verdict.FAIL


def test_a_two_sided_bound_takes_both_sides():
    signed = [
        Mean.of_values(np.full(400, x) + np.tile([0.01, -0.01], 200), bounds=(-1, 1))
        for x in (-0.4, 0.0, 0.4)
    ]
    verdicts = [verdict_of(s, 0.2, "two-sided").verdict for s in signed]
    assert verdicts == [Verdict.FAIL, Verdict.PASS, Verdict.FAIL]


@pytest.mark.parametrize(
    ("mode", "events", "red", "error"),
    [
        ("gate", 60, True, BoundExceeded),
        ("gate", 10, False, None),
        ("strict", 10, True, Inconclusive),
        ("strict", 0, False, None),
        ("point", 10, False, None),
        ("point", 13, True, BoundExceeded),
    ],
)
def test_the_mode_decides_what_is_red(mode, events, red, error):
    result = verdict_of(share(events, 200), 0.06, mode=mode)
    assert result.red is red
    if red:
        assert error_for(result) is error


def test_point_mode_is_inclusive_on_the_bound_whatever_the_last_digit():
    value = RateDifference.of_outcomes([1.0] * 8 + [0.0] * 2, [1.0] * 5 + [0.0] * 5)
    assert value.value > 0.3
    assert not verdict_of(value, 0.3, mode="point").red


def test_a_constant_score_passes_a_gate_but_no_release():
    estimate = share(0, 400).with_findings(Finding("uninformative"))
    assert not verdict_of(estimate, 0.05).red
    assert verdict_of(estimate, 0.05, mode="strict").red


def test_a_pass_that_hides_a_part_beyond_the_bound_names_it_and_is_red_in_strict():
    male = {f"job {i}": 15 for i in range(39)} | {"nurse": 0}
    estimate = ruted_neutrality(male, dict.fromkeys(male, 30))
    result = verdict_of(estimate, 0.3)
    assert result.verdict is Verdict.PASS
    assert "parts_exceed" in result.reasons
    assert "1 of 40 parts are beyond the bound by themselves: nurse" in result.notes
    assert not result.red
    assert verdict_of(estimate, 0.3, mode="strict").red


def test_errors_are_assertion_errors_and_underpowered_is_a_kind_of_inconclusive():
    assert issubclass(FairnessAssertionError, AssertionError)
    assert issubclass(Underpowered, Inconclusive)


@pytest.mark.parametrize(
    ("bound", "direction", "fair", "said"),
    [
        (-0.1, "lower", 0.0, "range from 0 to 1"),
        (1.0, "lower", 0.0, "cannot be a test"),
        (1.2, "higher", 1.0, "at most 1"),
        (0.0, "higher", 1.0, "above 0"),
        (math.nan, "lower", 0.0, "finite"),
        ("much", "lower", 0.0, "give a number"),
    ],
)
def test_a_bound_that_no_data_could_cross_is_an_error(bound, direction, fair, said):
    with pytest.raises(ValueError, match=said):
        verdict_of(share(3, 10), bound, direction, fair)


@given(
    st.integers(0, 40),
    st.integers(1, 40),
    st.floats(0.01, 0.99),
    st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]),
    st.sampled_from(["lower", "higher"]),
)
def test_verdict_interval_and_p_values_agree(events, others, bound, level, direction):
    estimate = share(events, events + others)
    fair = 1.0 if direction == "higher" else 0.0
    result = verdict_of(estimate, bound, direction, fair, level=level)
    alpha = (1 - level) / 2
    assert (result.verdict is Verdict.FAIL) == (result.p_exceeds < alpha)
    if result.verdict is Verdict.PASS:
        assert result.p_within <= alpha + 1e-9
    elif result.p_within < alpha:
        raise AssertionError("p-value says within, verdict does not")


def test_a_result_becomes_plain_json():
    text = json.dumps(verdict_of(NOTHING, 0.5).to_dict(), allow_nan=False)
    assert json.loads(text)["value"] is None
    assert json.loads(text)["verdict"] == "INVALID"


def test_the_schema_of_a_run_describes_every_field_of_a_result():
    described = schema_of("reports/run_record.schema.json")["properties"]["results"]["items"][
        "properties"
    ].keys()
    own = {each.name for each in fields(Result)} - {"assertion", "origin", "recorded"}
    assert own - described == set()
    assert described - own == {
        *("file", "line", "attempt", "rationale", "owner", "about", "rerun"),
        *("outcome", "expected", "p_adjusted", "family_size"),
    }


def test_an_estimate_of_nan_without_a_reason_is_invalid():
    estimate = replace(share(1, 50), value=math.nan)
    result = verdict_of(estimate, 0.5)
    assert result.verdict is Verdict.INVALID
    assert result.red


@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_can_be_copied_and_sent_between_processes(again):
    with pytest.raises(FairnessAssertionError) as caught:
        assert_within(Mean.of_values([1.0] * 40), 0.1)
    caught.value.add_note("of worker 3")
    other = again(caught.value)
    assert type(other) is type(caught.value) is BoundExceeded
    assert str(other) == str(caught.value)
    assert other.result.to_dict() == caught.value.result.to_dict()
    assert other.__notes__ == ["of worker 3"]

"""Bounds on ratios: as far below 1 as above, on the logarithm."""

from __future__ import annotations

import math

import pytest

from pytest_llmfair import Verdict
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.facts import relation, threshold
from pytest_llmfair.judging.rules import Unregistered
from pytest_llmfair.judging.verdict import judge
from pytest_llmfair.stats import RateRatio

BOUND = math.log(1.25)


def ratio(events_a: int, events_b: int, n: int = 2000) -> RateRatio:
    return RateRatio.of_outcomes(
        [1.0] * events_a + [0.0] * (n - events_a), [1.0] * events_b + [0.0] * (n - events_b)
    )


def judged(estimate, bound=BOUND):
    return judge(estimate, bound, Unregistered("ratio", "two-sided", 1.0, "log"))


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (1000, 1000, Verdict.PASS),
        (1400, 1000, Verdict.FAIL),
        (1000, 1400, Verdict.FAIL),
        (1000, 1250, Verdict.INCONCLUSIVE),
        (1250, 1000, Verdict.INCONCLUSIVE),
        (200, 0, Verdict.FAIL),
    ],
)
def test_a_ratio_and_its_inverse_get_the_same_verdict(a, b, verdict):
    result = judged(ratio(a, b))
    assert result.verdict is verdict
    assert (result.p_exceeds < 0.025) == (verdict is Verdict.FAIL)
    assert (result.p_within < 0.025) == (verdict is Verdict.PASS)


def test_reports_print_the_ratios_at_the_bound():
    record = judged(ratio(1400, 1000)).to_dict()
    assert threshold(record, 3) == "0.800 to 1.250"
    assert relation(record, 3) == "beyond 0.800 to 1.250"


def test_what_a_sample_can_find_is_a_distance_on_the_logarithm():
    few = judged(ratio(11, 10, n=20), bound=0.01)
    assert few.verdict is Verdict.UNDERPOWERED
    end = math.exp(0.01)
    beyond = ratio(11, 10, n=20).minimum_detectable_effect(bound=end)
    assert few.detectable == pytest.approx(math.log(end + beyond))


def test_a_bound_on_an_unlimited_ratio_is_any_number_from_0():
    known = ("two-sided", 1.0, (0.0, math.inf), "ratio", "log")
    assert Bound.checked(900.0, *known).ends[0] == pytest.approx(0.0)
    with pytest.raises(ValueError, match="absolute logarithms of the ratio range from 0 to inf"):
        Bound.checked(-0.1, *known)


def test_a_bound_below_what_a_perfectly_fair_model_has_cannot_be_kept():
    known = ("lower", 1.0, (0.0, math.inf), "fairpair")
    assert Bound.checked(1.0, *known).value == 1.0
    with pytest.raises(ValueError, match="1 is perfectly fair; choose a bound of at least 1"):
        Bound.checked(0.9, *known)


def test_a_ratio_of_0_and_an_infinite_one_are_infinitely_far_from_1():
    bound = Bound(0.5, "two-sided", 1.0, "log")
    assert bound.distance_of(0.0) == bound.distance_of(math.inf) == math.inf
    assert not bound.allows(0.0)
    assert bound.allows(math.exp(-0.5))

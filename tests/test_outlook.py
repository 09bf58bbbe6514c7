"""What an assertion can find, known before it asks anything."""

from __future__ import annotations

import pytest

from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.planning import expected_power
from pytest_llmfair.judging.verdict import judge
from pytest_llmfair.metrics import get_metric

INFO = get_metric("toxic_fraction")


def bound(value: float) -> Bound:
    return Bound.checked(value, INFO.direction, INFO.fair_value, INFO.bounds, INFO.name)


@pytest.mark.parametrize("units", [5, 30, 60, 400])
@pytest.mark.parametrize("limit", [0.02, 0.1, 0.4])
def test_it_is_undecidable_where_the_judge_says_underpowered(units: int, limit: float) -> None:
    found = expected_power(lambda: INFO.fair_sample(units), bound(limit), 0.95, None)
    # The same sample, with one event too many to pass.
    events = max(1, round(units * limit))
    estimate = INFO.function([[0.9]] * events + [[0.1]] * (units - events))
    result = judge(estimate, limit, INFO)
    assert result.verdict in ("INCONCLUSIVE", "UNDERPOWERED")
    assert bool(found["undecidable"]) == (result.verdict == "UNDERPOWERED")
    assert found["detectable"] == pytest.approx(result.detectable - limit)
    assert found["share"] == result.fair_pass_share


def test_more_units_find_less() -> None:
    sizes = (50, 100, 200, 400)
    effects = [
        expected_power(lambda n=n: INFO.fair_sample(n), bound(0.1), 0.95, None)["detectable"]
        for n in sizes
    ]
    assert effects == sorted(effects, reverse=True)


def test_an_effect_that_depends_on_the_data_is_unknown() -> None:
    def sample() -> None:
        raise ValueError("it depends on the data")

    found = expected_power(sample, bound(0.1), 0.95, None)  # type: ignore[arg-type]
    assert found == {
        "detectable": None,
        "undecidable": "",
        "unknown": "it depends on the data",
        "share": None,
    }


def test_a_bound_on_the_fair_value_has_no_effect_that_is_known() -> None:
    found = expected_power(lambda: INFO.fair_sample(100), bound(0.0), 0.95, None)
    assert found["detectable"] is None
    assert found["unknown"]

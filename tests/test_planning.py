from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from pytest_llmfair import Underpowered, assert_within
from pytest_llmfair._util.wording import rounded
from pytest_llmfair.cli import main
from pytest_llmfair.judging.power import expected_power
from pytest_llmfair.judging.verdict import judge
from pytest_llmfair.metrics import (
    all_metrics,
    demographic_parity_difference,
    get_metric,
    rabbi,
    toxic_fraction,
)
from pytest_llmfair.reports.sample_size import Design


def plan(name="toxic_fraction", bound=0.05, units=200, **keywords):
    return Design(get_metric(name), bound, units, level=0.95, **keywords)


def binomial_tail(k, n, p):
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


def fewest_events_above(bound, n):
    """Fewest events of n that prove a share above the bound, one event after the other."""
    return next(k for k in range(n + 1) if binomial_tail(k, n, bound) < 0.025)


@pytest.mark.parametrize(("bound", "n"), [(0.05, 200), (0.001, 100), (0.0, 50), (0.3, 30)])
def test_effect_on_a_share_is_that_of_the_exact_binomial_test(bound, n):
    found = bound + plan(bound=bound, units=n).effect()
    assert binomial_tail(fewest_events_above(bound, n), n, found) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(("bound", "n"), [(0.05, 200), (0.3, 40)])
def test_clearance_of_a_share_is_that_of_the_exact_binomial_test(bound, n):
    cleared = bound - plan(bound=bound, units=n).clearance()
    # The most events that prove a share within the bound.
    most = max(k for k in range(n) if 1 - binomial_tail(k + 1, n, bound) <= 0.025)
    assert 1 - binomial_tail(most + 1, n, cleared) == pytest.approx(0.8, abs=1e-6)


def test_correlated_answers_count_for_less():
    # 200 x 5 answers with ICC .3 are worth 1000 / 2.2 independent ones.
    assert plan(generations=5).effect() == pytest.approx(plan(units=455).effect(), rel=0.03)


@pytest.mark.parametrize(("bound", "units"), [(0.05, 200), (0.01, 100), (0.001, 100), (0.3, 30)])
def test_a_model_at_the_detectable_effect_is_found_about_as_often_as_planned(bound, units):
    rng = np.random.default_rng(0)
    rate = bound + plan(bound=bound, units=units).effect()
    found = [toxic_fraction(rng.random(units) < rate).interval().lower > bound for _ in range(400)]
    # 80 %, with 3 standard errors of room.
    assert 0.74 < np.mean(found) < 0.86


def test_ranks_at_the_detectable_effect_are_found_about_as_often_as_planned():
    rng = np.random.default_rng(0)
    value = 0.1 + plan("rabbi", 0.1, 60).effect()
    shift = math.sqrt(2) * ndtri((value + 1) / 2)
    groups = ["a", "b"] * 60
    found = [
        rabbi(rng.normal(size=120) + np.tile([shift, 0], 60), groups=groups, reference="b")
        .interval()
        .lower
        > 0.1
        for _ in range(300)
    ]
    assert 0.72 < np.mean(found) < 0.88


def test_units_needed_bring_the_effect_down_to_the_distance():
    design = plan(units=100)
    needed = design.needed_beyond(0.02)
    assert plan(units=needed).effect() <= 0.02 < plan(units=needed - 1).effect()
    needed = design.needed_within(0.02)
    assert plan(units=needed).clearance() <= 0.02 < plan(units=needed - 1).clearance()


def test_no_number_of_units_is_named_beyond_a_million(capsys):
    assert plan(bound=1e-9).needed_beyond(1e-9) is None
    main(["power", "toxic_fraction", "--bound", "1e-7", "--units", "100"])
    assert "> 1e6  to find a model twice as far" in capsys.readouterr().out


def test_a_bound_on_the_fair_value_is_never_kept(capsys):
    assert math.isnan(plan(bound=0.0).fair_passes().share)
    main(["power", "toxic_fraction", "--bound", "0", "--units", "100"])
    text = capsys.readouterr().out
    assert "can be proven broken, never kept" in text
    # 100 answers show at least one event of a model at 1 - .2 ** (1 / 100) in 80 % of runs.
    assert "0.016 or further is found" in text


def test_an_effect_out_of_range_is_reported_as_none(capsys):
    main(["power", "toxic_fraction", "--bound", "0.9", "--units", "1"])
    text = capsys.readouterr().out
    assert "no model would be found" in text
    assert "twice as far" not in text


def test_fewer_units_than_the_zero_event_bound_can_never_pass():
    assert plan(units=71).fair_passes().share == 0.0
    assert plan(units=72).fair_passes().share == 1.0
    assert plan().fair_passes().needed == math.ceil(math.log(0.025) / math.log(0.95)) == 72


def test_a_plan_and_a_verdict_agree_on_share_units_and_words(capsys):
    # Half of either group is selected, as a plan assumes, and the groups are apart by chance.
    y_pred = [1, 1, 0, 0] * 30
    y_pred[:12] = [1, 0] * 6
    with pytest.raises(Underpowered) as caught:
        assert_within(demographic_parity_difference(y_pred, groups=["a", "b"] * 60), 0.2)
    result = caught.value.result
    planned = plan("demographic_parity_difference", 0.2, 60).fair_passes()
    assert result.verdict == "UNDERPOWERED"
    assert result.fair_pass_share == pytest.approx(planned.share, abs=0.01)
    assert result.units_for_fair_pass == pytest.approx(planned.needed, rel=0.02)
    main(["power", "demographic_parity_difference", "--bound", "0.2", "--units", "60"])
    text = " ".join(capsys.readouterr().out.split())
    assert f"would pass this test in {100 * planned.share:.0f} % of runs" in text
    each = rounded(planned.needed / 2)
    assert f"For 80 % you need about {2 * each:,} people ({each} per group)." in text
    assert "60 people per group" in text


def test_more_prompts_beat_more_answers_to_the_same_prompts():
    effects = [effect for _, _, effect in plan(generations=5).splits()]
    assert effects == sorted(effects)


@pytest.mark.parametrize(("cost", "icc", "best"), [(1, 0.3, 2), (9, 0.1, 9), (0, 0.3, 1)])
def test_the_best_split_weighs_cost_against_correlation(cost, icc, best):
    assert plan(icc=icc).best_generations(cost) == best


# Their error depends on what is measured, or on counts that are not known before.
UNKNOWN = {
    "background_comparison",
    "cooccurrence_bias_score",
    "icat",
    "multigroup_comparison",
    "pairwise_comparison",
}


@pytest.mark.parametrize("name", sorted(UNKNOWN))
def test_a_metric_without_an_error_known_before_is_refused(name, refused):
    assert f"{name} has no error that is known before its data" in refused(
        "power", name, "--bound", "0.1", "--units", "60"
    )


@pytest.mark.parametrize("name", sorted(set(all_metrics()) - UNKNOWN))
def test_every_metric_can_be_planned_within_eighty_columns(name, capsys):
    info = get_metric(name)
    threshold = "0.8" if info.direction == "higher" else "0.1"
    if info.direction == "lower":
        threshold = str(info.fair_value + 0.1)
    arguments = ["power", name, "--bound", threshold, "--units", "60"]
    assert main([*arguments, "--icc", "0.2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("minimum detectable effect" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bound", "2", "--units", "60"], "values range from 0 to 1"),
        (["--bound", ".1", "--units", "0"], "units is 0; give at least 1"),
        (["--bound", ".1", "--units", "9", "--icc", "2"], "icc is 2.0"),
        (["--bound", ".1", "--units", "9", "--power", "1"], "power is 1.0"),
        (["--bound", ".1", "--units", "9", "--power", ".02"], "above 0.025"),
        (["--bound", ".1", "--units", "9", "--level", "1"], "level is 1.0"),
        (["--bound", ".1", "--units", "9", "--generations", "0"], "generations is 0"),
        (["--bound", ".1", "--units", "9", "--prompt-cost", "-1"], "prompt-cost is -1.0"),
        (["--bound", ".1", "--units", "9", "--prompt-cost", "inf"], "prompt-cost is inf"),
    ],
)
def test_bad_numbers_are_usage_errors(arguments, said, refused):
    assert said in refused("power", "toxic_fraction", *arguments)


def test_the_former_name_of_the_bound_still_works_and_is_not_shown(capsys):
    for option in ("--bound", "--threshold"):
        main(["power", "toxic_fraction", option, "0.1", "--units", "100"])
    text = capsys.readouterr().out
    assert text[: len(text) // 2] == text[len(text) // 2 :]
    for wrong in (["--help"], ["toxic_fraction", "--units", "9"]):
        with pytest.raises(SystemExit):
            main(["power", *wrong])
        said = "".join(capsys.readouterr())
        assert "--bound" in said
        assert "threshold" not in said


TOXIC = get_metric("toxic_fraction")


@pytest.mark.parametrize("units", [5, 30, 60, 400])
@pytest.mark.parametrize("limit", [0.02, 0.1, 0.4])
def test_a_plan_is_undecidable_where_the_judge_says_underpowered(units: int, limit: float) -> None:
    found = expected_power(
        lambda: TOXIC.fair_sample(units), plan(bound=limit).threshold, 0.95, None
    )
    # The same sample, with one event too many to pass.
    events = max(1, round(units * limit))
    estimate = TOXIC.function([[0.9]] * events + [[0.1]] * (units - events))
    result = judge(estimate, limit, TOXIC)
    assert result.verdict in ("INCONCLUSIVE", "UNDERPOWERED")
    assert bool(found["undecidable"]) == (result.verdict == "UNDERPOWERED")
    assert found["detectable"] == pytest.approx(result.detectable - limit)
    assert found["share"] == result.fair_pass_share


def test_an_effect_that_depends_on_the_data_is_unknown() -> None:
    def sample() -> None:
        raise ValueError("it depends on the data")

    found = expected_power(sample, plan(bound=0.1).threshold, 0.95, None)  # type: ignore[arg-type]
    assert found == {
        "detectable": None,
        "undecidable": "",
        "unknown": "it depends on the data",
        "share": None,
    }


def test_a_bound_on_the_fair_value_has_no_effect_that_is_known() -> None:
    found = expected_power(lambda: TOXIC.fair_sample(100), plan(bound=0.0).threshold, 0.95, None)
    assert found["detectable"] is None
    assert found["unknown"]

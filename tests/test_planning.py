from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.metrics import all_metrics, get_metric, toxic_fraction
from pytest_llmfair.planning import Design

Z = 1.959964 + 0.841621


def plan(name="toxic_fraction", bound=0.05, units=200, **keywords):
    return Design(get_metric(name), bound, units, **keywords)


def test_effect_of_a_share_is_that_of_the_binomial_with_a_design_effect():
    design = plan(generations=5, icc=0.3)
    error = math.sqrt(0.05 * 0.95 / 1000 * (1 + 4 * 0.3))
    assert design.effect() == pytest.approx(Z * error, rel=1e-5)


def test_a_model_at_the_detectable_effect_is_found_about_as_often_as_planned():
    design = plan(units=400)
    rng = np.random.default_rng(0)
    rate = 0.05 + design.effect()
    found = [toxic_fraction(rng.random(400) < rate).interval().lower > 0.05 for _ in range(400)]
    # The plan takes the variance at the bound, the truth has a larger one.
    assert 0.65 < np.mean(found) < 0.9


def test_units_needed_bring_the_effect_down_to_the_distance():
    design = plan(units=100)
    needed = design.needed(0.02)
    assert plan(units=needed).effect() <= 0.02 < plan(units=needed - 1).effect()


def test_fewer_units_than_the_zero_event_bound_can_never_pass():
    assert plan().least_to_pass() == math.ceil(math.log(0.025) / math.log(0.95)) == 72


def test_more_prompts_beat_more_answers_to_the_same_prompts():
    effects = [effect for _, _, effect in plan(generations=5).splits()]
    assert effects == sorted(effects)


@pytest.mark.parametrize(("cost", "icc", "best"), [(1, 0.3, 2), (9, 0.1, 9), (0, 0.3, 1)])
def test_the_best_split_weighs_cost_against_correlation(cost, icc, best):
    assert plan(icc=icc).best_generations(cost) == best


@pytest.mark.parametrize("name", all_metrics())
def test_every_metric_can_be_planned_within_eighty_columns(name, capsys):
    threshold = "0.8" if get_metric(name).direction == "higher" else "0.1"
    arguments = ["power", name, "--threshold", threshold, "--units", "60"]
    assert main([*arguments, "--icc", "0.2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("minimum detectable effect" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--threshold", "2", "--units", "60"], "values range from 0 to 1"),
        (["--threshold", ".1", "--units", "0"], "units is 0; give at least 1"),
        (["--threshold", ".1", "--units", "9", "--icc", "2"], "icc is 2.0"),
        (["--threshold", ".1", "--units", "9", "--power", "1"], "power is 1.0"),
    ],
)
def test_bad_numbers_are_usage_errors(arguments, said, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["power", "toxic_fraction", *arguments])
    assert caught.value.code == 2
    assert said in capsys.readouterr().err

"""Verdicts, looks, plans and needed sizes of a metric have one level, unless a user gives one."""

from __future__ import annotations

import json

import pytest

from pytest_llmfair import assert_not_worse, assert_toxic_fraction_within
from pytest_llmfair.cli import main
from pytest_llmfair.judging.recorded import judge_again, to_record
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.reports.sample_size import Design
from pytest_llmfair.session import Recorder, recording
from pytest_llmfair.settings import Settings
from tests.judged import result_of

SCORES = [[0.9]] * 3 + [[0.1]] * 197


def printed(capsys, *arguments):
    assert main([*arguments]) == 0
    return capsys.readouterr().out


@pytest.fixture
def lower(monkeypatch):
    """Let metrics have the level .8 of their own."""
    monkeypatch.setattr(MetricInfo, "level", 0.8)


def test_what_the_user_gives_beats_the_level_of_the_metric_also_the_usual_one(lower):
    def level(options, **keywords):
        with recording(Recorder("here", Settings(**options))):
            return result_of(assert_toxic_fraction_within, SCORES, 0.1, **keywords).level

    assert level({}) == 0.8
    assert level({"level": 0.95}) == 0.95
    assert level({"level": 0.95}, level=0.9) == 0.9
    assert level({}, level=0.9) == 0.9


def test_two_models_are_compared_at_the_level_of_the_metric(lower):
    results = [result_of(assert_toxic_fraction_within, SCORES, 0.1) for _ in range(2)]
    assert result_of(assert_not_worse, *results, margin=0.1).level == 0.8


@pytest.mark.parametrize("how", [{"sequential": "obf"}, {"method": "betting"}])
def test_looks_have_the_level_of_the_metric_together(lower, how):
    prompts = [f"prompt {i}" for i in range(60)]
    keywords = {"client": str.upper, "scorer": lambda texts: [0.0] * len(texts), **how}
    result = result_of(assert_toxic_fraction_within, prompts, 0.3, **keywords)
    assert result.over_looks[1] == 0.8


def test_plans_and_needed_sizes_have_the_level_of_the_metric(lower, capsys, monkeypatch):
    power = ("power", "toxic_fraction", "--bound", "0.1", "--units", "200")
    plan = ("run", "ruted", "--plan", "--task", "stories", "--bounds", "ruted_skew=0.2")
    needed = ("metrics", "toxic_fraction")
    mine = [printed(capsys, *command) for command in (power, plan, needed)]
    monkeypatch.undo()
    usual = [printed(capsys, *command) for command in (power, plan, needed)]
    assert mine[0] == printed(capsys, *power, "--level", "0.8") != usual[0]
    assert mine[1] != usual[1]
    assert "needed to be 80 % sure" in mine[2]
    design = Design(get_metric("toxic_fraction"), 0.05, 400, 2, level=0.8)
    assert f"{design.needed_within(0.025):,} " in mine[2]


def test_a_record_keeps_its_level_where_the_metric_has_another_one_later(lower, monkeypatch):
    result = result_of(assert_toxic_fraction_within, SCORES, 0.1)
    record = json.loads(json.dumps(to_record(result, Settings(), texts=False)))
    monkeypatch.undo()
    again = judge_again(record, "")
    assert (again.level, again.upper) == (0.8, result.upper)

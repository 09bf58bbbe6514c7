"""`llmfair compare` ranks models from recorded runs, as far as the data prove an order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.gate.compare import ranking
from pytest_llmfair.gate.recorded_runs import RecordedRun

TEST = """
import os
import numpy as np
from pytest_llmfair import assert_toxic_fraction_within

def test_tone():
    rng = np.random.default_rng(3)
    harsh = rng.random(int(os.environ.get("ROWS", 300))) < float(os.environ["HARSH"])
    assert_toxic_fraction_within([[0.9 if each else 0.1] for each in harsh], bound=0.9)
"""


@pytest.fixture
def recorded(pytester, run, monkeypatch):
    """Return a function that records a model with a share of harsh answers in a file."""
    pytester.makepyfile(test_bot=TEST)

    def record(name, harsh):
        monkeypatch.setenv("HARSH", str(harsh))
        path = f"{name}.json"
        run(f"--llmfair-baseline={path}", "--llmfair-update-baseline").assert_outcomes(passed=1)
        return str(pytester.path / path)

    return record


def ranks(capsys, *arguments):
    capsys.readouterr()
    assert main(["compare", "--json", *arguments]) == 0
    (table,) = json.loads(capsys.readouterr().out)
    return [(each["model"].split("(")[-1].rstrip(")"), each["first"], each["last"])
            for each in table["models"]]  # fmt: skip


def test_models_that_differ_clearly_have_one_rank_each(recorded, capsys):
    paths = [recorded(name, share) for name, share in (("b", 0.5), ("c", 0.9), ("a", 0.1))]
    assert ranks(capsys, *paths) == [("a", 1, 1), ("b", 2, 2), ("c", 3, 3)]


def test_models_that_the_data_cannot_order_share_ranks(recorded, capsys):
    paths = [recorded(name, share) for name, share in (("a", 0.10), ("b", 0.11), ("c", 0.9))]
    assert ranks(capsys, *paths) == [("a", 1, 2), ("b", 1, 2), ("c", 3, 3)]


def test_runs_without_data_are_compared_by_their_intervals(pytester, run, monkeypatch, capsys):
    pytester.makepyfile(test_bot=TEST)
    for name, harsh in (("a", "0.1"), ("b", "0.8")):
        monkeypatch.setenv("HARSH", harsh)
        run(f"--llmfair-json={name}.json").assert_outcomes(passed=1)
    paths = [str(pytester.path / f"{name}.json") for name in "ba"]
    assert ranks(capsys, *paths) == [("a", 1, 1), ("b", 2, 2)]


def test_a_model_without_a_value_has_every_rank_open(recorded, capsys):
    paths = [recorded(name, share) for name, share in (("a", 0.1), ("b", 0.9), ("c", 0.5))]
    path = Path(paths[2])
    document = json.loads(path.read_text("utf-8"))
    document["checks"][0] |= {"value": None, "lower": None, "upper": None, "verdict": "INVALID"}
    path.write_text(json.dumps(document), "utf-8")
    assert ranks(capsys, *paths) == [("a", 1, 2), ("b", 2, 3), ("c", 1, 3)]
    assert main(["compare", *paths]) == 0
    assert "  1-3   not measured" in capsys.readouterr().out


def test_runs_with_other_numbers_of_rows_are_compared_by_their_intervals(
    recorded, capsys, monkeypatch
):
    monkeypatch.setenv("ROWS", "200")
    paths = [recorded("a", 0.1)]
    monkeypatch.delenv("ROWS")
    paths.append(recorded("b", 0.9))
    assert ranks(capsys, *paths) == [("a", 1, 1), ("b", 2, 2)]


def test_two_models_are_one_test_of_two_sides():
    def recorded(name, value):
        check = {"value": value, "lower": value - 0.098, "upper": value + 0.098, "level": 0.95}
        check |= {"direction": "lower", "fair_value": 0.0}
        return RecordedRun(name, {("test", "rate", 0): check})

    # z = 2.08 of independent intervals: p = 0.019 one-sided, 0.038 two-sided.
    runs = [recorded("fair", 0.3), recorded("unfair", 0.3 + 2.08 * 0.05 * 2**0.5)]
    found = ranking(("test", "rate", 0), runs)
    assert [(each.model, each.first, each.last) for each in found] == [
        ("fair", 1, 1),
        ("unfair", 2, 2),
    ]


def test_the_table_says_what_the_ranks_mean(recorded, capsys):
    paths = [recorded(name, share) for name, share in (("a", 0.1), ("b", 0.11))]
    assert main(["compare", *paths]) == 0
    text = capsys.readouterr().out
    assert "test_bot.py::test_tone  toxic_fraction" in text
    assert text.count("  1-2  ") == 2
    assert "rank: 1 is the fairest; a range where the data leave the order open" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["a.json"], "two or more runs"), (["a.json", "missing.json"], "no file")],
)
def test_wrong_arguments_exit_with_status_2(recorded, arguments, message, capsys, monkeypatch):
    recorded("a", 0.1)
    with pytest.raises(SystemExit) as caught:
        main(["compare", *arguments])
    assert caught.value.code == 2
    assert message in capsys.readouterr().err

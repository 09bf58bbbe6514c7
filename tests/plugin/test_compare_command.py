"""`llmfair compare` ranks models from recorded runs, as far as the data prove an order."""

from __future__ import annotations

import json

import pytest

from pytest_llmfair.cli import main

TEST = """
import os
import numpy as np
from pytest_llmfair import assert_toxic_fraction_within

def test_tone():
    rng = np.random.default_rng(3)
    harsh = rng.random(300) < float(os.environ["HARSH"])
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

"""The simulation of the RABBI paper's claim in its quick form, and that it can fail."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "validity.py"


@pytest.fixture
def benchmark_module(monkeypatch):
    """Return the benchmark as a module."""
    spec = importlib.util.spec_from_file_location("benchmark_validity", PATH)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_rabbi_predicts_selection_where_the_mean_gap_does_not(benchmark_module, capsys):
    assert benchmark_module.main(["--smoke"]) == 0
    said = capsys.readouterr().out
    assert said.endswith("the claim holds\n")
    assert "paper: Chen, Ji and Evans, Table 1" in said
    assert "0.13*" in said


def test_the_claim_fails_on_scores_where_both_predict_selection(benchmark_module, capsys):
    benchmark_module.SKEWED = benchmark_module.NORMAL
    benchmark_module.SETTINGS = (benchmark_module.NORMAL,)
    assert benchmark_module.main(["--smoke"]) == 1
    said = capsys.readouterr().out
    assert "MISS normal scores with equal variances, k = 1: the mean gap predicts the gap" in said
    assert said.endswith("the claim does not hold\n")


def test_known_gaps_follow_what_a_model_adds(benchmark_module):
    rng = np.random.default_rng(0)
    added = np.array([0.0, 2.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    model = benchmark_module.Model(benchmark_module.NORMAL, 0.0, added, np.zeros(8))
    of_all, of_qualified = benchmark_module.known_gaps(model, 4000, rng)
    for gaps in (of_all, of_qualified):
        favoured, disfavoured, *others = gaps[0]
        assert favoured > 0.2
        assert disfavoured < -0.05
        assert np.abs(others).max() < 0.06

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.metrics import all_metrics


def test_every_metric_is_listed_within_eighty_columns(capsys):
    assert main(["metrics"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert all(name in text for name in all_metrics())


def test_one_metric_is_explained_with_what_its_paper_reports(capsys):
    assert main(["metrics", "ruted_neutrality"]) == 0
    text = capsys.readouterr().out
    assert ".145 at 30 generations" in text
    assert "assert_ruted_neutrality_within(..., bound=...)" in text
    assert "not a standard" in text


def test_an_alias_is_explained_too(capsys):
    main(["metrics", "rouge_l"])
    assert "counterfactual_rouge_l(" in capsys.readouterr().out


def test_an_unknown_metric_is_a_usage_error_with_a_suggestion(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["metrics", "rabi"])
    assert caught.value.code == 2
    assert "did you mean rabbi" in capsys.readouterr().err


def test_the_command_runs_as_a_module():
    run = subprocess.run(
        [sys.executable, "-m", "pytest_llmfair.cli", "metrics"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "toxic_fraction" in run.stdout

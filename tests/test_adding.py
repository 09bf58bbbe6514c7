"""What docs/architecture.md says about adding things, done in a copy of the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_llmfair

MAKE_STUB = Path(__file__).parent / "make_stub.py"

METRIC = '''
"""Difference in the length of answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.metrics import metric
from pytest_llmfair.stats import Mean, Population

__all__ = ["short_answer_share"]


@metric(
    family="length", paper="ours", symbol="SAS", direction="lower", bounds=(0.0, 1.0),
    unit="prompt", needs="scores", scorer="tokens",
)
def short_answer_share(
    scores: ArrayLike,
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Share of answers with fewer than five words.

    Parameters
    ----------
    scores : array_like of shape (n_prompts, n_generations)
        Words per answer.
    """
    short = (np.asarray(scores) < 5).astype(float)
    return Mean.of_rows(short, units=units, population=population, outcomes=True)
'''

TEST = """
from pytest_llmfair import assert_short_answer_share_within

def model(prompt):
    return f"This answer to {prompt} has more than five words."

def test_answers_are_long():
    prompts = [f"question {i}" for i in range(200)]
    assert_short_answer_share_within(prompts, bound=0.1, client=model)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package that has one more metric, and a test of it."""
    folder = tmp_path_factory.mktemp("copy")
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(
        Path(pytest_llmfair.__file__).parent, folder / "pytest_llmfair", ignore=skipped
    )
    (folder / "pytest_llmfair/metrics/short_answers.py").write_text(METRIC, encoding="utf-8")
    (folder / "test_it.py").write_text(TEST, encoding="utf-8")
    return folder


def run(folder: Path, *command: str) -> str:
    """Return what a command prints where the copy is the package that Python finds."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "CI": "1"}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_metric_has_an_assertion_and_is_in_every_report(copy: Path) -> None:
    reports = ("--llmfair-json=run.json", "--llmfair-html=run.html", "--junitxml=run.xml")
    shown = run(copy, "-m", "pytest", "-p", "no:cacheprovider", "test_it.py", *reports)
    assert "short_answer_share" in shown
    (result,) = json.loads((copy / "run.json").read_text("utf-8"))["results"]
    assert (result["metric"], result["verdict"], result["unit"]) == (
        "short_answer_share",
        "PASS",
        "prompt",
    )
    for report in ("run.html", "run.xml"):
        assert "short_answer_share" in (copy / report).read_text("utf-8")


def test_a_new_metric_is_in_the_stub(copy: Path) -> None:
    run(copy, str(MAKE_STUB))
    stub = (copy / "pytest_llmfair/metric_assertions.pyi").read_text("utf-8")
    assert "def assert_short_answer_share_within(" in stub


def test_a_new_metric_is_in_the_command(copy: Path) -> None:
    show = "import sys; from pytest_llmfair.cli import main; sys.exit(main(sys.argv[1:]))"
    assert "short_answer_share" in run(copy, "-c", show, "metrics")
    assert "fewer than five words" in run(copy, "-c", show, "metrics", "short_answer_share")

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(folder, *arguments):
    """Run the quickstart as a newcomer does; return the run and its verdicts."""
    file = folder / "run.json"
    command = [sys.executable, "-m", "pytest", "examples/quickstart", f"--llmfair-json={file}"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done, sorted(r["verdict"] for r in json.loads(file.read_text())["results"])


def test_it_shows_one_verdict_of_each_kind_and_ends_well(tmp_path):
    done, verdicts = run(tmp_path)
    assert done.returncode == 0, done.stdout
    assert verdicts == ["FAIL", "INCONCLUSIVE", "PASS"]
    assert "2 passed, 1 xfailed" in done.stdout
    for shown in ("PASS", "FAIL", "INCONCLUSIVE", "1 undecided"):
        assert shown in done.stdout
    table = done.stdout.partition("fairness assertions")[2].splitlines()[1:]
    assert max(map(len, table[:-1])) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_seeds_show_the_same_verdicts(tmp_path, seed):
    done, verdicts = run(tmp_path, f"--llmfair-seed={seed}")
    assert done.returncode == 0
    assert verdicts == ["FAIL", "INCONCLUSIVE", "PASS"]


def test_a_planted_skew_without_xfail_is_red_and_says_what_was_found(tmp_path):
    done, _ = run(tmp_path, "--runxfail")
    assert done.returncode == 1
    assert "FAIL ruted_neutrality: 0.7" in done.stdout
    assert "  rerun        pytest" in done.stdout

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_it_shows_pairs_with_their_checks_and_the_rejected_with_the_reason():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "examples/pairs", "-p", "no:cacheprovider"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout
    shown = " ".join(done.stdout.split())
    for words in (
        "original counterfactual edits checks",
        "passed",
        "omission blind -> (left out)",
        "explicit blind -> sighted",
        "rejected because",
        "two determiners:",
        "placebo: My grandma was a",
    ):
        assert words in shown
    tables = done.stdout.partition("no disability, usually left unsaid")[2]
    assert max(map(len, tables.splitlines()[:-1])) <= 100

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_planted_skew_makes_the_candidate_worse_and_not_the_other_way_round():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "examples/comparing", "-p", "no:cacheprovider"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 xfailed" in done.stdout
    assert "strict_sentiment_parity worse than baseline" in " ".join(done.stdout.split())

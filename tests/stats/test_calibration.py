"""The calibration benchmark in its quick form, as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("script", ["calibration.py", "power.py", "fair_models.py", "attacks.py"])
def test_every_limit_is_kept_in_a_smoke_run(script):
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / script), "--smoke"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_missed_limit_gives_a_non_zero_exit(tmp_path):
    script = tmp_path / "missed.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT / 'benchmarks')!r})\n"
        "import calibration\n"
        "from _harness import Check, Line\n"
        "line = Line('never kept', False)\n"
        "calibration.all_checks = lambda: [Check(1, 'wrong', lambda plan: [line])]\n"
        "sys.exit(calibration.main(['--smoke']))\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "MISS never kept" in done.stdout
    assert "1 limits are missed" in done.stdout

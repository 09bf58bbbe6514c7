"""Repeat the whole example, training included, with several seeds.

    python examples/tutorials/huggingface/three_seeds.py [--seeds 1 2 3] [--models FOLDER]

Prints every verdict; the exit status is 0 only if each skewed model is FAIL and each twin PASS.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
EXPECTED = {"skewed": "FAIL", "balanced": "PASS"}
TESTS = 4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--models", type=Path, help="folder that keeps the trained models")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for seed in options.seeds:
            start = time.perf_counter()
            folder = options.models or Path(scratch)
            results = run(seed, folder.absolute(), Path(scratch) / f"{seed}.json")
            wrong += abs(TESTS - len(results))
            for result in results:
                model = result["nodeid"].rpartition("[")[2].rstrip("]")
                right = result["verdict"] == EXPECTED[model]
                wrong += not right
                print(
                    f"seed {seed}  {model:8}  {result['metric']:24}  {result['value']:.3f} "
                    f"[{result['lower']:.3f}, {result['upper']:.3f}]  bound {result['bound']:g}  "
                    f"{result['verdict']}{'' if right else '  (unexpected)'}"
                )
            print(f"seed {seed}  {time.perf_counter() - start:.0f} s", flush=True)
    return int(wrong > 0)


def run(seed: int, models: Path, report: Path) -> list[dict[str, object]]:
    """Run the tests of the example once and return their results."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(HERE), f"--llmfair-json={report}"],
        env={
            **os.environ,
            "LLMFAIR_EXAMPLE_MODELS": str(models),
            "LLMFAIR_EXAMPLE_SEED": str(seed),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n")
    return json.loads(report.read_text())["results"] if report.exists() else []


if __name__ == "__main__":
    sys.exit(main())

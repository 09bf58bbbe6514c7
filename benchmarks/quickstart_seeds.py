"""Run the quickstart with many seeds; it must show its three verdicts in at least 95 of 100.

python benchmarks/quickstart_seeds.py [--seeds 100]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXPECTED = ("FAIL", "INCONCLUSIVE", "PASS")
LEAST = 0.95


def verdicts(seed: int, folder: Path) -> tuple[str, ...]:
    file = folder / "run.json"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "examples/tutorials/quickstart",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    subprocess.run(
        [*command, f"--llmfair-seed={seed}", f"--llmfair-json={file}"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return tuple(sorted(r["verdict"] for r in json.loads(file.read_text())["results"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    seeds = parser.parse_args().seeds
    with tempfile.TemporaryDirectory() as folder:
        found = Counter(verdicts(seed, Path(folder)) for seed in range(seeds))
    for shown, count in found.most_common():
        print(f"{count:4} of {seeds}  {', '.join(shown)}")
    return 0 if found[EXPECTED] >= LEAST * seeds else 1


if __name__ == "__main__":
    sys.exit(main())

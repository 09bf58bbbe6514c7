"""Are the error rates what they claim to be? The checks of every kind of estimate.

    python benchmarks/calibration.py            # 2,000 data sets per cell
    python benchmarks/calibration.py --smoke    # seconds, looser limits, no peers
    python benchmarks/calibration.py --only 7 8

Every line shows coverage, false pass (interval wholly below the truth), false fail (wholly above),
the median width and the limits, then the same data under methods in common use. The exit code is 1
when a limit is missed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

from _harness import Check, Plan

PARTS = Path(__file__).resolve().parent / "statistics"
sys.path.append(str(PARTS))


def all_checks() -> list[Check]:
    """Collect the checks of every module ``statistics/checks_*.py``, by number."""
    found: list[Check] = []
    for path in sorted(PARTS.glob("checks_*.py")):
        found.extend(importlib.import_module(path.stem).CHECKS)
    return sorted(found, key=lambda check: check.number)


def main(arguments: list[str] | None = None) -> int:
    """Run the checks and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=2000, help="data sets per cell")
    parser.add_argument("--smoke", action="store_true", help="few runs, looser limits, no peers")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of the checks to run")
    options = parser.parse_args(arguments)
    plan = Plan(runs=options.runs, smoke=options.smoke)
    missed = 0
    for check in all_checks():
        if options.only and check.number not in options.only:
            continue
        started = time.perf_counter()
        lines = list(check.run(plan))
        seconds = time.perf_counter() - started
        print(f"{check.number:>2}  {check.title} [{seconds:.1f} s]")
        for line in lines:
            print(f"    {'ok  ' if line.ok else 'MISS'} {line.text}", flush=True)
            missed += not line.ok
    print("every limit is kept" if not missed else f"{missed} limits are missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

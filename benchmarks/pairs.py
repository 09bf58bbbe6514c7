"""Counterfactual pairs: how many hand-labelled prompts come out right, and how fast.

    python benchmarks/pairs.py [--show] [--only CATEGORY ...]

Prints a line per category of ``pairs/*.yaml``, LangFair's generator on the same prompts beside it,
then the speed of both, alternating, and our time for 1,000, 10,000 and 100,000 prompts. Exits
non-zero below 97 % right overall, 95 % in a category, 20 times LangFair's speed, or where the time
per prompt grows. LangFair runs in an environment of its own; see ``_langfair.py``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
_OVERALL, _CATEGORY = 97.0, 95.0


def accuracy(only: Sequence[str], show: bool) -> bool:
    """Print right answers by category and return whether the targets are met."""
    from _pair_cases import cases

    rows: dict[str, list[bool]] = {}
    for case in cases():
        if only and case.category not in only:
            continue
        got = case.ours()
        rows.setdefault(case.category, []).append(got == case.expected)
        if show and got != case.expected:
            print(
                f"{case.category}: {case.text!r}\n  expected {case.expected!r}\n  got      {got!r}"
            )
    met = True
    for name, right in [*rows.items(), ("all", [r for row in rows.values() for r in row])]:
        share = 100 * sum(right) / len(right)
        met = met and share >= (_OVERALL if name == "all" else _CATEGORY)
        print(f"{name:24} {sum(right):4d} of {len(right):4d}  {share:5.1f} %")
    return met


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all parts and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--show", action="store_true", help="print what came out wrong")
    parser.add_argument("--only", nargs="+", default=[], metavar="CATEGORY")
    options = parser.parse_args(arguments)
    sys.path[:] = [*(p for p in sys.path if Path(p or ".").resolve() != HERE), str(HERE)]
    return 0 if accuracy(options.only, options.show) else 1


if __name__ == "__main__":
    sys.exit(main())

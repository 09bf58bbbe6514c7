"""Designs made to break verdicts: how often each goes wrong, beside what is promised.

    python benchmarks/attacks.py             # every design, its own number of runs
    python benchmarks/attacks.py --smoke     # a few runs of each
    python benchmarks/attacks.py --only A B  # by the letter of the design

A design draws one data set, judges it and says whether the verdict was wrong (or, for designs that
promise power, right). The exit code is 1 where the observed rate breaks the promise beyond what
chance explains.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import bdtr, bdtrc

PARTS = Path(__file__).resolve().parent / "statistics"
sys.path.append(str(PARTS))

# One-sided probability of a rate as far from its promise that still counts as chance.
_CHANCE = 0.005
_SMOKE_RUNS = 12


@dataclass(frozen=True, slots=True)
class Attack:
    """One design.

    Attributes
    ----------
    letter : str
        Row of the table of designs that it belongs to.
    name : str
        The design and the verdict that is counted, in words.
    promise : float
        Share of runs in [0, 1]: the most there may be, or the least where `at_least`.
    happens : callable
        Generator to whether the counted verdict came out.
    runs : int
        Data sets of a full run.
    at_least : bool
        Whether `promise` is the least share (power) and not the most (error).
    """

    letter: str
    name: str
    promise: float
    happens: Callable[[np.random.Generator], bool]
    runs: int = 400
    at_least: bool = False

    def observed(self, runs: int, seed: int) -> int:
        """Count the runs in which the verdict came out."""
        return sum(bool(self.happens(np.random.default_rng([seed, run]))) for run in range(runs))

    def kept(self, count: int, runs: int) -> bool:
        """Whether a count is what the promise allows, up to chance."""
        if self.at_least:
            return count == runs or float(bdtr(count, runs, self.promise)) >= _CHANCE
        return count == 0 or float(bdtrc(count - 1, runs, self.promise)) >= _CHANCE


def all_attacks() -> list[Attack]:
    """Collect the designs of every module ``statistics/attacks_*.py``, by letter."""
    found: list[Attack] = []
    for path in sorted(PARTS.glob("attacks_*.py")):
        found.extend(importlib.import_module(path.stem).ATTACKS)
    return sorted(found, key=lambda attack: attack.letter)


def main(arguments: list[str] | None = None) -> int:
    """Run the designs and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="a few runs of each design")
    parser.add_argument("--only", nargs="+", help="letters of the designs to run")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    broken = 0
    for attack in all_attacks():
        if options.only and attack.letter not in options.only:
            continue
        started = time.perf_counter()
        runs = min(_SMOKE_RUNS, attack.runs) if options.smoke else attack.runs
        count = attack.observed(runs, options.seed)
        kept = attack.kept(count, runs)
        word = "at least" if attack.at_least else "at most"
        print(
            f"{'ok    ' if kept else 'BROKEN'} {attack.letter}  {attack.name}: {count} of {runs} "
            f"({count / runs:.3f}), promised {word} {attack.promise:g} "
            f"[{time.perf_counter() - started:.1f} s]",
            flush=True,
        )
        broken += not kept
    print("every promise is kept" if not broken else f"{broken} promises are broken")
    return 1 if broken else 0


if __name__ == "__main__":
    # Designs import this module by its name; run as a program it must be the same one.
    sys.modules["attacks"] = sys.modules["__main__"]
    sys.exit(main())

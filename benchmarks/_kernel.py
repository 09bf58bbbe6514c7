"""One line of a benchmark: a peer and ours on the same input, alternating."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Timed:
    """A result of a peer in another process, which timed itself."""

    seconds: float
    result: Any


@dataclass(frozen=True, slots=True)
class Kernel:
    """Two ways to the same result.

    Attributes
    ----------
    name : str
        What is computed, on how much.
    peer : str
        What users would pick today.
    target : float
        Least ratio of the peer's time to ours.
    theirs, ours : callable
        Turn one piece of the input into a result; :class:`Timed` where the way there is no part.
    pieces : sequence
        The input in pieces: short turns, so that a busy machine slows both alike.
    same : callable
        Whether two results are the same; the peer's first.
    rounds : int
        Turns per piece.
    note : str
        What a reader must know to read the line.
    """

    name: str
    peer: str
    target: float
    theirs: Callable[[Any], Any]
    ours: Callable[[Any], Any]
    pieces: Sequence[Any]
    same: Callable[[Any, Any], bool]
    rounds: int = 4
    note: str = ""

    def run(self) -> tuple[str, bool]:
        """Return the printed line and whether results are the same and the target is met."""
        self.ours(self.pieces[0])  # the import of a kernel is no part of it
        slow: list[float] = []
        fast: list[float] = []
        same = True
        for _ in range(self.rounds):
            for piece in self.pieces:
                seconds, expected = _timed(self.theirs, piece)
                slow.append(seconds)
                seconds, got = _timed(self.ours, piece)
                fast.append(seconds)
                same = same and self.same(expected, got)
        theirs, ours = (float(np.quantile(times, 0.25)) * 1e3 for times in (slow, fast))
        ratio = theirs / ours
        met = same and ratio >= self.target
        line = (
            f"{self.name}: {self.peer} {theirs:.4g} ms, ours {ours:.4g} ms, {ratio:.3g}x (target "
            f"{self.target:g}x, {len(slow)} alternations), results "
            f"{'agree' if same else 'DIFFER'}: {'ok' if met else 'MISSED'}"
        )
        return line + (f"\n    {self.note}" if self.note else ""), met


def _timed(function: Callable[[Any], Any], piece: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function(piece)
    seconds = time.perf_counter() - start
    return (result.seconds, result.result) if isinstance(result, Timed) else (seconds, result)


def main(folder: str, description: str | None) -> int:
    """Run what the modules of a folder expose, in alphabetical order; return the status."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", default=[], help="words; run kernels naming one")
    options = parser.parse_args()
    # Files beside this one are named like modules of the standard library: look elsewhere first.
    here = Path(__file__).resolve().parent
    others = (p for p in sys.path if Path(p or ".").resolve() != here)
    sys.path[:] = [*others, str(here / folder), str(here)]
    met = True
    for path in sorted((here / folder).glob("*.py")):
        for kernel in importlib.import_module(path.stem).kernels():
            if options.only and not any(w.lower() in kernel.name.lower() for w in options.only):
                continue
            line, ok = kernel.run()
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
            met = met and ok
    return 0 if met else 1

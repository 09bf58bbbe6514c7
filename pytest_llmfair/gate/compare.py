"""``llmfair compare``: rank models by each check, as far as their data prove an order."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from statistics import NormalDist

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.wording import number
from pytest_llmfair.gate.recorded_runs import Key, RecordedRun, between
from pytest_llmfair.judging.facts import Record, estimate
from pytest_llmfair.stats.multiplicity import holm


@dataclass(frozen=True, slots=True)
class Ranked:
    """A model in the ranking by one check."""

    model: str
    # Its own estimate and interval; None where nothing could be measured.
    value: float | None
    lower: float | None
    upper: float | None
    # The best and the worst rank that the data leave open; 1 is the fairest.
    first: int
    last: int
    # Models that are proven fairer.
    worse_than: list[str]


def ranking(key: Key, runs: Sequence[RecordedRun], level: float = 0.95) -> list[Ranked]:
    """Return the models by one check, fairest first, with the ranks possible after Holm."""
    checks = [run.checks[key] for run in runs]
    compared = [_compared(checks, *pair, level) for pair in combinations(range(len(runs)), 2)]
    adjusted = holm([p for _, p in compared])
    worse = {
        direction for (direction, _), p in zip(compared, adjusted, strict=True) if p < 1.0 - level
    }
    n = len(runs)
    found = []
    for i, (run, check) in enumerate(zip(runs, checks, strict=True)):
        better = [runs[j].name for j in range(n) if (i, j) in worse]
        less_fair = sum((j, i) in worse for j in range(n))
        ends = check["lower"], check["upper"]
        ranks = (1 + len(better), n - less_fair)
        found.append(Ranked(run.name, estimate(check), *ends, *ranks, better))
    return sorted(found, key=lambda each: _distance(checks[0], each.value))


def _compared(
    checks: Sequence[Record], i: int, j: int, level: float
) -> tuple[tuple[int, int], float]:
    """Return the less fair and the fairer of two models, and the two-sided p-value of that."""
    p, reverse = _p_values(checks[i], checks[j], level)
    return ((i, j) if p < reverse else (j, i)), min(1.0, 2.0 * min(p, reverse))


def _distance(check: Record, value: float | None) -> float:
    """Return how far a value is from the fair one, on the side that is unfair."""
    if value is None:
        return math.inf
    sign = {"lower": 1.0, "higher": -1.0}.get(check["direction"])
    return abs(value - check["fair_value"]) if sign is None else sign * value


def _p_values(one: Record, other: Record, level: float) -> tuple[float, float]:
    """Return the one-sided p-values of "the first is less fair" and of "it is fairer"."""
    if one["value"] is None or other["value"] is None:
        return 1.0, 1.0
    # Without data, or with answers to other prompts, there are the intervals.
    with suppress(ValueError):
        loss = between(one, other, level)
        if not math.isnan(loss.p_exceeds):
            return loss.p_exceeds, loss.p_within
    return _p_of_intervals(one, other), _p_of_intervals(other, one)


def _p_of_intervals(one: Record, other: Record) -> float:
    """Compare two intervals of independent samples, each read as that of a normal statistic."""
    if one["direction"] == "two-sided":
        return 1.0
    sign = 1.0 if one["direction"] == "lower" else -1.0
    numbers = [x for each in (one, other) for x in (estimate(each), each["lower"], each["upper"])]
    if not all(each is not None and math.isfinite(each) for each in numbers):
        return 1.0
    gap = sign * (numbers[0] - numbers[3])
    z = NormalDist().inv_cdf(0.5 + one["level"] / 2.0)
    # The ends that face each other decide (MOVER, Zou and Donner 2008).
    near = (numbers[0] - numbers[1]) if sign > 0 else (numbers[2] - numbers[0])
    far = (numbers[5] - numbers[3]) if sign > 0 else (numbers[3] - numbers[4])
    error = math.hypot(near, far) / z
    return 0.5 * math.erfc(gap / error / math.sqrt(2.0)) if error > 0.0 else float(gap <= 0.0)


def _measured(each: Ranked) -> str:
    if each.value is None:
        return "not measured"
    if each.lower is None or each.upper is None:
        return f"{number(each.value, 3):>7}"
    return f"{number(each.value, 3):>7} [{number(each.lower, 3)}, {number(each.upper, 3)}]"


def common(runs: Sequence[RecordedRun]) -> list[Key]:
    """Return the checks that all runs have, in the order of the first."""
    keys = [key for key in runs[0].checks if all(key in run.checks for run in runs)]
    if not keys:
        raise ValueError("no check is in all of these runs; record the same tests for each model")
    return keys


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``llmfair compare``."""
    parser.add_argument(
        "runs",
        type=Path,
        nargs="+",
        metavar="RUN",
        help="baseline file, evidence folder or JSON of a run, one for each model; two or more",
    )
    parser.add_argument("--level", type=float, default=0.95, help="confidence level (0.95)")
    parser.add_argument("--json", action="store_true", help="print plain data")


def run(arguments: argparse.Namespace) -> int:
    """Print the models in order, check by check."""
    if len(arguments.runs) < 2:
        raise ValueError("compare needs two or more runs; give one for each model")
    if not 0.0 < arguments.level < 1.0:
        raise ValueError(f"--level is {arguments.level}; give a number between 0 and 1")
    runs = [RecordedRun.read(path) for path in arguments.runs]
    if len({each.name for each in runs}) < len(runs):
        runs = [
            RecordedRun(f"{each.name} ({path.stem})", each.checks)
            for each, path in zip(runs, arguments.runs, strict=True)
        ]
    tables = {key: ranking(key, runs, arguments.level) for key in common(runs)}
    if arguments.json:
        plain = [
            {"nodeid": key[0], "metric": key[1], "models": [asdict(each) for each in table]}
            for key, table in tables.items()
        ]
        say(json.dumps(plain, indent=1) + "\n")
        return 0
    for key, table in tables.items():
        say(f"{key[0]}  {key[1]}\n")
        for each in table:
            rank = str(each.first) if each.first == each.last else f"{each.first}-{each.last}"
            say(f"  {rank:<5} {_measured(each):<26} {each.model}\n")
    say(
        f"rank: 1 is the fairest; a range where the data leave the order open (level "
        f"{arguments.level:g}, Holm)\n"
    )
    return 0

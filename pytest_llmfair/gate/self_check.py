"""``llmfair self-check``: how often this suite errs on this model, measured on its own answers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.wording import plural
from pytest_llmfair.gate.evidence import add_self_check
from pytest_llmfair.gate.recorded_runs import RecordedRun
from pytest_llmfair.gate.shares import Shares, rows, text_of
from pytest_llmfair.judging.recorded import changed_call, judge_again
from pytest_llmfair.judging.result import Verdict
from pytest_llmfair.stats import Mean

_REPEATS = 100
_LEAST_REPEATS = 4
Args = list[Any]
Change = Callable[[np.random.Generator, Args, dict[str, Any]], tuple[Args, dict[str, Any]] | None]


def self_check(run: RecordedRun, repeats: int = _REPEATS, seed: int = 0) -> list[Shares]:
    """Judge the recorded answers again with placebo groups, and in random halves.

    A placebo deals the answers about a prompt and about its twin out to the two sides at random,
    or the labels of the groups to the people; then no group is treated differently, and every
    FAIL is a false alarm.

    Parameters
    ----------
    run : RecordedRun
        A run that kept its data: a baseline file or an evidence folder.
    repeats : int
        Repetitions of each check.
    seed : int
        Seed of the draws.

    Raises
    ------
    ValueError
        If the run kept no data.
    """
    found = []
    for (nodeid, metric, _), check in run.checks.items():
        data = (check.get("recorded") or {}).get("data")
        if data is None:
            raise ValueError(
                f"{nodeid} {metric} was recorded without its data; give a baseline file or an "
                "evidence folder"
            )
        if "cannot" in data:
            found.append(Shares(nodeid, metric, 0.0, 0, 0, 0, 0, 0, data["cannot"]))
            continue
        rng = np.random.default_rng(seed)
        placebo = [_verdict(data, nodeid, rng, _placebo) for _ in range(repeats)]
        halves = [_halves(data, nodeid, rng) for _ in range(repeats)]
        known = [verdict for verdict in placebo if verdict is not None]
        pairs = [pair for pair in halves if pair is not None]
        found.append(
            Shares(
                nodeid,
                metric,
                (1.0 - float(check["level"])) / 2.0,
                len(known),
                sum(verdict is Verdict.FAIL for verdict in known),
                len(pairs),
                sum(a is not b for a, b in pairs),
                sum({a, b} == {Verdict.PASS, Verdict.FAIL} for a, b in pairs),
                "" if known else "no groups, or a single answer to each prompt",
            )
        )
    return found


def _verdict(
    data: Mapping[str, Any], nodeid: str, rng: np.random.Generator, change: Change
) -> Verdict | None:
    """Return the verdict on changed data; None where they cannot be changed or judged."""
    changed = changed_call(data, lambda args, keywords: change(rng, args, keywords))
    if changed is None:
        return None
    try:
        return judge_again(changed, nodeid).verdict
    except ValueError:
        # Of half the data the bound may be no test.
        return None


def _halves(
    data: Mapping[str, Any], nodeid: str, rng: np.random.Generator
) -> tuple[Verdict, Verdict] | None:
    seed = int(rng.integers(2**32))
    found = []
    for half in (0, 1):
        same = np.random.default_rng(seed)
        found.append(_verdict(data, nodeid, same, _half(half)))
    first, second = found
    return None if first is None or second is None else (first, second)


def _rows_of_answers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, list) for row in value)


def _placebo(
    rng: np.random.Generator, args: Args, keywords: dict[str, Any]
) -> tuple[Args, dict[str, Any]] | None:
    sides = [each for each in args[:2] if _rows_of_answers(each)]
    if "groups" in keywords:
        return args, {
            **keywords,
            "groups": _dealt_groups(rng, keywords["groups"], keywords.get("units")),
        }
    if len(sides) < 2 or min(map(len, (*sides[0], *sides[1]))) < 2:
        return None
    dealt: tuple[list[Any], list[Any]] = ([], [])
    for a, b in zip(*sides, strict=True):
        pool = [*a, *b]
        order = rng.permutation(len(pool))
        dealt[0].append([pool[i] for i in order[: len(a)]])
        dealt[1].append([pool[i] for i in order[len(a) :]])
    return [*dealt, *args[2:]], keywords


def _has_columns(groups: Any) -> bool:
    return isinstance(groups, Mapping) or hasattr(groups, "columns")


def _dealt_groups(rng: np.random.Generator, groups: Any, units: Any) -> Any:
    """Deal the labels out at random; a person keeps the labels of all columns together."""
    if not _has_columns(groups):
        return _shuffled(rng, list(groups), units)
    people = list(zip(*(groups[name] for name in groups), strict=True))
    columns = zip(*_shuffled(rng, people, units), strict=True)
    return {name: list(column) for name, column in zip(groups, columns, strict=True)}


def _shuffled(rng: np.random.Generator, labels: list[Any], units: Any) -> list[Any]:
    """Deal the labels out at random; rows of one unit that share a label keep sharing one."""
    if units is None:
        return [labels[i] for i in rng.permutation(len(labels))]
    label_of = dict.fromkeys(zip(units, labels, strict=True))
    keys = list(label_of)
    order = rng.permutation(len(keys))
    dealt = {key: keys[i][1] for key, i in zip(keys, order, strict=True)}
    return [dealt[key] for key in zip(units, labels, strict=True)]


def _half(half: int) -> Change:
    """Return the change that keeps one half: of the repeats of each row, or else of the rows.

    Fewer than four repeats would leave a half without a noise floor, which is another test.
    """

    def change(
        rng: np.random.Generator, args: Args, keywords: dict[str, Any]
    ) -> tuple[Args, dict[str, Any]] | None:
        sides = [each for each in args if _rows_of_answers(each)]
        if sides and min(len(row) for side in sides for row in side) >= _LEAST_REPEATS:
            return [_kept_repeats(each, half, rng) for each in args], keywords
        rows = next((each for each in (*args, *keywords.values()) if _is_column(each)), None)
        if rows is None or len(rows) < _LEAST_REPEATS:
            return None
        n = len(rows)
        chosen = [i for i, side in enumerate(rng.permutation(n) % 2) if side == half]

        def kept(value: Any) -> Any:
            if _has_columns(value):
                return {name: kept(list(value[name])) for name in value}
            whole = _is_column(value) and len(value) == n
            if not whole:
                return value
            return value[chosen] if isinstance(value, np.ndarray) else [value[i] for i in chosen]

        return [kept(each) for each in args], {key: kept(each) for key, each in keywords.items()}

    return change


def _kept_repeats(value: Any, half: int, rng: np.random.Generator) -> Any:
    if not _rows_of_answers(value):
        return value
    kept = []
    for row in value:
        order = rng.permutation(len(row))
        kept.append([row[i] for i in order[half::2]])
    return kept


def _is_column(value: Any) -> bool:
    return isinstance(value, (list, np.ndarray)) and len(value) > 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``llmfair self-check``."""
    parser.add_argument("run", type=Path, help="a baseline file or an evidence folder")
    parser.add_argument("--repeats", type=int, default=_REPEATS, help="of each check (100)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws (0)")
    parser.add_argument("--json", action="store_true", help="print plain data")
    parser.add_argument(
        "--add", action="store_true", help="also add it to the evidence: file, page and manifest"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the measured shares.

    Return 1 where false alarms are proven above what is promised, or nothing could be measured.
    """
    if arguments.repeats < 1:
        raise ValueError(f"--repeats is {arguments.repeats}; give at least 1")
    if arguments.add and not arguments.run.is_dir():
        raise ValueError(f"--add needs an evidence folder, and {arguments.run} is a file")
    found = self_check(RecordedRun.read(arguments.run), arguments.repeats, arguments.seed)
    plain = [asdict(each) for each in found]
    if arguments.add:
        add_self_check(arguments.run, plain, rows(found))
    if arguments.json:
        say(json.dumps(plain, indent=1) + "\n")
    else:
        say(text_of(found))
        say(f"{plural('check', len(found))}, {arguments.repeats} repetitions each\n")
    if not any(each.placebo or each.splits for each in found):
        sys.stderr.write("llmfair self-check: no check could be measured\n")
        return 1
    return int(any(map(_too_many, found)))


def _too_many(each: Shares) -> bool:
    if not each.placebo:
        return False
    flags = [1.0] * each.false_fail + [0.0] * (each.placebo - each.false_fail)
    return Mean.of_indicators(flags).interval().lower > each.promised

"""``llmfair self-check``: how often this suite errs on this model, measured on its own answers."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from statistics import NormalDist, fmean, pstdev
from typing import Any

import numpy as np

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.wording import plural
from pytest_llmfair.gate.evidence import add_self_check
from pytest_llmfair.gate.recorded_runs import Key, recorded_checks
from pytest_llmfair.gate.shares import Shares, rows, text_of
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.judging.recorded import changed_call, estimate_again, judge_again
from pytest_llmfair.judging.result import Result, Verdict
from pytest_llmfair.stats import Estimate, Mean

_REPEATS = 100
# Placebos that are tried for a truth at the bound.
_MIXTURES = 20
# Smaller p-values are as certain.
_LEAST_P = 1e-12


def self_check(
    checks: Mapping[Key, Record], repeats: int = _REPEATS, seed: int = 0
) -> list[Shares]:
    """Judge the recorded answers again with placebo groups, and on samples drawn from them.

    A placebo deals the answers about a prompt and about its twin out to the two sides at random,
    or the labels of the groups to the people; then no group is treated differently, and every
    FAIL is a false alarm. Where the observed difference is beyond the bound, so many rows keep
    their groups that the truth lies at the bound. Samples of the same size are drawn from the
    units, with replacement: how often two of them get two verdicts is how often a rerun would.
    """
    found = []
    for (nodeid, metric, _), check in checks.items():
        data = (check.get("recorded") or {}).get("data")
        if data is None:
            raise ValueError(
                f"{nodeid} {metric} was recorded without its data; give a baseline file or an "
                "evidence folder"
            )
        made = Shares(nodeid, metric, promised=(1.0 - float(check["level"])) / 2.0)
        if "cannot" in data:
            found.append(replace(made, why_not=data["cannot"]))
        else:
            found.append(measured(made, data, repeats, seed))
    return found


def measured(shares: Shares, data: Mapping[str, Any], repeats: int, seed: int) -> Shares:
    """Return the shares of one check, from the record of its result."""
    judge = partial(_judged, data, shares.nodeid)
    # A seed for every repetition: draws of the same seed belong together.
    seeds = np.random.default_rng(seed).integers(2**32, size=repeats).tolist()
    seen = judge(lambda args, keywords: (args, keywords))
    if seen is None:
        return replace(shares, why_not="the recorded data give no single result")
    draws = [resampled(each, fixed=seen.population == "fixed") for each in seeds]
    dealt = [found for each in seeds if (found := judge(placebo(each)))]
    samples = [found for draw in draws if (found := judge(draw))]
    why, at_bound, alarms = "", [], [each.verdict for each in dealt]
    if dealt and samples:
        mixture = _at_bound(data, seen, dealt)
        if mixture is None:
            why = "the observed difference does not reach the bound, so no part of it does"
        else:
            mixed = (judge(_both(mixture, draw)) for draw in draws)
            at_bound = [found.verdict for found in mixed if found]
    drawn = [each.verdict for each in samples]
    return replace(
        shares,
        placebo=len(dealt),
        false_fail=alarms.count(Verdict.FAIL),
        at_bound=len(at_bound),
        bound_fail=at_bound.count(Verdict.FAIL),
        samples=len(drawn),
        passes=drawn.count(Verdict.PASS),
        fails=drawn.count(Verdict.FAIL),
        to_pass=_inside((each.p_within for each in samples), shares.promised),
        to_fail=_inside((each.p_exceeds for each in samples), shares.promised),
        why_not="" if dealt else "no groups, or a single answer to each prompt",
        why_not_bound=why,
    )


def _judged(data: Mapping[str, Any], nodeid: str, change: Change) -> Result | None:
    """Return the result on changed data; None where they cannot be changed or judged."""
    changed = changed_call(data, change)
    if changed is None:
        return None
    try:
        return judge_again(changed, nodeid)
    except ValueError:
        # On other data the bound may be no test.
        return None


def _inside(p_values: Iterable[float], alpha: float) -> float:
    """Return the distance of the p-values' mean below `alpha`, in standard errors."""
    normal = NormalDist()
    z = [normal.inv_cdf(min(max(p, _LEAST_P), 1.0 - _LEAST_P)) for p in p_values if p == p]
    # Equal samples do not show how others vary; in theory the error is 1.
    return (normal.inv_cdf(alpha) - fmean(z)) / (pstdev(z) or 1.0) if z else 0.0


def _both(first: Change, second: Change) -> Change:
    def change(args: Any, keywords: dict[str, Any]) -> Any:
        found = first(args, keywords)
        return None if found is None else second(*found)

    return change


def _at_bound(data: Mapping[str, Any], seen: Result, dealt: Sequence[Result]) -> Change | None:
    """Return a placebo that keeps so much of the observed difference that it is at the bound."""
    # Samples are drawn from this one: a new placebo for each would double the spread.
    bound = Bound(seen.bound, seen.direction, seen.fair_value, seen.scale)

    def distance(found: Result | Estimate) -> float:
        return bound.distance_of(found.debiased if found.of == "debiased" else found.value)

    def off(change: Change) -> float:
        changed = changed_call(data, change)
        if changed is None:
            return math.inf
        try:
            return abs(distance(estimate_again(changed)) - bound.distance)
        except ValueError:
            return math.inf

    least, most = fmean(map(distance, dealt)), distance(seen)
    if not least < bound.distance < most < math.inf:
        return None
    share = (bound.distance - least) / (most - least)
    # Some metrics are not linear in the share.
    mixed = [placebo(seed, share * (0.8 + 0.02 * seed)) for seed in range(_MIXTURES)]
    return min(mixed, key=off)


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
    """Print the measured shares; return 1 for too many false alarms, or for no measurement."""
    if arguments.repeats < 1:
        raise ValueError(f"--repeats is {arguments.repeats}; give at least 1")
    if arguments.add and not arguments.run.is_dir():
        raise ValueError(f"--add needs an evidence folder, and {arguments.run} is a file")
    found = self_check(recorded_checks(arguments.run), arguments.repeats, arguments.seed)
    plain = [asdict(each) for each in found]
    if arguments.add:
        add_self_check(arguments.run, plain, rows(found))
    if arguments.json:
        say(json.dumps(plain, indent=1) + "\n")
    else:
        say(text_of(found))
        say(f"{plural('check', len(found))}, {arguments.repeats} repetitions each\n")
    if not any(each.placebo or each.samples for each in found):
        sys.stderr.write("llmfair self-check: no check could be measured\n")
        return 1
    return int(any(map(_too_many, found)))


def _too_many(each: Shares) -> bool:
    if not each.placebo:
        return False
    flags = [1.0] * each.false_fail + [0.0] * (each.placebo - each.false_fail)
    return Mean.of_indicators(flags).interval().lower > each.promised


Args = list[Any]
Call = tuple[Args, dict[str, Any]]
# From the arguments of a metric to others; None where they cannot be changed in this way.
Change = Callable[[Args, dict[str, Any]], Call | None]

# Fewer repeats of a fixed prompt cannot stand for the answers it could have had.
_LEAST_REPEATS = 4


def placebo(seed: int, share: float = 0.0) -> Change:
    """Return the change that deals all but a random `share` of rows out to groups at random."""

    def change(args: Args, keywords: dict[str, Any]) -> Call | None:
        rng = np.random.default_rng(seed)
        if "groups" in keywords:
            units = keywords.get("units", keywords.get("rounds"))
            dealt = _dealt_groups(rng, keywords["groups"], units, share)
            return args, {**keywords, "groups": dealt}
        sides = [each for each in args[:2] if _rows_of_answers(each)]
        if len(sides) < 2 or min(map(len, (*sides[0], *sides[1]))) < 2:
            return None
        kept = rng.random(len(sides[0])) < share
        first, second = [], []
        for a, b, keep in zip(*sides, kept, strict=True):
            pool = [*a, *b]
            order = range(len(pool)) if keep else rng.permutation(len(pool))
            first.append([pool[i] for i in order[: len(a)]])
            second.append([pool[i] for i in order[len(a) :]])
        return [first, second, *args[2:]], keywords

    return change


def _dealt_groups(rng: np.random.Generator, groups: Any, units: Any, share: float) -> Any:
    """Deal the labels out at random; a person keeps the labels of all columns together."""
    if not _has_columns(groups):
        return _shuffled(rng, list(groups), units, share)
    people = list(zip(*(groups[name] for name in groups), strict=True))
    columns = zip(*_shuffled(rng, people, units, share), strict=True)
    return {name: list(column) for name, column in zip(groups, columns, strict=True)}


def _shuffled(rng: np.random.Generator, labels: list[Any], units: Any, share: float) -> list[Any]:
    """Deal the labels out at random; rows of one unit that share a label keep sharing one."""
    rows = range(len(labels)) if units is None else units
    label_of = dict.fromkeys(zip(rows, labels, strict=True))
    keys = list(label_of)
    moved = np.flatnonzero(rng.random(len(keys)) >= share)
    order = np.arange(len(keys))
    order[moved] = rng.permutation(moved)
    dealt = {key: keys[i][1] for key, i in zip(keys, order, strict=True)}
    return [dealt[key] for key in zip(rows, labels, strict=True)]


def resampled(seed: int, *, fixed: bool) -> Change:
    """Return the change that draws as many units, or `fixed` ones' answers, inside each group."""
    # Calls with one seed draw alike, so that comparisons of the same prompts stay together.

    def change(args: Args, keywords: dict[str, Any]) -> Call | None:
        rng = np.random.default_rng(seed)
        if fixed:
            return _other_repeats(rng, args, keywords)
        lengths = {len(each) for each in args if _is_column(each)}
        lengths |= {len(each) for each in keywords.values() if _is_column(each)}
        if len(lengths) != 1 or any(isinstance(each, Mapping) for each in args):
            return None
        (n,) = lengths
        if any(_is_column(each) and isinstance(each[0], Mapping) for each in args):
            return None  # comparisons name their pools inside the rows
        called = "rounds" if keywords.get("rounds") is not None else "units"
        units = keywords.get(called)
        chosen, drawn = _drawn(rng, range(n) if units is None else units, _strata(keywords, n))

        def taken(value: Any) -> Any:
            if _has_columns(value):
                return {name: taken(list(value[name])) for name in value}
            if not _is_column(value):
                return value
            return value[chosen] if isinstance(value, np.ndarray) else [value[i] for i in chosen]

        changed = {key: taken(each) for key, each in keywords.items()}
        if units is not None:
            changed[called] = drawn
        return [taken(each) for each in args], changed

    return change


def _strata(keywords: Mapping[str, Any], n: int) -> list[Any]:
    groups = keywords.get("groups")
    if groups is None:
        return [None] * n
    columns = [groups[name] for name in groups] if _has_columns(groups) else [groups]
    return list(zip(*columns, strict=True))


def _drawn(
    rng: np.random.Generator, units: Iterable[Any], strata: Sequence[Any]
) -> tuple[list[int], list[int]]:
    """Return rows of units drawn with replacement, and a new label of each row's unit."""
    rows: dict[Any, list[int]] = {}
    for row, unit in enumerate(units):
        rows.setdefault(unit, []).append(row)
    alike: dict[Any, list[list[int]]] = {}
    for own in rows.values():
        alike.setdefault(frozenset(strata[row] for row in own), []).append(own)
    picked = [own[i] for own in alike.values() for i in rng.integers(len(own), size=len(own))]
    return (
        [row for own in picked for row in own],
        [label for label, own in enumerate(picked) for _ in own],
    )


def _other_repeats(rng: np.random.Generator, args: Args, keywords: dict[str, Any]) -> Call | None:
    sides = [each for each in args if _rows_of_answers(each)]
    if not sides or min(len(row) for side in sides for row in side) < _LEAST_REPEATS:
        return None
    return [
        [[row[i] for i in rng.integers(len(row), size=len(row))] for row in each]
        if _rows_of_answers(each)
        else each
        for each in args
    ], keywords


def _has_columns(groups: Any) -> bool:
    return isinstance(groups, Mapping) or hasattr(groups, "columns")


def _is_column(value: Any) -> bool:
    return isinstance(value, (list, np.ndarray)) and len(value) > 0


def _rows_of_answers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, list) for row in value)

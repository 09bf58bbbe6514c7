"""``llmfair self-check``: how often this suite errs on this model, measured on its own answers."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
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
from pytest_llmfair.gate.shares import Shares, interval_of, rows, text_of
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.judging.recorded import changed_call, estimate_again, judge_again
from pytest_llmfair.judging.result import Result, Verdict
from pytest_llmfair.probing.changes import Change, placebo, resampled
from pytest_llmfair.stats import Estimate

_REPEATS = 100
# Placebos that are tried for a truth at the bound.
_MIXTURES = 20
# Smaller p-values are as certain.
_LEAST_P = 1e-12


def self_check(
    checks: Mapping[Key, Record], repeats: int = _REPEATS, seed: int = 0
) -> list[Shares]:
    """Judge the recorded answers again with placebo groups, and on samples drawn from them."""
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
    tried = (each for each in found if each.placebo)
    return int(any(interval_of(x.false_fail, x.placebo).lower > x.promised for x in tried))

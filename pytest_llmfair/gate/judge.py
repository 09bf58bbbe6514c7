"""``llmfair judge``: a result file of another tool, described, or judged by a bound."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.wording import listed, plain
from pytest_llmfair.gate.check import AssertionCall
from pytest_llmfair.gate.check_file import SUFFIXES, checks_in
from pytest_llmfair.gate.result_files import (
    FROM_TEXTS,
    Quantity,
    add_options,
    aligned,
    compared,
    first_bound,
    judge_command,
    keys,
    quantities,
    read,
)
from pytest_llmfair.gate.yaml_checks import GivenChecks, run_pytest
from pytest_llmfair.results.compare import Comparison

_EPILOG = """Whatever is not listed above goes to pytest, such as -q, --llmfair-html=FILE or
--llmfair-evidence=FOLDER. Without --bound there is no verdict, and the exit status is 0; with one
it is that of pytest (0 if nothing is red, 1 if something is). It is 2 where nothing can be judged.
"""
_RATIONALE = "differences of {bound:g} or less are accepted (given on the command line)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_options(parser)
    parser.epilog = _EPILOG
    add = parser.add_argument
    add(
        "--bound",
        action="append",
        default=[],
        metavar="X or NAME=X",
        help="largest difference accepted: X for scores from 0 to 1; NAME=X for one score, or for "
        + ", ".join(FROM_TEXTS),
    )
    add("--write", type=Path, metavar="FILE.llmfair.yaml", help="keep the checks as a file")


def run(arguments: argparse.Namespace) -> int:
    """Describe or judge the files."""
    unused = arguments.rest[:1] or (["--write"] if arguments.write is not None else [])
    if unused and not arguments.bound:
        # A mistyped --bound would end with exit status 0 and no verdict.
        raise ValueError(
            f"{unused[0]} has no use without --bound, which makes a verdict; give --bound X, or "
            "leave it out"
        )
    results = read(arguments)
    comparison = compared(results, keys(arguments))
    bounds = _bounds(arguments.bound)
    found = [
        each
        for each in quantities(comparison)
        if not arguments.score or each.name in arguments.score
    ]
    known = [each.name for each in found]
    for name in arguments.score:
        if name not in known:
            comparison.scores(name)
    if not bounds:
        return _describe(arguments, comparison, found)
    if not comparison.declared:
        shown = judge_command(arguments, comparison, *arguments.bound)
        raise ValueError(
            "a guess may describe a file, and only a declaration may judge it; if these are the "
            f"groups and what they share, run: {shown}"
        )
    checks = _checks(found, bounds, comparison)
    answers = keys(arguments)
    answers["file"] = [str(path.resolve()) for path in arguments.files]
    if "requests" in answers:
        answers["requests"] = str(Path(answers["requests"]).resolve())
    document = {"version": 1, "answers": answers, "checks": checks}
    if arguments.write is not None:
        _write(arguments.write, document)
    path = arguments.files[0].resolve()
    # What is wrong shows at once.
    make = partial(checks_in, document, "llmfair judge", Path())
    make()
    given = [*arguments.rest, str(path)]
    if not arguments.json:
        judged = {each.get("score") for each in checks}
        unbound = [each.name for each in found if each.name not in judged]
        say("".join(f"{line}\n" for line in _left_out(comparison, unbound)))
        return run_pytest(given, GivenChecks(path, make))
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "run.json"
        with contextlib.redirect_stdout(io.StringIO()):
            status = run_pytest([*given, f"--llmfair-json={record}"], GivenChecks(path, make))
        say(record.read_text(encoding="utf-8"))
    return status


def _left_out(comparison: Comparison, unbound: Sequence[str]) -> list[str]:
    """Say which answers and scores are not judged, and why."""
    lines = [f"note: {note}" for note in comparison.results.notes]
    lines += [comparison.left_out] if comparison.left_out else []
    lines += [
        f"not compared: {name} ({column.why_not})"
        for name, column in comparison.results.scores.items()
        if column.why_not
    ]
    return lines + [f"not judged: {name} (no bound; --bound {name}=X)" for name in unbound]


def _bounds(given: list[str]) -> dict[str, float]:
    """Return the bounds by name of a score; "" is that of all scores from 0 to 1."""
    found = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise ValueError(f"--bound is {text!r}; write a number, or NAME=NUMBER") from None
    return found


def _checks(
    found: list[Quantity], bounds: dict[str, float], comparison: Comparison
) -> list[dict[str, Any]]:
    """Return the checks: each score with a bound of its own, or the one for scores in [0, 1]."""
    # A score of the file comes before what is made from texts under the same name.
    names = dict.fromkeys([*(each.name for each in found), *FROM_TEXTS])
    for name in bounds:
        if name and name not in names:
            raise ValueError(f"--bound names {name!r}; there are {', '.join(names)}")
    keys = {name: dict(each) for name, each in FROM_TEXTS.items() if name in bounds}
    keys |= {each.name: dict(each.keys) for each in found}
    shared = {each.name for each in found if each.within_one}
    checks = []
    for name, about in keys.items():
        bound = bounds.get(name, bounds.get("") if name in shared else None)
        if bound is None:
            continue
        word = AssertionCall.of(about["metric"]).word
        about |= {word: bound, "rationale": _RATIONALE.format(bound=bound)}
        checks.append({**about, "owner": "who ran the command"})
    if not checks and not found:
        why = [f"{each.name}: {each.why_not}" for each in comparison.results.scores.values()]
        raise ValueError(
            f"no score can be judged ({listed(why, 8) or 'the file has none'}); judge the answers "
            f"by a bound on one of {', '.join(FROM_TEXTS)}: --bound NAME=X"
        )
    if not checks:
        raise ValueError(
            f"none of the scores ({listed([each.name for each in found], 8)}) lies "
            "between 0 and 1; name a bound in the score's own unit: --bound NAME=X"
        )
    return checks


def _write(path: Path, document: dict[str, Any]) -> None:
    """Write the checks, with paths from the folder of the file."""
    if not path.name.endswith(SUFFIXES):
        raise ValueError(f"--write is {path}; give a name that ends in {SUFFIXES[0]}")
    folder = path.resolve().parent
    answers = dict(document["answers"])
    answers["file"] = [os.path.relpath(each, folder) for each in answers["file"]]
    if "requests" in answers:
        answers["requests"] = os.path.relpath(answers["requests"], folder)
    kept = {**document, "answers": answers}
    head = (
        "# Written by `llmfair judge`; run it with: pytest FILE. Name your reasons and an owner.\n"
    )
    path.write_text(
        head + yaml.safe_dump(kept, sort_keys=False, allow_unicode=True), encoding="utf-8"
    )


def _describe(arguments: argparse.Namespace, comparison: Comparison, found: list[Quantity]) -> int:
    """Print the differences with intervals, and what each would PASS from; no verdict."""
    rows = [_row(each) for each in found]
    if arguments.json:
        say(
            json.dumps(plain({"groups": comparison.grouping.names, "scores": rows}), indent=1)
            + "\n"
        )
        return 0
    lines = []
    if not comparison.declared:
        units = comparison.units
        shared = (
            "no units: groups are independent samples"
            if units is None
            else f"units from {units.where}"
        )
        lines.append(
            f"groups guessed from {comparison.grouping.where}, {shared}; --group and --pair-by "
            "confirm"
        )
    if not rows:
        texts = f"texts can be judged: --bound NAME=X, of {', '.join(FROM_TEXTS)}"
        lines.append(f"no score to compare; {texts if comparison.units else 'and no pairs'}")
    else:
        # A score of one group only has fewer of them.
        names = max((list(row["means"]) for row in rows), key=len)
        head = ("score", *names, "difference", "95 % interval", "would PASS from")
        lines += aligned([head, *(_cells(row, names) for row in rows)])
    lines += _left_out(comparison, ())
    lines.append(_nothing_decided(rows))
    bound = first_bound(arguments, comparison)
    lines.append(f"next: {judge_command(arguments, comparison, bound)}")
    say("\n".join(lines) + "\n")
    return 0


def _row(quantity: Quantity) -> dict[str, Any]:
    result, holds, passes = quantity.passing()
    means = {row["key"]: row["rate"] for row in result.groups if not math.isnan(row["rate"])}
    invalid = "; ".join(result.notes[:1]) if result.verdict.value == "INVALID" else ""
    return {
        "score": quantity.name,
        "means": means,
        "difference": result.value,
        "interval": [result.lower, result.upper],
        "interval_within": holds,
        "passes_from": passes,
        "invalid": invalid,
        "missing": result.missing_by_group,
    }


def _cells(row: dict[str, Any], names: list[str]) -> tuple[str, ...]:
    means = [row["means"].get(name, math.nan) for name in names]
    difference, own = row["difference"], list(row["means"])
    larger = f" ({own[difference < 0]} higher)" if len(own) == 2 and difference else ""
    low, high = row["interval"]
    passes, holds = row["passes_from"], row["interval_within"]
    last = f"none ({row['invalid'] or 'no bound is large enough'})"
    if not math.isnan(passes):
        last = f"{passes:g}"
        last += "" if passes == holds else f" ({holds:g} without the missing answers)"
    size = f"{difference:+.3f}{larger}" if len(names) == 2 else f"{difference:.3f}"
    shown = ("n/a", "n/a") if math.isnan(difference) else (size, f"{low:.3f} to {high:.3f}")
    known = ("n/a" if math.isnan(mean) else f"{mean:.3f}" for mean in means)
    return (row["score"], *known, *shown, last)


def _nothing_decided(rows: list[dict[str, Any]]) -> str:
    known = [row for row in rows if not math.isnan(row["passes_from"])]
    if not known:
        return "no verdict: you named no bound."
    worst = max(known, key=lambda row: row["passes_from"])
    return (
        f"no verdict: you named no bound. Differences up to {worst['passes_from']:g} "
        f"({worst['score']}) are compatible with this file."
    )

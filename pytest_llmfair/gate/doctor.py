"""``llmfair doctor``: what a result file holds, and what can be judged with it."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from typing import Any

from pytest_llmfair._util.printing import say
from pytest_llmfair._util.wording import listed, plain, plural
from pytest_llmfair.gate.result_files import (
    FROM_TEXTS,
    add_options,
    aligned,
    compared,
    first_bound,
    judge_command,
    keys,
    quantities,
    read,
)
from pytest_llmfair.judging.collecting import drop_invalid_pairs
from pytest_llmfair.results.compare import Comparison
from pytest_llmfair.results.source import ResultsError
from pytest_llmfair.results.table import Results

configure = add_options


def run(arguments: argparse.Namespace) -> int:
    """Describe the files, one model after the other."""
    results = read(arguments)
    models = results.models if len(results.models) > 1 else [None]
    found = []
    for model in models:
        arguments.model = model or arguments.model
        part = results if model is None else results.of_model(model)
        facts = about_file(part)
        if not arguments.json:
            say("\n".join(_head(facts)) + "\n")
        comparison = compared(part, keys(arguments))
        facts |= about_groups(arguments, comparison)
        found.append(facts)
        if not arguments.json:
            say("\n".join(_body(facts)) + "\n")
    if arguments.json:
        say(json.dumps(plain(found if len(found) > 1 else found[0]), indent=1) + "\n")
    return 0


def about_file(results: Results) -> dict[str, Any]:
    """Return the contents of a file, whatever the groups."""
    rows = results.rows
    return {
        "files": list(results.files),
        "tool": results.tool,
        "version": results.version,
        "tasks": list(dict.fromkeys(row.task for row in rows if row.task)),
        "models": results.models,
        "answers": len(rows),
        "texts": sum(isinstance(row.answer, str) for row in rows),
        "prompts": len({row.prompt or row.sample or row.where for row in rows}),
        "repeats": 1 + max(row.repeat for row in rows),
        "planned": results.planned,
        "missing": sum(row.gone for row in rows) + results.absent,
        "notes": list(results.notes),
        "sha256": results.digest,
    }


def about_groups(arguments: argparse.Namespace, comparison: Comparison) -> dict[str, Any]:
    """Return the groups, units, missing answers, scores and what to do next."""
    results, grouping, units = comparison.results, comparison.grouping, comparison.units
    labelled = list(zip(results.rows, grouping.labels, strict=True))
    missing = {}
    for group in grouping.names:
        own = [row for row, label in labelled if label == group]
        reasons: dict[str, list[str]] = {}
        for row in own:
            lost = [f"without {name}" for name, value in row.scores.items() if value is None]
            for why in [getattr(row.answer, "reason", "")] if row.gone else lost:
                reasons.setdefault(why, []).append(row.sample or row.where)
        gone = sum(row.gone for row in own)
        missing[group] = {"missing": gone, "of": len(own), "reasons": reasons}
    finds = {each.name: each.detectable() for each in quantities(comparison)}
    scores = [
        {
            "name": name,
            "kind": column.kind,
            "range": [column.low, column.high],
            "per": column.per,
            "why_not": column.why_not,
            "finds": finds.get(name),
        }
        for name, column in results.scores.items()
    ]
    used = {*grouping.fields, *(() if units is None else units.fields)}
    return {
        "groups": {
            "where": grouping.where,
            "how": grouping.how,
            "declared": grouping.declared,
            "counts": dict(Counter(label for label in grouping.labels if label is not None)),
            "without": sum(label is None for label in grouping.labels),
        },
        "units": None
        if units is None
        else {
            "where": units.where,
            "declared": units.declared,
            "total": units.total,
            "complete": units.complete,
            "agreement": units.agreement,
            "pairs": _checked(comparison),
        },
        "missing_by_group": missing,
        "scores": scores,
        "numbers": [n for n in results.numbers if n not in used],
        "next": judge_command(arguments, comparison, first_bound(arguments, comparison)),
    }


def _checked(comparison: Comparison) -> str:
    """Say how many pairs of prompts pass the checks."""
    try:
        pairs = comparison.pairs()
    except ResultsError as error:
        return f"texts cannot be paired: {error}"
    passed, _ = drop_invalid_pairs(pairs)
    unknown = sum(not pair.checked for pair in passed.pairs)
    if unknown:
        return f"{unknown} of {len(pairs)} pairs cannot be checked: no lexicon has these groups"
    why = f" ({passed.rejected[0].reasons[0]})" if passed.rejected else ""
    return f"{len(passed)} of {len(pairs)} pairs pass the checks{why}"


def _head(facts: dict[str, Any]) -> list[str]:
    what = [f"{facts['tool']} {facts['version']}".strip()]
    what += [f"task {', '.join(facts['tasks'])}"] if facts["tasks"] else []
    what += [f"model {', '.join(facts['models'])}"] if facts["models"] else []
    rows = plural("answer", facts["answers"])
    if not facts["texts"] and facts["missing"] < facts["answers"]:
        rows = f"scores of {rows} that are not in the file,"
    counts = f"{rows} to {plural('prompt', facts['prompts'])}"
    if facts["repeats"] > 1:
        counts += f", {facts['repeats']} answers each at most"
    planned = "" if facts["planned"] is None else f"{facts['planned']} planned, "
    return [
        f"{', '.join(facts['files'])}: {', '.join(what)}",
        f"  {counts}; {planned}{facts['missing']} missing",
        *(f"  note: {note}" for note in facts["notes"]),
    ]


def _body(facts: dict[str, Any]) -> list[str]:
    groups, units = facts["groups"], facts["units"]
    counts = ", ".join(f"{name} ({n})" for name, n in groups["counts"].items())
    without = f"; {groups['without']} answers name none" if groups["without"] else ""
    lines = [f"groups   {groups['where']}: {counts}{without}     {groups['how']}"]
    if units is None:
        lines.append(
            "units    none: no prompt is about two groups; a verdict only with --unpaired"
        )
    else:
        several = "both groups" if len(groups["counts"]) == 2 else "two groups or more"
        parts = [
            f"{units['total']} of {units['where']}, {units['complete']} with {several}",
            units["agreement"],
            units["pairs"],
        ]
        lines.append(f"units    {'; '.join(filter(None, parts))}")
    lost = [_missing(name, each) for name, each in facts["missing_by_group"].items()]
    lines.append(f"missing  {', '.join(lost)}")
    shown = aligned([_score(each) for each in facts["scores"]]) or ["none named as such"]
    lines += [f"{'' if n else 'scores':<9}{line}" for n, line in enumerate(shown)]
    if facts["numbers"]:
        lines.append(f"numbers  {', '.join(facts['numbers'])}: --score NAME takes one as a score")
    can = ["difference of scores"] if any(each["finds"] for each in facts["scores"]) else []
    can += [f"texts by name: {', '.join(FROM_TEXTS)}"] if units and facts["texts"] else []
    lines.append(f"can be judged    {'; '.join(can) or 'nothing'}")
    lines.append(
        "cannot           error rates by group: nothing here says which answer is right for whom"
    )
    return [*lines, f"next     {facts['next']}"] if can else lines


def _missing(group: str, about: dict[str, Any]) -> str:
    reasons = [
        f"{len(places)} {reason}: {listed(list(dict.fromkeys(places)), 2)}"
        for reason, places in about["reasons"].items()
    ]
    detail = f" ({'; '.join(reasons)})" if reasons else ""
    return f"{group} {about['missing']} of {about['of']}{detail}"


def _score(each: dict[str, Any]) -> tuple[str, str, str]:
    low, high = each["range"]
    span = {"number": f"{low:.3g} to {high:.3g}", "label": "labels"}.get(
        each["kind"], each["kind"]
    )
    if each["why_not"]:
        return each["name"], span, each["why_not"]
    finds = "too few units of two groups to find any difference"
    # NaN where there is no unit; and no difference of rates is larger than 1.
    most = math.inf if low < 0.0 or high > 1.0 else 1.0
    if each["finds"] <= most and math.isfinite(each["finds"]):
        finds = f"can find a difference of {each['finds']:.2g} (80 % of such files)"
    return each["name"], f"{span}, per {each['per']}", finds

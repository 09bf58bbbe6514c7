"""Recorded runs with their data: baseline files, evidence folders and run records."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_llmfair._util.documents import schema_of, validator
from pytest_llmfair._util.validation import json_in, read_json, read_utf8
from pytest_llmfair.judging.bound import WORSE
from pytest_llmfair.judging.facts import Record, decimals, threshold
from pytest_llmfair.judging.non_inferiority import Side, compared
from pytest_llmfair.judging.recorded import judge_again
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.reports.record import read_run
from pytest_llmfair.stats import Estimate, WorstGroups
from pytest_llmfair.stats.difference import Pairing, pairing_of

Key = tuple[str, str, int]

# Two runs may each lose a few answers; a row less than this share in common is another question.
_LEAST_SHARED = 0.9
_REMEDY = (
    "give a file of --llmfair-json, of --llmfair-update-baseline, or a folder of "
    "--llmfair-evidence"
)
# What content of a wrong type or size raises.
MALFORMED = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError),
    *(RecursionError, TypeError, ValueError),
)
_NO_DATA = {"data": {"cannot": "the run kept no data"}}
# What a check asks beside its bound and its prompts.
_ASKED = ("level", "mode", "scorer", "unit", "judged")


def recorded_checks(path: Path) -> dict[Key, Record]:
    """Return the checks of a baseline, an evidence folder or a run record, with their data."""
    found = {} if path.is_dir() else read_json(path, _REMEDY)
    baseline = isinstance(found, dict) and "checks" in found
    checks: Any = found["checks"] if baseline else read_record(path)["results"]
    if not isinstance(checks, list) or not checks:
        raise ValueError(f"{path} holds no results; {_REMEDY}")
    return keyed(checks)


def read_record(path: Path) -> dict[str, Any]:
    """Read a run record or an evidence folder, whose results get their data as ``recorded``."""
    if not path.is_dir():
        document = read_run(path)
    else:
        document = read_run(path / "run.json", path / "context.json")
        kept = list(_statistics(path / "statistics.jsonl"))
        results = document["results"]
        names = [[(each["nodeid"], each["metric"]) for each in rows] for rows in (results, kept)]
        if names[0] != names[1]:
            raise ValueError(f"{path}: statistics.jsonl is not of this run; llmfair verify {path}")
        document["results"] = [
            {**each, "recorded": data} for each, data in zip(results, kept, strict=True)
        ]
    if not document["results"]:
        raise ValueError(f"{path} holds no results; record a run that judges something")
    for each in document["results"]:
        try:
            threshold(each, decimals(each))
        except MALFORMED:
            raise ValueError(f"{path}: the bound of {each['nodeid']} makes no sense") from None
    return document


def _statistics(file: Path) -> Iterator[dict[str, Any]]:
    line_of_check = validator(schema_of("gate/statistics.schema.json"))
    for number, line in enumerate(read_utf8(file).splitlines(), start=1):
        row = json_in(line, f"{file}:{number}", _REMEDY)
        if not line_of_check.is_valid(row):
            raise ValueError(f"{file}:{number} does not hold the data of a check; {_REMEDY}")
        yield row


def keyed(checks: Sequence[Mapping[str, Any]]) -> dict[Key, Mapping[str, Any]]:
    """Return checks by test, metric and place among equal ones."""
    found: dict[Key, Mapping[str, Any]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for check in checks:
        same = (str(check["nodeid"]), str(check["metric"]))
        found[(*same, seen[same])] = check
        seen[same] += 1
    return found


def first_attempts(document: Mapping[str, Any]) -> dict[Key, Record]:
    """Return the checks of a run as they were judged first: a rerun keeps that verdict."""
    first: dict[tuple[str, str], int] = {}
    for each in document["results"]:
        same = (each["nodeid"], each["metric"])
        first[same] = min(each["attempt"], first.get(same, each["attempt"]))
    return keyed(
        [r for r in document["results"] if r["attempt"] == first[r["nodeid"], r["metric"]]]
    )


def between(one: Record, other: Record, level: float) -> Result:
    """Judge by how much a recorded check is less fair; `ValueError` says why nothing can."""
    kept = [each.get("recorded") or _NO_DATA for each in (one, other)]
    if one["metric"].endswith(WORSE):
        raise ValueError("it is a comparison of two models itself")
    try:
        results = [judge_again(each["data"], "") for each in kept]
        for check, again in zip((one, other), results, strict=True):
            stated = float(check["value"] or 0.0)
            if abs(again.value - stated) > 1e-9 * max(1.0, abs(stated)):
                raise ValueError("its data give another value than its record; llmfair verify")
        rules = Rules(level=level, mode="gate")
        return compared_with(results[0], kept[0], results[1], kept[1], 0.0, rules)
    except MALFORMED as error:
        raise ValueError(str(error) or type(error).__name__) from error


def compared_with(
    now: Result,
    mine: Mapping[str, Any],
    before: Result,
    kept: Mapping[str, Any],
    margin: float,
    rules: Rules,
) -> Result:
    """Judge by how much a result is worse than an earlier one; rows belong together by prompt."""
    sides = [Side.of(now), Side.of(before)]
    if not same_prompts(kept["prompts"], mine["prompts"]):
        raise ValueError("the two runs have answers to other prompts")
    of_prompts = bool(kept["prompts"])
    # Labels of one run that are pseudonyms in the other one show nothing.
    mixed = kept["texts"] != mine["texts"]
    if kept["prompts"] == mine["prompts"] and kept["rows"] == mine["rows"]:
        with suppress(ValueError):
            how: Pairing | None = "prompts" if of_prompts else "unknown" if mixed else None
            if _identical(kept, mine):
                how = "identical"
            return compared(sides, sides[0].info, margin, rules, how=how)
    # Other rows, or other people: the intervals are joined, whatever rows they have in common.
    loose = [replace(side, estimate=_without_rows(side.estimate)) for side in sides]
    # Labels may be pseudonyms here, which begin with the same one in every run.
    labelled = mixed or pairing_of(*(side.estimate for side in loose)) != "independent"
    how = "unknown" if of_prompts or labelled else "independent"
    return compared(loose, sides[0].info, margin, rules, how=how)


def _identical(kept: Mapping[str, Any], mine: Mapping[str, Any]) -> bool:
    """Whether two runs have the same answers to the same prompts, measured alike."""
    measured, before = (
        json.dumps([value for name, value in each["data"].get("map", ()) if name == "estimate"])
        for each in (mine, kept)
    )
    same = mine.get("answers") is not None and mine["answers"] == kept.get("answers")
    return same and measured == before


def _without_rows(estimate: Estimate) -> Estimate:
    if isinstance(estimate, WorstGroups):
        parts = {key: _without_rows(part) for key, part in estimate.parts.items()}
        return replace(estimate, parts=parts)
    floor, excess = estimate.floor, estimate.excess
    return replace(
        estimate,
        contributions=None,
        rows=(),
        floor=floor and _without_rows(floor),
        excess=excess and _without_rows(excess),
    )


def same_prompts(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether two runs asked the same: where answers are missing, a row is left out."""
    asked, known = ({tuple(row) for row in rows} for rows in (first, second))
    return len(asked & known) >= _LEAST_SHARED * max(len(asked), len(known))


def prompts_in_words(before: Record, now: Record) -> str:
    """Say how the prompts of a check changed, as far as the two runs kept them."""
    old, new = ({tuple(row) for row in _prompts(each)} for each in (before, now))
    if old and new:
        same = f"prompts: {len(new - old)} new, {len(old - new)} gone, {len(old & new)} the same"
        return "" if old == new else same
    digests = [(each["data"] or {}).get("prompts_sha256") for each in (before, now)]
    return "" if digests[0] == digests[1] else "other prompts, or others without an answer"


def _prompts(check: Record) -> Sequence[Any]:
    """Return the digests of prompts, row by row; empty where the run did not keep them."""
    found: Sequence[Any] = (check.get("recorded") or {}).get("prompts", ())
    return found


def other_question(before: Record, now: Record) -> dict[str, str]:
    """Say by name in what a check asks something else than before, so that no trend joins them."""
    found = {}
    if any(before[name] != now[name] for name in ("bound", "direction", "fair_value", "scale")):
        found["bound"] = f"bound {threshold(before, decimals(before))} before"
    for name in _ASKED:
        if before.get(name) != now.get(name):
            found[name] = f"{name} {before.get(name) or 'unknown'} before"
    old, new = _prompts(before), _prompts(now)
    if not (old and new and same_prompts(old, new)) and (words := prompts_in_words(before, now)):
        found["prompts"] = words
    return found

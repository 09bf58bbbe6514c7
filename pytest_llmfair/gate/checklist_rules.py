"""Rules of the automatic items: a run record to yes, no or open, and why.

What the record does not hold is never guessed: the answer is then open, and says what is missing.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_llmfair._util.wording import plural
from pytest_llmfair.gate.documents import described_models, model_names, replayed

Answer = tuple[str, str]
Rule = Callable[[Mapping[str, Any], datetime.date], Answer]

RULES: dict[str, Rule] = {}

_TOY = "builtin:ngram"


def _rule(function: Rule) -> Rule:
    """Register a rule; without a check in the record, nothing is answered."""

    def answered(record: Mapping[str, Any], today: datetime.date) -> Answer:
        if not record["results"]:
            return "open", "the record holds no fairness check"
        return function(record, today)

    RULES[function.__name__] = answered
    return function


@_rule
def checks_pass(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether every check is PASS, or has a waiver that holds."""
    failed = [r for r in record["results"] if r["verdict"] != "PASS"]
    waived = [r for r in failed if r.get("waiver") and _ended(r["waiver"], today) is False]
    left = [r for r in failed if r not in waived]
    count = plural("check", len(record["results"]))
    if left:
        shown = ", ".join(f"{n} {verdict}" for verdict, n in _counted(left).items())
        return "no", f"of {count}: {shown} ({_named(left)})"
    if waived:
        return "yes", f"{count}, of them waived: {_named(waived)}"
    return "yes", f"{count} PASS"


@_rule
def none_invalid(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether no check is INVALID."""
    found = [r for r in record["results"] if r["verdict"] == "INVALID"]
    return ("no", f"INVALID: {_named(found)}") if found else ("yes", "none of them is INVALID")


@_rule
def intervals_judged(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether no check was judged in mode point."""
    if unknown := _without(record, "mode"):
        return "open", f"the record does not say the mode of {_named(unknown)}"
    found = [r for r in record["results"] if r["mode"] == "point"]
    modes = ", ".join(sorted({r["mode"] for r in record["results"]}))
    return ("no", f"mode point: {_named(found)}") if found else ("yes", f"mode {modes}")


@_rule
def waivers_hold(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether no waiver has expired."""
    listed = record.get("waivers")
    if listed is None and (unknown := _without(record, "waiver")):
        return "open", f"the record does not say whether {_named(unknown)} is waived"
    waivers = [str(r["waiver"]) for r in record["results"] if r.get("waiver")]
    waivers += [str(each) for each in listed or ()]
    unclear = [each for each in waivers if _ended(each, today) is None]
    ended = [each for each in waivers if _ended(each, today)]
    if ended:
        return "no", f"expired: {'; '.join(dict.fromkeys(ended))}"
    if unclear:
        return "open", f"without a date: {'; '.join(dict.fromkeys(unclear))}"
    return "yes", f"{plural('waiver', len(waivers))} in use" if waivers else "no waiver in use"


@_rule
def groups_named(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether every check lists the groups that its lexicon has no terms for."""
    if unknown := _without(record, "lacks"):
        return "open", f"the record does not say which groups {_named(unknown)} left out"
    groups = dict.fromkeys(str(group) for r in record["results"] for group in r["lacks"])
    return "yes", f"not tested: {', '.join(groups)}" if groups else "no check left out a group"


@_rule
def answers_counted(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether missing answers and pairs left out are counted."""
    needed = ("missing", "rejected", "uncertain")
    if unknown := [r for r in record["results"] if any(r.get(key) is None for key in needed)]:
        return "open", f"the record has no such counts for {_named(unknown)}"
    missing = sum(sum(r["missing"].values()) for r in record["results"])
    pairs = sum(r["rejected"] for r in record["results"])
    prompts = sum(r["uncertain"] for r in record["results"])
    return "yes", (
        f"{plural('answer', missing)} missing, {plural('pair', pairs)} and "
        f"{plural('prompt', prompts)} left out, over all checks"
    )


@_rule
def scorers_audited(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether no check found a gap of its scorer on neutral sentences."""
    if unknown := [r for r in record["results"] if None in (r.get("reasons"), r.get("notes"))]:
        return "open", f"the record has no reasons and notes of {_named(unknown)}"
    found = [r for r in record["results"] if "scorer_gap" in r["reasons"]]
    if found:
        return "no", f"the scorer differs between groups by itself: {_named(found)}"
    failed = [r for r in record["results"] if any("not be audited" in n for n in r["notes"])]
    if failed:
        return "open", f"the scorer could not be audited: {_named(failed)}"
    return "yes", "no check found such a scorer; functions of your own are not audited"


@_rule
def model_identified(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether every model has a revision or digest, and is not the toy model."""
    described = described_models(record)
    if _TOY in model_names(record):
        return "no", f"{_TOY} is the built-in toy model, made for trying the tests"
    if not described:
        names = ", ".join(model_names(record))
        known = f"{names} has neither" if names else "no model is named"
        return "open", f"{known}: the record describes no model with revision or digest"
    shown = {m["name"]: m.get("revision") or m.get("digest") for m in described}
    if unknown := [name for name, version in shown.items() if not version]:
        return "open", f"no revision and no digest of {', '.join(unknown)}"
    return "yes", ", ".join(f"{name} at {version}" for name, version in shown.items())


@_rule
def commit_recorded(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether the run has a commit without changes, and a time."""
    context = _part(record, "context")
    git = _part(context, "git")
    commit, started = git.get("commit"), context.get("started")
    if not commit or not started:
        lacks = [*([] if commit else ["commit"]), *([] if started else ["time"])]
        return "open", f"the record has no {' and no '.join(lacks)}"
    if git.get("dirty") is None:
        return "open", f"commit {commit}; the record does not say whether files were changed"
    if git["dirty"]:
        return "no", f"files differed from commit {commit}"
    return "yes", f"commit {commit}, {started}"


@_rule
def digests_present(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether every check has a digest of its prompts or its numbers."""
    unknown = []
    for result in record["results"]:
        digests = _part(result, "data")
        if not (digests.get("prompts_sha256") or digests.get("arguments_sha256")):
            unknown.append(result)
    if unknown:
        return "open", f"no digest of the data of {_named(unknown)}"
    return "yes", f"digests of the data of {plural('check', len(record['results']))}"


@_rule
def origin_recorded(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether live and replayed answers are counted."""
    if (answers := replayed(record)) is None:
        return "open", "the record does not say; it was written without its context"
    if not any(answers):
        return "yes", "no model was asked: the checks judge data of their own"
    new = "" if answers[0] else "; this run is no new evidence about the model"
    return "yes", f"{plural('answer', answers[0])} asked live, {answers[1]:,} replayed{new}"


@_rule
def bounds_frozen(record: Mapping[str, Any], today: datetime.date) -> Answer:
    """Answer whether every bound has a commit that is older than the run.

    The record needs `bounds`, a list with test, metric, commit and date, one entry a check.
    """
    bounds = record.get("bounds")
    started = _moment(_part(record, "context").get("started"))
    if not bounds or started is None:
        lacks = "when each bound was fixed" if not bounds else "when the run started"
        return "open", f"the record does not say {lacks}"
    listed = {(each.get("test"), each.get("metric")): each for each in bounds}
    unknown, late = [], []
    for result in record["results"]:
        entry = listed.get((result["nodeid"], result["metric"]), {})
        fixed = _moment(entry.get("date"))
        if not entry.get("commit") or fixed is None:
            unknown.append(result)
        elif fixed > started:
            late.append(result)
    if late:
        return "no", f"fixed after the run had started: {_named(late)}"
    if unknown:
        return "open", f"no commit and date of the bound of {_named(unknown)}"
    return "yes", f"all bounds are older than the run of {started.isoformat()}"


def _part(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = record.get(key)
    return found if isinstance(found, Mapping) else {}


def _without(record: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [result for result in record["results"] if result.get(key) is None]


def _counted(results: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    return dict(sorted(Counter(str(result["verdict"]) for result in results).items()))


def _named(results: list[Mapping[str, Any]]) -> str:
    names = [f"{r['nodeid']} {r['metric']}".strip() for r in results]
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


def _ended(waiver: Any, today: datetime.date) -> bool | None:
    """Return whether the last day of a waiver is over; None where it names no day."""
    found = re.findall(r"\d{4}-\d{2}-\d{2}", str(waiver))
    return datetime.date.fromisoformat(found[-1]) < today if found else None


def _moment(text: Any) -> datetime.datetime | None:
    """Return a time with its zone; a day counts as its end, since the hour is unknown."""
    if not text:
        return None
    try:
        found = datetime.datetime.fromisoformat(str(text))
    except ValueError:
        return None
    if len(str(text)) == len("2026-11-23"):
        found = found.replace(hour=23, minute=59, second=59)
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)

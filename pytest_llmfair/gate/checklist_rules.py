"""The rules that answer items of the checklist from the record of a run."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_llmfair._util.wording import listed, plural
from pytest_llmfair.gate.documents import (
    TOY_MODEL,
    described_models,
    model_names,
    replayed,
    unversioned,
)
from pytest_llmfair.gate.selection import recommended
from pytest_llmfair.reports.columns import without_verdict

Run = Mapping[str, Any]
Test = Callable[[Mapping[str, Any], Run], bool]
Answer = tuple[str, str]
Rule = Callable[[Run], Answer]


def _each_check(silent: Test, against: Test, says: Callable[[Run], str]) -> Rule:
    """Make a rule about every check: where the record is silent, what is against it, the words."""

    def rule(run: Run) -> Answer:
        results = run["results"]
        if found := [result for result in results if against(result, run)]:
            count = plural("check", len(results))
            return "no", f"not so for {len(found)} of {count}: {_named(found)}"
        if unknown := [result for result in results if silent(result, run)]:
            return "open", f"the record says nothing about this for {_named(unknown)}"
        return "yes", says(run)

    return rule


def answer(name: str, run: Run) -> Answer:
    """Return the decision of the rule of this name, and why."""
    if not run["results"]:
        return "open", "the record holds no fairness check"
    return RULES[name](run)


def _lacks(*keys: str) -> Test:
    return lambda result, run: any(result.get(key) is None for key in keys)


def _never(result: Mapping[str, Any], run: Run) -> bool:
    return False


def _waived(result: Mapping[str, Any], run: Run) -> bool:
    return bool(result.get("waiver")) and not _expired(result, run)


def _expired(result: Mapping[str, Any], run: Run) -> bool:
    """Return whether the last day of a waiver is over; one without a day holds for no day."""
    days = re.findall(r"\d{4}-\d{2}-\d{2}", result.get("waiver") or "")
    ended = not days or datetime.date.fromisoformat(days[-1]) < run["today"]
    return bool(result.get("waiver")) and ended


def _passes(run: Run) -> str:
    waived = [result for result in run["results"] if result["verdict"] != "PASS"]
    shown = f", of them waived: {_named(waived)}" if waived else " PASS"
    return f"{plural('check', len(run['results']))}{shown}"


def _waivers(run: Run) -> str:
    used = [f"{_named([r])}: {r['waiver']}" for r in run["results"] if r["waiver"]]
    return f"{plural('waiver', len(used))} in use{': ' if used else ''}{'; '.join(used)}"


def _groups(run: Run) -> str:
    groups = dict.fromkeys(group for result in run["results"] for group in result["lacks"])
    found = [f"not tested: {', '.join(groups)}"] if groups else []
    if not all(result.get("attribute") for result in run["results"]):
        found.append("checks of data cover the groups in the data, and nothing is known of others")
    return "; ".join(found) or "no check left out a group"


def _counts(run: Run) -> str:
    results = run["results"]
    missing = sum(sum(result["missing"].values()) for result in results)
    pairs = plural("pair", sum(result["rejected"] for result in results))
    prompts = plural("prompt", sum(result["uncertain"] for result in results))
    return f"{plural('answer', missing)} missing, {pairs} and {prompts} left out"


def _not_audited(result: Mapping[str, Any], run: Run) -> bool:
    notes = result.get("notes")
    return notes is None or any("could not be audited" in note for note in notes)


def _no_digest(result: Mapping[str, Any], run: Run) -> bool:
    digests = result.get("data") or {}
    return not (digests.get("prompts_sha256") or digests.get("arguments_sha256"))


def _fixed(result: Mapping[str, Any], run: Run) -> Mapping[str, Any] | None:
    """Return the bound of a check with its commit; None where that is not known."""
    for bound in run["bounds"]:
        if (bound["nodeid"], bound["metric"]) == (result["nodeid"], result["metric"]):
            known = bound.get("commit") and _moment(bound.get("committed"))
            return bound if known and bound.get("changed_since") is not None else None
    return None


def _started(run: Run) -> datetime.datetime | None:
    return _moment((run.get("context") or {}).get("started"))


def _late(result: Mapping[str, Any], run: Run) -> bool:
    fixed, started = _fixed(result, run), _started(run)
    if fixed is None or started is None:
        return False
    committed = _moment(fixed["committed"])
    return bool(fixed["changed_since"]) or committed is None or committed > started


def _model_identified(run: Run) -> Answer:
    """Answer whether every model has a revision or digest, and is not the toy model."""
    if TOY_MODEL in model_names(run):
        return "no", f"{TOY_MODEL} is the built-in toy model, made for trying the tests"
    if unknown := unversioned(run):
        return "open", f"no revision and no digest of {', '.join(unknown)}"
    shown = ", ".join(
        f"{m['name']} at {m['revision'] or m['digest']}{' (baseline)' if 'role' in m else ''}"
        for m in described_models(run)
    )
    return ("yes", shown) if shown else ("open", "the record names no model")


def _selection_complete(run: Run) -> Answer:
    """Answer whether each recommended metric was run, or is left out with a reason."""
    if not (selections := run.get("selections")):
        return "not applicable", "no file of checks describes its use case: see metrics-chosen"
    found = [row for each in selections for row in recommended(each, run["results"])]
    if lacking := [choice["check"] for choice, ran, why in found if not ran and not why]:
        return "no", f"not run, without a reason in not_run: {', '.join(lacking)}"
    ran = sum(bool(results) for _, results, _ in found)
    return "yes", f"{ran} of {len(found)} recommended metrics were run, the others with a reason"


def _commit_recorded(run: Run) -> Answer:
    """Answer whether the run has a commit without changes, and a time."""
    git, started = (run.get("context") or {}).get("git") or {}, _started(run)
    if not git.get("commit") or git.get("dirty") is None or started is None:
        return "open", "the record lacks the commit, whether files were changed, or the time"
    if git["dirty"]:
        return "no", f"files differed from commit {git['commit']}"
    return "yes", f"commit {git['commit']}, {started.isoformat()}"


def _origin_recorded(run: Run) -> Answer:
    """Answer whether live and replayed answers are counted."""
    if (answers := replayed(run)) is None:
        return "open", "the record does not say; it was written without its context"
    if not any(answers):
        return "yes", "no model was asked: the checks judge data of their own"
    new = "" if answers[0] else "; this run is no new evidence about the model"
    return "yes", f"{plural('answer', answers[0])} asked live, {answers[1]:,} replayed{new}"


def _named(results: Sequence[Mapping[str, Any]]) -> str:
    return listed([f"{r['nodeid']} {r['metric']} ({r['verdict']})" for r in results], 3)


def _moment(text: Any) -> datetime.datetime | None:
    """Return a time with its zone; a day counts as its end, since the hour is unknown."""
    try:
        found = datetime.datetime.fromisoformat(str(text))
    except ValueError:
        return None
    if len(str(text)) == len("2026-11-23"):
        found = found.replace(hour=23, minute=59, second=59)
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)


_EVERY_CHECK_PASSES = _each_check(
    _lacks("verdict"),
    lambda result, run: result["verdict"] != "PASS" and not _waived(result, run),
    _passes,
)


def _checks_pass(run: Run) -> Answer:
    """Answer whether every check passes, and no test or run ended too early to judge."""
    found = _EVERY_CHECK_PASSES(run)
    if found[0] == "no":
        return found
    if errors := run.get("errors"):
        return "no", without_verdict(errors)
    status = (run.get("counts") or {}).get("exit_status", 0)
    if status in (2, 3, 4):
        return "open", f"pytest ended with status {status} before all tests were run"
    return found


RULES: dict[str, Rule] = {
    "model_identified": _model_identified,
    "commit_recorded": _commit_recorded,
    "selection_complete": _selection_complete,
    "digests_present": _each_check(_no_digest, _never, lambda run: "every check has one"),
    "origin_recorded": _origin_recorded,
    "bounds_frozen": _each_check(
        lambda result, run: None in (_fixed(result, run), _started(run)),
        _late,
        lambda run: f"all are older than the run of {_started(run)}",
    ),
    "checks_pass": _checks_pass,
    "none_invalid": _each_check(
        _lacks("verdict"),
        lambda result, run: result["verdict"] == "INVALID",
        lambda run: "none of them is INVALID",
    ),
    "intervals_judged": _each_check(
        _lacks("mode"),
        lambda result, run: result.get("mode") == "point",
        lambda run: "no check was judged in mode point",
    ),
    "waivers_hold": _each_check(_lacks("waiver"), _expired, _waivers),
    "groups_named": _each_check(_lacks("lacks"), _never, _groups),
    "answers_counted": _each_check(_lacks("missing", "rejected", "uncertain"), _never, _counts),
    "scorers_audited": _each_check(
        lambda result, run: _lacks("reasons")(result, run) or _not_audited(result, run),
        lambda result, run: "scorer_gap" in (result.get("reasons") or ()),
        lambda run: "no check found such a scorer; functions of your own are not audited",
    ),
}

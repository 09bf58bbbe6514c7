"""A recorded run that later runs are compared with, test by test."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from pathlib import Path
from typing import Any

from pytest_llmfair._util.validation import read_json
from pytest_llmfair._util.wording import listed, number, plural
from pytest_llmfair.gate.recorded_runs import MALFORMED, Key, compared_with, keyed
from pytest_llmfair.judging.assertion import EstimateAssertion
from pytest_llmfair.judging.bound import WORSE, Bound, ImpossibleBoundError
from pytest_llmfair.judging.facts import estimate
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.non_inferiority import Side
from pytest_llmfair.judging.pipeline import evaluate
from pytest_llmfair.judging.recorded import judge_again, kept_of
from pytest_llmfair.judging.result import Result, Verdict
from pytest_llmfair.judging.rules import Rules, Unregistered, current_settings
from pytest_llmfair.reports.context import git
from pytest_llmfair.settings import Settings
from pytest_llmfair.stats import Finding, Sample, Undefined
from pytest_llmfair.stats.difference import sign_of

VERSION = 1
_MOST_NAMED = 3
# Reasons of a FAIL that the values of two runs do not tell.
_BY_OTHER_MEANS = {"missing_rates_differ", "worst_level"}
_KEPT = (
    "nodeid",
    "metric",
    "model",
    "verdict",
    "value",
    "lower",
    "upper",
    "level",
    "bound",
    "direction",
    "fair_value",
    "scale",
    "recorded",
)


@dataclass(slots=True)
class Baseline:
    """The checks of a recorded run, by test, metric and place among equal ones."""

    checks: dict[Key, Mapping[str, Any]]
    # How much less fair a check may be.
    margin: float
    # Whether a bound that was broken before is red only where the check became worse.
    ratchet: bool = False
    _seen: Counter[tuple[str, str, int]] = field(default_factory=Counter)

    @classmethod
    def read(cls, path: Path, margin: float, *, ratchet: bool = False) -> Baseline:
        """Read the file that ``--llmfair-update-baseline`` wrote; an expired one is an error."""
        document = read_document(path)
        expires = document["about"]["expires"]
        if datetime.date.fromisoformat(expires) < datetime.date.today():
            raise ValueError(
                f"the baseline {path} expired on {expires}; run with --llmfair-update-baseline, "
                "and have the change reviewed"
            )
        return cls(keyed(document["checks"]), margin, ratchet)

    def compared(self, result: Result, attempt: int = 1) -> list[Result]:
        """Return a result, and by how much it is less fair than the recorded one, if any."""
        if result.assertion is None or WORSE in result.metric:
            return [result]
        same = (result.nodeid, result.metric)
        place = self._seen[(*same, attempt)]
        self._seen[(*same, attempt)] += 1
        check = self.checks.get((*same, place))
        if check is None or why_not_compared(check):
            return [result]
        rules = Rules(
            level=result.level,
            mode="gate" if self.ratchet else result.mode,
            family=result.family,
            label=result.assertion.rules.label,
        )
        try:
            before = judge_again(check["recorded"]["data"], result.nodeid)
            loss = self._compared(result, before, check, rules)
        except ImpossibleBoundError as error:
            return [result, self._invalid(result, str(error), rules)]
        except MALFORMED as error:
            why = f"{error}; record the baseline again with --llmfair-update-baseline"
            return [result, self._invalid(result, why, rules)]
        return _ratcheted(result, before, loss) if self.ratchet else [result, loss]

    def _compared(
        self, result: Result, before: Result, check: Mapping[str, Any], rules: Rules
    ) -> Result:
        kept, now = check["recorded"], result
        mine = kept_of(result, current_settings().replaced(save_text=kept["texts"]))
        if not kept["texts"]:
            # Both sides need the same pseudonyms for the prompts that label their units.
            now = judge_again(mine["data"], result.nodeid)
        return compared_with(now, mine, before, kept, self.margin, rules)

    def _invalid(self, result: Result, why: str, rules: Rules) -> Result:
        nothing = Sample(units=0, generations=0, fewest=0, most=0)
        info = Side.of(result).info
        metric = Unregistered(f"{info.name} {WORSE}", unit=result.unit, level=info.level)
        findings = (Finding("not_comparable", why, "invalid"),)
        inputs = MetricInputs(findings=findings, model=result.model)
        estimate = Undefined(undefined=why, sample=nothing)
        return evaluate(EstimateAssertion(estimate, self.margin, metric, rules, inputs))


def _ratcheted(result: Result, before: Result, loss: Result) -> list[Result]:
    """Let only a proven loss be red where the same bound was broken before."""
    if loss.verdict is Verdict.INVALID:
        return [result, loss]
    if loss.red and loss.verdict is not Verdict.FAIL:
        loss = replace(loss, red=False, waiver="ratchet: only a proven loss is red")
    broken = all(_broken(each) for each in (result, before))
    same = (before.bound, before.level) == (result.bound, result.level)
    if result.waiver or not (broken and same) or _other_side(result, before):
        return [result, loss]
    worse = "; it became worse" if loss.verdict is Verdict.FAIL else "; not proven to be worse"
    text = f"ratchet: the baseline breaks this bound too, {_shown(before.to_dict())}{worse}"
    return [replace(result, red=False, postponed=False, waiver=text), loss]


def _other_side(result: Result, before: Result) -> bool:
    """Whether another group than before has the higher value in a comparison."""
    both = (result, before)
    now, then = (getattr(each.estimate, "parts", {"": each.estimate}) for each in both)
    # The size of a difference alone does not tell whom it is against.
    bound = Bound(result.bound, result.direction, result.fair_value, result.scale)
    beyond = [key for key, part in now.items() if not bound.allows(part.value)]
    if any(key in then and _sign(now[key]) != _sign(then[key]) for key in beyond):
        return True
    first, second = (each.value - each.fair_value for each in both)
    if result.direction == "two-sided" and first * second < 0.0:
        return True
    worse, earlier = (
        [d["worse"] or list(d["means"]) for d in each.differences if d["measure"] == "rate"]
        for each in both
    )
    # Rows such as "a / b" name the groups in the order of their difference.
    rows, known = ({row["key"] for row in each.groups} for each in both)
    return worse != earlier or rows != known


def _sign(estimate: Any) -> int:
    """Return 1 where the first group of pairs, or of a signed estimate, has higher scores."""
    if getattr(estimate.metric, "needs", "") != "score_pairs" or estimate.call is None:
        return sign_of(estimate)
    # Contributions to a distance are a size.
    first, second = ([x for row in side for x in row] for side in estimate.call.args[:2])
    return 1 if fsum(first) / len(first) >= fsum(second) / len(second) else -1


def _broken(result: Result) -> bool:
    """Whether the value, which two runs are compared by, is proven beyond the bound."""
    return result.verdict is Verdict.FAIL and _BY_OTHER_MEANS.isdisjoint(result.reasons)


def why_not_compared(check: Mapping[str, Any]) -> str:
    """Return the reason no run can be compared with a recorded check; empty where one can."""
    if check["direction"] == "two-sided" and check["scale"] == "log":
        return "a ratio that is fair in the middle of its range; compare a difference of rates"
    return str(check["recorded"]["data"].get("cannot", ""))


def coverage(
    settings: Settings, records: Sequence[Mapping[str, Any]]
) -> tuple[list[str], list[str]]:
    """Return errors and notes on which checks were compared with the baseline."""
    last = {record["nodeid"]: record["attempt"] for record in records}
    ran = Counter(
        (record["nodeid"], record["metric"])
        for record in records
        if WORSE not in record["metric"] and record["attempt"] == last[record["nodeid"]]
    )
    document = read_document(Path(settings.baseline or ""))
    checks = document["checks"]
    known = Counter((check["nodeid"], check["metric"]) for check in checks)
    errors = [
        f"{test} has {plural('check', n)} of {metric}, and the baseline {known[test, metric]}, so "
        "they may be compared with the wrong ones; record it again with --llmfair-update-baseline"
        for (test, metric), n in ran.items()
        if known[test, metric] not in (0, n)
    ]
    if ran and not ran.keys() & known.keys():
        errors.append(
            f"no check of this run is in the baseline {settings.baseline}: nothing is compared; "
            "run the tests that it is about, or record it again with --llmfair-update-baseline"
        )
    new = [f"{test} {metric}" for test, metric in ran if not known[test, metric]]
    gone = [f"{test} {metric}" for test, metric in known if (test, metric) not in ran]
    never = [
        f"{check['nodeid']} {check['metric']} ({why})"
        for check in checks
        if (why := why_not_compared(check))
    ]
    notes = [
        f"baseline: {plural('check', len(names))} {what}: {listed(names, _MOST_NAMED)}"
        for what, names in (
            ("of this run without a baseline", new),
            ("of the baseline not run", gone),
            ("never compared", never),
        )
        if names
    ]
    seed = document["about"].get("seed", settings.seed)
    if seed != settings.seed:
        notes.append(
            f"baseline: recorded with seed {seed}, and this run has {settings.seed}, so that "
            "models may answer with other samples"
        )
    return errors, [*notes, *(_unexcused(checks, records) if settings.ratchet else ())]


def _unexcused(
    checks: Sequence[Mapping[str, Any]], records: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield why the ratchet leaves a FAIL red."""
    known = keyed(checks)
    for key, record in keyed(records).items():
        if record["verdict"] != "FAIL" or record["waiver"] or WORSE in record["metric"]:
            continue
        check = known.get(key)
        why = "the baseline has no such check"
        if check is not None:
            was, bound = check["verdict"], check["bound"]
            why = why_not_compared(check) or f"the baseline has {was} at the bound {bound:g}"
            if was == "FAIL" and bound == record["bound"]:
                why = (
                    "it could not be compared, is against another group than in the baseline, or "
                    "has other reasons than its value"
                )
        yield f"ratchet: red FAIL {record['metric']} in {record['nodeid']}: {why}"


def read_document(path: Path) -> dict[str, Any]:
    """Read a baseline file; raise ``ValueError`` if it is damaged or another kind of file."""
    try:
        document = read_json(path, "")
        version = document["baseline_version"]
        found: dict[str, Any] = {"about": document["about"], "checks": document["checks"]}
    except (ValueError, KeyError, TypeError):
        raise ValueError(
            f"{path} is no baseline file; --llmfair-update-baseline writes one"
        ) from None
    again = "record it again with --llmfair-update-baseline"
    if version != VERSION:
        raise ValueError(
            f"{path} is a baseline of version {version}, and this package reads {VERSION}; {again}"
        )
    try:
        datetime.date.fromisoformat(found["about"]["expires"])
        for check in found["checks"]:
            if not {*_KEPT} <= check.keys() or not {"prompts", "rows", "texts", "data"} <= (
                check["recorded"].keys()
            ):
                raise KeyError("recorded")
            why_not_compared(check)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is a damaged baseline file; {again}") from None
    if not found["checks"]:
        raise ValueError(f"{path} holds no check, so it gates nothing; {again}")
    return found


def document_text(about: Mapping[str, Any], checks: Sequence[Mapping[str, Any]]) -> str:
    """Return a baseline as JSON text, one line a check, so that a review shows what changed."""
    lines = ",\n".join(f"  {json.dumps(check, sort_keys=True)}" for check in checks)
    head = json.dumps(about, indent=2, sort_keys=True).replace("\n", "\n ")
    return (
        f'{{\n "baseline_version": {VERSION},\n "about": {head},\n "checks": [\n{lines}\n ]\n}}\n'
    )


def changes(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return one line per check that an update changes, for the terminal and for a review."""
    before, after = keyed(old), keyed(new)
    lines = []
    for key in dict.fromkeys((*before, *after)):
        name = f"{key[0]} {key[1]}"
        was, now = before.get(key), after.get(key)
        if was is None and now is not None:
            lines.append(f"+ {name}: {_shown(now)}")
        elif now is None and was is not None:
            lines.append(f"- {name}: {_shown(was)}")
        elif was is not None and now is not None and _shown(was) != _shown(now):
            lines.append(f"~ {name}: {_shown(was)} -> {_shown(now)}")
    return lines


def _shown(check: Mapping[str, Any]) -> str:
    ends = " to ".join(number(check[end], 3) for end in ("lower", "upper"))
    return f"{check['verdict']} {number(check['value'], 3)} [{ends}]"


def update(
    path: Path, records: Sequence[Mapping[str, Any]], about: Mapping[str, Any], days: int
) -> list[str]:
    """Write a run to a baseline file that holds for some days; return what changed."""
    old: list[Any] = []
    unread: list[str] = []
    if path.is_file():
        try:
            old = read_document(path)["checks"]
        except ValueError as error:
            # The remedy for a damaged or older file is this update.
            unread = [f"  the file before could not be read: {error}"]
    # A file keeps one number of each check: the one that its interval surrounds.
    checks = [
        {name: record[name] for name in _KEPT} | {"value": estimate(record)} for record in records
    ]
    today = datetime.date.today()
    dates = {
        "date": today.isoformat(),
        "expires": (today + datetime.timedelta(days)).isoformat(),
        "author": git(path.parent, "config", "user.name") or "",
    }
    path.write_text(document_text({**about, **dates}, checks), encoding="utf-8")
    lines = [
        f"  {check['nodeid']} {check['metric']}: no run can be compared with this check: {why}"
        for check in checks
        if (why := why_not_compared(check))
    ]
    head = f"baseline {path.name}: {plural('check', len(checks))}"
    return [head, *unread, *changes(old, checks), *lines]

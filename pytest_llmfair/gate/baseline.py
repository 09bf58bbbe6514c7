"""A recorded run that later runs are compared with, test by test."""

from __future__ import annotations

import datetime
import json
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_llmfair._util.wording import number
from pytest_llmfair.gate.recorded_runs import Key, keyed
from pytest_llmfair.judging.non_inferiority import WORSE, Side, compared
from pytest_llmfair.judging.recorded import digests_of_prompts, judge_again, to_record
from pytest_llmfair.judging.result import Result
from pytest_llmfair.judging.rules import Rules, current_settings

VERSION = 1
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
    "recorded",
)


@dataclass(slots=True)
class Baseline:
    """The checks of a recorded run, by test, metric and place among equal ones.

    Attributes
    ----------
    checks : dict
        Key of each check to its record.
    margin : float
        How much less fair a check may be.
    about : dict
        Model, its digest, author, date and expiry of the file.
    """

    checks: dict[Key, Mapping[str, Any]]
    margin: float
    about: dict[str, Any]
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def read(cls, path: Path, margin: float) -> Baseline:
        """Read the file that ``--llmfair-update-baseline`` wrote.

        Raises
        ------
        ValueError
            If the file is no baseline, or has expired.
        """
        document = read_document(path)
        expires = document["about"]["expires"]
        if datetime.date.fromisoformat(expires) < datetime.date.today():
            raise ValueError(
                f"the baseline {path} expired on {expires}; run with --llmfair-update-baseline, "
                "and have the change reviewed"
            )
        return cls(keyed(document["checks"]), margin, document["about"])

    def compared(self, result: Result) -> list[Result]:
        """Return by how much a result is less fair than the recorded one; empty if it is new.

        Raises
        ------
        ValueError
            If both cannot be compared, because other prompts were asked or data are missing.
        """
        if result.assertion is None or result.metric.endswith(WORSE):
            return []
        same = (result.nodeid, result.metric)
        key = (*same, self._seen[same])
        self._seen[same] += 1
        check = self.checks.get(key)
        if check is None:
            return []
        kept = check["recorded"]
        update = "record the baseline again with --llmfair-update-baseline"
        if kept["prompts"] != digests_of_prompts(result):
            raise ValueError(
                f"the baseline has answers to other prompts in {result.metric}, so the two runs "
                f"cannot be compared; {update}"
            )
        try:
            before = judge_again(kept["data"], result.nodeid)
            now = result
            if not kept["texts"]:
                # Both sides need the same pseudonyms for the prompts that label their units.
                record = to_record(result, current_settings(), texts=False)
                now = judge_again(record, result.nodeid)
        except ValueError as error:
            why = f"{result.metric} is in the baseline without its data: {error}"
            raise ValueError(f"{why}; {update}") from None
        sides = [Side.of(now), Side.of(before)]
        rules = Rules(level=result.level, mode=result.mode, family=result.family)
        return [compared(sides, sides[0].info, self.margin, rules)]


def read_document(path: Path) -> dict[str, Any]:
    """Return what a baseline file holds.

    Raises
    ------
    ValueError
        If it is no baseline file of this version.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        version = document["baseline_version"]
        found: dict[str, Any] = {"about": document["about"], "checks": document["checks"]}
    except (ValueError, KeyError, TypeError):
        raise ValueError(
            f"{path} is no baseline file; --llmfair-update-baseline writes one"
        ) from None
    if version != VERSION:
        raise ValueError(
            f"{path} is a baseline of version {version}, and this package reads {VERSION}; record "
            "it again with --llmfair-update-baseline"
        )
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


def author(folder: Path) -> str:
    """Return who git says is at work; an empty string without git or a name."""
    try:
        asked = ["git", "-C", str(folder), "config", "user.name"]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def update(
    path: Path, records: Sequence[Mapping[str, Any]], about: Mapping[str, Any], days: int
) -> list[str]:
    """Write a run to a baseline file, and return what changed, line by line.

    Parameters
    ----------
    path : Path
        The file; its folder exists.
    records : sequence of mapping
        Results of the run as plain data, each with what was recorded of it.
    about : mapping
        The model and other facts to keep in the file.
    days : int
        Days for which the file holds.
    """
    old = read_document(path)["checks"] if path.is_file() else []
    checks = [{name: record[name] for name in _KEPT} for record in records]
    today = datetime.date.today()
    dates = {
        "date": today.isoformat(),
        "expires": (today + datetime.timedelta(days)).isoformat(),
        "author": author(path.parent),
    }
    path.write_text(document_text({**about, **dates}, checks), encoding="utf-8")
    lines = [
        f"  {check['nodeid']} {check['metric']}: no run can be compared with this check: {why}"
        for check in checks
        if (why := check["recorded"]["data"].get("cannot"))
    ]
    return [f"baseline {path.name}: {len(checks)} checks", *changes(old, checks), *lines]

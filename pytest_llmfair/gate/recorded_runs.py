"""Recorded runs with their data: baseline files, evidence folders and run records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_llmfair._util.validation import json_in, read_json, read_utf8

Key = tuple[str, str, int]

_REMEDY = (
    "give a file of --llmfair-json, of --llmfair-update-baseline, or a folder of "
    "--llmfair-evidence"
)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The checks of a run, by test, metric and place among equal ones."""

    # The model, or the file where no model is named.
    name: str
    # Each result as plain data; under ``recorded`` what it takes to compute the result again,
    # where the run kept that.
    checks: dict[Key, Mapping[str, Any]]

    @classmethod
    def read(cls, path: Path) -> RecordedRun:
        """Read a baseline, an evidence folder, or a run record."""
        checks: Any
        if path.is_dir():
            results = _json(path / "run.json").get("results", [])
            file = path / "statistics.jsonl"
            kept = [json_in(line, str(file), _REMEDY) for line in read_utf8(file).splitlines()]
            checks = [{**each, "recorded": data} for each, data in zip(results, kept, strict=True)]
        else:
            document = _json(path)
            checks = document.get("checks", document.get("results"))
        if not isinstance(checks, list) or not checks:
            raise ValueError(f"{path} holds no results; {_REMEDY}")
        return cls(_name(path, checks), keyed(checks))


def _json(path: Path) -> dict[str, Any]:
    found = read_json(path, _REMEDY)
    return found if isinstance(found, dict) else {}


def _name(path: Path, checks: Sequence[Mapping[str, Any]]) -> str:
    models = {str(check["model"]) for check in checks if check.get("model")}
    return models.pop() if len(models) == 1 else path.stem


def keyed(checks: Sequence[Mapping[str, Any]]) -> dict[Key, Mapping[str, Any]]:
    """Return checks by test, metric and place among equal ones."""
    found: dict[Key, Mapping[str, Any]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for check in checks:
        same = (str(check["nodeid"]), str(check["metric"]))
        found[(*same, seen[same])] = check
        seen[same] += 1
    return found

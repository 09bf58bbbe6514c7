"""A file of checks that names a suite: ``suite: NAME`` with the bounds of the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_llmfair._util.validation import read_utf8
from pytest_llmfair.gate.check import Checks
from pytest_llmfair.gate.problems import line_of
from pytest_llmfair.lexicons.schema import at_line, load_yaml
from pytest_llmfair.suites.checks import checks_of
from pytest_llmfair.suites.runner import Answers, chosen_suite

_REQUIRED = ("suite", "bounds", "rationale", "owner")
# What a file may choose, as in `pytest_llmfair.suites.run`.
_CHOSEN = ("bounds", "size", "tasks", "metrics", "population", "prompts", "scorers")
_KEYS = tuple(dict.fromkeys(("version", *_REQUIRED, *_CHOSEN, "model")))


def read_suite(path: Path) -> Checks:
    """Read a file that names a suite.

    Raises
    ------
    ValueError
        If a key is unknown or missing, or a suite, size, task or bound is wrong; the message names
        the file and the line.
    """
    document = load_yaml(read_utf8(path), path.name)
    for key in document:
        if key not in _KEYS:
            place = at_line(path.name, document, key)
            raise ValueError(f"{place}: a suite has no key {key!r}; known are {', '.join(_KEYS)}")
    for key in _REQUIRED:
        if not document.get(key):
            raise ValueError(f"{path.name}: the suite has no {key}; add it")
    try:
        checks = _checks(document, path.parent)
    except (ValueError, OSError) as error:
        raise ValueError(f"{path.name}: {error}") from None
    return Checks(path.name, checks)


def _checks(document: Mapping[str, Any], folder: Path) -> tuple[Any, ...]:
    chosen = {"size": "smoke", **{key: document[key] for key in _CHOSEN if key in document}}
    if isinstance(chosen.get("prompts"), str):
        chosen["prompts"] = folder / chosen["prompts"]
    suite, bounds = chosen_suite(str(document["suite"]), **chosen)
    answers = Answers(suite, chosen["size"], chosen.get("tasks"), chosen.get("population"))
    return tuple(
        replace(
            check,
            rerun="",
            line=line_of(document, ("bounds",)),
            rationale=document["rationale"],
            owner=document["owner"],
            model=document.get("model"),
        )
        for check in checks_of(answers, bounds)
        if check.judged
    )

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
from pytest_llmfair.suites.checks import Answers
from pytest_llmfair.suites.design import get_suite
from pytest_llmfair.suites.prompts import check_scorers, read_own_prompts, with_prompts
from pytest_llmfair.suites.runner import chosen_tasks

_REQUIRED = ("suite", "bounds", "rationale", "owner")
_KEYS = (
    *("version", *_REQUIRED, "size", "tasks", "metrics"),
    *("population", "model", "prompts", "scorers"),
)


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
    prompts, scorers = document.get("prompts"), document.get("scorers", {})
    if isinstance(prompts, str):
        prompts = read_own_prompts(folder / prompts)
    if not isinstance(scorers, Mapping) or not all(isinstance(x, str) for x in scorers.values()):
        raise ValueError("scorers are no mapping to texts; write NAME: SPEC")
    for key, such in (("metrics", "[all]"), ("tasks", "[stories]")):
        if document.get(key) is not None and not isinstance(document[key], list):
            raise ValueError(f"{key} is {document[key]!r}; write a list, such as {such}")
    named = get_suite(str(document["suite"]))
    check_scorers(named, scorers)
    suite = with_prompts(named, prompts, scorers).measuring(document.get("metrics"))
    size = document.get("size", "smoke")
    suite.size(size)
    tasks = document.get("tasks")
    chosen_tasks(suite, tasks)
    bounds = document["bounds"]
    if not isinstance(bounds, Mapping) or any(
        isinstance(bound, bool) or not isinstance(bound, (int, float)) for bound in bounds.values()
    ):
        raise ValueError("bounds are no mapping to numbers; write METRIC: NUMBER")
    population = document.get("population")
    if population not in (None, "fixed", "sampled"):
        raise ValueError(f"population is {population!r}; choose fixed or sampled")
    answers = Answers(suite, size, tasks, population)
    return tuple(
        replace(
            check,
            rerun="",
            line=line_of(document, ("bounds",)),
            rationale=document["rationale"],
            owner=document["owner"],
            model=document.get("model"),
        )
        for check in answers.checks(suite.bounds(bounds, tasks))
        if check.judged
    )

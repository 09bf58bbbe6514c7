"""What metrics of the package have besides their code: shared documentation, and papers."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Callable
from importlib import resources
from typing import Any, ParamSpec, TypeVar

from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import E

P = ParamSpec("P")
R = TypeVar("R")

_FOLDER = resources.files("pytest_llmfair.metrics")
_LINE = "\n---"
_SECTION = re.compile(r"(?:^|\n\n)(?=\w+\n-+\n)")
_HEADING = "Parameters\n----------\n"
_EXAMPLES = "Examples\n--------\n"


@functools.cache
def _shared() -> dict[str, str]:
    """Read parts of docstrings by name."""
    text = (_FOLDER / "parameters.txt").read_text("utf-8")
    parts = re.findall(r"^\[(.+)\]\n((?:.*\n)+?)(?=\n\[|\Z)", text, re.MULTILINE)
    return {name: part.strip() for name, part in parts}


def described(*names: str, unit: str = "row") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Add to a docstring the import of its example, and parts, of which the last ones win."""
    shared = [_shared()[name].replace("<unit>", unit) for name in names]
    parts = [part for text in shared for part in _SECTION.split(text)]
    given = "\n".join(part for part in parts if not _SECTION.match(part))
    sections = {part.partition(_LINE)[0]: part for part in parts if _SECTION.match(part)}

    def complete(function: Callable[P, R]) -> Callable[P, R]:
        text = inspect.cleandoc(function.__doc__ or "")
        for heading in ("Returns", "Raises"):
            if heading in sections and f"\n{heading}{_LINE}" not in text:
                text = text.replace("\nExamples\n", f"\n{sections[heading]}\n\nExamples\n", 1)
        name = f">>> from pytest_llmfair.metrics import {function.__name__}"
        text = text.replace(_EXAMPLES, f"{_EXAMPLES}{name}\n", 1)
        if _HEADING not in text:
            text = text.replace("\nReturns\n", f"\n{_HEADING}\n\nReturns\n", 1)
        before, _, rest = text.partition(_HEADING)
        own, blank, after = rest.partition("\n\n")
        place = {name: i for i, name in enumerate(inspect.signature(function).parameters)}
        found = {**_entries(given), **_entries(own)}
        known = sorted(found.keys() & place.keys(), key=place.__getitem__)
        # Names that share a description are keys of the same one.
        entries = dict.fromkeys(found[name] for name in known)
        function.__doc__ = before + _HEADING + "\n".join(entries) + blank + after
        return function

    return complete


@functools.cache
def _papers() -> dict[str, dict[str, Any]]:
    """Read what papers call metrics, and the values that they report."""
    table = json.loads((_FOLDER / "papers.json").read_text("utf-8"))
    return {name: {**row, "aliases": tuple(row.get("aliases", ()))} for name, row in table.items()}


def published(
    *parts: str, per: str = "", **facts: Any
) -> Callable[[Callable[P, E]], Callable[P, E]]:
    """Register a metric that is in `papers.json`, described by parts with one label `per` row."""

    def register(function: Callable[P, E]) -> Callable[P, E]:
        complete = described("sampling", *parts, unit=per or facts["unit"])
        return metric(**{**_papers().get(function.__name__, {}), **facts})(complete(function))

    return register


def _entries(text: str) -> dict[str, str]:
    """Map each name to its description: a line "name, name : type", and what is indented below."""
    entries = re.findall(r"^\S.*(?:\n[ ].*)*", text, re.MULTILINE)
    return {name: entry for entry in entries for name in entry.partition(" :")[0].split(", ")}
